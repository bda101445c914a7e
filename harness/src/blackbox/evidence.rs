//! What a journal says of a command: what it asked of the server and was answered, and what the server has in the end.

use super::command::{Command, Ending, Ran};
use super::scene::Played;
use crate::history;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Line, Request};
use parity_specs::case::ADAPTER_LANE;
use serde_json::Value;
use std::time::Duration;

/// What is known of a run.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// What the command asked for, in order.
    pub(super) asked: Vec<Asked>,
    /// How often the server has taken the prompt.
    pub(super) prompts: usize,
    /// The texts of the assistant's last message that has any.
    pub(super) answer: Vec<String>,
    /// Did the agent ask for leave?
    pub(super) leave_asked: usize,
    pub(super) ran: Ran,
    /// Nothing breaks in the case.
    pub(super) plain: bool,
    /// The command says that it gives leave by itself.
    pub(super) gives_leave: bool,
    pub(super) limit: Duration,
}

/// A request of the command.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) at_us: u64,
    pub(super) words: String,
    pub(super) is_stream: bool,
    /// The yes that it sends to a question for leave.
    pub(super) leave: Option<String>,
    pub(super) status: Option<u16>,
}

impl Evidence {
    pub(super) fn of(played: &Played, plain: bool, command: &Command) -> Self {
        let lines = &played.history.lines;
        let messages = messages(lines);
        let is = |role: &'static str| move |message: &&Value| message["info"]["role"] == role;
        let has_prompt = |message: &&Value| texts(message).any(|text| text.contains(&played.prompt));
        let mut answers =
            messages.iter().filter(is("assistant")).map(|message| texts(message).collect::<Vec<_>>());
        let events = history::server_events(lines);
        Self {
            asked: asked(lines),
            prompts: messages.iter().filter(is("user")).filter(has_prompt).count(),
            answer: answers.rfind(|texts| !texts.is_empty()).unwrap_or_default(),
            leave_asked: events.iter().filter(|event| event["type"] == "permission.asked").count(),
            ran: played.ran.clone(),
            plain,
            gives_leave: command.gives_leave(),
            limit: command.limit,
        }
    }

    /// It said by itself that it did not do it.
    pub(super) fn says_that_it_failed(&self) -> bool {
        matches!(self.ran.ending, Ending::Code(1..) | Ending::Code(..=-1) | Ending::Signal)
    }

    /// Does it print the whole answer? How it breaks lines, and in which colours, is its own business.
    pub(super) fn prints_answer(&self) -> bool {
        let stdout = plain_words(&self.ran.stdout);
        !self.answer.is_empty() && self.answer.iter().all(|text| stdout.contains(&plain_words(text)))
    }
}

/// What the harness read of all sessions in the end.
fn messages(lines: &[Line]) -> Vec<Value> {
    let paths = lines.iter().filter_map(|line| match line {
        Line::Request(request) if request.path.ends_with("/message") && request.method == "GET" => {
            (request.lane.as_deref() != Some(ADAPTER_LANE)).then(|| request.path.clone())
        }
        _ => None,
    });
    paths
        .filter_map(|path| history::last_read(lines, &path))
        .filter_map(|read| read.as_array().cloned())
        .flatten()
        .collect()
}

fn texts(message: &Value) -> impl Iterator<Item = String> + use<'_> {
    let parts = message["parts"].as_array().into_iter().flatten();
    let shown = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
    shown.filter_map(|part| part["text"].as_str()).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn asked(lines: &[Line]) -> Vec<Asked> {
    let ours = lines.iter().filter_map(|line| match line {
        Line::Request(request) if request.lane.as_deref() == Some(ADAPTER_LANE) => Some(request),
        _ => None,
    });
    let status_of = |exchange: u64| {
        lines.iter().find_map(|line| match line {
            Line::Response(response) if response.exchange == exchange => Some(response.status),
            _ => None,
        })
    };
    let told = |request: &Request| Asked {
        at_us: request.at_us,
        words: format!("{} {}", request.method, request.path),
        is_stream: StreamName::from_path(&request.path).is_some(),
        leave: leave(request),
        status: status_of(request.exchange),
    };
    ours.map(told).collect()
}

/// The yes of an answer to a question for leave, by whichever route.
fn leave(request: &Request) -> Option<String> {
    if request.method != "POST" || !request.path.contains("/permission") {
        return None;
    }
    let said: Value = serde_json::from_slice(&request.body.to_bytes()).ok()?;
    let reply = said["reply"].as_str().or(said["response"].as_str())?;
    (reply != "reject").then(|| reply.to_owned())
}

/// Without colours, and with one space wherever there are any.
fn plain_words(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    // A sequence ends with its first letter.
    let plain = pieces.fold(first, |mut plain, piece| {
        let end = piece.find(|sign: char| sign.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
        plain
    });
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::Body;
    use serde_json::json;

    #[test]
    fn colours_and_line_breaks_are_the_commands_own_business() {
        assert_eq!(plain_words("\u{1b}[1;32mHello,\u{1b}[0m\n  and welcome\u{1b}[K"), "Hello, and welcome");
    }

    #[test]
    fn a_yes_is_known_on_both_routes_and_a_no_is_none() {
        let post = |path: &str, body: Value| {
            let body = Body::Json(body);
            let (at_us, exchange, query, headers) = (0, 1, String::new(), Vec::new());
            leave(&Request {
                at_us,
                exchange,
                lane: None,
                method: "POST".into(),
                path: path.into(),
                query,
                headers,
                body,
            })
        };
        let (new, old) = ("/permission/per_1/reply", "/session/ses_1/permissions/per_1");
        assert_eq!(post(new, json!({"reply": "once"})).as_deref(), Some("once"));
        assert_eq!(post(old, json!({"response": "always"})).as_deref(), Some("always"));
        assert_eq!(post(new, json!({"reply": "reject"})), None);
        assert_eq!(post("/session/ses_1/message", json!({"reply": "once"})), None);
    }
}
