//! What the person does, step by step: prompts, answers to what the screen shows, waits for what the server does.

use super::spawning::only_crashes;
use super::{Run, Troubled, broken, client, task_of};
use crate::link::AskError;
use crate::protocol::request::{
    PermissionReply, QuestionRef, QuestionReply, Reply, TaskRef, TaskSend, TaskStart, TaskStarted,
};
use crate::protocol::{Capability, PermissionRef, Request};
use crate::sight::Sight;
use fixtures::recording::{Line, TroubleKind, UserLine};
use fixtures::scenario::{
    ClientAct, Ending, PermissionAnswer, PromptRoute, RawRequest, RequestBody, UserAct, UserStep, WaitFor,
    found_at,
};
use serde_json::Value;
use std::sync::PoisonError;

/// What an adapter has to be able to do for a step.
pub(super) fn needs(step: &UserStep) -> Option<Capability> {
    match &step.act {
        UserAct::AnswerPermission { .. } => Some(Capability::Permissions),
        UserAct::AnswerQuestion(_) | UserAct::RejectQuestion => Some(Capability::Questions),
        UserAct::Abort => Some(Capability::Abort),
        UserAct::Retry => Some(Capability::Retry),
        UserAct::Hold => Some(Capability::AutoApprove),
        UserAct::Client(act) => Some(client::needs(act)),
        _ => None,
    }
}

impl Run {
    pub(super) async fn step(&mut self, step: &UserStep, number: usize) -> Result<(), Troubled> {
        let asked = self.awaited(step).await?;
        let does = step.to_string();
        self.stand_in.journal().push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        let (task_id, id) = asked.unwrap_or_default();
        match &step.act {
            UserAct::Prompt { text, route: PromptRoute::Blocking | PromptRoute::Async } => {
                let task_id = self.task(step.session()).await?;
                self.ask_or_be_refused(Request::TaskSend(TaskSend {
                    task_id,
                    text: text.clone(),
                    attachments: Vec::new(),
                }))
                .await
                .map(drop)
            }
            UserAct::AnswerPermission { answer, message } => {
                self.answered.insert(id.clone());
                let reply = match answer {
                    PermissionAnswer::Once => Reply::Once,
                    PermissionAnswer::Always => Reply::Always,
                    PermissionAnswer::Reject => Reply::Reject,
                };
                let reply =
                    PermissionReply { task_id, permission_id: id.clone(), reply, message: message.clone() };
                self.answer(Request::PermissionReply(reply), &id).await
            }
            UserAct::AnswerQuestion(answers) => {
                self.answered.insert(id.clone());
                let reply = QuestionReply { task_id, question_id: id.clone(), answers: answers.clone() };
                self.answer(Request::QuestionReply(reply), &id).await
            }
            UserAct::RejectQuestion => {
                self.answered.insert(id.clone());
                let question = QuestionRef { task_id, question_id: id.clone() };
                self.answer(Request::QuestionReject(question), &id).await
            }
            UserAct::Abort => {
                let task_id = self.task(step.session()).await?;
                self.ask_or_be_refused(Request::TaskAbort(TaskRef { task_id })).await.map(drop)
            }
            UserAct::Hold => {
                let held = PermissionRef { task_id, permission_id: id };
                self.ask_or_be_refused(Request::PermissionHold(held)).await.map(drop)
            }
            UserAct::Client(act) => self.client_act(act, step.session(), (task_id, id)).await,
            // What could not be read may be refused once more.
            UserAct::Retry => self.ask_or_be_refused(Request::TaskRetry(TaskRef { task_id })).await.map(drop),
            UserAct::OpenGate(name) => {
                self.stand_in.open_gate(name);
                Ok(())
            }
            UserAct::Restart(ending) => match &self.spawned {
                Some(_) if *ending == Ending::Kill => self.crash().await,
                Some(_) => Err(only_crashes()),
                None => {
                    self.stand_in.restart(*ending);
                    Ok(())
                }
            },
            UserAct::WaitFor(wanted) => self.wait_for(step, wanted).await,
            UserAct::Request(request) if request.is_plain() => self.another_client(request).await,
            UserAct::Request(_) | UserAct::Reconnect | UserAct::Stall | UserAct::ReadOn => Err((
                TroubleKind::Harness,
                "an adapter can't be asked for that: no request of the protocol says it".to_owned(),
            )),
        }
    }

    async fn wait_for(&mut self, step: &UserStep, wanted: &WaitFor) -> Result<(), Troubled> {
        match wanted {
            WaitFor::Idle => {
                let task_id = self.task(step.session()).await?;
                self.wait_for_idle(&task_id).await
            }
            WaitFor::Connected(count) => self.wait_for_connection(*count).await,
            WaitFor::Loaded => self.wait_for_reading().await,
            WaitFor::Shown => {
                // What has just been sent is under way. Who is never quiet has shown it when the step is over.
                self.wait(async { while !self.is_quiet().await {} }).await?;
                self.ask(Request::Fence).await.map(drop)
            }
            WaitFor::Event { event, containing, save } => {
                let session = self.session_of(step).await?;
                let came = self.wait_for_event(event, containing.as_deref(), session.as_deref()).await?;
                let named = save
                    .iter()
                    .filter_map(|(name, pointer)| Some((format!("${{{name}}}"), found_at(&came, pointer)?)));
                self.heard.extend(named);
                Ok(())
            }
        }
    }

