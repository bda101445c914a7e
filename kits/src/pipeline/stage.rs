//! The server whose agents do the work of the phases, by a script; a phase can be held at its question to the model, or
//! after its work and before its last word.

use crate::scene::{Troubled, our_fault};
use fixtures::ServerKind;
use fixtures::recording::{Body, Line, ModelPurpose};
use fixtures::scenario::{AgentStep, Ending, Fail, On, Scenario, Turn, User, Workspace};
use mock_server::{Options, StandIn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What a server asks its clients for; it lives as long as a case.
const PASSWORD: &str = "pipeline";
const GATE: &str = "held";

/// A phase: who works, at what.
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) agent: &'static str,
    /// A way back is made before.
    pub(super) is_destructive: bool,
    /// The files that its work changes.
    pub(super) files: &'static [&'static str],
    /// Of these, those that it removes.
    pub(super) removes: &'static [&'static str],
    line: &'static str,
    /// Its agent works beside a container of this image.
    pub(super) image: Option<&'static str>,
}

/// What the designer says last: a plan for those behind.
pub(super) const PLAN: &str =
    "The plan:\n1. Keep `app` on top: it's \"first\".\n2. $HOME and {issue} stay as they are.\n\n   - äöü";

/// All phases that a case may have, in their order.
pub(super) const PHASES: [Phase; 8] = [
    Phase {
        name: "designing",
        agent: "designer",
        is_destructive: false,
        files: &["docs/design.md"],
        removes: &[],
        line: "mkdir -p docs && echo designed >> docs/design.md",
        image: None,
    },
    Phase {
        name: "implementing",
        agent: "lead-developer",
        is_destructive: true,
        files: &["src/app.txt", "src/new.txt"],
        removes: &[],
        line: "echo implemented >> src/app.txt && echo new >> src/new.txt",
        image: None,
    },
    Phase {
        name: "polishing",
        agent: "lead-developer",
        is_destructive: true,
        files: &["src/app.txt"],
        removes: &[],
        line: "echo polished >> src/app.txt",
        image: None,
    },
    Phase {
        name: "fixing",
        agent: "the-fixer",
        is_destructive: true,
        files: &["src/app.txt"],
        removes: &[],
        line: "echo fixed >> src/app.txt",
        image: None,
    },
    // A name that git puts in quotes, a file that is no text, and one that goes.
    Phase {
        name: "styling",
        agent: "stylist",
        is_destructive: false,
        files: &["docs/über uns.md", "logo.bin", "old.txt"],
        removes: &["old.txt"],
        line: "mkdir -p docs && echo styled >> 'docs/über uns.md' && printf '\\000styled' >> logo.bin && rm old.txt",
        image: None,
    },
    Phase {
        name: "linking",
        agent: "linker",
        is_destructive: false,
        files: &["docs/linked.md"],
        removes: &[],
        line: "mkdir -p docs && cat lib/lib.txt >> docs/linked.md",
        image: None,
    },
    Phase {
        name: "checking",
        agent: "checker",
        is_destructive: false,
        files: &["docs/checked.md"],
        removes: &[],
        line: "mkdir -p docs && echo checked >> docs/checked.md",
        image: Some("tools"),
    },
    Phase {
        name: "testing",
        agent: "tester",
        is_destructive: false,
        files: &["docs/tests.md"],
        removes: &[],
        line: "mkdir -p docs && echo tested >> docs/tests.md",
        image: None,
    },
];

/// Where a phase is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Moment {
    /// The model was asked, and nothing is done yet.
    Asked,
    /// The work is done, and the agent has not said so.
    Worked,
}

/// A server that runs.
pub(super) struct Stage(StandIn);

impl Phase {
    pub(super) fn of(name: &str) -> Result<&'static Self, Troubled> {
        let known: Vec<&str> = PHASES.iter().map(|phase| phase.name).collect();
        let phase = PHASES.iter().find(|phase| phase.name == name);
        phase.ok_or_else(|| our_fault(fixtures::near_names::unknown("phase", name, &known)))
    }

    /// What every prompt of it holds.
    fn words(&self) -> String {
        words(self.name)
    }

    /// What its agent says last.
    fn last_words(&self) -> &'static str {
        if self.name == "designing" { PLAN } else { "Done." }
    }

    fn turn(&self, holds: &[(&str, Moment)], fails: Option<&str>) -> Turn {
        let held = |moment| holds.contains(&(self.name, moment));
        let gate = || AgentStep::Gate(GATE.to_owned());
        let mut steps = Vec::new();
        if held(Moment::Asked) {
            steps.push(gate());
        }
        let input = json!({"command": self.line, "description": "Work"});
        let input = input.as_object().cloned().unwrap_or_default();
        steps.push(AgentStep::Tool { tool: "bash".to_owned(), input });
        if held(Moment::Worked) {
            steps.push(gate());
        }
        steps.push(match fails == Some(self.name) {
            true => AgentStep::Fail(Fail {
                status: 400,
                retry_after: None,
                message: "the agent can't go on".to_owned(),
                headers: BTreeMap::new(),
                body: None,
            }),
            false => AgentStep::Say(self.last_words().to_owned()),
        });
        Turn { on: On { prompt_contains: self.words() }, steps }
    }
}

