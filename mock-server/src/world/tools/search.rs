//! `glob` and `grep`: files by name, and lines by content, as ripgrep finds them. Ripgrep tells them in no order; here
//! they are sorted.

use super::outside::Kind;
use super::{Completed, Place, Plan, relative, resolved};
use crate::world::find_lines::shortened;
use crate::world::permission::Wish;
use crate::world::{Chosen, Effect, Found, Purpose, World};
use regex::RegexBuilder;
use serde_json::{Value, json};

/// A search that may happen.
#[derive(Debug, Clone)]
pub(crate) struct SearchPlan {
    pattern: String,
    /// Which files are searched, where that is said.
    include: Option<String>,
    what: What,
    place: Place,
    options: Options,
}

/// What some servers let a search say more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Options {
    /// So many lines around each are told.
    context: usize,
    limit: usize,
    literal: bool,
    ignores_case: bool,
    /// More than the limit is cut, not as much.
    cuts_beyond: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Names,
    Lines,
}

/// At most so many files or lines are found.
const MAX: usize = 100;
const NOTHING: &str = "No files found";
/// What one server says behind lines that it has cut.
const CUT_LINES: &str = "Some matching or context lines were truncated. Use read for full lines.";

impl World {
    pub(super) fn start_glob(&mut self, session: &str, call: usize) {
        self.start_search(session, call, What::Names);
    }

    pub(super) fn start_grep(&mut self, session: &str, call: usize) {
        self.start_search(session, call, What::Lines);
    }

