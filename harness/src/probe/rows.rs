//! Declared beside effective, a row for each thing that can be told apart.

use super::declared::{Declarations, Declared, Spot, Word, permission_of};
use super::effects::{Listed, Outcome, Seen};
use super::questions::{Deed, Question, Role};
use serde::Serialize;
use std::collections::BTreeSet;

/// How a row begins that says nothing.
pub(super) const UNSEEN: &str = "not seen: ";
/// What is seen of an agent that the server does not list.
const UNKNOWN: &str = "unknown to the server";

/// One thing that is declared of an agent, or seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The agent.
    pub agent: String,
    /// How it was reached: `prompted` by a person, or `called` by another agent; `listed` by the server.
    pub role: &'static str,
    /// What it is about.
    pub about: String,
    /// What its files say; nothing where they say nothing.
    pub declared: Option<String>,
    /// What was seen.
    pub effective: String,
    /// Do the two agree? Nothing where nothing is declared.
    pub holds: Option<bool>,
    /// Where it is declared, `file:line`.
    pub at: Option<String>,
}

impl Row {
    /// Was the time over before anything could be seen?
    pub(super) fn is_unseen(&self) -> bool {
        self.effective.starts_with(UNSEEN)
    }
}

/// What the server lists of the declared agents: that they are there, and how they can be reached.
pub(super) fn of_list(all: &Declarations, listed: &[Listed]) -> Vec<Row> {
    let row = |agent: &Declared, about: &str, declared: &str, effective: String, at: &Spot| Row {
        agent: agent.name.clone(),
        role: "listed",
        about: about.to_owned(),
        declared: Some(declared.to_owned()),
        holds: Some(effective == declared),
        effective,
        at: Some(told(at)),
    };
    let rows = all.agents.values().filter_map(|agent| {
        let known = listed.iter().find(|known| known.name == agent.name);
        if agent.is_disabled {
            let says = agent.keys.iter().rfind(|(key, _)| key == "disable").map(|(_, at)| at);
            let effective = if known.is_some() { "there" } else { UNKNOWN }.to_owned();
            let row = row(agent, "agent", "disabled", effective, says.unwrap_or(&agent.at));
            return Some(Row { holds: Some(known.is_none()), ..row });
        }
        let Some(known) = known else {
            return Some(row(agent, "agent", "there", UNKNOWN.to_owned(), &agent.at));
        };
        let (mode, at) = agent.mode.as_ref()?;
        Some(row(agent, "mode", mode, known.mode.clone(), at))
    });
    rows.collect()
}

/// What came of one question.
pub(super) fn of_deed(all: &Declarations, agent: &Declared, question: &Question, seen: &Seen) -> Row {
    let said = all.decision(agent, question.deed.permission(), &question.object());
    let about = match &question.deed {
        Deed::Shell => "bash".to_owned(),
        Deed::Write => "edit".to_owned(),
        Deed::Task(other) => format!("task {other}"),
    };
    let own = question.deed.permission();
    let (effective, word) = match &seen.outcome {
        Outcome::Done => ("allow".to_owned(), Some(Word::Allow)),
        Outcome::Asked(permission) if permission == own => ("ask".to_owned(), Some(Word::Ask)),
        Outcome::Asked(other) => (format!("asks for {other}"), None),
        Outcome::Refused(why) => (format!("deny: {why}"), Some(Word::Deny)),
        Outcome::NotOffered => ("deny: not offered".to_owned(), Some(Word::Deny)),
        Outcome::Failed(why) => (format!("failed: {why}"), None),
        Outcome::Unseen(why) => (format!("{UNSEEN}{why}"), None),
    };
    let is_seen = !matches!(seen.outcome, Outcome::Unseen(_));
    Row {
        agent: agent.name.clone(),
        role: question.role.word(),
        about,
        declared: said.map(|said| said.word.word().to_owned()),
        effective,
        holds: said.filter(|_| is_seen).map(|said| Some(said.word) == word),
        at: said.map(|said| told(&said.at)),
    }
}

