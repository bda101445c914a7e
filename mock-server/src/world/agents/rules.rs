//! The rules of the agents: those of the release as its recording tells them, and what the settings add. Each release
//! has its places for that, and some say once more, behind the settings, what an agent must never do.

use super::super::boards;
use super::super::rules::{Action, Rule, Source, matches, of_config};
use super::super::tools::place::{relative, resolved};
use super::Places;
use crate::profile::{Profile, SettingsPlace};
use crate::roster::Roster;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What such agents may do beyond reading, even where the settings would take it from others.
const DANGEROUS: [&str; 7] =
    ["bash", "task", "notebook_edit", "notebook_execute", "write", "agent_manager", "repo_clone"];

/// The rules of everybody, in one place.
#[derive(Debug)]
pub(super) struct Rulebook<'a> {
    profile: &'static Profile,
    roster: &'a Roster,
    places: &'a Places,
    /// What the settings say to all.
    settings: Vec<Rule>,
    /// A rule for the tools of each server of tools, for agents that are told about them.
    servers: Vec<Rule>,
    /// What all agents begin with.
    base: Vec<Rule>,
    /// The rule that all agents end with: they may read what was too long to be shown.
    last: Option<Rule>,
    /// The agents have boards to write on.
    has_boards: bool,
    /// The agents of the release as they are told in this place.
    pub(super) told: Vec<Value>,
}

impl<'a> Rulebook<'a> {
    pub(super) fn of(
        profile: &'static Profile,
        roster: &'a Roster,
        settings: &Map<String, Value>,
        places: &'a Places,
    ) -> Self {
        let servers = settings.get("mcp").and_then(Value::as_object).into_iter().flatten();
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let servers = servers.map(|(name, _)| {
            let name: String = name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
            Rule::plain(&format!("{name}_*"), Action::Ask, Source::Agent)
        });
        let mut book = Self {
            profile,
            roster,
            places,
            settings: of_config(settings, &places.home)
                .into_iter()
                .map(|rule| places.claimed(rule))
                .collect(),
            servers: servers.collect(),
            base: Vec::new(),
            last: None,
            has_boards: boards::are_there(settings),
            told: Vec::new(),
        };
        book.told = roster.agents.iter().map(|told| book.moved(told)).collect();
        let lists: Vec<Vec<Rule>> = book.told.iter().map(|told| book.recorded(told)).collect();
        // Some agents may do nothing at all, and begin with that.
        let mut lists = lists.into_iter().filter(|list| list.len() > 1);
        let first = lists.next().unwrap_or_default();
        book.last = first.last().cloned();
        let shared = |base: Vec<Rule>, list: Vec<Rule>| {
            base.into_iter().zip(list).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
        };
        book.base = lists.fold(first, shared);
        book
    }

    /// What was recorded of an agent, with the folders of this place.
    fn moved(&self, told: &Value) -> Value {
        let (roster, Places { top, home, skills, .. }) = (self.roster, self.places);
        let mut moved = told.clone();
        if let Some(rules) = moved["permission"].as_array_mut().filter(|_| !self.has_boards) {
            rules.retain(|rule| !boards::TOOLS.iter().any(|tool| rule["permission"] == *tool));
        }
        each_text(&mut moved, &|text| {
            if text.contains(&roster.workspace) || text.contains(&roster.home) {
                *text = text.replace(&roster.workspace, top).replace(&roster.home, home);
            }
        });
        let own = format!("{home}/tmp/{}/*", self.profile.server.word());
        if let Some(rules) = moved["permission"].as_array_mut() {
            // Who may go to the server's own folder may go to those of the skills.
            let spread = |rule: Value| {
                let skills = skills.iter().filter(|_| rule["pattern"] == own.as_str());
                let more: Vec<Value> =
                    skills.map(|skill| with_pattern(&rule, &format!("{skill}/*"))).collect();
                std::iter::once(rule).chain(more)
            };
            *rules = std::mem::take(rules).into_iter().flat_map(spread).collect();
        }
        for rule in moved["permission"].as_array_mut().into_iter().flatten() {
            if let Some(way) = rule["pattern"].as_str().and_then(|pattern| self.way(pattern)) {
                rule["pattern"] = json!(way);
            }
        }
        moved
    }

    /// A way from the recorded workspace out of it and into the recorded home leads into this home.
    fn way(&self, pattern: &str) -> Option<String> {
        let path = pattern.starts_with("../").then(|| resolved(&self.roster.workspace, pattern))?;
        let inside = path.strip_prefix(&self.roster.home)?;
        Some(relative(&self.places.top, &format!("{}{inside}", self.places.home)))
    }

