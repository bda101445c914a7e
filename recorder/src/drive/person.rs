//! The person at work: one step after the other, in one session or several.

use super::stream::listen;
use super::waiting::{accepted, ask, awaited, quiet, quiet_from_now, shown, timed};
use super::{Backstage, Problem};
use crate::capture::{Client, Method};
use crate::clock::{self, Limits};
use crate::events::{EventStream, kind, property};
use bytes::Bytes;
use fixtures::scenario::{MAIN_SESSION, PermissionAnswer, PromptRoute, UserAct, UserStep, WaitFor};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::{JoinError, JoinSet};

/// The person of a scenario.
pub(super) struct Person<'a> {
    pub(super) client: &'a Client,
    pub(super) limits: &'a Limits,
    pub(super) backstage: &'a dyn Backstage,
    pub(super) events: EventStream,
    pub(super) global_events: EventStream,
    /// In the order of their creation; the main one first.
    pub(super) sessions: Vec<Session>,
    /// Prompts whose answer is awaited, each with the place of its session.
    pub(super) prompts: JoinSet<Answered>,
    /// The questions that the person has answered, and those that were settled otherwise.
    pub(super) settled: BTreeSet<String>,
    /// Every event before this place has been awaited or is older than one that was.
    pub(super) awaited_from: usize,
    /// The same, of what sessions of other folders do.
    pub(super) awaited_elsewhere_from: usize,
    /// What the person has saved of answers and events, by its word.
    pub(super) saved: BTreeMap<String, String>,
    /// The folder in which the agent works.
    pub(super) workspace: String,
}

/// A session that the person has created.
pub(super) struct Session {
    pub(super) name: String,
    pub(super) id: String,
    /// How many events had come at the latest prompt.
    pub(super) prompted_at: usize,
    /// How many prompts wait for their answer.
    pub(super) unanswered: usize,
}

/// Something that the agent asks.
struct Question {
    asked: &'static str,
    settled: &'static [&'static str],
    what: &'static str,
}

const PERMISSION: Question = Question {
    asked: "permission.asked",
    settled: &["permission.replied"],
    what: "a permission.asked that is not answered yet",
};

const QUESTION: Question = Question {
    asked: "question.asked",
    settled: &["question.replied", "question.rejected"],
    what: "a question.asked that is not answered yet",
};

impl<'a> Person<'a> {
    pub(super) async fn arrive(
        workspace: &str,
        client: &'a Client,
        limits: &'a Limits,
        backstage: &'a dyn Backstage,
    ) -> Result<(Self, Bytes), Problem> {
        let (events, global_events) = listen(client, limits, None).await?;
        quiet(&events, &global_events, limits.boot_quiet, limits.boot).await?;
        let doc = client.exchange_apart(Method::GET, "/doc", "");
        let doc = timed("the answer to GET /doc", limits.exchange, doc).await??;
        let doc = accepted("GET /doc", doc)?.bytes;
        // Writing it keeps a server busy for seconds on a slow machine, and one that is busy has promised its streams
        // (`server.connected`) before it really listens for what it has to tell there.
        quiet_from_now(&events, &global_events, limits.boot_quiet, limits.boot).await?;
        let (awaited_from, awaited_elsewhere_from) = (events.count(), global_events.count());
        let mut person = Self {
            client,
            limits,
            backstage,
            events,
            global_events,
            sessions: Vec::new(),
            prompts: JoinSet::new(),
            settled: BTreeSet::new(),
            awaited_from,
            awaited_elsewhere_from,
            saved: BTreeMap::new(),
            workspace: workspace.to_owned(),
        };
        person.session(MAIN_SESSION).await?;
        Ok((person, doc))
    }

    pub(super) fn main_session(&self) -> &str {
        self.sessions.first().map_or("", |session| session.id.as_str())
    }