    fn start_search(&mut self, session: &str, call: usize, what: What) {
        let Some(here) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let Some(mut pattern) = self.text_argument(session, call, "pattern") else { return };
        if what == What::Lines && pattern.is_empty() {
            self.fail_call(session, call, "pattern is required");
            return;
        }
        let path = self.text_argument(session, call, "path");
        let include = self.text_argument(session, call, "include");
        let asked = pattern.clone();
        let mut given = path.clone().unwrap_or_else(|| here.clone());
        if what == What::Names && self.profile.search_options && pattern.starts_with('/') {
            (given, pattern) = taken_apart(&pattern);
        }
        let whole = resolved(&here, &given);
        let relative = relative(&self.worktree_of(&here), &whole);
        let options = self.search_options(session, call);
        let mut metadata = json!({"pattern": asked});
        for (key, value) in [("path", &path), ("include", &include)] {
            if let Some(value) = value {
                metadata[key] = json!(value);
            }
        }
        if what == What::Lines && self.profile.search_options {
            metadata["context"] = json!(options.context);
            metadata["limit"] = json!(options.limit);
            for key in ["literal", "ignoreCase"] {
                if let Some(value) = self.argument(session, call, key) {
                    metadata[key] = value.clone();
                }
            }
        }
        let permission = if what == What::Names { "glob" } else { "grep" };
        let patterns = vec![asked];
        let place = Place { path: whole, given, relative };
        self.set_plan(
            session,
            call,
            Plan::Search(Box::new(SearchPlan { pattern, include, what, place, options })),
        );
        let wish = Wish { permission, patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    fn search_options(&self, session: &str, call: usize) -> Options {
        let cuts_beyond = self.profile.search_options;
        let number = |name| self.number_argument(session, call, name).filter(|_| cuts_beyond);
        let truth = |name| cuts_beyond && self.argument(session, call, name) == Some(&Value::Bool(true));
        Options {
            context: number("context").unwrap_or(0),
            limit: number("limit").unwrap_or(MAX),
            literal: truth("literal"),
            ignores_case: truth("ignoreCase"),
            cuts_beyond,
        }
    }

    pub(super) fn search(&mut self, session: &str, call: usize, plan: &SearchPlan) {
        let path = plan.place.path.clone();
        if !self.may_go(session, call, &path, &path, Kind::Folder) {
            return;
        }
        let chosen = match plan.what {
            What::Names => Some(Chosen { pattern: plan.pattern.clone(), in_hidden: false }),
            What::Lines => plan.include.clone().map(|pattern| Chosen { pattern, in_hidden: true }),
        };
        let effect = Effect::Search { path, chosen };
        self.effect(Purpose::CallRead(session.to_owned(), call), effect);
    }

    /// The files below the place are known.
    pub(super) fn searched(&mut self, session: &str, call: usize, plan: &SearchPlan, found: &Found) {
        if plan.what == What::Lines
            && !self.profile.searches_one_file
            && matches!(found, Found::File(_) | Found::Nothing { .. })
        {
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
            (What::Names, Found::Nothing { .. }) if self.profile.search_options => {
                let path = &plan.place.path;
                Err(format!("ripgrep execution failed: NotFound: FileSystem.access ({path})"))
            }
            (What::Names, Found::Nothing { .. }) => Err("ripgrep execution failed".to_owned()),
            (What::Names, found) => Ok(plan.names(found)),
            (What::Lines, found) => plan.lines(found),
        };
        match result {
            Ok(result) => self.complete_told_call(session, call, result),
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

/// An absolute pattern: its folder, and the pattern below it.
fn taken_apart(pattern: &str) -> (String, String) {
    let Some(magic) = pattern.find(['*', '?', '{', '[']) else { return (pattern.to_owned(), "*".to_owned()) };
    let slash = pattern[..magic].rfind('/').unwrap_or(0);
    let folder = if slash == 0 { "/" } else { &pattern[..slash] };
    let below = &pattern[slash + 1..];
    (folder.to_owned(), if below.is_empty() { "*" } else { below }.to_owned())
}

/// A line that is told.
struct Line {
    path: String,
    number: usize,
    text: String,
    is_around: bool,
}

impl SearchPlan {
    fn names(&self, found: &Found) -> Completed {
        let no_files = Vec::new();
        let files = if let Found::Tree(files) = found { files } else { &no_files };
        let mut names: Vec<String> =
            files.iter().map(|(path, _)| format!("{}/{path}", self.place.path)).collect();
        let is_cut = self.is_cut(names.len(), MAX);
        names.truncate(MAX);
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

    fn is_cut(&self, count: usize, limit: usize) -> bool {
        if self.options.cuts_beyond { count > limit } else { count >= limit }
    }

    fn lines(&self, found: &Found) -> Result<Completed, String> {
        let Options { limit, literal, ignores_case, .. } = self.options;
        let pattern = if literal { regex::escape(&self.pattern) } else { self.pattern.clone() };
        let wanted = RegexBuilder::new(&pattern).case_insensitive(ignores_case).build();
        let wanted = wanted.map_err(|error| error.to_string())?;
        let name = self.place.path.rsplit('/').next().unwrap_or_default().to_owned();
        let (folder, files) = match found {
            Found::Tree(files) => (self.place.path.as_str(), files.clone()),
            Found::File(bytes) => {
                let folder = self.place.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                (folder, vec![(name, bytes.clone())])
            }
            _ => ("", Vec::new()),
        };
        let mut told = Vec::new();
        let mut count = 0;
        for (path, content) in &files {
            if content.contains(&0) {
                continue;
            }
            let text = String::from_utf8_lossy(content);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let fits = |at: &usize| wanted.is_match(lines[*at].trim_end_matches('\n'));
            let found: Vec<usize> = (0..lines.len()).filter(fits).collect();
            let left = limit.saturating_sub(count);
            count += found.len();
            let found = &found[..found.len().min(left)];
            let is_near = |at: &usize| found.iter().any(|found| found.abs_diff(*at) <= self.options.context);
            told.extend((0..lines.len()).filter(is_near).map(|at| Line {
                path: format!("{folder}/{path}"),
                number: at + 1,
                text: lines[at].to_owned(),
                is_around: !found.contains(&at),
            }));
        }
        let is_cut = self.is_cut(count, limit);
        let count = count.min(limit);
        let title = self.pattern.clone();
        if told.is_empty() {
            let metadata = json!({"matches": 0, "truncated": false});
            return Ok(completed(NOTHING.to_owned(), title, metadata));
        }
        let metadata = json!({"matches": count, "truncated": is_cut});
        Ok(completed(self.told(&told, count, is_cut), title, metadata))
    }

    fn told(&self, found: &[Line], count: usize, is_cut: bool) -> String {
        let Options { context, limit, cuts_beyond, .. } = self.options;
        let more = if is_cut { " (more matches available)" } else { "" };
        let mut lines = vec![format!("Found {count} matches{more}")];
        let mut current = "";
        let mut has_cut_lines = false;
        for Line { path, number, text, is_around } in found {
            if current != path {
                if !current.is_empty() {
                    lines.push(String::new());
                }
                lines.push(format!("{path}:"));
                current = path;
            }
            let kind = match (context, is_around) {
                (0, _) => "",
                (_, true) => "[context] ",
                (_, false) => "[match] ",
            };
            let shown = shortened(text);
            has_cut_lines |= shown != *text;
            lines.push(format!("  {kind}Line {number}: {shown}"));
        }
        if is_cut {
            lines.push(String::new());
            lines.push(if cuts_beyond {
                let more = limit.saturating_mul(2);
                format!("{limit} matches limit reached. Use limit={more} for more, or refine pattern.")
            } else {
                "(Results truncated. Consider using a more specific path or pattern.)".to_owned()
            });
        }
        if cuts_beyond && has_cut_lines {
            lines.extend(["", CUT_LINES].map(str::to_owned));
        }
        lines.join("\n")
    }
}

fn completed(output: String, title: String, metadata: Value) -> Completed {
    Completed { output, title, metadata, ..Completed::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(what: What, pattern: &str) -> SearchPlan {
        let place = Place { path: "/w".into(), given: "/w".into(), relative: String::new() };
        let options =
            Options { context: 0, limit: MAX, literal: false, ignores_case: false, cuts_beyond: false };
        SearchPlan { pattern: pattern.into(), include: None, what, place, options }
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
        let found = plan(What::Names, "**").names(&files());
        assert_eq!(
            (found.output.as_str(), found.title.as_str()),
            ("/w/.hidden/d.rs\n/w/a.txt\n/w/src/b.rs", "")
        );
        assert_eq!(found.metadata, json!({"count": 3, "truncated": false}));
        assert_eq!(plan(What::Names, "*.py").names(&Found::Tree(Vec::new())).output, NOTHING);
    }

    #[test]
    fn lines_are_told_as_the_servers_tell_them() {
        let found = plan(What::Lines, "one").lines(&files()).unwrap();
        assert_eq!(
            found.output,
            "Found 4 matches\n/w/.hidden/d.rs:\n  Line 1: one\n\n\n/w/a.txt:\n  Line 1: one\n\n  Line 4:   one \
             more\n\n\n/w/src/b.rs:\n  Line 1: fn one() {}\n"
        );
        let found = plan(What::Lines, r"^fn \w+").lines(&files()).unwrap();
        assert_eq!(found.metadata, json!({"matches": 1, "truncated": false}));
        assert_eq!(plan(What::Lines, "three").lines(&files()).unwrap().output, NOTHING);
        assert!(plan(What::Lines, "(").lines(&files()).is_err());
    }

    #[test]
    fn one_server_lets_a_search_say_more() {
        let mut plan = plan(What::Lines, "ONE M");
        plan.options = Options { context: 1, limit: 1, literal: true, ignores_case: true, cuts_beyond: true };
        let found = plan.lines(&files()).unwrap();
        assert_eq!(
            found.output,
            "Found 1 matches\n/w/a.txt:\n  [context] Line 3: \n\n  [match] Line 4:   one more\n"
        );
        plan.pattern = "o".into();
        let found = plan.lines(&files()).unwrap();
        assert!(found.output.ends_with("1 matches limit reached. Use limit=2 for more, or refine pattern."));
        assert_eq!(taken_apart("/w/src/**/*.rs"), ("/w/src".to_owned(), "**/*.rs".to_owned()));
        assert_eq!(taken_apart("/w/src"), ("/w/src".to_owned(), "*".to_owned()));
    }

    #[test]
    fn a_long_line_is_cut_and_one_server_says_so() {
        let text = format!("{}\n{}", "x".repeat(1999), "x".repeat(2001));
        let files = Found::Tree(vec![("long.txt".to_owned(), text.into_bytes())]);
        let mut plan = plan(What::Lines, "x");
        let cut = format!("  Line 1: {}\n\n  Line 2: {}...", "x".repeat(1999), "x".repeat(2000));
        let found = plan.lines(&files).unwrap();
        assert_eq!(found.output, format!("Found 2 matches\n/w/long.txt:\n{cut}"));
        plan.options.cuts_beyond = true;
        let found = plan.lines(&files).unwrap();
        assert_eq!(found.output, format!("Found 2 matches\n/w/long.txt:\n{cut}\n\n{CUT_LINES}"));
    }

    #[test]
    fn what_is_too_much_is_cut() {
        let many = (0..150).map(|n| (format!("{n:03}.txt"), b"x\n".to_vec())).collect();
        let found = plan(What::Names, "*").names(&Found::Tree(many));
        assert_eq!(found.metadata, json!({"count": 100, "truncated": true}));
        assert!(found.output.ends_with("more specific path or pattern.)"), "{}", found.output);
    }
}
