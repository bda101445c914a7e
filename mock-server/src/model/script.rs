//! A request → the answer, by a scenario.
//!
//! The answer depends on the conversation: which turn by the last prompt, which answer of the turn by how many the
//! conversation already holds after it. So sessions that run at once can't take each other's turns, and a request
//! that is sent again gets the same answer; but for a refused or broken one, which is where the script goes on.

use super::chat::{ChatRequest, role};
use super::plan::{Segment, SegmentEnd, after, segments};
use fixtures::recording::ModelPurpose;
use fixtures::scenario::{
    AgentStep, BreakOff, Fail, Finish, FinishReason, Scenario, ShownPage, Usage, fill_in_words,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One piece of a streamed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Text for the person.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// A tool call begins.
    ToolStart {
        /// Its place among the calls of this answer.
        index: usize,
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a tool call's arguments, as JSON text.
    ToolArguments {
        /// Which call of this answer.
        index: usize,
        /// The next piece.
        text: String,
    },
    /// The answer is complete.
    Finish(Finish),
}

impl Delta {
    /// The answer begins, and nothing is said yet.
    pub const BEGIN: Self = Self::Text(String::new());
}

/// One beat of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beat {
    /// The model says something.
    Delta(Delta),
    /// Nothing more until this gate is open.
    Gate(String),
    /// Bytes of the stream, as they are.
    Raw(String),
    /// The answer breaks off here.
    BreakOff(BreakOff),
}

/// The script's answer to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which turn and answer this is, in words; for recordings and journals.
    pub answered: String,
    /// The answer itself.
    pub reply: Reply,
}

/// What a request gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// An answer, beat by beat.
    Beats(Vec<Beat>),
    /// The provider refuses, as the script says.
    Refused(Fail),
    /// The script has no answer, and why.
    Unscripted(String),
}

/// A scenario's agent, ready to be asked.
#[derive(Debug, Clone)]
pub struct Script {
    scenario: Scenario,
    workspace: String,
    /// Where the scenario's pages are.
    pages_url: Option<String>,
    turns: Vec<Vec<Segment>>,
    /// The latest answer in each turn of each conversation.
    latest: HashMap<TurnKey, Latest>,
    given: BTreeSet<(usize, usize)>,
    unscripted: Vec<String>,
}

/// A turn of a conversation: its session, if the server tells it, and where its prompt stands.
type TurnKey = (Option<String>, usize, usize);

#[derive(Debug, Clone, Copy)]
struct Latest {
    said: usize,
    segment: usize,
}

/// What was left over and what was missing, when nobody asks any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Parts of the script that nobody asked for.
    pub unused: Vec<String>,
    /// Requests that the script has no answer to, each with its near miss.
    pub unscripted: Vec<String>,
}

impl Script {
    /// `workspace` takes the place of `${workspace}` in the arguments of tools.
    #[must_use]
    pub fn new(scenario: Scenario, workspace: impl Into<String>) -> Self {
        let turns = scenario.agent.iter().map(|turn| segments(&turn.steps)).collect();
        Self {
            scenario,
            workspace: workspace.into(),
            pages_url: None,
            turns,
            latest: HashMap::new(),
            given: BTreeSet::new(),
            unscripted: Vec::new(),
        }
    }

    /// The pages that its agent can fetch.
    #[must_use]
    pub(crate) fn pages(&self) -> &BTreeMap<String, ShownPage> {
        &self.scenario.pages
    }

    /// Its pages are there; the address takes the place of `${pages}` in the arguments of tools.
    #[must_use]
    pub(crate) fn with_pages_at(self, url: Option<String>) -> Self {
        Self { pages_url: url, ..self }
    }

    /// The answer to a request.
    pub fn answer(&mut self, request: &ChatRequest) -> Answer {
        match request.purpose() {
            ModelPurpose::Title => said("the title", &self.scenario.title),
            ModelPurpose::Summary => said("the summary", &self.scenario.summary),
            ModelPurpose::Turn => self.turn(request).unwrap_or_else(|why| {
                self.unscripted.push(why.clone());
                Answer { answered: format!("nothing: {why}"), reply: Reply::Unscripted(why) }
            }),
        }
    }

    /// The gates at which its answers wait.
    #[must_use]
    pub fn gates(&self) -> Vec<String> {
        self.scenario.gates()
    }