    pub(super) async fn does(&mut self, step: &UserStep) -> Result<(), Problem> {
        match &step.act {
            UserAct::Prompt { text, route } => self.prompt(step.session(), text, *route).await,
            UserAct::AnswerPermission { answer, message } => {
                let (session, id) = self.question(&PERMISSION, step).await?;
                let (path, body) = match message {
                    None => {
                        (format!("/session/{session}/permissions/{id}"), json!({ "response": answer.word() }))
                    }
                    // Only this route takes one.
                    Some(message) => (format!("/permission/{id}/reply"), reply_with(*answer, message)),
                };
                self.post(&path, Some(&body)).await
            }
            UserAct::AnswerQuestion(answers) => {
                let (_, id) = self.question(&QUESTION, step).await?;
                self.post(&format!("/question/{id}/reply"), Some(&json!({ "answers": answers }))).await
            }
            UserAct::RejectQuestion => {
                let (_, id) = self.question(&QUESTION, step).await?;
                self.post(&format!("/question/{id}/reject"), None).await
            }
            UserAct::Abort => {
                let at = self.session(step.session()).await?;
                let path = format!("/session/{}/abort", self.sessions[at].id);
                self.post(&path, None).await
            }
            UserAct::Retry
            | UserAct::Hold
            | UserAct::Client(_)
            | UserAct::WaitFor(WaitFor::Connected(_) | WaitFor::Loaded | WaitFor::Shown) => Err(Problem::Unusable(
                "there is no client here, with a stream and a screen: a parity case can do that, a scenario can't"
                    .to_owned(),
            )),
            UserAct::Reconnect => {
                let last = self.events.last_id();
                self.reconnect(last.as_deref()).await
            }
            UserAct::Stall | UserAct::ReadOn => {
                let reads = step.act == UserAct::ReadOn;
                self.events.read_or_stall(reads);
                self.global_events.read_or_stall(reads);
                Ok(())
            }
            UserAct::Restart(ending) => self.restart(*ending).await,
            UserAct::Request(request) => self.request(step.session(), request).await,
            UserAct::OpenGate(name) => {
                self.backstage.open_gate(name);
                Ok(())
            }
            UserAct::WaitFor(WaitFor::Idle) => self.wait_for_idle(step.session()).await,
            UserAct::WaitFor(WaitFor::Event { event, containing, save }) => {
                let session = match &step.session {
                    Some(name) => Some(self.session(name).await?),
                    None => None,
                };
                let containing = containing.as_ref().map(|words| self.filled_in(words));
                let event = self.wait_for_event(event, containing.as_deref(), session).await?;
                self.save(save, &event, "the event")
            }
        }
    }

    /// The place of this session among the others; it is created if there is none of this name.
    pub(super) async fn session(&mut self, name: &str) -> Result<usize, Problem> {
        if let Some(at) = self.sessions.iter().position(|session| session.name == name) {
            return Ok(at);
        }
        let created = ask(self.client, self.limits, Method::POST, "/session", Some(&json!({}))).await?;
        let created = accepted("POST /session", created)?;
        let id = created.json().and_then(|session| Some(session.get("id")?.as_str()?.to_owned()));
        let id = id.ok_or_else(|| {
            Problem::Unusable(format!("the answer to POST /session has no id: {}", shown(&created)))
        })?;
        let prompted_at = self.events.count();
        self.sessions.push(Session { name: name.to_owned(), id, prompted_at, unanswered: 0 });
        Ok(self.sessions.len() - 1)
    }

    async fn prompt(&mut self, session: &str, text: &str, route: PromptRoute) -> Result<(), Problem> {
        let at = self.session(session).await?;
        let session = &mut self.sessions[at];
        session.prompted_at = self.events.count();
        let body = json!({ "parts": [{ "type": "text", "text": text }] });
        match route {
            // The answer comes when the turn ends, so it is awaited elsewhere.
            PromptRoute::Blocking => {
                let path = format!("/session/{}/message", session.id);
                let client = self.client.clone();
                session.unanswered += 1;
                self.prompts.spawn(async move {
                    let reply = client.exchange(Method::POST, &path, "", Some(&body)).await;
                    (
                        at,
                        reply
                            .map_err(Problem::from)
                            .and_then(|reply| accepted("the prompt", reply).map(drop)),
                    )
                });
                Ok(())
            }
            PromptRoute::Async => {
                let path = format!("/session/{}/prompt_async", session.id);
                self.post(&path, Some(&body)).await
            }
        }
    }

