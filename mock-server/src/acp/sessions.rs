//! What an agent knows of the sessions that its server keeps: which there are, and what was chosen in one that is opened
//! again.

use super::agent::{Inner, Refusal, Session};
use super::directory::{Directory, Model};
use super::methods::failure;
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// So many sessions are listed at once.
const LISTED: usize = 100;

impl Inner {
    /// What was chosen in a session when it was left. Kilo's agent reads it from the messages alone, and believes them.
    pub(super) fn restored(
        &self,
        folder: &str,
        directory: &Directory,
        info: &Value,
        messages: &[Value],
    ) -> Session {
        let told = Told::of(messages);
        let default_mode = || (!directory.modes.is_empty()).then(|| directory.default_mode.clone());
        let begun_ms = self.now_ms();
        let folder = folder.to_owned();
        if self.kind == ServerKind::Kilo {
            let model = told.model.unwrap_or_else(|| directory.default_model.clone());
            let variant = told.variant.or_else(|| directory.default_variant(&model));
            return Session { folder, variant, mode: told.mode.or_else(default_mode), model, begun_ms };
        }
        let own = named(&info["model"], "id");
        let is_known = |model: &Model| directory.model(model).is_some();
        let model = own.clone().filter(is_known).or_else(|| told.model.clone().filter(is_known));
        let model = model.unwrap_or_else(|| directory.default_model.clone());
        let kept = |by: Option<Model>, variant: Option<String>| {
            variant.filter(|variant| by.as_ref() == Some(&model) && directory.has_effort(&model, variant))
        };
        let variant = kept(own, word(&info["model"]["variant"]))
            .or_else(|| kept(told.model, told.variant))
            .or_else(|| directory.default_variant(&model));
        let is_mode = |mode: &String| directory.has_mode(mode);
        let mode = word(&info["agent"]).filter(is_mode).or_else(|| told.mode.filter(is_mode));
        Session { folder, variant, mode: mode.or_else(default_mode), model, begun_ms }
    }

    /// The newest first: those that the server knows, and those that are open here. A cursor is a time in milliseconds.
    pub(super) async fn list_sessions(&self, params: &Value) -> Result<Value, Refusal> {
        let wanted = params["cwd"].as_str().filter(|folder| !folder.is_empty());
        let folder = wanted.unwrap_or_default();
        let listed = self.server.get("/session?roots=true", folder).await.map_err(|_| failure("session"))?;
        let listed = listed.as_array().cloned().unwrap_or_default();
        let is_listed = |id: &str| listed.iter().any(|known| known["id"] == id);
        let open = self.state().sessions.clone().into_iter();
        let open = open
            .filter(|(id, session)| wanted.is_none_or(|folder| session.folder == folder) && !is_listed(id))
            .map(|(id, session)| {
                let time = crate::world::iso_time(session.begun_ms);
                (session.begun_ms, json!({"sessionId": id, "cwd": session.folder, "updatedAt": time}))
            });
        let known = listed.iter().map(|session| {
            let updated = session["time"]["updated"].as_u64().unwrap_or_default();
            let told = json!({
                "sessionId": session["id"], "cwd": session["directory"], "title": session["title"],
                "updatedAt": crate::world::iso_time(updated),
            });
            (updated, told)
        });
        let mut all: Vec<(u64, Value)> = open.chain(known).collect();
        all.sort_by_key(|(updated, _)| Reverse(*updated));
        if let Some(before) = params["cursor"].as_str().and_then(|cursor| cursor.trim().parse::<u64>().ok()) {
            all.retain(|(updated, _)| *updated < before);
        }
        let next = all.get(LISTED).and(all.get(LISTED - 1)).map(|(updated, _)| updated.to_string());
        let sessions: Vec<Value> = all.into_iter().map(|(_, session)| session).take(LISTED).collect();
        let mut answer = json!({"sessions": sessions});
        if let Some(next) = next {
            answer["nextCursor"] = json!(next);
        }
        Ok(answer)
    }
}

/// What the messages of a session say of its last choices.
#[derive(Default)]
struct Told {
    model: Option<Model>,
    variant: Option<String>,
    mode: Option<String>,
}

impl Told {
    /// The last message of the person's, or else of the agent's.
    fn of(messages: &[Value]) -> Self {
        let infos: Vec<&Value> = messages.iter().map(|message| &message["info"]).collect();
        let of_user =
            infos.iter().rfind(|info| info["role"] == "user" && named(&info["model"], "modelID").is_some());
        if let Some(user) = of_user {
            let model = named(&user["model"], "modelID");
            return Self { model, variant: word(&user["model"]["variant"]), mode: word(&user["agent"]) };
        }
        let Some(agent) = infos.iter().rfind(|info| named(info, "modelID").is_some()) else {
            return Self::default();
        };
        let mode = word(&agent["mode"]).or_else(|| word(&agent["agent"]));
        Self { model: named(agent, "modelID"), variant: word(&agent["variant"]), mode }
    }
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn named(value: &Value, id: &str) -> Option<Model> {
    Some(Model { provider: word(&value["providerID"])?, model: word(&value[id])? })
}