    /// What was never asked for, and what was asked for in vain.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut unused = Vec::new();
        for (turn, segments) in self.turns.iter().enumerate() {
            let words = &self.scenario.agent[turn].on.prompt_contains;
            let missing: Vec<String> = (0..segments.len())
                .filter(|segment| !self.given.contains(&(turn, *segment)))
                .map(|segment| (segment + 1).to_string())
                .collect();
            if missing.len() == segments.len() {
                unused.push(format!("turn {} (on {words:?})", turn + 1));
            } else if !missing.is_empty() {
                let of = segments.len();
                unused.push(format!(
                    "turn {} (on {words:?}), response {} of {of}",
                    turn + 1,
                    missing.join(", ")
                ));
            }
        }
        Report { unused, unscripted: self.unscripted.clone() }
    }

    fn turn(&mut self, request: &ChatRequest) -> Result<Answer, String> {
        let (at, prompt) = request.last_prompt().ok_or("the request holds no prompt")?;
        let turn = self.scenario.turn_for(&prompt).ok_or_else(|| self.near_miss(&prompt))?;
        let said = request.messages[at..].iter().filter(|message| role(message) == "assistant").count();
        let segments = &self.turns[turn];
        let key = (request.session.clone(), turn, at);
        let at = match self.latest.get(&key) {
            Some(latest) if said == latest.said && segments[latest.segment].is_failure() => {
                latest.segment + 1
            }
            Some(latest) if said == latest.said => latest.segment,
            Some(latest) if said > latest.said => after(segments, latest.segment + 1, said - latest.said - 1),
            _ => after(segments, 0, said),
        };
        let count = segments.len();
        let number = turn + 1;
        let Some(segment) = segments.get(at) else {
            return Err(format!(
                "turn {number} has {count} responses, and the server asks for number {}: add steps to the turn",
                at + 1
            ));
        };
        self.latest.insert(key, Latest { said, segment: at });
        self.given.insert((turn, at));
        let calls_before = request.messages.iter().map(calls_in).sum();
        let mut answered = format!("turn {number}, response {} of {count}", at + 1);
        let reply = match &segment.end {
            SegmentEnd::Refused(fail) => {
                answered.push_str(&format!(": status {}", fail.status));
                Reply::Refused(fail.clone())
            }
            end => {
                let mut beats = self.beats(&segment.steps, calls_before);
                match end {
                    SegmentEnd::BrokenOff(how) => {
                        answered.push_str(&format!(": broken off ({})", how.word()));
                        beats.push(Beat::BreakOff(*how));
                    }
                    SegmentEnd::Finished(finish) => beats.push(Beat::Delta(Delta::Finish(*finish))),
                    SegmentEnd::Refused(_) => {}
                }
                Reply::Beats(beats)
            }
        };
        Ok(Answer { answered, reply })
    }

    fn beats(&self, steps: &[AgentStep], calls_before: usize) -> Vec<Beat> {
        let mut beats = Vec::new();
        let mut calls = 0;
        for step in steps {
            match step {
                AgentStep::Say(text) => beats.extend(words(text).map(|word| Beat::Delta(Delta::Text(word)))),
                AgentStep::Think(text) => {
                    beats.extend(words(text).map(|word| Beat::Delta(Delta::Reasoning(word))));
                }
                AgentStep::Gate(name) => beats.push(Beat::Gate(name.clone())),
                AgentStep::Raw(bytes) => beats.push(Beat::Raw(bytes.clone())),
                AgentStep::Tool { tool, input } => {
                    let id = format!("call_{}", calls_before + calls + 1);
                    beats.push(Beat::Delta(Delta::ToolStart { index: calls, id, name: tool.clone() }));
                    let arguments = self.arguments(input);
                    let half =
                        arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
                    for text in [&arguments[..half], &arguments[half..]] {
                        beats.push(Beat::Delta(Delta::ToolArguments { index: calls, text: text.to_owned() }));
                    }
                    calls += 1;
                }
                // These end an answer; they are not in it.
                AgentStep::Finish(_) | AgentStep::Fail(_) | AgentStep::BreakOff(_) => {}
            }
        }
        beats
    }

    fn arguments(&self, input: &Map<String, Value>) -> String {
        let mut value = Value::Object(input.clone());
        self.fill_in(&mut value);
        value.to_string()
    }

    fn fill_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = fill_in_words(text, &|word| self.meaning(word)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill_in(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.fill_in(item)),
            _ => {}
        }
    }

    fn meaning(&self, word: &str) -> Option<String> {
        match word {
            "workspace" => Some(self.workspace.clone()),
            "pages" => self.pages_url.clone(),
            _ => None,
        }
    }

    fn near_miss(&self, prompt: &str) -> String {
        let words: Vec<_> = self.scenario.agent.iter().map(|turn| turn.on.prompt_contains.as_str()).collect();
        let shown: String = prompt.chars().take(80).collect();
        format!("no turn answers the prompt {shown:?}; the scenario's turns answer prompts with {words:?}")
    }
}

/// An answer of text alone, outside the script.
fn said(answered: &str, text: &str) -> Answer {
    let mut beats: Vec<Beat> = words(text).map(|word| Beat::Delta(Delta::Text(word))).collect();
    beats.push(Beat::Delta(Delta::Finish(Finish { reason: FinishReason::Stop, usage: Usage::default() })));
    Answer { answered: answered.to_owned(), reply: Reply::Beats(beats) }
}

fn calls_in(message: &Value) -> usize {
    message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len)
}

/// Word by word, each with the space behind it.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive(' ').map(str::to_owned)
}

#[cfg(test)]
mod tests;
