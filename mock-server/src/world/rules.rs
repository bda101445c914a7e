//! Rules of permission as the servers have them: a list of which the last that fits decides.

use serde_json::{Map, Value, json};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Allow,
    Ask,
    Deny,
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The agent's own.
    Agent,
    /// The configuration.
    Project,
    /// A session's own.
    Session,
    /// A person who said always.
    Global,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) permission: String,
    pub(crate) pattern: String,
    pub(crate) action: Action,
    pub(crate) source: Source,
    /// It was written without a pattern.
    pub(crate) is_plain: bool,
}

impl Action {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|action| action.word() == word)
    }
}

impl Source {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Project => "project",
            Self::Session => "session",
            Self::Global => "global",
        }
    }
}

impl Rule {
    pub(crate) fn new(permission: &str, pattern: &str, action: Action, source: Source) -> Self {
        Self {
            permission: permission.to_owned(),
            pattern: pattern.to_owned(),
            action,
            source,
            is_plain: false,
        }
    }

    /// About everything of a kind.
    pub(crate) fn plain(permission: &str, action: Action, source: Source) -> Self {
        Self { is_plain: true, ..Self::new(permission, "*", action, source) }
    }

    /// As a refusal tells it: in the order in which it was written.
    pub(crate) fn as_written(&self) -> Value {
        if self.is_plain {
            json!({"permission": self.permission, "action": self.action.word(), "pattern": self.pattern})
        } else {
            self.wire()
        }
    }

    /// As the wire has it.
    pub(crate) fn wire(&self) -> Value {
        json!({"permission": self.permission, "pattern": self.pattern, "action": self.action.word()})
    }

    /// Who may do nothing at all may still be asked, by Kilo's server, whether they may go elsewhere.
    fn counts_for(&self, permission: &str) -> bool {
        let denies_everything = self.permission == "*" && self.pattern == "*" && self.action == Action::Deny;
        permission != "external_directory" || !denies_everything
    }

    /// That server does not take what is allowed in general for a word about files that hold secrets.
    fn is_too_broad(&self, permission: &str, path: &str) -> bool {
        let is_broad = self.permission == "*" || self.pattern == "*";
        permission == "read" && self.action == Action::Allow && is_broad && secret(path).is_some()
    }

    /// So it asks.
    fn careful(self, permission: &str, path: &str) -> Self {
        match secret(path) {
            Some(secret) if self.is_too_broad(permission, path) => {
                Self::new(permission, secret, Action::Ask, self.source)
            }
            _ => self,
        }
    }

    pub(crate) fn fits(&self, permission: &str, pattern: &str) -> bool {
        matches(permission, &self.permission) && matches(pattern, &self.pattern)
    }
}

/// The pattern of files that hold secrets, for one of them.
fn secret(path: &str) -> Option<&'static str> {
    let found = ["*.env", "*.env.*"].into_iter().find(|pattern| matches(path, pattern));
    found.filter(|_| !matches(path, "*.env.example"))
}

/// The rules of a configuration, in its order.
pub(crate) fn of_config(config: &Map<String, Value>, home: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut add = |permission: &str, pattern: Option<&str>, word: &Value| {
        if let Some(action) = word.as_str().and_then(Action::of) {
            rules.push(match pattern {
                Some(pattern) => Rule::new(permission, &at_home(pattern, home), action, Source::Project),
                None => Rule::plain(permission, action, Source::Project),
            });
        }
    };
    match config.get("permission") {
        Some(Value::Object(permissions)) => {
            for (permission, said) in permissions {
                match said {
                    Value::Object(patterns) => {
                        patterns.iter().for_each(|(pattern, word)| add(permission, Some(pattern), word));
                    }
                    word => add(permission, None, word),
                }
            }
        }
        Some(word) => add("*", None, word),
        None => {}
    }
    rules
}

/// A pattern may begin with the person's home.
pub(crate) fn at_home(pattern: &str, home: &str) -> String {
    let inside = ["~", "$HOME"].iter().find_map(|name| pattern.strip_prefix(name));
    match inside.filter(|inside| inside.is_empty() || inside.starts_with('/')) {
        Some(inside) => format!("{home}{inside}"),
        None => pattern.to_owned(),
    }
}

/// The rules of a session, as the wire has them.
pub(crate) fn of_session(permission: &Value) -> Vec<Rule> {
    let rule = |rule: &Value| {
        let action = Action::of(rule["action"].as_str()?)?;
        Some(Rule::new(rule["permission"].as_str()?, rule["pattern"].as_str()?, action, Source::Session))
    };
    permission.as_array().into_iter().flatten().filter_map(rule).collect()
}

/// The last rule that fits; where none does, the person is asked.
pub(crate) fn decide<'r>(
    rules: impl DoubleEndedIterator<Item = &'r Rule>,
    permission: &str,
    pattern: &str,
) -> Rule {
    let found = rules.rev().find(|rule| rule.fits(permission, pattern)).cloned();
    found.unwrap_or_else(|| Rule::new(permission, "*", Action::Ask, Source::Agent))
}