/// Which tools the model is offered, by what is declared of their permissions; `base` is offered to one who may do
/// everything.
pub(super) fn of_tools(
    all: &Declarations,
    agent: &Declared,
    role: Role,
    seen: &Seen,
    base: &[String],
) -> Vec<Row> {
    let permissions: BTreeSet<&str> = base.iter().map(|tool| permission_of(tool)).collect();
    let mut rows = Vec::new();
    for permission in permissions {
        let Some((expected, at)) = expected(all, agent, permission) else { continue };
        let tools: Vec<&String> = base.iter().filter(|tool| permission_of(tool) == permission).collect();
        let offered = tools.iter().any(|tool| seen.tools.contains(tool));
        let word = |offered: bool| if offered { "offered" } else { "hidden" };
        rows.push(Row {
            agent: agent.name.clone(),
            role: role.word(),
            about: format!("tool {permission}"),
            declared: Some(word(expected).to_owned()),
            effective: word(offered).to_owned(),
            holds: Some(expected == offered),
            at: Some(told(&at)),
        });
    }
    rows
}

/// How hard the model is told to think.
pub(super) fn of_effort(all: &Declarations, agent: &Declared, role: Role, seen: &Seen) -> Row {
    let effort = agent.effort.as_ref().or_else(|| all.index.get(&agent.name));
    let effective = seen.effort.clone().unwrap_or_else(|| "none".to_owned());
    Row {
        agent: agent.name.clone(),
        role: role.word(),
        about: "effort".to_owned(),
        declared: effort.map(|effort| effort.word.clone()),
        holds: effort.map(|effort| effort.word == effective),
        effective,
        at: effort.map(|effort| told(&effort.at)),
    }
}

/// Is a tool to be offered? A plain reading: not if everything that its rules tell apart is denied. An allow counts
/// only where the permission is named.
fn expected(all: &Declarations, agent: &Declared, permission: &str) -> Option<(bool, Spot)> {
    let named: Vec<_> = all.about(agent, permission).collect();
    let samples =
        named.iter().filter_map(|said| said.pattern.as_deref()).map(|it| it.replace(['*', '?'], "x"));
    let samples = samples.chain(["standin-probe-other".to_owned()]);
    let said: Vec<_> = samples.filter_map(|sample| all.decision(agent, permission, &sample)).collect();
    let last = said.last()?;
    if said.iter().all(|said| said.word == Word::Deny) {
        // A narrow deny alone takes nothing away.
        return said.iter().any(|said| said.is_about_all()).then(|| (false, last.at.clone()));
    }
    let allowed = said.iter().find(|said| said.word != Word::Deny && said.permission == permission)?;
    Some((true, allowed.at.clone()))
}

fn told(at: &Spot) -> String {
    format!("{}:{}", at.file, at.line)
}

#[cfg(test)]
mod tests {
    use super::super::declared::tests::folder;
    use super::*;

    fn expects(rule: &str, permission: &str) -> Option<bool> {
        let text = format!("---\npermission: {rule}\n---\n");
        let all = Declarations::read(&folder(&[(".kilo/agents/a.md", &text)]));
        expected(&all, &all.agents["a"], permission).map(|(offered, _)| offered)
    }

    #[test]
    fn a_tool_is_expected_as_its_rules_are_read() {
        assert_eq!(expects("{task: deny}", "task"), Some(false));
        assert_eq!(expects("{task: {\"*\": deny, subagent: deny}}", "task"), Some(false));
        assert_eq!(expects("{task: {\"*\": deny, helper: allow}}", "task"), Some(true));
        assert_eq!(expects("{task: {helper: deny}}", "task"), None);
        assert_eq!(expects("{\"*\": deny, read: allow}", "bash"), Some(false));
        assert_eq!(expects("{\"*\": deny, read: allow}", "read"), Some(true));
        assert_eq!(expects("{\"*\": allow}", "bash"), None);
    }
}