impl Stage {
    pub(super) async fn begin(
        root: &Path,
        holds: &[(&str, Moment)],
        fails: Option<&str>,
    ) -> Result<Self, Troubled> {
        let agents: Map<String, Value> = PHASES
            .iter()
            .map(|phase| (phase.agent.to_owned(), json!({"mode": "all", "permission": {"*": "allow"}})))
            .collect();
        let config = json!({"agent": agents, "permission": {"*": "allow"}});
        let scenario = Scenario {
            about: "Phases of an issue.".to_owned(),
            title: "An issue".to_owned(),
            summary: "An issue.".to_owned(),
            needs: Vec::new(),
            workspace: Workspace {
                config: config.as_object().cloned().unwrap_or_default(),
                ..Workspace::default()
            },
            pages: BTreeMap::new(),
            agent: PHASES.iter().map(|phase| phase.turn(holds, fails)).collect(),
            user: User { steps: Vec::new() },
        };
        let mut options = Options::scenario(ServerKind::Kilo, scenario);
        options.workspace = Some(root.to_owned());
        options.password = Some(PASSWORD.to_owned());
        // The folder is the case's own, and its worktrees are in it.
        options.allow_shell = true;
        options.allow_outside = true;
        let started = StandIn::start(options).await;
        started.map(Self).map_err(|error| our_fault(error.to_string()))
    }

    /// What a runner is told.
    pub(super) fn address(&self) -> Value {
        json!({"url": self.0.url(), "user": self.0.username(), "password": PASSWORD})
    }

    /// Waits until all of these are at their moment; whoever waits has a limit.
    pub(super) async fn come_to(&self, places: &[(&str, Moment)]) {
        let is_there = |lines: &[Line], (phase, moment): &(&str, Moment)| {
            let words = words(phase);
            let asked = lines.iter().filter(|line| is_question(line, &words)).count();
            asked >= if *moment == Moment::Asked { 1 } else { 2 }
        };
        self.0.journal().wait_until(|lines| places.iter().all(|place| is_there(lines, place))).await;
    }

    /// Whoever is held goes on.
    pub(super) fn open(&self) {
        self.0.open_all_gates();
    }

    /// Who was prompted where, in order.
    pub(super) fn prompted(&self) -> Vec<Value> {
        let lines = self.0.journal().lines();
        let mut sessions: BTreeMap<String, String> = BTreeMap::new();
        let mut prompted = Vec::new();
        for line in &lines {
            match line {
                Line::Response(answer) => {
                    let Some(told) = json_of(&answer.body) else { continue };
                    if let (Some(id), Some(folder)) = (told["id"].as_str(), told["directory"].as_str()) {
                        sessions.insert(id.to_owned(), folder.to_owned());
                    }
                }
                Line::Request(asked) if asked.method == "POST" => {
                    let Some(rest) = asked.path.strip_prefix("/session/") else { continue };
                    let Some((session, "message" | "prompt_async")) = rest.split_once('/') else { continue };
                    let Some(body) = json_of(&asked.body) else { continue };
                    let text = body["parts"].to_string();
                    let phase = PHASES.iter().find(|phase| text.contains(&phase.words()));
                    prompted.push(json!({
                        "phase": phase.map(|phase| phase.name), "agent": body["agent"],
                        "directory": sessions.get(session), "plan": text_of(&body["parts"]).contains(PLAN),
                    }));
                }
                _ => {}
            }
        }
        prompted
    }

    /// It dies with whoever uses it.
    pub(super) async fn end(self) {
        self.0.end(Ending::Kill).await;
    }
}

fn words(phase: &str) -> String {
    format!("phase {phase}")
}

fn json_of(body: &Body) -> Option<Value> {
    body.json().filter(Value::is_object)
}

fn text_of(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn is_question(line: &Line, words: &str) -> bool {
    let Line::Model(call) = line else { return false };
    let prompt = call.messages.iter().rfind(|message| message["role"] == "user");
    call.purpose == ModelPurpose::Turn
        && prompt.is_some_and(|prompt| prompt["content"].to_string().contains(words))
}
