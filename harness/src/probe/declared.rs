//! What the files of a folder say of each agent, and where: read plainly, as their author means them.

use super::fields::{Field, FieldValue, Unreadable, front, json, yaml};
use super::folder::AgentFolder;
use super::forms::{self, WrongForm};
use mock_server::world::fits_pattern as matches;
use std::collections::{BTreeMap, BTreeSet};

/// A list of agents beside their files that says how hard each shall think.
const INDEX: &str = "capability-index";
/// Folders in which each Markdown file is an agent.
pub(super) const AGENT_FOLDERS: [&str; 4] = ["agent", "agents", "mode", "modes"];

/// Where something is said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// The file, in the workspace.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Allow,
    Ask,
    Deny,
}

/// One rule of permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) permission: String,
    /// None when the rule is about everything of its kind.
    pub(super) pattern: Option<String>,
    pub(super) word: Word,
    /// It is said in the older word, `tools`.
    pub(super) is_of_tools: bool,
    pub(super) at: Spot,
}

/// How hard an agent shall think.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effort {
    /// As it is spelled.
    pub(super) key: String,
    pub(super) word: String,
    pub(super) at: Spot,
}

/// An agent as its files declare it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub(super) name: String,
    /// The first of its places.
    pub(super) at: Spot,
    /// All of them.
    pub(super) places: Vec<Spot>,
    pub(super) mode: Option<(String, Spot)>,
    pub(super) is_disabled: bool,
    pub(super) model: Option<String>,
    pub(super) effort: Option<Effort>,
    pub(super) rules: Vec<Said>,
    /// The keys of its entry.
    pub(super) keys: Vec<(String, Spot)>,
    /// Its description and its prompt.
    pub(super) words: String,
}

/// What a folder declares.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Declarations {
    pub(super) agents: BTreeMap<String, Declared>,
    /// The rules for everybody.
    pub(super) rules: Vec<Said>,
    /// Models that somebody names, as provider/model.
    pub(super) models: BTreeSet<String>,
    /// Efforts that the index names, by agent.
    pub(super) index: BTreeMap<String, Effort>,
    /// The file of the index, if there is one.
    pub(super) index_file: Option<String>,
    pub(super) unreadable: Vec<(String, Unreadable)>,
    /// Rules with a word that is none.
    pub(super) wrong_words: Vec<(Spot, String)>,
    /// Fields of another form than the servers want, and whose.
    pub(super) wrong_forms: Vec<(String, Spot, WrongForm)>,
}

impl Word {
    pub(super) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "allow" => Self::Allow,
            "ask" => Self::Ask,
            "deny" => Self::Deny,
            _ => return None,
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Declarations {
    pub(super) fn read(folder: &AgentFolder) -> Self {
        let mut all = Self::default();
        // Settings first: what stands in a file of its own is put over them.
        let is_markdown = |path: &&String| path.ends_with(".md");
        let (own, others): (Vec<&String>, Vec<&String>) = folder.files.keys().partition(is_markdown);
        for path in others.into_iter().chain(own) {
            let read = all.read_file(path, &folder.files[path]);
            all.unreadable.extend(read.err().map(|why| (path.clone(), why)));
        }
        all
    }

    /// What is said of this, with these rules of an agent: the last rule that fits decides. None: nobody says anything.
    pub(super) fn decision<'a>(
        &'a self,
        agent: &'a Declared,
        permission: &str,
        what: &str,
    ) -> Option<&'a Said> {
        self.rules.iter().chain(&agent.rules).rfind(|said| said.fits(permission, what))
    }

    /// All rules that are about a permission by its name, for one agent.
    pub(super) fn about<'a>(
        &'a self,
        agent: &'a Declared,
        permission: &'a str,
    ) -> impl Iterator<Item = &'a Said> {
        self.rules.iter().chain(&agent.rules).filter(move |said| said.permission == permission)
    }

    fn read_file(&mut self, path: &str, text: &str) -> Result<(), Unreadable> {
        let parts: Vec<&str> = path.split('/').collect();
        let (name, ending) = path.rsplit_once('.').unwrap_or((path, ""));
        let stem = name.rsplit('/').next().unwrap_or(name);
        match (ending, parts.as_slice()) {
            ("md", [_, kind, .., _]) if AGENT_FOLDERS.contains(kind) => {
                let below = name.splitn(3, '/').nth(2).unwrap_or(stem);
                let said = front(text)?;
                let name = said.get("name").and_then(Field::word).unwrap_or(below).to_owned();
                let prompt = text.rsplit_once("\n---").map_or(text, |(_, prompt)| prompt);
                self.add(&name, path, &Field { line: 1, ..said }, prompt);
                if kind.starts_with("mode")
                    && let Some(agent) = self.agents.get_mut(&name)
                {
                    agent.mode = Some(("primary".to_owned(), agent.at.clone()));
                }
            }
            _ if is_settings(path) => {
                let said = json(text)?;
                self.settings(path, &said);
            }
            _ if is_index(path) => {
                let said = if ending == "json" { json(text)? } else { yaml(text)? };
                self.index_file = Some(path.to_owned());
                self.efforts(path, None, &said);
            }
            _ => {}
        }
        Ok(())
    }

    fn settings(&mut self, path: &str, said: &Field) {
        let at = |line| Spot { file: path.to_owned(), line };
        for key in ["model", "small_model"] {
            self.models.extend(said.get(key).and_then(Field::word).map(str::to_owned));
        }
        let mut rules = Vec::new();
        rules_of(said, &at, &mut rules, &mut self.wrong_words);
        self.rules.extend(rules);
        for key in ["agent", "mode"] {
            for (name, entry) in said.get(key).map(Field::entries).unwrap_or_default() {
                let prompt = entry.get("prompt").and_then(Field::word).unwrap_or_default();
                self.add(name, path, entry, prompt);
            }
        }
    }

    fn add(&mut self, name: &str, path: &str, entry: &Field, prompt: &str) {
        let spot = |line| Spot { file: path.to_owned(), line };
        let agent = self.agents.entry(name.to_owned()).or_insert_with(|| Declared {
            name: name.to_owned(),
            at: spot(entry.line),
            places: Vec::new(),
            mode: None,
            is_disabled: false,
            model: None,
            effort: None,
            rules: Vec::new(),
            keys: Vec::new(),
            words: String::new(),
        });
        agent.places.push(spot(entry.line));
        for (key, field) in entry.entries() {
            agent.keys.push((key.clone(), spot(field.line)));
            let word = field.word();
            match (key.as_str(), word) {
                ("mode", Some(word)) => agent.mode = Some((word.to_owned(), spot(field.line))),
                ("disable", Some(word)) => agent.is_disabled = word == "true",
                ("model", Some(word)) => {
                    agent.model = Some(word.to_owned());
                    self.models.insert(word.to_owned());
                }
                ("description", Some(word)) => agent.words.push_str(word),
                _ => {}
            }
        }
        let wrong = forms::wrong(entry).into_iter();
        self.wrong_forms.extend(wrong.map(|wrong| (name.to_owned(), spot(wrong.line), wrong)));
        agent.words.push('\n');
        agent.words.push_str(prompt);
        let efforts = |table: &Field| -> Option<Effort> {
            let (key, field) = table.entries().iter().find(|(key, _)| is_effort(key))?;
            Some(Effort { key: key.clone(), word: field.word()?.to_owned(), at: spot(field.line) })
        };
        let inner = entry.get("options").and_then(efforts);
        agent.effort = efforts(entry).or(inner).or_else(|| agent.effort.take());
        rules_of(entry, &spot, &mut agent.rules, &mut self.wrong_words);
    }

    /// Any table of a name that says an effort, at any depth; or a list of tables with a name in each.
    fn efforts(&mut self, path: &str, name: Option<&str>, said: &Field) {
        let of_list = said.get("name").and_then(Field::word);
        for (key, field) in said.entries() {
            if let (true, Some(name), Some(word)) = (is_effort(key), of_list.or(name), field.word()) {
                let at = Spot { file: path.to_owned(), line: field.line };
                self.index.insert(name.to_owned(), Effort { key: key.clone(), word: word.to_owned(), at });
            }
            self.efforts(path, Some(key), field);
        }
        if let FieldValue::List(items) = &said.value {
            items.iter().for_each(|item| self.efforts(path, name, item));
        }
    }
}