    /// The task of a session; it is started when a step first names it.
    pub(super) async fn task(&mut self, session: &str) -> Result<String, Troubled> {
        let task_id = task_of(session);
        if !self.tasks.contains_key(&task_id) && !self.local.contains(&task_id) {
            let below = self.folders.get(session);
            let directory = below.map(|below| format!("{}/{below}", self.stand_in.workspace()));
            let start = Request::TaskStart(TaskStart { task_id: task_id.clone(), directory });
            let begun = match self.running.link.ask(&start, self.limits.answer).await {
                // Where something breaks, the person who gets no task wants it once more.
                Err(AskError::Refused { .. }) if self.breaks => self.ask(start).await?,
                Err(error) => return Err(broken(error.to_string())),
                Ok(begun) => begun,
            };
            let started = serde_json::from_value::<TaskStarted>(begun)
                .map_err(|error| broken(format!("task/start: {error}")))?;
            match started.session_id {
                Some(session) => drop(self.tasks.insert(task_id.clone(), session)),
                None => drop(self.local.insert(task_id.clone())),
            }
        }
        Ok(task_id)
    }

    /// The person answers when there is something to answer, and not before. Gives the task, and the name of what it asks.
    async fn awaited(&mut self, step: &UserStep) -> Result<Option<(String, String)>, Troubled> {
        Ok(match &step.act {
            UserAct::AnswerPermission { .. } | UserAct::Hold | UserAct::Client(ClientAct::Look) => {
                Some(self.next_asked(step.session.as_deref(), false).await?)
            }
            UserAct::AnswerQuestion(_) | UserAct::RejectQuestion | UserAct::Client(ClientAct::Type) => {
                Some(self.next_asked(step.session.as_deref(), true).await?)
            }
            UserAct::Client(ClientAct::AllowAll) => Some(self.all_asked(step.session()).await?),
            UserAct::Client(ClientAct::Mend) => Some(self.next_error(step.session(), false).await?),
            UserAct::Retry => Some(self.next_error(step.session(), true).await?),
            _ => None,
        })
    }

    /// Another client of the same person asks this of the server.
    async fn another_client(&mut self, request: &RawRequest) -> Result<(), Troubled> {
        let (method, body) = match &request.body {
            RequestBody::Json(body) => ("POST", Some(body.clone())),
            RequestBody::Nothing | RequestBody::Text(_) => ("DELETE", None),
        };
        let workspace = self.stand_in.workspace().to_owned();
        let target = self
            .heard
            .iter()
            .fold(request.target.clone(), |target, (name, value)| target.replace(name, value));
        self.observer.send(method, &target, body, &workspace).await.map_err(|why| (TroubleKind::Harness, why))
    }

    /// The server's name of the session that a step names.
    async fn session_of(&mut self, step: &UserStep) -> Result<Option<String>, Troubled> {
        let Some(name) = &step.session else { return Ok(None) };
        let task_id = self.task(name).await?;
        Ok(self.tasks.get(&task_id).cloned())
    }

    /// An answer that the server did not take may be given again.
    async fn answer(&mut self, request: Request, id: &str) -> Result<(), Troubled> {
        let was_taken = self.ask_or_be_refused(request).await?;
        if !was_taken {
            self.answered.remove(id);
        }
        Ok(())
    }

    /// The person answers what the screen shows, and nothing else. Gives the task and the name of what it asks.
    async fn next_asked(
        &mut self,
        session: Option<&str>,
        question: bool,
    ) -> Result<(String, String), Troubled> {
        let answered = self.answered.clone();
        let wanted = session.map(task_of);
        let mut found = None;
        loop {
            let mut is_due = false;
            let shown = self.seen(|sight| {
                let tasks = sight.screen.tasks.iter();
                let mut tasks =
                    tasks.filter(|(task, _)| wanted.as_ref().is_none_or(|wanted| wanted == *task));
                found = tasks.find_map(|(task, view)| {
                    let permissions = view.permissions.iter().map(|live| &live.permission_id);
                    let questions = view.questions.iter().map(|live| &live.question_id);
                    let mut live = permissions.filter(|_| !question).chain(questions.filter(|_| question));
                    live.find(|id| !answered.contains(*id)).map(|id| (task.clone(), id.clone()))
                });
                is_due = self.retry_is_due(sight);
                found.is_some() || is_due
            });
            self.wait(shown).await?;
            if found.is_some() || !is_due {
                break;
            }
            self.press_retry().await?;
        }
        let what = if question { "no question" } else { "no question for permission" };
        found.ok_or_else(|| self.not_done(&format!("the screen shows {what}")))
    }

