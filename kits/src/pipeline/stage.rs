//! The server whose agents do the work of the phases, by a script; a phase can be held at its question to the model, or
//! after its work and before its last word.

use super::phases::{PHASES, Phase};
use crate::scene::{Troubled, our_fault};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
pub(super) const PASSWORD: &str = "canary-of-the-servers-password";
const GATE: &str = "held";
/// Whose agent makes the plan.
const PLANNING: &str = "designing";

/// What its agent says before it works: no part of the plan.
const FIRST_WORDS: &str = "First I look at what stands there.";

/// How a plan begins that is handed on: with spaces that belong to it.
const PLAN_BEGINS: &str =
    "   - Keep `app` on top: it's \"first\".\n   - $HOME and {issue} stay as they are.\n\n";
/// How it ends, far behind.
const PLAN_ENDS: &str = "Last of all: äöü";
/// How many more steps it has: it is longer than what some allow a prompt.
const PLAN_STEPS: usize = 120;

/// Where a phase is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Moment {
    /// The model was asked, and nothing is done yet.
    Asked,
    /// The work is done, and the agent has not said so.
    Worked,
    /// Its container runs, and `docker` has not said so.
    Contained,
}

/// Whose issue it is: the designers of two issues make two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Own,
    Another,
}

/// A server that runs.
pub(super) struct Stage {
    server: StandIn,
    whose: Whose,
}

impl Phase {
    /// What every prompt of it holds.
    fn words(&self) -> String {
        words(self.name)
    }

    /// What its agent says last.
    fn last_words(&self, whose: Whose) -> String {
        if self.name == PLANNING { plan(whose) } else { "Done.".to_owned() }
    }

    fn turn(&self, whose: Whose, holds: &[(&str, Moment)], fails: Option<&str>) -> Turn {
        let held = |moment| holds.contains(&(self.name, moment));
        let gate = || AgentStep::Gate(GATE.to_owned());
        let mut steps = Vec::new();
        if held(Moment::Asked) {
            steps.push(gate());
        }
        if self.name == PLANNING {
            steps.push(AgentStep::Say(FIRST_WORDS.to_owned()));
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
            false => AgentStep::Say(self.last_words(whose)),
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
        Self::begin_for(Whose::Own, root, holds, fails).await
    }

    pub(super) async fn begin_for(
        whose: Whose,
        root: &Path,
        holds: &[(&str, Moment)],
        fails: Option<&str>,
    ) -> Result<Self, Troubled> {
        let agents: Map<String, Value> = PHASES
            .iter()
            .map(|phase| {
                let bash = if phase.asks { "ask" } else { "allow" };
                let rules = json!({"*": "allow", "bash": bash});
                (phase.agent.to_owned(), json!({"mode": "all", "permission": rules}))
            })
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
            agent: PHASES.iter().map(|phase| phase.turn(whose, holds, fails)).collect(),
            user: User { steps: Vec::new() },
        };
        let mut options = Options::scenario(ServerKind::Kilo, scenario);
        options.workspace = Some(root.to_owned());
        options.password = Some(PASSWORD.to_owned());
        // The folder is the case's own, and its worktrees are in it.
        options.allow_shell = true;
        options.allow_outside = true;
        let server = StandIn::start(options).await.map_err(|error| our_fault(error.to_string()))?;
        Ok(Self { server, whose })
    }

    /// What a runner is told.
    pub(super) fn address(&self) -> Value {
        json!({"url": self.server.url(), "user": self.server.username(), "password": PASSWORD})
    }

    /// How what a runner must keep to itself may be spelled: as it is, and as it stands in a request's header.
    pub(super) fn secrets(&self) -> [String; 2] {
        [PASSWORD.to_owned(), STANDARD.encode(format!("{}:{PASSWORD}", self.server.username()))]
    }

    /// Waits until all of these are at their moment; whoever waits has a limit.
    pub(super) async fn come_to(&self, places: &[(&str, Moment)]) {
        let is_there = |lines: &[Line], (phase, moment): &(&str, Moment)| {
            let words = words(phase);
            let asked = lines.iter().filter(|line| is_question(line, &words)).count();
            asked >= if *moment == Moment::Asked { 1 } else { 2 }
        };
        self.server.journal().wait_until(|lines| places.iter().all(|place| is_there(lines, place))).await;
    }

    /// Whoever is held goes on.
    pub(super) fn open(&self) {
        self.server.open_all_gates();
    }

    /// Who was prompted where, in order.
    pub(super) fn prompted(&self) -> Vec<Value> {
        let lines = self.server.journal().lines();
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
                        "directory": sessions.get(session), "plan": handed(&text_of(&body["parts"]), self.whose),
                    }));
                }
                _ => {}
            }
        }
        prompted
    }

    /// It dies with whoever uses it.
    pub(super) async fn end(self) {
        self.server.end(Ending::Kill).await;
    }
}

/// What the designer says last: a plan for those behind. Two blanks at the end of a line are a line break in Markdown.
fn plan(whose: Whose) -> String {
    let plan = if whose == Whose::Own { "the plan" } else { "the other plan" };
    let steps = (1..=PLAN_STEPS).map(|step| format!("{step}. Do what step {step} of {plan} says.  \n"));
    format!("{PLAN_BEGINS}{}{PLAN_ENDS}", steps.collect::<String>())
}

/// What became of the plan in the words of a prompt.
fn handed(text: &str, whose: Whose) -> &'static str {
    let of_the_other = if whose == Whose::Own { Whose::Another } else { Whose::Own };
    let (plan, other) = (plan(whose), plan(of_the_other));
    let without_ends: String = plan.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    match () {
        () if text.contains(FIRST_WORDS) && !text.contains(PLAN_ENDS) => {
            "as the words before it, and no plan"
        }
        () if text.contains(other.trim()) => "of another issue",
        () if text.contains(without_ends.trim()) => "without the spaces at the ends of its lines",
        () if text.contains(&plan) => "whole",
        () if text.contains(plan.trim()) => "without the spaces before its first word",
        () if text.contains(PLAN_BEGINS.trim()) && !text.contains(PLAN_ENDS) => "without its end",
        () => "not as it is",
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
