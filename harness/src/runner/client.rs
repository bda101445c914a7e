//! What the person does with the client alone: ends a task, looks what the screen offers, allows all, begins to type, turns
//! the flag.

use super::{Run, Troubled, broken, task_of};
use crate::protocol::request::{PermissionReply, QuestionRef, Reply, TaskRef, TaskSend, TaskStarted};
use crate::protocol::{
    Attachment, Backend, Capability, PermissionAll, Request, TaskEdit, TaskFork, TaskRevert, ToolServerAdd,
    ToolServerRef,
};
use crate::sight::Sight;
use fixtures::scenario::{ClientAct, Image};
use serde_json::json;
use std::collections::BTreeSet;

/// What an adapter has to be able to do for it.
pub(super) fn needs(act: &ClientAct) -> Capability {
    match act {
        ClientAct::Send { .. } => Capability::Images,
        ClientAct::Close => Capability::Close,
        ClientAct::SeeEnd => Capability::Chat,
        ClientAct::AllowIfAsked => Capability::Permissions,
        ClientAct::Mend => Capability::Retry,
        ClientAct::Look => Capability::Affordances,
        ClientAct::AllowAll => Capability::AnswerAll,
        ClientAct::Type => Capability::FollowUps,
        ClientAct::FlagOff | ClientAct::FlagOn => Capability::Cutover,
        ClientAct::Edit { .. } => Capability::Editing,
        ClientAct::GoBack { .. } | ClientAct::TakeBack | ClientAct::Fork { .. } => Capability::Checkpoints,
        ClientAct::Aside(_) => Capability::Asides,
        ClientAct::Features => Capability::Platform,
        ClientAct::ListTools | ClientAct::AddTools { .. } | ClientAct::ConnectTools(_) => {
            Capability::ToolServers
        }
    }
}

/// A file of the person as it is attached.
fn attachment(image: &Image) -> Attachment {
    let Image { name, mime, base64 } = image;
    let url = format!("data:{mime};base64,{base64}");
    Attachment { mime: mime.clone(), name: Some(name.clone()), url }
}

impl Run {
    /// `asked` is the task and the name of what its screen asks, where the act waits for that.
    pub(super) async fn client_act(
        &mut self,
        act: &ClientAct,
        session: &str,
        asked: (String, String),
    ) -> Result<(), Troubled> {
        let (task_id, id) = asked;
        let request = match act {
            ClientAct::Send { text, images } => {
                let (task_id, text) = (self.task(session).await?, text.clone());
                let attachments = images.iter().map(attachment).collect();
                Request::TaskSend(TaskSend { task_id, text, attachments })
            }
            ClientAct::Close => {
                let task_id = self.task(session).await?;
                self.closed.insert(task_id.clone());
                Request::TaskClose(TaskRef { task_id })
            }
            ClientAct::Look => Request::Affordances(TaskRef { task_id }),
            ClientAct::AllowAll => Request::PermissionAll(PermissionAll { task_id, reply: Reply::Once }),
            ClientAct::Type => Request::QuestionHold(QuestionRef { task_id, question_id: id }),
            ClientAct::Fork { prompt, into } => return self.fork(session, *prompt, into).await,
            ClientAct::Edit { prompt, text } => {
                let (task_id, message_id) = self.prompt_of(session, *prompt).await?;
                Request::TaskEdit(TaskEdit { task_id, message_id, text: text.clone() })
            }
            ClientAct::GoBack { prompt } => {
                let (task_id, message_id) = self.prompt_of(session, *prompt).await?;
                Request::TaskRevert(TaskRevert { task_id, message_id })
            }
            ClientAct::TakeBack => Request::TaskUnrevert(TaskRef { task_id: self.task(session).await? }),
            ClientAct::Aside(text) => {
                let task_id = self.task(session).await?;
                Request::TaskAside(TaskSend { task_id, text: text.clone(), attachments: Vec::new() })
            }
            ClientAct::AllowIfAsked => return self.allow_if_asked(session).await,
            ClientAct::Mend => {
                self.stand_in.mend();
                return Ok(());
            }
            // One that never comes is for the checks.
            ClientAct::SeeEnd => return self.wait(self.seen(Sight::has_ended)).await,
            ClientAct::Features => Request::PlatformFeatures,
            ClientAct::ListTools => Request::McpList,
            ClientAct::AddTools { name, command } => {
                let config = json!({ "type": "local", "command": command });
                Request::McpAdd(ToolServerAdd { name: name.clone(), config })
            }
            ClientAct::ConnectTools(name) => Request::McpConnect(ToolServerRef { name: name.clone() }),
            ClientAct::FlagOff => self.flag(Backend::Local),
            ClientAct::FlagOn => self.flag(Backend::Server),
        };
        // Which answers the server has not taken, the screen shows; the person may give them again.
        self.ask_or_be_refused(request).await.map(drop)
    }

