//! Does what the person of a scenario does, against any server, and reads what is left afterwards.
//!
//! Every wait is for a fact on the wire and has a limit; a step that fails says which it was, what it waited for
//! and for how long. What was kept until then stays on the tape.

use crate::capture::{CaptureError, Client, Method, Reply};
use crate::clock::{self, Limits};
use crate::events::{EventStream, StreamEnded, kind, property};
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Line, UserLine};
use fixtures::redact::clean;
use fixtures::scenario::{PermissionAnswer, Scenario, UserStep, WaitFor};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinSet;

/// What a performance leaves beside the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed {
    /// The session's id.
    pub session: String,
    /// The body of `GET /doc`; it has no place on the tape.
    pub doc: Bytes,
}

/// A performance that could not be finished.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct DriveError {
    /// Where in the performance.
    pub place: String,
    /// What happened there.
    pub problem: Problem,
}

/// What can go wrong in a performance.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// An exchange failed.
    #[error(transparent)]
    Exchange(#[from] CaptureError),
    /// The server does not do what it was asked.
    #[error("{request} was refused with {status}: {body}")]
    Refused {
        /// Method and path.
        request: String,
        /// The status.
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// An answer lacks what is needed to go on.
    #[error("{0}")]
    Unusable(String),
    /// Nothing came.
    #[error("waited {} s for {awaited}, which did not come", .limit.as_secs_f32())]
    TimedOut {
        /// What was waited for.
        awaited: String,
        /// How long.
        limit: Duration,
    },
    /// Nothing can come any more.
    #[error("waited for {awaited}, but {ended}")]
    Ended {
        /// What was waited for.
        awaited: String,
        /// Which stream, and why.
        ended: StreamEnded,
    },
}

/// Performs the person's steps of `scenario` and keeps everything on the client's tape.
///
/// The person has both streams open from the beginning to the end, waits for the server's boot, and creates one
/// session. After the last step the state is read over REST.
pub async fn perform(scenario: &Scenario, client: &Client, limits: &Limits) -> Result<Performed, DriveError> {
    let at = |place: &str| {
        let place = place.to_owned();
        move |problem| DriveError { place, problem }
    };
    let (mut person, doc) = Person::arrive(client, limits).await.map_err(at("before the first step"))?;
    for (index, step) in scenario.user.steps.iter().enumerate() {
        let number = index + 1;
        let does = step.to_string();
        let place = format!("step {number} ({does})");
        client.tape().push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        person.does(step).await.map_err(at(&place))?;
    }
    person.leave().await.map_err(at("after the last step"))?;
    Ok(Performed { session: person.session, doc })
}

/// The person at work.
struct Person<'a> {
    client: &'a Client,
    limits: &'a Limits,
    events: EventStream,
    global_events: EventStream,
    session: String,
    /// How many events had come at the latest prompt.
    prompted_at: usize,
    /// Every question for permission before this place is settled.
    asked_from: usize,
    /// Prompts whose answer is awaited.
    prompts: JoinSet<Result<Reply, CaptureError>>,
}

impl<'a> Person<'a> {
    async fn arrive(client: &'a Client, limits: &'a Limits) -> Result<(Self, Bytes), Problem> {
        let events = subscribe(client, limits, StreamName::Event).await?;
        let global_events = subscribe(client, limits, StreamName::GlobalEvent).await?;
        for stream in [&events, &global_events] {
            let connected = stream.wait_for(0, |event| kind(event) == "server.connected");
            awaited("server.connected", limits.exchange, connected).await?;
        }
        quiet(&events, &global_events, limits.boot_quiet, limits.boot).await?;
        let doc = client.exchange_apart(Method::GET, "/doc", "");
        let doc = timed("the answer to GET /doc", limits.exchange, doc).await??;
        let doc = accepted("GET /doc", doc)?.bytes;
        let created = ask(client, limits, Method::POST, "/session", Some(&json!({}))).await?;
        let created = accepted("POST /session", created)?;
        let session = created.json().and_then(|session| Some(session.get("id")?.as_str()?.to_owned()));
        let session = session.ok_or_else(|| {
            Problem::Unusable(format!("the answer to POST /session has no id: {}", shown(&created)))
        })?;
        let person = Self {
            client,
            limits,
            events,
            global_events,
            session,
            prompted_at: 0,
            asked_from: 0,
            prompts: JoinSet::new(),
        };
        Ok((person, doc))
    }

    async fn does(&mut self, step: &UserStep) -> Result<(), Problem> {
        match step {
            UserStep::Prompt(text) => {
                self.prompt(text);
                Ok(())
            }
            UserStep::AnswerPermission(answer) => self.answer(*answer).await,
            UserStep::WaitFor(WaitFor::Idle) => self.wait_for_idle().await,
        }
    }

    /// The answer comes when the turn ends, so it is awaited elsewhere.
    fn prompt(&mut self, text: &str) {
        self.prompted_at = self.events.count();
        let body = json!({ "parts": [{ "type": "text", "text": text }] });
        let path = format!("/session/{}/message", self.session);
        let client = self.client.clone();
        self.prompts.spawn(async move { client.exchange(Method::POST, &path, "", Some(&body)).await });
    }

