//! A request → the deltas of the answer, by a scenario.
//!
//! The answer depends on the conversation alone: which turn by the last prompt, which response of the turn by how
//! many responses the conversation already holds after it. So a retried request gets the same answer, and
//! sessions that run at once can't take each other's turns.

use super::chat::{ChatRequest, role};
use fixtures::recording::ModelPurpose;
use fixtures::scenario::{AgentStep, Scenario};
use serde_json::{Map, Value};

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
    Finish {
        /// Why it ends.
        reason: FinishReason,
        /// What it cost.
        usage: Usage,
    },
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model has said all.
    Stop,
    /// The model waits for the results of its tool calls.
    ToolCalls,
}

/// Tokens of one answer. Fixed figures: what matters is that every performer is told the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
}

/// What every scripted answer costs.
pub const USAGE: Usage = Usage { input: 10, output: 5 };

/// The script's answer to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which turn and response this is, in words; for recordings and journals.
    pub answered: String,
    /// The deltas, or why the script has no answer.
    pub deltas: Result<Vec<Delta>, String>,
}

/// A scenario's agent, ready to be asked.
#[derive(Debug, Clone)]
pub struct Script {
    scenario: Scenario,
    workspace: String,
}

impl Script {
    /// `workspace` takes the place of `${workspace}` in the arguments of tools.
    #[must_use]
    pub fn new(scenario: Scenario, workspace: impl Into<String>) -> Self {
        Self { scenario, workspace: workspace.into() }
    }

    /// The answer to a request.
    #[must_use]
    pub fn answer(&self, request: &ChatRequest) -> Answer {
        if request.purpose() == ModelPurpose::Title {
            let mut deltas = text_deltas(&self.scenario.title).map(Delta::Text).collect::<Vec<_>>();
            deltas.push(Delta::Finish { reason: FinishReason::Stop, usage: USAGE });
            return Answer { answered: "the title".to_owned(), deltas: Ok(deltas) };
        }
        let Some((at, prompt)) = request.last_prompt() else {
            return unmatched("the request holds no prompt".to_owned());
        };
        let Some(turn) = self.scenario.turn_for(&prompt) else {
            return unmatched(self.near_miss(&prompt));
        };
        let said = request.messages[at..].iter().filter(|message| role(message) == "assistant").count();
        let responses = responses(&self.scenario.agent[turn].steps);
        let Some(steps) = responses.get(said) else {
            return unmatched(format!(
                "turn {} has {} responses, and the server asks for number {}: add steps to the turn",
                turn + 1,
                responses.len(),
                said + 1
            ));
        };
        let calls_before = request.messages.iter().map(calls_in).sum();
        Answer {
            answered: format!("turn {}, response {} of {}", turn + 1, said + 1, responses.len()),
            deltas: Ok(self.deltas(steps, calls_before)),
        }
    }

    fn deltas(&self, steps: &[AgentStep], calls_before: usize) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let mut calls = 0;
        for step in steps {
            match step {
                AgentStep::Say(text) => deltas.extend(text_deltas(text).map(Delta::Text)),
                AgentStep::Think(text) => deltas.extend(text_deltas(text).map(Delta::Reasoning)),
                AgentStep::Tool { tool, input } => {
                    let id = format!("call_{}", calls_before + calls + 1);
                    deltas.push(Delta::ToolStart { index: calls, id, name: tool.clone() });
                    let arguments = self.arguments(input);
                    let half =
                        arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
                    for text in [&arguments[..half], &arguments[half..]] {
                        deltas.push(Delta::ToolArguments { index: calls, text: text.to_owned() });
                    }
                    calls += 1;
                }
            }
        }
        // Only the calls decide how an answer ends: after the last ones there is always one more response.
        let reason = if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        deltas.push(Delta::Finish { reason, usage: USAGE });
        deltas
    }

    fn arguments(&self, input: &Map<String, Value>) -> String {
        let mut value = Value::Object(input.clone());
        self.fill_in(&mut value);
        value.to_string()
    }

    fn fill_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = text.replace("${workspace}", &self.workspace),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill_in(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.fill_in(item)),
            _ => {}
        }
    }

    fn near_miss(&self, prompt: &str) -> String {
        let words: Vec<_> = self.scenario.agent.iter().map(|turn| turn.on.prompt_contains.as_str()).collect();
        let shown: String = prompt.chars().take(80).collect();
        format!("no turn answers the prompt {shown:?}; the scenario's turns answer prompts with {words:?}")
    }
}

