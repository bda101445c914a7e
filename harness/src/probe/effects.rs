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
    /// The time was over first: on a slow machine that says nothing about the agent.
    Unseen(String),
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
                // An earlier question whose time was over may ask late. It gets its no, and is nothing of this one.
                if Family::of(&session, &events.since(from)).has_told(&event) {
                    asked = asked.or_else(|| property(&event, "permission").map(str::to_owned));
                }
                reject(cast, &event).await?;
            }
            Some(Err(Err(ended))) => return Ok(failed(cast, question.words(), calls, ended.to_string())),
            None => {
                let why = format!("no answer within {} s", limits.idle.as_secs());
                let seen = failed(cast, question.words(), calls, String::new());
                return Ok(Seen { outcome: Outcome::Unseen(why), ..seen });
            }
        }
    };
    let idle = events.wait_for(from, |event| {
        kind(event) == "session.idle" && property(event, "sessionID") == Some(session.as_str())
    });
    // Who is idle without saying so has been answered all the same.
    drop(within(limits.quiet, idle).await);
    let reply = answer?;
    let told = events.since(from);
    let family = Family::of(&session, &told);
    let parts = parts(&told, &family, question);
    let requests = cast.asked.since(calls, &question.words());
    let tools = requests.first().map(|request| request.tools.clone()).unwrap_or_default();
    let effort = requests.first().and_then(|request| request.effort().map(str::to_owned));
    let outcome = match (asked, parts.last()) {
        _ if requests.is_empty() => Outcome::Failed(why_not(&told, &family, &reply.bytes)),
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

/// A session that was prompted for one question, and those below it. What others say belongs to other questions.
struct Family(Vec<String>);

impl Family {
    fn of(session: &str, told: &[Value]) -> Self {
        let mut family = Self(vec![session.to_owned()]);
        for event in told.iter().filter(|event| kind(event) == "session.created") {
            let info = properties(event).and_then(|it| it.get("info"));
            let word = |name: &str| info.and_then(|info| info.get(name)?.as_str());
            if let (Some(id), Some(parent)) = (word("id"), word("parentID"))
                && family.has(parent)
            {
                family.0.push(id.to_owned());
            }
        }
        family
    }

    fn has(&self, session: &str) -> bool {
        self.0.iter().any(|known| known == session)
    }

    /// Is the event one of theirs?
    fn has_told(&self, event: &Value) -> bool {
        property(event, "sessionID").is_some_and(|session| self.has(session))
    }
}

fn properties(event: &Value) -> Option<&Value> {
    event.get("payload").unwrap_or(event).get("properties")
}

/// The calls of the agent that was meant: in the session that was prompted, or below it.
fn parts(told: &[Value], family: &Family, question: &Question) -> Vec<Part> {
    let read = told.iter().filter(|event| kind(event) == "message.part.updated").filter_map(|event| {
        let part = properties(event)?.get("part")?;
        let (state, owner) = (part.get("state")?, part.get("sessionID")?.as_str()?);
        let is_prompted = family.0.first().is_some_and(|session| session == owner);
        let is_meant = family.has(owner) && is_prompted == (question.role == Role::Prompted);
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
fn why_not(told: &[Value], family: &Family, answer: &[u8]) -> String {
    let is_ours = |event: &&Value| property(event, "sessionID").is_none_or(|session| family.has(session));
    let errors = told.iter().filter(|event| kind(event) == "session.error");
    let told = errors.filter(is_ours).find_map(|event| {
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

#[cfg(test)]
mod tests {
    use super::super::declared::{Declarations, tests::folder};
    use super::super::questions::questions;
    use super::*;

    fn event(kind: &str, properties: Value) -> Value {
        json!({"type": kind, "properties": properties})
    }

    #[test]
    fn what_a_question_says_that_is_over_is_nothing_of_the_next() {
        let call = |session: &str, said: &str| {
            let state = json!({"status": "error", "error": said});
            event(
                "message.part.updated",
                json!({"part": {"sessionID": session, "tool": "bash", "state": state}}),
            )
        };
        let late = event("permission.asked", json!({"sessionID": "first", "permission": "bash"}));
        let asked =
            |session: &str| event("permission.asked", json!({"sessionID": session, "permission": "edit"}));
        let told = [
            late.clone(),
            event("session.error", json!({"sessionID": "first", "error": {"name": "Late"}})),
            event("session.created", json!({"info": {"id": "stranger", "parentID": "first"}})),
            event("session.created", json!({"info": {"id": "child", "parentID": "second"}})),
            event("session.created", json!({"info": {"id": "grandchild", "parentID": "child"}})),
            call("second", "own"),
            call("child", "given"),
            call("stranger", "late"),
            call("first", "late"),
        ];
        let family = Family::of("second", &told);
        assert!(!family.has_told(&late));
        assert!(["second", "child", "grandchild"].iter().all(|session| family.has_told(&asked(session))));
        let all = Declarations::read(&folder(&[(".kilo/agents/a.md", "---\nmode: all\n---\n")]));
        let words = |role: Role| {
            let questions = questions(&all, &["a".to_owned()]);
            let question = questions.iter().find(|it| it.agent == "a" && it.role == role).unwrap();
            parts(&told, &family, question).into_iter().map(|part| part.words).collect::<Vec<_>>()
        };
        assert_eq!(
            (words(Role::Prompted), words(Role::Called)),
            (vec!["own".to_owned()], vec!["given".to_owned()])
        );
        assert_eq!(why_not(&told, &family, b"no answer"), "no answer");
    }
}