    async fn post(&self, path: &str, body: Option<&Value>) -> Result<(), Problem> {
        let reply = ask(self.client, self.limits, Method::POST, path, body).await?;
        accepted(&format!("POST {path}"), reply).map(drop)
    }

    /// Waits for a question that nobody has answered; gives its session and its id.
    async fn question(&mut self, question: &Question, step: &UserStep) -> Result<(String, String), Problem> {
        let session = match &step.session {
            Some(name) => {
                let at = self.session(name).await?;
                Some(self.sessions[at].id.clone())
            }
            None => None,
        };
        loop {
            let is_open = |event: &Value| {
                kind(event) == question.asked
                    && property(event, "id").is_none_or(|id| !self.settled.contains(id))
                    && (session.is_none() || property(event, "sessionID") == session.as_deref())
            };
            let asked = self.events.wait_for(0, is_open);
            let (place, event) = tokio::select! {
                asked = awaited(question.what, self.limits.permission, asked) => asked?,
                problem = refusal(&mut self.prompts, &mut self.sessions) => return Err(problem),
            };
            let (Some(id), Some(session)) = (property(&event, "id"), property(&event, "sessionID")) else {
                let asked = question.asked;
                return Err(Problem::Unusable(format!("this {asked} has no id or no sessionID: {event}")));
            };
            let (session, id) = (session.to_owned(), id.to_owned());
            self.settled.insert(id.clone());
            // One answer may settle several questions: the server then says so for each.
            let is_settled = |later: &Value| {
                question.settled.contains(&kind(later)) && property(later, "requestID") == Some(id.as_str())
            };
            self.everywhere(&event).await;
            if !self.events.has(place, is_settled) {
                if self.limits.reads_at_questions {
                    self.read_more().await?;
                }
                return Ok((session, id));
            }
        }
    }

    async fn wait_for_idle(&mut self, session: &str) -> Result<(), Problem> {
        let limit = self.limits.idle;
        let at = self.session(session).await?;
        let (prompts, sessions) = (&mut self.prompts, &mut self.sessions);
        let replies = async {
            while sessions[at].unanswered > 0 {
                let Some(answered) = prompts.join_next().await else { break };
                let (of, outcome) = joined(answered)?;
                sessions[of].unanswered -= 1;
                outcome?;
            }
            Ok::<(), Problem>(())
        };
        timed("the answers to the prompts", limit, replies).await??;
        let session = &self.sessions[at];
        let is_idle = |event: &Value| {
            kind(event) == "session.idle" && property(event, "sessionID") == Some(session.id.as_str())
        };
        let idle = self.events.wait_for(session.prompted_at, is_idle);
        let (_, idle) = awaited("session.idle after the latest prompt", limit, idle).await?;
        self.everywhere(&idle).await;
        Ok(())
    }

    /// Waits until the other stream has an event as well, so that what the person does next stands behind it on both,
    /// however busy the machine is. A release that does not tell it there is not waited for.
    async fn everywhere(&self, event: &Value) {
        let told = self.global_events.wait_for(0, |other| other["payload"] == *event);
        drop(clock::within(self.limits.quiet, told).await);
    }