    fn recorded(&self, told: &Value) -> Vec<Rule> {
        let word = |rule: &Value, key: &str| rule[key].as_str().unwrap_or_default().to_owned();
        let list: Vec<&Value> = told["permission"].as_array().into_iter().flatten().collect();
        let is_about = |at: Option<usize>, permission: &str| {
            at.and_then(|at| list.get(at)).is_some_and(|rule| rule["permission"] == permission)
        };
        let rule = |(at, rule): (usize, &&Value)| {
            let (permission, pattern) = (word(rule, "permission"), word(rule, "pattern"));
            let action = Action::of(&word(rule, "action")).unwrap_or(Action::Ask);
            // A permission with several rules was written with its patterns.
            let has_patterns =
                is_about(at.checked_sub(1), &permission) || is_about(Some(at + 1), &permission);
            if pattern == "*" && !has_patterns {
                return Rule::plain(&permission, action, Source::Agent);
            }
            Rule::new(&permission, &pattern, action, Source::Agent)
        };
        list.iter().enumerate().map(rule).collect()
    }

    /// What an agent begins with that only the settings know.
    pub(super) fn of_everybody(&self) -> Vec<Rule> {
        self.base.iter().chain(&self.settings).cloned().collect()
    }

    /// The rules of an agent of the release, without the last.
    pub(super) fn of_release(&self, told: &Map<String, Value>) -> Vec<Rule> {
        let mut own = self.recorded(&Value::Object(told.clone()));
        own.pop_if(|rule| Some(&*rule) == self.last.as_ref());
        let settings = || self.settings.iter().cloned();
        let place = self.place_for(told.get("name").and_then(Value::as_str).unwrap_or_default());
        let at = match place {
            SettingsPlace::Nowhere => return own,
            SettingsPlace::Last => own.len(),
            SettingsPlace::TwiceBefore(permission) => {
                let at = own.iter().position(|rule| rule.permission == permission).unwrap_or(own.len());
                own.splice(at..at, settings().chain(settings()));
                return own;
            }
            SettingsPlace::BeforeLast { permission, .. } => start_of_last(&own, permission),
            SettingsPlace::Guarded { .. } => return self.guarded(own, place),
        };
        own.splice(at..at, settings());
        own.extend(self.forbidden(place, &self.settings));
        own
    }

    /// What the settings say to one agent stands behind all else; then comes again what it must never do.
    pub(super) fn add(&self, name: &str, is_native: bool, rules: &mut Vec<Rule>, own: Vec<Rule>) {
        let place = if is_native { self.place_for(name) } else { SettingsPlace::Last };
        let more = self.forbidden(place, &self.settings).into_iter().chain(self.forbidden(place, &own));
        let again = match place {
            SettingsPlace::BeforeLast { permission, forbids: true } => self.last_of(name, permission),
            SettingsPlace::Guarded { plans: true } => self.last_of(name, "edit"),
            _ => return rules.extend(own),
        };
        let more: Vec<Rule> = match place {
            SettingsPlace::Guarded { .. } => {
                let edits = |rules: &[Rule]| forbidden_edits(rules);
                edits(&self.settings).into_iter().chain(edits(&own)).collect()
            }
            _ => more.collect(),
        };
        rules.extend(own);
        rules.extend(again);
        rules.extend(more);
    }

    /// All agents may do this in the end, unless somebody forbids just that.
    pub(super) fn close(&self, name: &str, rules: &mut Vec<Rule>) {
        let Some(last) = &self.last else { return };
        let forbids = |rule: &Rule| {
            (&rule.permission, &rule.pattern, rule.action) == (&last.permission, &last.pattern, Action::Deny)
        };
        if self.place_for(name) != SettingsPlace::Nowhere && !rules.iter().any(forbids) {
            rules.push(last.clone());
        }
    }

    fn place_for(&self, name: &str) -> SettingsPlace {
        let known = self.profile.settings_places.iter().find(|(agent, _)| *agent == name);
        known.map_or(SettingsPlace::Last, |(_, place)| *place)
    }

    /// The rules about a permission that end those of an agent of the release.
    fn last_of(&self, name: &str, permission: &str) -> Vec<Rule> {
        let told = self.told.iter().find(|told| told["name"] == name);
        let mut own = told.map(|told| self.recorded(told)).unwrap_or_default();
        own.pop_if(|rule| Some(&*rule) == self.last.as_ref());
        own.split_off(start_of_last(&own, permission))
    }

    /// An agent that only reads: what it is offered, the settings, what of both holds for it, and what never does.
    fn guarded(&self, mut own: Vec<Rule>, place: SettingsPlace) -> Vec<Rule> {
        let forbids_all = |rule: &Rule| rule.permission == "*" && rule.action == Action::Deny;
        let mut starts = own.iter().enumerate().filter(|(_, rule)| forbids_all(rule)).map(|(at, _)| at);
        let (Some(first), Some(second)) = (starts.next(), starts.next()) else { return own };
        let tail = own.split_off(start_of_last(&own, "edit"));
        own.truncate(second);
        let boards = own.iter().skip(first).position(|rule| rule.permission == "board_read");
        let at = boards.map_or(own.len(), |at| first + at);
        own.splice(at..at, self.servers.clone());
        let offered = own[first..].to_vec();
        own.extend(self.settings.iter().cloned());
        own.extend(self.mixed(&offered));
        own.extend(tail);
        own.extend(self.forbidden(place, &self.settings));
        own
    }

