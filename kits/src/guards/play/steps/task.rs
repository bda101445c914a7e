//! A task as a case writes it: what the person says, and what the model answers, request by request.

use mock_server::endpoint::{Piece, Reply};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Something that the person says to a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    /// Which task; one that there is goes on.
    pub(crate) id: String,
    /// The words.
    pub(crate) text: String,
    /// Many lines follow them, and what counts stands in the last one.
    #[serde(default)]
    pub(crate) long: bool,
    /// What the model answers to each request; whoever asks more often is told that there is nothing more.
    pub(crate) answers: Vec<Answer>,
    /// The program stops when it has told the person of the end, is killed, and starts again.
    #[serde(default)]
    pub(crate) killed_at_end: bool,
}

/// An answer of the model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// Its words, as they come.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// After so many of them nothing comes until the person is shown what has come.
    pub(crate) hold_after: Option<usize>,
    /// A part of the next piece comes before that, cut in the middle of a letter if it has one of several bytes.
    #[serde(default)]
    pub(crate) torn: bool,
    /// The tools that it calls.
    #[serde(default)]
    pub(crate) calls: Vec<Called>,
    /// The tokens that it has read, and those that it has written.
    pub(crate) usage: (u64, u64),
}

/// A call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Called {
    /// Its id.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// What it gets.
    #[serde(default)]
    pub(crate) input: Value,
    /// In place of it, what is no JSON.
    pub(crate) raw: Option<String>,
    /// The file of the case's folder that is written then.
    pub(crate) writes: Option<String>,
    /// The file that must not be.
    pub(crate) leaves: Option<String>,
    /// What its result has in it.
    pub(crate) tells: Option<String>,
}

/// Where an answer is held.
pub(crate) struct Hold {
    /// What lets it go.
    pub(crate) gate: String,
    /// It is the answer to the request of this number.
    pub(crate) request: usize,
    /// What the person has to be shown of the model's words by then.
    pub(crate) words: String,
}

impl Task {
    /// What the model answers on a lane, and where it is held.
    pub(crate) fn replies(&self, lane: &str) -> (Vec<Reply>, Vec<Hold>) {
        let (mut replies, mut holds, mut words) = (Vec::new(), Vec::new(), String::new());
        for (nth, answer) in self.answers.iter().enumerate() {
            let gate = format!("{lane}-{}", nth + 1);
            if let Some(after) = answer.hold_after {
                let words = words.clone() + &answer.says[..after.min(answer.says.len())].concat();
                holds.push(Hold { gate: gate.clone(), request: nth + 1, words });
            }
            words += &answer.says.concat();
            replies.push(Reply::Stream(answer.pieces(&gate)));
        }
        let nothing = Answer { says: vec!["Nothing more.".to_owned()], ..Answer::default() };
        replies.push(Reply::Stream(nothing.pieces("")));
        (replies, holds)
    }

    /// All that the person says.
    pub(crate) fn words(&self) -> String {
        /// More than some allow a prompt.
        const LINES: usize = 400;
        if !self.long {
            return self.text.clone();
        }
        let lines = (1..=LINES).map(|line| format!("{line}. What the person says goes on.\n"));
        format!("{}\n{}Last of all: the grebe.", self.text, lines.collect::<String>())
    }

    /// What has to come of it.
    pub(crate) fn wanted(&self, lane: &str) -> Value {
        let sum = |of: fn(&Answer) -> u64| self.answers.iter().map(of).sum::<u64>();
        let of_call = |call: &Called| {
            let Called { id, tool, input, writes, leaves, tells, .. } = call;
            let content = &input["content"];
            json!({"id": id, "tool": tool, "writes": writes, "leaves": leaves, "tells": tells, "content": content})
        };
        let of_answer = |answer: &Answer| {
            let calls: Vec<Value> = answer.calls.iter().map(of_call).collect();
            json!({"says": answer.says.concat(), "calls": calls})
        };
        json!({
            "task": self.id,
            "text": self.words(),
            "lane": lane,
            "killed": self.killed_at_end,
            "answers": self.answers.iter().map(of_answer).collect::<Vec<_>>(),
            "input": sum(|answer| answer.usage.0),
            "output": sum(|answer| answer.usage.1),
        })
    }
}

impl Answer {
    /// As a provider streams it, in the shape of OpenAI.
    fn pieces(&self, gate: &str) -> Vec<Piece> {
        let mut frames: Vec<Vec<u8>> =
            self.says.iter().map(|words| choice(&json!({"content": words}), None)).collect();
        for (index, call) in self.calls.iter().enumerate() {
            let arguments = call.raw.clone().unwrap_or_else(|| call.input.to_string());
            // Arguments come in pieces, too.
            let middle = arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
            let (begin, rest) = arguments.split_at(middle);
            let function = json!({"name": call.tool, "arguments": begin});
            let head = json!({"index": index, "id": call.id, "type": "function", "function": function});
            frames.push(choice(&json!({"tool_calls": [head]}), None));
            let more = json!({"index": index, "function": {"arguments": rest}});
            frames.push(choice(&json!({"tool_calls": [more]}), None));
        }
        let reason = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        frames.push(choice(&json!({}), Some(reason)));
        let (read, written) = self.usage;
        let usage =
            json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written});
        frames.push(frame(&json!({"object": "chat.completion.chunk", "choices": [], "usage": usage})));
        frames.push(b"data: [DONE]\n\n".to_vec());
        let Some(after) = self.hold_after else { return vec![Piece::Bytes(frames.concat())] };
        let (begin, rest) = frames.split_at(after.min(frames.len()));
        let (mut begin, mut rest) = (begin.concat(), rest.concat());
        if self.torn {
            let end = rest.windows(2).position(|two| two == b"\n\n").unwrap_or(rest.len());
            let letter = rest[..end].iter().position(|byte| !byte.is_ascii()).unwrap_or(end / 2);
            begin.extend(rest.drain(..=letter));
        }
        vec![Piece::Bytes(begin), Piece::Gate(gate.to_owned()), Piece::Bytes(rest)]
    }
}

fn choice(delta: &Value, reason: Option<&str>) -> Vec<u8> {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    frame(&json!({"object": "chat.completion.chunk", "choices": [choice]}))
}

fn frame(chunk: &Value) -> Vec<u8> {
    format!("data: {chunk}\n\n").into_bytes()
}