    async fn answer(&mut self, answer: PermissionAnswer) -> Result<(), Problem> {
        const WHAT: &str = "a permission.asked that is not answered yet";
        let event = loop {
            let asked = self.events.wait_for(self.asked_from, |event| kind(event) == "permission.asked");
            let (place, event) = tokio::select! {
                asked = awaited(WHAT, self.limits.permission, asked) => asked?,
                problem = refusal(&mut self.prompts) => return Err(problem),
            };
            self.asked_from = place + 1;
            // One answer may settle several questions: the server then says so for each.
            let id = property(&event, "id");
            let is_settled = |later: &Value| {
                kind(later) == "permission.replied" && id.is_some() && property(later, "requestID") == id
            };
            if !self.events.has(place, is_settled) {
                break event;
            }
        };
        let (Some(id), Some(session)) = (property(&event, "id"), property(&event, "sessionID")) else {
            return Err(Problem::Unusable(format!(
                "this permission.asked has no id or no sessionID: {event}"
            )));
        };
        let path = format!("/session/{session}/permissions/{id}");
        let body = json!({ "response": answer.word() });
        let reply = ask(self.client, self.limits, Method::POST, &path, Some(&body)).await?;
        accepted(&format!("POST {path}"), reply).map(drop)
    }

    async fn wait_for_idle(&mut self) -> Result<(), Problem> {
        let limit = self.limits.idle;
        let prompts = &mut self.prompts;
        let replies = async {
            while let Some(reply) = prompts.join_next().await {
                prompt_accepted(reply)?;
            }
            Ok::<(), Problem>(())
        };
        timed("the answers to the prompts", limit, replies).await??;
        let is_idle = |event: &Value| {
            kind(event) == "session.idle" && property(event, "sessionID") == Some(self.session.as_str())
        };
        let idle = self.events.wait_for(self.prompted_at, is_idle);
        awaited("session.idle after the latest prompt", limit, idle).await.map(drop)
    }

    /// Waits until nothing happens any more, reads what is left, and closes the streams.
    async fn leave(&self) -> Result<(), Problem> {
        quiet(&self.events, &self.global_events, self.limits.quiet, self.limits.settle).await?;
        let session = format!("/session/{}", self.session);
        let parts = ["", "/message", "/diff", "/todo"].map(|part| format!("{session}{part}"));
        let rest = ["/permission", "/session/status"].map(str::to_owned);
        for path in parts.iter().chain(&rest) {
            // Whatever the answer is, it is what the server has to say: the tape keeps it.
            ask(self.client, self.limits, Method::GET, path, None).await?;
        }
        Ok(())
    }
}

async fn subscribe(client: &Client, limits: &Limits, stream: StreamName) -> Result<EventStream, Problem> {
    let what = format!("the head of {}", stream.path());
    Ok(timed(&what, limits.exchange, client.subscribe(stream, "")).await??)
}

/// An exchange that does not wait for the agent.
async fn ask(
    client: &Client,
    limits: &Limits,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<Reply, Problem> {
    let what = format!("the answer to {method} {path}");
    Ok(timed(&what, limits.exchange, client.exchange(method, path, "", body)).await??)
}

/// Waits until both streams have been quiet for `quiet`.
async fn quiet(
    one: &EventStream,
    other: &EventStream,
    quiet: Duration,
    limit: Duration,
) -> Result<(), Problem> {
    let what = format!("{} s without an event on both streams", quiet.as_secs_f32());
    let silence = clock::quiet_since(quiet, || one.last_activity().max(other.last_activity()));
    timed(&what, limit, silence).await
}

async fn timed<T>(what: &str, limit: Duration, work: impl Future<Output = T>) -> Result<T, Problem> {
    clock::within(limit, work).await.ok_or_else(|| Problem::TimedOut { awaited: what.to_owned(), limit })
}

async fn awaited<T>(
    what: &str,
    limit: Duration,
    event: impl Future<Output = Result<T, StreamEnded>>,
) -> Result<T, Problem> {
    timed(what, limit, event).await?.map_err(|ended| Problem::Ended { awaited: what.to_owned(), ended })
}

/// Waits for a prompt that fails; never ready while none does.
async fn refusal(prompts: &mut JoinSet<Result<Reply, CaptureError>>) -> Problem {
    while let Some(reply) = prompts.join_next().await {
        if let Err(problem) = prompt_accepted(reply) {
            return problem;
        }
    }
    std::future::pending().await
}

fn prompt_accepted(
    reply: Result<Result<Reply, CaptureError>, tokio::task::JoinError>,
) -> Result<(), Problem> {
    let reply =
        reply.map_err(|error| Problem::Unusable(format!("the task of a prompt failed: {error}")))??;
    accepted("the prompt", reply).map(drop)
}

fn accepted(request: &str, reply: Reply) -> Result<Reply, Problem> {
    if reply.is_success() {
        return Ok(reply);
    }
    Err(Problem::Refused { request: request.to_owned(), status: reply.status, body: shown(&reply) })
}

/// The beginning of a body, for messages.
fn shown(reply: &Reply) -> String {
    const SHOWN_CHARS: usize = 300;
    // Cleaned before it is cut, so that no beginning of a secret stays.
    clean(&String::from_utf8_lossy(&reply.bytes)).chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests;
