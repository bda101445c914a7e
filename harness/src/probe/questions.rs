//! What each agent is asked to do, so that what it may do shows: a line for the shell, a file, work for another agent.
//! Everything is harmless, because whatever is allowed happens.

use super::declared::{Declarations, Declared};
use fixtures::scenario::{AgentStep, On, Scenario, Turn, User, Workspace};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The agent of ours that may do everything, and gives work to those that no person prompts.
pub(super) const CALLER: &str = "standin-probe";
/// What the last one in a row is told.
const LEAF: &str = "[probe-leaf]";
/// Who takes work in every release.
const ANYBODY: &str = "general";

/// How an agent is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A person prompts it.
    Prompted,
    /// Another agent gives it work.
    Called,
}

/// What it is told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    Shell,
    Write,
    /// Give work to this agent.
    Task(String),
}

/// One thing that one agent is told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    number: usize,
    pub(super) agent: String,
    pub(super) role: Role,
    pub(super) deed: Deed,
}

impl Role {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Prompted => "prompted",
            Self::Called => "called",
        }
    }
}

impl Deed {
    /// The tool that does it.
    pub(super) fn tool(&self) -> &'static str {
        match self {
            Self::Shell => "bash",
            Self::Write => "write",
            Self::Task(_) => "task",
        }
    }

    /// The permission that it needs.
    pub(super) fn permission(&self) -> &'static str {
        match self {
            Self::Shell => "bash",
            Self::Write => "edit",
            Self::Task(_) => "task",
        }
    }
}

impl Question {
    /// What tells its prompts from all others.
    pub(super) fn words(&self) -> String {
        format!("[probe {}]", self.number)
    }

    /// Who is prompted for it, and with what.
    pub(super) fn prompt(&self) -> (&str, String) {
        match self.role {
            Role::Prompted => (&self.agent, self.words()),
            Role::Called => (CALLER, format!("[probe-call {}]", self.number)),
        }
    }

    /// What a rule about it is held against.
    pub(super) fn object(&self) -> String {
        match &self.deed {
            Deed::Shell => format!("echo standin-probe-{}", self.number),
            Deed::Write => format!("standin-probe-{}.txt", self.number),
            Deed::Task(agent) => agent.clone(),
        }
    }

    fn turns(&self) -> Vec<Turn> {
        let input = match &self.deed {
            Deed::Shell => json!({"command": self.object(), "description": "Say something"}),
            Deed::Write => {
                json!({"filePath": format!("${{workspace}}/{}", self.object()), "content": "probe\n"})
            }
            Deed::Task(agent) => work(agent, LEAF),
        };
        let own = turn(&self.words(), self.deed.tool(), input);
        match self.role {
            Role::Prompted => vec![own],
            Role::Called => vec![own, turn(&self.prompt().1, "task", work(&self.agent, &self.words()))],
        }
    }
}

fn work(agent: &str, prompt: &str) -> Value {
    json!({"description": "Probe", "prompt": prompt, "subagent_type": agent})
}

fn turn(words: &str, tool: &str, input: Value) -> Turn {
    let input = input.as_object().cloned().unwrap_or_default();
    let steps = vec![AgentStep::Tool { tool: tool.to_owned(), input }, AgentStep::Say("Done.".to_owned())];
    Turn { on: On { prompt_contains: words.to_owned() }, steps }
}

/// All that may be asked about these agents, each both ways; which of them make sense, the server's list says.
pub(super) fn questions(all: &Declarations, wanted: &[String]) -> Vec<Question> {
    let mut questions = vec![base()];
    for agent in all.agents.values().filter(|agent| is_wanted(agent, wanted)) {
        for role in [Role::Prompted, Role::Called] {
            let mut deeds = vec![Deed::Shell];
            if all.decision(agent, "edit", "standin-probe.txt").is_some() {
                deeds.push(Deed::Write);
            }
            deeds.extend(targets(all, agent).into_iter().map(Deed::Task));
            for deed in deeds {
                let number = questions.len();
                questions.push(Question { number, agent: agent.name.clone(), role, deed });
            }
        }
    }
    questions
}

/// What is offered to one who may do everything.
fn base() -> Question {
    Question { number: 0, agent: CALLER.to_owned(), role: Role::Prompted, deed: Deed::Shell }
}

fn is_wanted(agent: &Declared, wanted: &[String]) -> bool {
    !agent.is_disabled && (wanted.is_empty() || wanted.contains(&agent.name))
}

/// Of those that are told apart by the agent's rules, one each.
fn targets(all: &Declarations, agent: &Declared) -> Vec<String> {
    let takes_work = |other: &&Declared| {
        other.name != agent.name
            && !other.is_disabled
            && other.mode.as_ref().is_none_or(|(mode, _)| mode != "primary")
    };
    let names = all.agents.values().filter(takes_work).map(|other| other.name.as_str());
    let (mut targets, mut seen) = (Vec::new(), Vec::new());
    for name in names.chain([ANYBODY]) {
        let rule = all.decision(agent, "task", name);
        if !seen.contains(&rule) {
            seen.push(rule);
            targets.push(name.to_owned());
        }
    }
    targets
}

/// The whole of it, for a scripted model and a workspace.
pub(super) fn scenario(
    files: &BTreeMap<String, String>,
    config: Map<String, Value>,
    all: &[Question],
) -> Scenario {
    let mut agent: Vec<Turn> = all.iter().flat_map(Question::turns).collect();
    let leaf =
        Turn { on: On { prompt_contains: LEAF.to_owned() }, steps: vec![AgentStep::Say("Done.".to_owned())] };
    agent.push(leaf);
    Scenario {
        about: "Agents, asked what they may do.".to_owned(),
        title: "A probe".to_owned(),
        summary: "A probe.".to_owned(),
        needs: Vec::new(),
        workspace: Workspace { files: files.clone(), config, plain: false },
        pages: BTreeMap::new(),
        agent,
        user: User { steps: Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::super::declared::tests::folder;
    use super::*;

    #[test]
    fn each_rule_about_work_is_tried_once() {
        let text = |rule: &str| format!("---\npermission:\n  task: {rule}\n---\n");
        let all = Declarations::read(&folder(&[
            (".kilo/agents/a.md", &text("{\"*\": deny, c: allow}")),
            (".kilo/agents/b.md", "---\nmode: subagent\n---\n"),
            (".kilo/agents/c.md", "---\nmode: subagent\n---\n"),
            (".kilo/agents/p.md", "---\nmode: primary\n---\n"),
        ]));
        assert_eq!(targets(&all, &all.agents["a"]), ["b", "c"]);
        assert_eq!(targets(&all, &all.agents["b"]), ["a"]);
        let asked = questions(&all, &["a".to_owned()]);
        assert_eq!(asked.len(), 1 + 2 * 3);
        let mut words: Vec<String> =
            asked.iter().flat_map(Question::turns).map(|it| it.on.prompt_contains).collect();
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count, "no prompt is taken for another");
    }
}