    /// Is there an error with Retry beside it, and a person who does not give up?
    pub(super) fn retry_is_due(&self, sight: &Sight) -> bool {
        self.presses_left > 0 && sight.errors.iter().any(|(at, _)| *at >= self.errors_from)
    }

    /// Presses Retry in all tasks in which it is offered.
    pub(super) async fn press_retry(&mut self) -> Result<(), Troubled> {
        let offered: Vec<(usize, Option<String>)> = {
            let sight = self.sight.lock().unwrap_or_else(PoisonError::into_inner);
            sight.errors.iter().filter(|(at, _)| *at >= self.errors_from).cloned().collect()
        };
        let Some(last) = offered.last().map(|(at, _)| *at) else { return Ok(()) };
        (self.errors_from, self.presses_left) = (last + 1, self.presses_left - 1);
        let is_offered =
            |task: &&String| offered.iter().any(|(_, of)| of.as_ref().is_none_or(|of| of == *task));
        for task_id in self.tasks.keys().filter(is_offered).cloned().collect::<Vec<_>>() {
            self.ask_or_be_refused(Request::TaskRetry(TaskRef { task_id })).await?;
        }
        Ok(())
    }

    /// The next error with Retry beside it, which may be dealt with then. Gives the task.
    async fn next_error(&mut self, session: &str, is_dealt_with: bool) -> Result<(String, String), Troubled> {
        let task = self.task(session).await?;
        let from = self.errors_from;
        let mut found = None;
        let shown = self.seen(|sight| {
            let is_wanted =
                |(at, of): &&(usize, Option<String>)| *at >= from && of.as_ref().is_none_or(|of| *of == task);
            found = sight.errors.iter().find(is_wanted).map(|(at, _)| *at);
            found.is_some()
        });
        self.wait(shown).await?;
        let at = found.ok_or_else(|| self.not_done("the screen shows no error with Retry beside it"))?;
        if is_dealt_with {
            self.errors_from = at + 1;
        }
        Ok((task, String::new()))
    }

    /// The server decides whether it is idle; whether the screen has noticed is for the checks.
    async fn wait_for_idle(&mut self, task_id: &str) -> Result<(), Troubled> {
        let session = self.tasks.get(task_id).cloned();
        // It looks at each event once, however often it is woken.
        let (mut looked, mut is_at_rest) = (0, false);
        let idle = self.seen(|sight| {
            for sent in sight.events.iter().skip(looked) {
                let properties = &sent.event["properties"];
                let is_ours = || properties["sessionID"].as_str() == session.as_deref();
                match sent.kind() {
                    "session.idle" if is_ours() => is_at_rest = true,
                    "message.updated"
                        if properties["info"]["role"] == "user"
                            && properties["info"].get("summary").is_none()
                            && is_ours() =>
                    {
                        is_at_rest = false;
                    }
                    _ => {}
                }
            }
            looked = sight.events.len();
            is_at_rest
        });
        let mut is_idle = false;
        self.wait(async {
            idle.await;
            is_idle = true;
        })
        .await?;
        if is_idle { Ok(()) } else { Err(self.not_done("the server is not idle")) }
    }

    async fn wait_for_connection(&mut self, count: usize) -> Result<(), Troubled> {
        let mut is_there = false;
        let came = self.seen(|sight| {
            is_there = sight.has_stream(count);
            // What comes next is to be seen, too.
            is_there && sight.watches()
        });
        self.wait(came).await?;
        if is_there { Ok(()) } else { Err(self.not_done(&format!("the adapter has no stream {count}"))) }
    }

    async fn wait_for_reading(&self) -> Result<(), Troubled> {
        let mut is_there = false;
        let came = self.seen(|sight| {
            is_there = sight.has_loaded();
            is_there
        });
        self.wait(came).await?;
        if is_there { Ok(()) } else { Err(self.not_done("the adapter has not read the conversation again")) }
    }

    async fn wait_for_event(
        &mut self,
        wanted: &str,
        containing: Option<&str>,
        session: Option<&str>,
    ) -> Result<Value, Troubled> {
        let mut from = self.awaited_from;
        let mut found = None;
        let came = self.seen(|sight| {
            let is_wanted = |event: &Value| {
                event["type"] == wanted
                    && session.is_none_or(|session| event["properties"]["sessionID"] == session)
                    && containing.is_none_or(|words| event.to_string().contains(words))
            };
            let came = sight.events.iter().enumerate().skip(from).find(|(_, sent)| is_wanted(&sent.event));
            found = came.map(|(at, sent)| (at, sent.event.clone()));
            from = sight.events.len();
            found.is_some()
        });
        self.wait(came).await?;
        match found {
            Some((at, event)) => {
                self.awaited_from = at + 1;
                Ok(event)
            }
            None => Err(self.not_done(&format!("the server sent no {wanted}"))),
        }
    }

    pub(super) fn not_done(&self, what: &str) -> Troubled {
        (TroubleKind::StepNotDone, format!("{what}, {} s long", self.limits.step.as_secs_f32()))
    }
}