/// The same as Kilo's server decides it.
pub(crate) fn decide_carefully<'r>(
    rules: impl DoubleEndedIterator<Item = &'r Rule>,
    permission: &str,
    pattern: &str,
) -> Rule {
    let said = decide(rules.filter(|rule| rule.counts_for(permission)), permission, pattern);
    said.careful(permission, pattern)
}

/// The last of the rules that a person has left standing that fits, if its word counts there.
pub(crate) fn standing<'r>(
    rules: impl DoubleEndedIterator<Item = &'r Rule>,
    permission: &str,
    pattern: &str,
) -> Option<&'r Rule> {
    let mut counting = rules.filter(|rule| rule.counts_for(permission));
    let found = counting.rfind(|rule| rule.fits(permission, pattern));
    found.filter(|rule| !rule.is_too_broad(permission, pattern))
}

/// `*` is any text and `?` any letter; a last ` *` may be missing. Backslashes count as slashes.
pub fn matches(text: &str, pattern: &str) -> bool {
    // Most are words, and most of them other words.
    if !pattern.contains(['*', '?', '\\']) && !text.contains('\\') {
        return text == pattern;
    }
    if pattern == "*" {
        return true;
    }
    let (text, pattern) = (text.replace('\\', "/"), pattern.replace('\\', "/"));
    let text: Vec<char> = text.chars().collect();
    let whole: Vec<char> = pattern.chars().collect();
    let bare = pattern.strip_suffix(" *").map(|bare| bare.chars().collect::<Vec<char>>());
    fits(&text, &whole) || bare.is_some_and(|bare| fits(&text, &bare))
}

fn fits(text: &[char], pattern: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    // Where the last star stands, and how much of the text it takes.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place, at));
                place += 1;
            }
            Some(&letter) if letter == '?' || letter == text[at] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((stands, taken)) = star else { return false };
                star = Some((stands, taken + 1));
                (at, place) = (taken + 1, stands + 1);
            }
        }
    }
    pattern[place..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_words_let_nobody_read_secrets() {
        let all = Rule::new("*", "*", Action::Allow, Source::Project);
        let any = Rule::plain("read", Action::Allow, Source::Project);
        let narrow = Rule::new("read", "*.env", Action::Allow, Source::Project);
        for (rule, path, action) in [
            (&all, "deep/.env", Action::Ask),
            (&any, ".env.local", Action::Ask),
            (&any, ".env.example", Action::Allow),
            (&any, "env", Action::Allow),
            (&narrow, ".env", Action::Allow),
        ] {
            assert_eq!(rule.clone().careful("read", path).action, action, "{path}");
            assert_eq!(rule.clone().careful("edit", path).action, Action::Allow, "{path}");
        }
        let nothing = Rule::new("*", "*", Action::Deny, Source::Agent);
        assert!(nothing.counts_for("read") && !nothing.counts_for("external_directory"));
        assert!(all.counts_for("external_directory"));
    }

    #[test]
    fn a_pattern_fits_as_the_servers_say() {
        for (text, pattern, fits) in [
            ("ls", "ls *", true),
            ("ls -l", "ls *", true),
            ("lsof", "ls *", false),
            ("a/b/c.txt", "a/*.txt", true),
            ("a\\b", "a/b", true),
            ("abc", "a?c", true),
            ("ac", "a?c", false),
            ("a.c", "a.c", true),
            ("abc", "a.c", false),
            ("one\ntwo", "one*", true),
            ("", "*", true),
            ("git log", "git log", true),
            ("aXbXc", "a*b*c", true),
            ("aXbXd", "a*b*c", false),
        ] {
            assert_eq!(matches(text, pattern), fits, "{text:?} {pattern:?}");
        }
    }

    #[test]
    fn the_last_rule_that_fits_decides_and_without_one_the_person_does() {
        let config = json!({"permission": {"bash": {"*": "allow", "rm *": "deny"}, "edit": "ask"}});
        let rules = of_config(config.as_object().unwrap(), "/h");
        let said = |permission, pattern| decide(rules.iter(), permission, pattern).action;
        assert_eq!(said("bash", "rm -r x"), Action::Deny);
        assert_eq!(said("bash", "ls"), Action::Allow);
        assert_eq!(said("edit", "a.txt"), Action::Ask);
        assert_eq!(said("webfetch", "http://x"), Action::Ask);
        assert_eq!((at_home("~/x", "/h"), at_home("$HOME", "/h")), ("/h/x".to_owned(), "/h".to_owned()));
        assert_eq!((at_home("~x", "/h"), at_home("x/~", "/h")), ("~x".to_owned(), "x/~".to_owned()));
        assert_eq!(
            rules[2].as_written().to_string(),
            r#"{"permission":"edit","action":"ask","pattern":"*"}"#
        );
        assert_eq!(rules[1].wire(), json!({"permission": "bash", "pattern": "rm *", "action": "deny"}));
    }
}