    async fn wait_for_event(
        &mut self,
        wanted: &str,
        containing: Option<&str>,
        session: Option<usize>,
    ) -> Result<Value, Problem> {
        let what = match containing {
            Some(words) => format!("an event {wanted} with {words:?}"),
            None => format!("an event {wanted}"),
        };
        let session = session.map(|at| self.sessions[at].id.clone());
        let is_wanted = |event: &Value| {
            kind(event) == wanted
                && (session.is_none() || property(event, "sessionID") == session.as_deref())
                && containing.is_none_or(|words| event.to_string().contains(words))
        };
        let event = self.events.wait_for(self.awaited_from, &is_wanted);
        // What sessions of other folders do is told on the other stream alone.
        let is_elsewhere =
            |event: &Value| event["directory"].as_str().is_some_and(|folder| folder != self.workspace);
        let elsewhere = |event: &Value| is_elsewhere(event) && is_wanted(&event["payload"]);
        let elsewhere = self.global_events.wait_for(self.awaited_elsewhere_from, elsewhere);
        let (place, event) = tokio::select! {
            event = awaited(&what, self.limits.idle, event) => event?,
            told = awaited(&what, self.limits.idle, elsewhere) => {
                let (place, told) = told?;
                self.awaited_elsewhere_from = place + 1;
                return Ok(told["payload"].clone());
            }
            problem = refusal(&mut self.prompts, &mut self.sessions) => return Err(problem),
        };
        self.awaited_from = place + 1;
        self.everywhere(&event).await;
        Ok(event)
    }

    /// Waits until nothing happens any more, reads what is left, and closes the streams.
    pub(super) async fn leave(&self) -> Result<(), Problem> {
        if self.limits.reads_at_questions {
            return self.read_more().await;
        }
        quiet(&self.events, &self.global_events, self.limits.quiet, self.limits.settle).await?;
        self.read().await
    }

    /// Waits until the server's own jobs are done, and reads all that a client can refresh from.
    async fn read_more(&self) -> Result<(), Problem> {
        quiet(&self.events, &self.global_events, self.limits.quiet, self.limits.settle).await?;
        self.read().await?;
        for path in ["/session", "/question"] {
            ask(self.client, self.limits, Method::GET, path, None).await?;
        }
        Ok(())
    }

    async fn read(&self) -> Result<(), Problem> {
        let mut paths: Vec<String> = Vec::new();
        for session in &self.sessions {
            let id = &session.id;
            paths.extend(["", "/message", "/diff", "/todo"].map(|part| format!("/session/{id}{part}")));
        }
        let children = self.children();
        if !children.is_empty() {
            paths.extend(self.sessions.iter().map(|session| format!("/session/{}/children", session.id)));
            paths.extend(children.iter().map(|id| format!("/session/{id}/message")));
        }
        let asked = self.events.has(0, |event| kind(event) == QUESTION.asked);
        if asked && !self.limits.reads_at_questions {
            paths.push("/question".to_owned());
        }
        paths.extend(["/permission", "/session/status"].map(str::to_owned));
        for path in &paths {
            // Whatever the answer is, it is what the server has to say: the tape keeps it.
            ask(self.client, self.limits, Method::GET, path, None).await?;
        }
        Ok(())
    }

    /// The sessions that the agent has created, in order.
    fn children(&self) -> Vec<String> {
        let created = self.events.matching(|event| kind(event) == "session.created");
        let ids = created.iter().filter_map(|event| property(event, "sessionID"));
        ids.filter(|id| self.sessions.iter().all(|session| session.id != *id)).map(str::to_owned).collect()
    }
}

fn reply_with(answer: PermissionAnswer, message: &str) -> Value {
    json!({ "reply": answer.word(), "message": message })
}

/// The place of the session, and whether the answer is one to go on with.
pub(super) type Answered = (usize, Result<(), Problem>);

/// Waits for a prompt that fails; never ready while none does.
async fn refusal(prompts: &mut JoinSet<Answered>, sessions: &mut [Session]) -> Problem {
    while let Some(answered) = prompts.join_next().await {
        let outcome = joined(answered).and_then(|(of, outcome)| {
            sessions[of].unanswered -= 1;
            outcome
        });
        if let Err(problem) = outcome {
            return problem;
        }
    }
    std::future::pending().await
}

fn joined(answered: Result<Answered, JoinError>) -> Result<Answered, Problem> {
    answered.map_err(|error| Problem::Unusable(format!("the task of a prompt failed: {error}")))
}