fn unmatched(why: String) -> Answer {
    Answer { answered: format!("nothing: {why}"), deltas: Err(why) }
}

/// Steps up to and with a run of tool calls are one response; the server comes back with the results. After the
/// last tool call there is always one more response, empty if the script says nothing more.
fn responses(steps: &[AgentStep]) -> Vec<&[AgentStep]> {
    let is_tool = |step: &AgentStep| matches!(step, AgentStep::Tool { .. });
    let mut responses = Vec::new();
    let mut from = 0;
    for at in 0..steps.len() {
        if is_tool(&steps[at]) && !steps.get(at + 1).is_some_and(is_tool) {
            responses.push(&steps[from..=at]);
            from = at + 1;
        }
    }
    responses.push(&steps[from..]);
    responses
}

fn calls_in(message: &Value) -> usize {
    message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len)
}

/// Word by word, each with the space behind it.
fn text_deltas(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_inclusive(' ').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn script() -> Script {
        let text = r#"
about = "two turns"
agent = [
  { on = { prompt_contains = "write" }, steps = [
    { think = "Hm." }, { say = "I will." },
    { tool = "write", input = { filePath = "${workspace}/ü", content = "x" } }, { tool = "read" },
    { say = "Done." } ] },
  { on = { prompt_contains = "list" }, steps = [{ tool = "glob" }] },
]
user = { steps = [{ prompt = "write" }, { prompt = "list" }] }
"#;
        Script::new(Scenario::parse(Path::new("s.toml"), text).unwrap(), "/w")
    }

    fn ask(messages: Value) -> Answer {
        let body = json!({"messages": messages, "tools": [{"function": {"name": "write"}}], "stream": true});
        script().answer(&ChatRequest::parse(&body).unwrap())
    }

    fn finish(answer: &Answer) -> FinishReason {
        match answer.deltas.as_ref().unwrap().last() {
            Some(Delta::Finish { reason, .. }) => *reason,
            other => panic!("no finish: {other:?}"),
        }
    }

    #[test]
    fn calls_that_follow_each_other_are_one_response() {
        let first =
            ask(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "please write"}]));
        assert_eq!(first.answered, "turn 1, response 1 of 2");
        assert_eq!(finish(&first), FinishReason::ToolCalls);
        let deltas = first.deltas.unwrap();
        let arguments: String = deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::ToolArguments { index: 0, text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(arguments, r#"{"filePath":"/w/ü","content":"x"}"#);
        let ids: Vec<_> = deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::ToolStart { id, name, .. } => Some((id.as_str(), name.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(ids, [("call_1", "write"), ("call_2", "read")]);
    }

    #[test]
    fn the_conversation_alone_decides() {
        let said = json!({"role": "assistant", "tool_calls": [{"id": "call_1"}, {"id": "call_2"}]});
        let second = ask(json!([{"role": "user", "content": [{"type": "text", "text": "write"}]}, said]));
        assert_eq!(second.answered, "turn 1, response 2 of 2");
        assert_eq!(finish(&second), FinishReason::Stop);
        let other =
            ask(json!([{"role": "user", "content": "write"}, said, {"role": "user", "content": "list"}]));
        let deltas = other.deltas.unwrap();
        assert!(matches!(&deltas[0], Delta::ToolStart { id, .. } if id == "call_3"), "{deltas:?}");
    }

    #[test]
    fn what_has_no_answer_is_named_with_its_near_miss() {
        let answer = ask(json!([{"role": "user", "content": "delete it"}]));
        assert_eq!(
            answer.deltas.unwrap_err(),
            "no turn answers the prompt \"delete it\"; the scenario's turns answer prompts with [\"write\", \"list\"]"
        );
        let said = json!({"role": "assistant", "content": "x"});
        let answer = ask(json!([{"role": "user", "content": "write"}, said, said]));
        assert!(
            answer
                .deltas
                .unwrap_err()
                .starts_with("turn 1 has 2 responses, and the server asks for number 3")
        );
    }
}
