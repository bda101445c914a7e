//! Prompts of the next generation: they are taken, and given to the session. Its models are those that the release
//! brings along, at addresses of their makers, and none of a configuration: no answer ever comes.

use super::super::files::mime_of_name;
use super::super::routes::body_of;
use super::super::{ApiRequest, Purpose, ReplyBody, World};
use super::notes::{Admitted, Told};
use serde_json::{Value, json};

/// What is told of a model that can't be reached.
const UNREACHED: &str = "HTTP transport failed";
/// The agent that works when nobody says.
const AGENT: &str = "build";

impl Admitted {
    fn wire(&self, session: &str) -> Value {
        let mut wire = json!({
            "admittedSeq": self.seq, "id": self.id, "sessionID": session, "prompt": self.prompt,
            "delivery": self.delivery, "timeCreated": self.at_ms,
        });
        if let Some(promoted) = self.promoted {
            wire["promotedSeq"] = json!(promoted);
        }
        wire
    }
}

impl World {
    /// `POST /api/session/{id}/prompt`: the same prompt under the same id is taken once.
    pub(super) fn prompt_next(&mut self, request: &ApiRequest, session: &str) {
        let body = body_of(request);
        let prompt = prompt_of(&body["prompt"]);
        let delivery = body["delivery"].as_str().unwrap_or("steer").to_owned();
        let named = body["id"].as_str().map(str::to_owned);
        if let Some(named) = &named
            && let Some((owner, known)) = self.admitted(named)
        {
            if owner == session && known.prompt == prompt && known.delivery == delivery {
                let data = known.wire(session);
                self.reply_json(request.ticket, json!({"data": data}));
                return self.wake_unless_told(session, &body);
            }
            let message = format!("Prompt message ID conflicts with an existing durable record: {named}");
            let body = json!({"_tag": "ConflictError", "message": message, "resource": named});
            return self.reply(request.ticket, 409, ReplyBody::Json(body));
        }
        let id = named.unwrap_or_else(|| self.ids.ascending("msg", self.now_ms));
        let now = self.now_ms;
        let data = json!({"messageID": id, "prompt": prompt, "delivery": delivery});
        let seq = self.note(session, "prompt.admitted", Told::OfRequest, now, data);
        let admitted = Admitted { seq, id, prompt, delivery, at_ms: now, promoted: None };
        let wire = admitted.wire(session);
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.notes.prompts.push(admitted);
        }
        self.reply_json(request.ticket, json!({"data": wire}));
        self.wake_unless_told(session, &body);
    }

    fn admitted(&self, id: &str) -> Option<(&str, &Admitted)> {
        self.sessions.values().find_map(|owner| {
            let known = owner.notes.prompts.iter().find(|prompt| prompt.id == id)?;
            Some((owner.id.as_str(), known))
        })
    }

    fn wake_unless_told(&mut self, session: &str, body: &Value) {
        if body["resume"] != false && self.promote(session) {
            self.step_next(session);
        }
    }

    /// Gives the session what waits for it: all that steers, or else the first in the queue. Was there any?
    fn promote(&mut self, session: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let waiting: Vec<&Admitted> =
            owner.notes.prompts.iter().filter(|prompt| prompt.promoted.is_none()).collect();
        let steering: Vec<Admitted> = waiting
            .iter()
            .filter(|prompt| prompt.delivery == "steer")
            .map(|&prompt| prompt.clone())
            .collect();
        let next =
            if steering.is_empty() { waiting.into_iter().take(1).cloned().collect() } else { steering };
        for prompt in &next {
            let data = json!({"messageID": prompt.id, "prompt": prompt.prompt, "delivery": prompt.delivery});
            let seq = self.note(session, "prompted", Told::All, prompt.at_ms, data);
            let mut wire = json!({"id": prompt.id, "time": {"created": prompt.at_ms}});
            super::super::session::merge(&mut wire, prompt.prompt.clone());
            wire["type"] = json!("user");
            self.add_note(session, seq, wire);
            let owner = self.sessions.get_mut(session);
            let kept =
                owner.and_then(|owner| owner.notes.prompts.iter_mut().find(|kept| kept.id == prompt.id));
            if let Some(kept) = kept {
                kept.promoted = Some(seq);
            }
        }
        !next.is_empty()
    }

    /// A model of the release is tried; one that it does not have is not.
    fn step_next(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let (provider, model) = self.profile.next_model;
        let is_known = |wish: &Value| wish["providerID"] == provider && wish["id"] == model;
        if owner.model.as_ref().is_none_or(is_known) {
            let directory = owner.directory.clone();
            let snapshot = self.snapshot_of(&directory);
            self.effect(Purpose::NextStep(session.to_owned()), snapshot);
        }
    }

    /// The files are known as they are before the step, which fails.
    pub(in super::super) fn step_next_began(&mut self, session: &str, tree: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let agent = owner.agent.clone().unwrap_or_else(|| AGENT.to_owned());
        let (provider, model) = self.profile.next_model;
        let model = json!({"id": model, "providerID": provider});
        let message = self.ids.ascending("msg", self.now_ms);
        let now = self.now_ms;
        let data = json!({"assistantMessageID": message, "agent": agent, "model": model, "snapshot": tree});
        let seq = self.note(session, "step.started", Told::All, now, data);
        let error = json!({"type": "unknown", "message": UNREACHED});
        self.note(
            session,
            "step.failed",
            Told::All,
            now,
            json!({"assistantMessageID": message, "error": error}),
        );
        let wire = json!({
            "id": message, "time": {"created": now, "completed": now}, "type": "assistant", "agent": agent,
            "model": model, "content": [], "snapshot": {"start": tree}, "finish": "error", "error": error,
        });
        self.add_note(session, seq, wire);
    }
}

/// A prompt as it is kept: its files have a kind.
fn prompt_of(said: &Value) -> Value {
    let mut prompt = json!({"text": said["text"]});
    if let Some(files) = said.get("files").and_then(Value::as_array) {
        prompt["files"] = files.iter().map(file_of).collect();
    }
    if let Some(agents) = said.get("agents").filter(|agents| agents.is_array()) {
        prompt["agents"] = agents.clone();
    }
    prompt
}

fn file_of(said: &Value) -> Value {
    let uri = said["uri"].as_str().unwrap_or_default();
    let mut file = json!({"uri": uri, "mime": kind_of(uri, said["name"].as_str())});
    for key in ["name", "description", "source"] {
        if let Some(value) = said.get(key).filter(|value| !value.is_null()) {
            file[key] = value.clone();
        }
    }
    file
}

fn kind_of(uri: &str, name: Option<&str>) -> String {
    let of_data = uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).and_then(|_| {
        let end = uri.find([';', ','])?;
        uri.get(5..end).filter(|kind| !kind.is_empty())
    });
    if let Some(kind) = of_data {
        return kind.to_owned();
    }
    let path = match uri.split_once(':') {
        Some((_, rest)) => rest.split(['?', '#']).next().unwrap_or_default(),
        None => name.unwrap_or(uri),
    };
    if path.ends_with('/') { "application/x-directory".to_owned() } else { mime_of_name(path).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_kind_that_its_address_tells() {
        for (uri, name, kind) in [
            ("file:///x/README.md", None, "text/markdown"),
            ("data:text/plain;base64,aGk=", Some("n"), "text/plain"),
            ("file:///x/", None, "application/x-directory"),
        ] {
            assert_eq!(kind_of(uri, name), kind, "{uri}");
        }
    }
}
