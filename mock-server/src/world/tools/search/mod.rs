//! `glob` and `grep`: files by name, and lines by content, as ripgrep finds them. Ripgrep tells them in no order; here
//! they are sorted.

mod glob;

use super::{Completed, Place, Plan, inside, resolved};
use crate::world::permission::Wish;
use crate::world::{Effect, Found, Purpose, World};
use regex::Regex;
use serde_json::{Value, json};

/// A search that may happen.
#[derive(Debug, Clone)]
pub(crate) struct SearchPlan {
    pattern: String,
    /// Which files are searched, where that is said.
    include: Option<String>,
    what: What,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Names,
    Lines,
}

/// At most so many files or lines are found.
const MAX: usize = 100;
const NOTHING: &str = "No files found";

impl World {
    pub(super) fn start_glob(&mut self, session: &str, call: usize) {
        self.start_search(session, call, What::Names);
    }

    pub(super) fn start_grep(&mut self, session: &str, call: usize) {
        self.start_search(session, call, What::Lines);
    }

    fn start_search(&mut self, session: &str, call: usize, what: What) {
        let Some(here) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let Some(pattern) = self.text_argument(session, call, "pattern") else { return };
        if what == What::Lines && pattern.is_empty() {
            self.fail_call(session, call, "pattern is required");
            return;
        }
        let path = self.text_argument(session, call, "path");
        let include = self.text_argument(session, call, "include");
        let given = path.clone().unwrap_or_else(|| here.clone());
        let whole = resolved(&here, &given);
        let Some(relative) = inside(&here, &whole) else {
            let message = format!("standin keeps to its workspace: it does not search {whole}");
            self.fail_call(session, call, &message);
            return;
        };
        let mut metadata = json!({"pattern": pattern});
        for (key, value) in [("path", &path), ("include", &include)] {
            if let Some(value) = value {
                metadata[key] = json!(value);
            }
        }
        let permission = if what == What::Names { "glob" } else { "grep" };
        let patterns = vec![pattern.clone()];
        let place = Place { path: whole, given, relative };
        self.set_plan(session, call, Plan::Search(Box::new(SearchPlan { pattern, include, what, place })));
        let wish = Wish { permission, patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn search(&mut self, session: &str, call: usize, plan: &SearchPlan) {
        let effect = Effect::Search { path: plan.place.path.clone() };
        self.effect(Purpose::CallRead(session.to_owned(), call), effect);
    }

    /// The files below the place are known.
    pub(super) fn searched(&mut self, session: &str, call: usize, plan: &SearchPlan, found: &Found) {
        if plan.what == What::Lines && !self.profile.searches_one_file && matches!(found, Found::File(_)) {
            // The whole folder of the file is searched.
            let (mut plan, path) = (plan.clone(), plan.place.path.clone());
            plan.place.path = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            self.search(session, call, &plan);
            self.set_plan(session, call, Plan::Search(Box::new(plan)));
            return;
        }
        let result = match (plan.what, found) {
            (What::Names, Found::File(_)) => {
                Err(format!("glob path must be a directory: {}", plan.place.path))
            }
            (What::Names, found) => Ok(plan.names(found)),
            (What::Lines, found) => plan.lines(found),
        };
        match result {
            Ok(result) => {
                if self.profile.tool_progress {
                    self.progress(session, call, json!({"output": result.output}));
                }
                self.complete_call(session, call, &result);
            }
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

impl SearchPlan {
    fn names(&self, found: &Found) -> Completed {
        let no_files = Vec::new();
        let files = if let Found::Tree(files) = found { files } else { &no_files };
        let pattern = glob::regex(&self.pattern);
        let is_hidden = |path: &str| path.split('/').any(|name| name.starts_with('.'));
        let fits = |path: &&String| {
            !is_hidden(path) && pattern.as_ref().is_some_and(|pattern| pattern.is_match(path))
        };
        let names: Vec<String> = files
            .iter()
            .map(|(path, _)| path)
            .filter(fits)
            .take(MAX)
            .map(|path| format!("{}/{path}", self.place.path))
            .collect();
        let is_cut = names.len() == MAX;
        let count = names.len();
        let mut lines = if names.is_empty() { vec![NOTHING.to_owned()] } else { names };
        if is_cut {
            lines.push(String::new());
            lines.push(format!(
                "(Results are truncated: showing first {MAX} results. Consider using a more specific path or pattern.)"
            ));
        }
        completed(lines.join("\n"), self.place.relative.clone(), json!({"count": count, "truncated": is_cut}))
    }

    fn lines(&self, found: &Found) -> Result<Completed, String> {
        let wanted = Regex::new(&self.pattern).map_err(|error| error.to_string())?;
        let name = self.place.path.rsplit('/').next().unwrap_or_default().to_owned();
        let (folder, files) = match found {
            Found::Tree(files) => (self.place.path.as_str(), files.clone()),
            Found::File(bytes) => {
                let folder = self.place.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                (folder, vec![(name, bytes.clone())])
            }
            _ => ("", Vec::new()),
        };
        let include = self.include.as_deref().and_then(glob::regex);
        let mut matches = Vec::new();
        for (path, content) in &files {
            if include.as_ref().is_some_and(|include| !include.is_match(path)) || content.contains(&0) {
                continue;
            }
            let text = String::from_utf8_lossy(content);
            let lines = text
                .split_inclusive('\n')
                .zip(1..)
                .filter(|(line, _)| wanted.is_match(line.trim_end_matches(['\n', '\r'])));
            matches.extend(lines.map(|(line, number)| (format!("{folder}/{path}"), number, line.to_owned())));
        }
        let is_cut = matches.len() >= MAX;
        matches.truncate(MAX);
        let count = matches.len();
        let title = self.pattern.clone();
        let metadata = json!({"matches": count, "truncated": is_cut});
        if matches.is_empty() {
            return Ok(completed(NOTHING.to_owned(), title, metadata));
        }
        Ok(completed(told(&matches, is_cut), title, metadata))
    }
}

fn told(matches: &[(String, usize, String)], is_cut: bool) -> String {
    let more = if is_cut { " (more matches available)" } else { "" };
    let mut lines = vec![format!("Found {} matches{more}", matches.len())];
    let mut current = "";
    for (path, number, text) in matches {
        if current != path {
            if !current.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("{path}:"));
            current = path;
        }
        lines.push(format!("  Line {number}: {text}"));
    }
    if is_cut {
        lines.push(String::new());
        lines.push("(Results truncated. Consider using a more specific path or pattern.)".to_owned());
    }
    lines.join("\n")
}

fn completed(output: String, title: String, metadata: Value) -> Completed {
    Completed { output, title, metadata, only_told: json!({}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(what: What, pattern: &str, include: Option<&str>) -> SearchPlan {
        let place = Place { path: "/w".into(), given: "/w".into(), relative: String::new() };
        SearchPlan { pattern: pattern.into(), include: include.map(str::to_owned), what, place }
    }

    fn files() -> Found {
        let file = |(path, content): (&str, &str)| (path.to_owned(), content.as_bytes().to_vec());
        let all =
            [(".hidden/d.rs", "one\n"), ("a.txt", "one\ntwo\n\n  one more\n"), ("src/b.rs", "fn one() {}\n")];
        Found::Tree(all.map(file).to_vec())
    }

    /// The texts were seen on the real servers, with ripgrep at hand.
    #[test]
    fn names_are_told_as_the_servers_tell_them() {
        let found = plan(What::Names, "**/*.rs", None).names(&files());
        assert_eq!((found.output.as_str(), found.title.as_str()), ("/w/src/b.rs", ""));
        assert_eq!(found.metadata, json!({"count": 1, "truncated": false}));
        assert_eq!(plan(What::Names, "*.py", None).names(&files()).output, NOTHING);
    }

    #[test]
    fn lines_are_told_as_the_servers_tell_them() {
        let found = plan(What::Lines, "one", None).lines(&files()).unwrap();
        assert_eq!(
            found.output,
            "Found 4 matches\n/w/.hidden/d.rs:\n  Line 1: one\n\n\n/w/a.txt:\n  Line 1: one\n\n  Line 4:   one \
             more\n\n\n/w/src/b.rs:\n  Line 1: fn one() {}\n"
        );
        let found = plan(What::Lines, r"^fn \w+", Some("*.rs")).lines(&files()).unwrap();
        assert_eq!(found.metadata, json!({"matches": 1, "truncated": false}));
        assert_eq!(plan(What::Lines, "three", None).lines(&files()).unwrap().output, NOTHING);
        assert!(plan(What::Lines, "(", None).lines(&files()).is_err());
    }

    #[test]
    fn what_is_too_much_is_cut() {
        let many = (0..150).map(|n| (format!("{n:03}.txt"), b"x\n".to_vec())).collect();
        let found = plan(What::Names, "*", None).names(&Found::Tree(many));
        assert_eq!(found.metadata, json!({"count": 100, "truncated": true}));
        assert!(found.output.ends_with("more specific path or pattern.)"), "{}", found.output);
    }
}
