//! What a person sends: taken at once, or a follow-up of the turn that runs.

use super::{Ticket, World};
use crate::profile::FollowUps;
use serde_json::{Value, json};

/// What a person sent.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    /// Waits for the end of the turn.
    pub(crate) ticket: Option<Ticket>,
    /// The texts, one part each.
    pub(crate) texts: Vec<String>,
    /// Which tools it takes from the agent or gives to it, as the wire has it.
    pub(crate) tools: Option<Value>,
}

/// A prompt whose message is stored.
#[derive(Debug)]
pub(crate) struct Queued {
    /// Waits for the end of the turn.
    pub(crate) ticket: Option<Ticket>,
    /// The prompt's message.
    pub(crate) message: String,
}

impl World {
    /// Takes a prompt: at once, or as a follow-up of the turn that is running.
    pub(crate) fn prompt(&mut self, session: &str, prompt: &Prompt) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let is_busy = owner.run.is_some();
        let first = !std::mem::replace(&mut owner.prompted, true);
        if !is_busy {
            self.remove_empty_failures(session);
        }
        let message = self.store_prompt(session, prompt, first);
        let queued = Queued { ticket: prompt.ticket, message };
        if !is_busy {
            self.begin_turn(session, queued, first);
        } else if let Some(owner) = self.sessions.get_mut(session) {
            owner.queue.push_back(queued);
            self.emit_queue(session);
        }
    }

    /// Which prompts wait for a turn of their own.
    pub(crate) fn emit_queue(&mut self, session: &str) {
        if self.profile.follow_ups == FollowUps::OwnTurns
            && let Some(owner) = self.sessions.get(session)
        {
            let queued: Vec<&str> = owner.queue.iter().map(|queued| queued.message.as_str()).collect();
            let properties = json!({"sessionID": session, "queued": queued});
            self.emit_session(session, "session.queue.changed", properties);
        }
    }

    pub(crate) fn store_prompt(&mut self, session: &str, prompt: &Prompt, first: bool) -> String {
        let tools = prompt.tools.clone();
        let message = self.ids.ascending("msg", self.now_ms);
        let now = self.now_ms;
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.touch(now);
        }
        if first {
            self.emit_session_updated(session);
        }
        let mut info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": now},
            "agent": self.agent_of(session), "model": {"providerID": "fake", "modelID": "fake"},
        });
        if let Some(tools) = tools {
            info["tools"] = tools;
        }
        self.push_message(session, &message, info);
        for text in &prompt.texts {
            self.add_part(session, &message, json!({"type": "text", "text": text}));
        }
        self.emit_session_updated(session);
        message
    }

    /// The next step answers all that was asked meanwhile; it is told as the answer to the last of it.
    pub(crate) fn take_follow_ups(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_mut() else { return };
        for queued in owner.queue.drain(..) {
            run.tickets.extend(queued.ticket);
            run.prompt = queued.message;
        }
    }
}
