//! What agents have heard and said, read from a history for the checks.

use crate::story::{At, Seen, Story};
use serde_json::Value;

/// A message, or a line, of an agent's pipes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    /// Which agent, from 1.
    pub(super) agent: u64,
    pub(super) at: At,
    /// The client said it; else the agent did.
    pub(super) is_clients: bool,
    pub(super) value: &'a Value,
}

/// All that passed between clients and agents, in order.
pub(super) fn messages<'s>(story: &'s Story<'_>) -> impl Iterator<Item = Message<'s>> {
    story.seen_of("agent").filter_map(|seen| {
        let (value, is_clients) = match (seen.value.get("read"), seen.value.get("wrote")) {
            (Some(read), _) => (read, true),
            (None, Some(wrote)) => (wrote, false),
            _ => return None,
        };
        Some(Message { agent: number(seen), at: seen.at, is_clients, value })
    })
}

fn number(seen: &Seen) -> u64 {
    seen.value["agent"].as_u64().unwrap_or_default()
}

/// What was seen of agents under a word: which agent, when, what.
pub(super) fn facts<'s>(story: &'s Story<'_>, word: &'s str) -> impl Iterator<Item = (u64, At, &'s Value)> {
    story.seen_of("agent").filter_map(move |seen| Some((number(seen), seen.at, seen.value.get(word)?)))
}

impl Message<'_> {
    pub(super) fn method(&self) -> Option<&str> {
        self.value["method"].as_str()
    }

    pub(super) fn is_request(&self) -> bool {
        self.value.get("method").is_some() && self.value.get("id").is_some()
    }
}

/// A request and its answer, whoever asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) asked: Message<'a>,
    pub(super) answer: Option<Message<'a>>,
    /// There was more than one answer.
    pub(super) is_answered_again: bool,
}

/// Requests of a method; an answer has the id of its request and comes from the other side.
pub(super) fn requests<'s>(story: &'s Story<'_>, is_clients: bool) -> Vec<Asked<'s>> {
    let all: Vec<Message<'s>> = messages(story).collect();
    let requests = all
        .iter()
        .enumerate()
        .filter(|(_, message)| message.is_clients == is_clients && message.is_request());
    let of = |(place, asked): (usize, &Message<'s>)| {
        let mut answers = all[place..].iter().filter(|message| {
            message.is_clients != is_clients
                && message.agent == asked.agent
                && message.value.get("method").is_none()
                && message.value.get("id") == asked.value.get("id")
        });
        Asked { asked: *asked, answer: answers.next().copied(), is_answered_again: answers.next().is_some() }
    };
    requests.map(of).collect()
}

/// Does the client start its agent with each prompt, and end it with the turn?
pub(super) fn is_late(story: &Story<'_>) -> bool {
    story.declares.get("agent").is_some_and(|agent| agent == "late")
}

/// The sessions that a chat has had, as the client says it; those of the only chat of a client that starts its agent late, as
/// its agents say it.
pub(super) fn sessions_of<'s>(story: &'s Story<'_>, chat: &str) -> Vec<&'s str> {
    let opens = ["chat/open", "chat/restore"];
    let of_chat =
        |call: &&crate::story::Call| opens.contains(&call.method.as_str()) && call.params["chatId"] == chat;
    let calls = story.calls.iter().filter(of_chat);
    if is_late(story) {
        let made =
            requests(story, true).into_iter().filter(|asked| asked.asked.method() == Some("session/new"));
        return made.filter_map(|made| made.answer?.value["result"]["sessionId"].as_str()).collect();
    }
    calls.filter_map(|call| call.result()?["sessionId"].as_str()).collect()
}

/// The session of a chat: the last that it has had.
pub(super) fn session_of<'s>(story: &'s Story<'_>, chat: &str) -> Option<&'s str> {
    sessions_of(story, chat).pop()
}

/// The text of an update of the agent's, in either dialect.
pub(super) fn text_of(update: &Value) -> Option<&str> {
    match (update["sessionUpdate"].as_str(), update["type"].as_str()) {
        (Some("agent_message_chunk"), _) => update["content"]["text"].as_str(),
        (None, Some("AgentMessageChunk")) => update["content"].as_str(),
        _ => None,
    }
}

/// What the harness expected under a name, with its place.
pub(super) fn expected<'s>(story: &'s Story<'_>, name: &'s str) -> impl Iterator<Item = (At, &'s Value)> {
    story.seen_of("expected").filter_map(move |seen| Some((seen.at, seen.value.get(name)?)))
}
