//! What the server really lets each agent do: prompted one question after the other, and read from what its model was
//! asked and what became of the call.

use super::cast::Cast;
use super::questions::{Question, Role};
use fixtures::fault_plan::StreamName;
use recorder::Limits;
use recorder::capture::{CaptureError, Method};
use recorder::clock::within;
use recorder::events::{EventStream, kind, property};
use serde_json::{Value, json};
use std::pin::pin;

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was done.
    Done,
    /// The person was asked first, for this permission; and said no.
    Asked(String),
    /// The agent may not; what it was told.
    Refused(String),
    /// The agent never had the chance: its tool is not there.
    NotOffered,
    /// It did not come so far.
    Failed(String),
}

/// What was seen of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    /// The tools that the model was offered.
    pub(super) tools: Vec<String>,
    /// How hard the model was told to think.
    pub(super) effort: Option<String>,
}

/// An agent as the server lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) mode: String,
}

/// Whom the server knows; or what it says instead.
pub(super) async fn listed(cast: &Cast) -> Result<Result<Vec<Listed>, String>, CaptureError> {
    let reply = cast.client.exchange(Method::GET, "/agent", "", None).await?;
    let word = |agent: &Value, key: &str| agent[key].as_str().unwrap_or_default().to_owned();
    let listed = reply.json().filter(|_| reply.is_success()).and_then(|list| {
        let one = |agent: &Value| Listed { name: word(agent, "name"), mode: word(agent, "mode") };
        Some(list.as_array()?.iter().map(one).collect())
    });
    let why = || shown(&String::from_utf8_lossy(&reply.bytes).replace(&cast.root, ""));
    Ok(listed.ok_or_else(why))
}

/// Asks one question, and waits until the server is done with it.
pub(super) async fn seen(
    cast: &Cast,
    events: &EventStream,
    question: &Question,
    limits: &Limits,
) -> Result<Seen, CaptureError> {
    let client = &cast.client;
    let created = client.exchange(Method::POST, "/session", "", Some(&json!({"title": "A probe"}))).await?;
    let Some(session) = created.json().and_then(|it| Some(it.get("id")?.as_str()?.to_owned())) else {
        let why = shown(&String::from_utf8_lossy(&created.bytes));
        return Ok(Seen { outcome: Outcome::Failed(why), tools: Vec::new(), effort: None });
    };
    let (from, calls) = (events.count(), cast.asked.count());
    let (agent, prompt) = question.prompt();
    let body = json!({"agent": agent, "parts": [{"type": "text", "text": prompt}]});
    let path = format!("/session/{session}/message");
    let mut answer = pin!(client.exchange(Method::POST, &path, "", Some(&body)));
    let (mut next, mut asked) = (from, None);
    let answer = loop {
        let asks = events.wait_for(next, |event| kind(event) == "permission.asked");
        let answered = within(limits.idle, async {
            tokio::select! {
                biased;
                asks = asks => Err(asks),
                answer = &mut answer => Ok(answer),
            }
        });
        match answered.await {
            Some(Ok(answer)) => break answer,
            Some(Err(Ok((at, event)))) => {
                next = at + 1;
                asked = asked.or_else(|| property(&event, "permission").map(str::to_owned));
                reject(cast, &event).await?;
            }
            Some(Err(Err(ended))) => return Ok(failed(cast, question.words(), calls, ended.to_string())),
            None => return Ok(failed(cast, question.words(), calls, "no answer within the time".to_owned())),
        }
    };
    let idle = events.wait_for(from, |event| {
        kind(event) == "session.idle" && property(event, "sessionID") == Some(session.as_str())
    });
    // Who is idle without saying so has been answered all the same.
    drop(within(limits.quiet, idle).await);
    let reply = answer?;
    let parts = parts(events, from, &session, question);
    let told = cast.asked.since(calls, &question.words());
    let tools = told.first().map(|request| request.tools.clone()).unwrap_or_default();
    let effort = told.first().and_then(|request| request.effort.clone());
    let outcome = match (asked, parts.last()) {
        _ if told.is_empty() => Outcome::Failed(why_not(events, from, &reply.bytes)),
        (Some(permission), _) => Outcome::Asked(permission),
        (None, Some(part)) if part.tool == question.deed.tool() && part.is_done => Outcome::Done,
        (None, _) if !tools.iter().any(|tool| tool == question.deed.tool()) => Outcome::NotOffered,
        (None, Some(part)) => Outcome::Refused(part.words.clone()),
        (None, None) => Outcome::Failed("the call was lost".to_owned()),
    };
    Ok(Seen { outcome, tools, effort })
}

fn failed(cast: &Cast, words: String, calls: usize, why: String) -> Seen {
    let tools = cast.asked.since(calls, &words).first().map(|it| it.tools.clone()).unwrap_or_default();
    Seen { outcome: Outcome::Failed(why), tools, effort: None }
}

async fn reject(cast: &Cast, event: &Value) -> Result<(), CaptureError> {
    let word = |name: &str| property(event, name).unwrap_or_default().to_owned();
    let path = format!("/session/{}/permissions/{}", word("sessionID"), word("id"));
    cast.client.exchange(Method::POST, &path, "", Some(&json!({"response": "reject"}))).await.map(drop)
}

/// A call that has ended.
struct Part {
    tool: String,
    is_done: bool,
    words: String,
}

/// The calls of the agent that was meant: in the session that was prompted, or below it.
fn parts(events: &EventStream, from: usize, session: &str, question: &Question) -> Vec<Part> {
    let all = events.since(from);
    let read = all.iter().filter(|event| kind(event) == "message.part.updated").filter_map(|event| {
        let properties = event.get("payload").unwrap_or(event).get("properties")?;
        let part = properties.get("part")?;
        let (state, owner) = (part.get("state")?, part.get("sessionID")?.as_str()?);
        let is_meant = (owner == session) == (question.role == Role::Prompted);
        let status = state.get("status")?.as_str().filter(|it| matches!(*it, "completed" | "error"))?;
        let key = if status == "error" { "error" } else { "output" };
        is_meant.then(|| Part {
            tool: part["tool"].as_str().unwrap_or_default().to_owned(),
            is_done: status == "completed",
            words: shown(state[key].as_str().unwrap_or_default()),
        })
    });
    read.collect()
}

/// Why the agent's model was never asked.
fn why_not(events: &EventStream, from: usize, answer: &[u8]) -> String {
    let all = events.since(from);
    let told = all.iter().find(|event| kind(event) == "session.error").and_then(|event| {
        let error = event.get("properties")?.get("error")?;
        error.pointer("/data/message").or_else(|| error.get("name"))?.as_str().map(str::to_owned)
    });
    shown(&told.unwrap_or_else(|| String::from_utf8_lossy(answer).into_owned()))
}

/// The beginning of the first line.
fn shown(text: &str) -> String {
    const SHOWN: usize = 160;
    let text = fixtures::redact::clean(text);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    let mut shown: String = line.trim().chars().take(SHOWN).collect();
    if shown.len() < line.trim().len() {
        shown.push('…');
    }
    shown
}

/// The stream on which all of it is seen.
pub(super) async fn listen(cast: &Cast) -> Result<EventStream, CaptureError> {
    cast.client.subscribe(StreamName::Event, "").await
}