impl Said {
    pub(super) fn fits(&self, permission: &str, what: &str) -> bool {
        matches(permission, &self.permission) && self.pattern.as_deref().is_none_or(|it| matches(what, it))
    }

    /// Is it about everything of its kind?
    pub(super) fn is_about_all(&self) -> bool {
        self.pattern.as_deref().is_none_or(|pattern| pattern == "*")
    }

    /// As a person would quote it.
    pub(super) fn quoted(&self) -> String {
        match &self.pattern {
            Some(pattern) => format!("{} {pattern:?}: {}", self.permission, self.word.word()),
            None => format!("{}: {}", self.permission, self.word.word()),
        }
    }
}

/// Does a server read its settings there?
pub(super) fn is_settings(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let names = ["kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc"];
    !folder.contains('/') && names.contains(&name)
}

/// Is it the list of agents beside their files?
pub(super) fn is_index(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.')
        .is_some_and(|(stem, ending)| stem == INDEX && ["yaml", "yml", "json"].contains(&ending))
}

/// Is it the file of one agent?
pub(super) fn is_agent(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    parts.next().is_some_and(|kind| AGENT_FOLDERS.contains(&kind)) && path.ends_with(".md")
}

/// Every spelling of it that people use.
pub(super) fn is_effort(key: &str) -> bool {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    plain.eq_ignore_ascii_case("reasoningeffort")
}

/// `tools` is the older word: each a yes or a no.
fn rules_of(
    entry: &Field,
    at: &dyn Fn(usize) -> Spot,
    rules: &mut Vec<Said>,
    wrong: &mut Vec<(Spot, String)>,
) {
    for (tool, field) in entry.get("tools").map(Field::entries).unwrap_or_default() {
        let word = match field.word() {
            Some("true") => Word::Allow,
            Some("false") => Word::Deny,
            _ => continue,
        };
        rules.push(Said {
            permission: permission_of(tool).to_owned(),
            pattern: None,
            word,
            is_of_tools: true,
            at: at(field.line),
        });
    }
    let mut add = |permission: &str, pattern: Option<&str>, field: &Field| {
        let written = field.word().unwrap_or("a table");
        let (at, pattern) = (at(field.line), pattern.map(str::to_owned));
        match Word::of(written) {
            Some(word) => {
                let permission = permission.to_owned();
                rules.push(Said { permission, pattern, word, is_of_tools: false, at });
            }
            None => wrong.push((at, format!("'{written}' is no word for a rule about {permission}"))),
        }
    };
    let Some(permission) = entry.get("permission") else { return };
    if permission.word().is_some() {
        add("*", None, permission);
    }
    for (name, said) in permission.entries() {
        if said.word().is_some() {
            add(name, None, said);
        }
        for (pattern, said) in said.entries() {
            add(name, Some(pattern), said);
        }
    }
}

/// The permission that a tool needs.
pub(super) fn permission_of(tool: &str) -> &str {
    match tool {
        "edit" | "write" | "patch" | "multiedit" | "apply_patch" => "edit",
        "todoread" | "todowrite" => "todowrite",
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests;