    /// What is offered, what the settings say about just that, and once more what is dangerous.
    fn mixed(&self, offered: &[Rule]) -> Vec<Rule> {
        let is_server = |rule: &Rule| self.servers.iter().any(|server| server.permission == rule.permission);
        let is_restricted = |name: &str| name != "task" && DANGEROUS.contains(&name);
        let mut seen = BTreeSet::new();
        let free: Vec<&str> = offered
            .iter()
            .filter(|rule| rule.permission != "*" && !is_server(rule) && !is_restricted(&rule.permission))
            .map(|rule| rule.permission.as_str())
            .filter(|name| seen.insert(*name))
            .collect();
        let begins = |rule: &&Rule| rule.permission == "*" || seen.contains(rule.permission.as_str());
        let about = |rule: &Rule| -> Vec<Rule> {
            let of = free.iter().filter(|name| matches(name, &rule.permission));
            // Who says it of all has not said it of this one: then it is the agent's.
            let source = |name: &str| if rule.permission == name { rule.source } else { Source::Agent };
            of.map(|name| Rule { permission: (*name).to_owned(), source: source(name), ..rule.clone() })
                .collect()
        };
        let is_said = |rule: &Rule| {
            self.settings
                .iter()
                .any(|said| said.permission == rule.permission && said.pattern == rule.pattern)
        };
        let ends = |rule: &&Rule| {
            let is_danger = rule.action == Action::Deny && DANGEROUS.contains(&rule.permission.as_str());
            rule.permission == "bash"
                || is_server(rule)
                || (is_danger && (rule.pattern == "*" || !is_said(rule)))
        };
        let begin = offered.iter().filter(begins).cloned();
        let said = self.settings.iter().flat_map(about);
        begin.chain(said).chain(offered.iter().filter(ends).cloned()).collect()
    }

    /// What somebody forbids, where that is said once more.
    fn forbidden(&self, place: SettingsPlace, rules: &[Rule]) -> Vec<Rule> {
        let denials = || rules.iter().filter(|rule| rule.action == Action::Deny).cloned();
        match place {
            SettingsPlace::BeforeLast { forbids: true, .. } | SettingsPlace::Guarded { plans: false } => {
                denials().collect()
            }
            SettingsPlace::Guarded { plans: true } => {
                let others = denials().filter(|rule| rule.permission != "edit");
                others.chain(forbidden_edits(rules)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Does this to all text of a value.
fn each_text(value: &mut Value, does: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => does(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, does)),
        Value::Object(map) => map.values_mut().for_each(|item| each_text(item, does)),
        _ => {}
    }
}

fn with_pattern(rule: &Value, pattern: &str) -> Value {
    let mut rule = rule.clone();
    rule["pattern"] = json!(pattern);
    rule
}

/// Where the rules about a permission begin that end a list.
fn start_of_last(rules: &[Rule], permission: &str) -> usize {
    rules.iter().rposition(|rule| rule.permission != permission).map_or(0, |at| at + 1)
}

/// Edits that stay forbidden: a rule about all of them only if nothing behind it allows any.
fn forbidden_edits(rules: &[Rule]) -> Vec<Rule> {
    let edits: Vec<&Rule> = rules.iter().filter(|rule| rule.permission == "edit").collect();
    let stays = |at: usize, rule: &Rule| {
        rule.action == Action::Deny
            && (rule.pattern != "*" || edits[at + 1..].iter().all(|later| later.action == Action::Deny))
    };
    edits.iter().enumerate().filter(|(at, rule)| stays(*at, rule)).map(|(_, rule)| (*rule).clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    #[test]
    fn without_settings_the_rules_are_those_that_were_recorded() {
        for server in [ServerKind::Kilo, ServerKind::Opencode] {
            let roster = Roster::of(server);
            let settings = Map::new();
            let (top, home) = (roster.workspace.clone(), roster.home.clone());
            let places = Places { top, home, ..Places::default() };
            let book = Rulebook::of(Profile::of(server), roster, &settings, &places);
            for told in &roster.agents {
                let mut rules = book.of_release(told.as_object().unwrap());
                book.close(told["name"].as_str().unwrap(), &mut rules);
                let wire: Value = rules.iter().map(Rule::wire).collect();
                assert_eq!(wire, told["permission"], "{server} {}", told["name"]);
            }
        }
    }

    #[test]
    fn edits_stay_forbidden_unless_something_later_allows_one() {
        let rule = |pattern: &str, action| Rule::new("edit", pattern, action, Source::Project);
        let all = rule("*", Action::Deny);
        assert_eq!(forbidden_edits(std::slice::from_ref(&all)), vec![all.clone()]);
        let (one, other) = (rule("*.md", Action::Allow), rule("x", Action::Deny));
        assert_eq!(forbidden_edits(&[all, one, other.clone()]), vec![other]);
    }
}