    /// Who has a guard, or a rule, may have answered in the person's place.
    async fn allow_if_asked(&mut self, session: &str) -> Result<(), Troubled> {
        let task_id = self.task(session).await?;
        let owner = self.tasks.get(&task_id).cloned();
        let (mut asked, mut is_over) = (None, false);
        let shown = self.seen(|sight| {
            let live = sight.screen.tasks.get(&task_id).and_then(|view| view.permissions.first());
            asked = live.map(|live| live.permission_id.clone());
            is_over = sight
                .events
                .iter()
                .any(|sent| sent.kind() == "permission.replied" && sent.session() == owner.as_deref());
            asked.is_some() || is_over
        });
        self.wait(shown).await?;
        let Some(permission_id) = asked else {
            return if is_over { Ok(()) } else { Err(self.not_done("nobody is asked, and nobody answers")) };
        };
        let reply = PermissionReply { task_id, permission_id, reply: Reply::Once, message: None };
        self.ask_or_be_refused(Request::PermissionReply(reply)).await.map(drop)
    }

    /// Waits until the screen asks for all the leave that the server wants in a session. Gives the task.
    pub(super) async fn all_asked(&mut self, session: &str) -> Result<(String, String), Troubled> {
        let task = self.task(session).await?;
        let owner = self.tasks.get(&task).cloned();
        let mut is_shown = false;
        let shown = self.seen(|sight| {
            let of_kind = |kind: &str, field: &str| -> BTreeSet<String> {
                let told = sight
                    .events
                    .iter()
                    .filter(|sent| sent.kind() == kind && sent.session() == owner.as_deref());
                told.filter_map(|sent| sent.event["properties"][field].as_str().map(str::to_owned)).collect()
            };
            let answered = of_kind("permission.replied", "requestID");
            let asked: BTreeSet<String> =
                of_kind("permission.asked", "id").difference(&answered).cloned().collect();
            let live = sight.screen.tasks.get(&task).map(|view| &view.permissions).into_iter().flatten();
            let live: BTreeSet<String> = live.map(|live| live.permission_id.clone()).collect();
            is_shown = !asked.is_empty() && asked.is_subset(&live);
            is_shown
        });
        self.wait(shown).await?;
        if is_shown { Ok((task, String::new())) } else { Err(self.not_done("the screen does not ask all")) }
    }

    /// The task, and the server's name of a prompt in it, from 1.
    async fn prompt_of(&mut self, session: &str, prompt: usize) -> Result<(String, String), Troubled> {
        let task = self.task(session).await?;
        let owner = self.tasks.get(&task).cloned();
        let mut found = None;
        let came = self.seen(|sight| {
            let mut ids: Vec<&str> = Vec::new();
            for sent in sight.events.iter().filter(|sent| sent.kind() == "message.updated") {
                let info = &sent.event["properties"]["info"];
                let is_ours = info["sessionID"].as_str() == owner.as_deref() && info["role"] == "user";
                if let Some(id) = info["id"].as_str().filter(|id| is_ours && !ids.contains(id)) {
                    ids.push(id);
                }
            }
            found = prompt.checked_sub(1).and_then(|at| ids.get(at)).map(|id| (*id).to_owned());
            found.is_some()
        });
        self.wait(came).await?;
        let id = found.ok_or_else(|| self.not_done(&format!("the server has no prompt {prompt}")))?;
        Ok((task, id))
    }

    async fn fork(&mut self, session: &str, prompt: usize, into: &str) -> Result<(), Troubled> {
        let (task_id, message_id) = self.prompt_of(session, prompt).await?;
        let new_task_id = task_of(into);
        let request = Request::TaskFork(TaskFork { task_id, message_id, new_task_id: new_task_id.clone() });
        let started = serde_json::from_value::<TaskStarted>(self.ask(request).await?)
            .map_err(|error| broken(format!("task/fork: {error}")))?;
        match started.session_id {
            Some(session) => drop(self.tasks.insert(new_task_id, session)),
            None => return Err(broken("task/fork: field `sessionId` is missing: a copy is the server's")),
        }
        Ok(())
    }

    fn flag(&mut self, backend: Backend) -> Request {
        self.settings.backend = backend;
        Request::Settings(self.settings.clone())
    }
}
