//! What the server tells, as updates. One event after the other: the next is taken when this one has been told.

use super::agent::Inner;
use super::content::block;
use super::tools::Call;
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// What has been told of calls, and what is known of messages.
#[derive(Default)]
pub(super) struct Told {
    begun: BTreeSet<String>,
    printed: BTreeMap<String, String>,
    /// Who wrote each message.
    roles: BTreeMap<String, String>,
    /// What each part is, and whether the agent is not to hear of it.
    parts: BTreeMap<String, (String, bool)>,
}

/// Follows the stream for as long as there is one.
pub(super) async fn follow(inner: Arc<Inner>, begun: watch::Sender<bool>) {
    let mut told = Told::default();
    let server = inner.server.clone();
    server
        .listen(
            || {
                begun.send_replace(true);
            },
            |event| take(&inner, &mut told, &event),
        )
        .await;
}

pub(super) fn take(inner: &Arc<Inner>, told: &mut Told, event: &Value) {
    let properties = &event["properties"];
    let session = properties["sessionID"].as_str().unwrap_or_default();
    match event["type"].as_str().unwrap_or_default() {
        "session.status" if properties["status"]["type"] == "idle" => inner.waiting.idle(session),
        "permission.asked" => inner.asked_permission(properties.clone()),
        "message.updated" => {
            let info = &properties["info"];
            let id = info["id"].as_str().unwrap_or_default();
            let role = info["role"].as_str().unwrap_or_default();
            told.roles.insert(id.to_owned(), role.to_owned());
            let session = info["sessionID"].as_str().unwrap_or(session);
            inner.waiting.message(session, id);
        }
        "message.part.updated" => {
            let part = &properties["part"];
            let session = part["sessionID"].as_str().unwrap_or(session);
            let Some(known) = inner.session(session) else { return };
            let id = part["id"].as_str().unwrap_or_default().to_owned();
            let kind = part["type"].as_str().unwrap_or_default().to_owned();
            let is_copy = inner.state().copied.remove(&id);
            if kind == "tool" && !is_copy {
                told.tool(inner, session, part, &known.folder);
            }
            told.parts.insert(id, (kind, part["ignored"] == true));
        }
        "message.part.delta" if properties["field"] == "text" => told.delta(inner, session, properties),
        _ => {}
    }
}

impl Told {
    fn delta(&self, inner: &Inner, session: &str, properties: &Value) {
        let text = |name: &str| properties[name].as_str().unwrap_or_default();
        let is_agents = self.roles.get(text("messageID")).is_some_and(|role| role == "assistant");
        if inner.session(session).is_none() || !is_agents {
            return;
        }
        let (kind, id) = match self.parts.get(text("partID")) {
            Some((kind, false)) if kind == "text" => ("agent_message_chunk", text("messageID")),
            Some((kind, _)) if kind == "reasoning" => {
                let is_kilo = inner.kind == ServerKind::Kilo;
                ("agent_thought_chunk", text(if is_kilo { "messageID" } else { "partID" }))
            }
            _ => return,
        };
        let content = json!({"type": "text", "text": text("delta")});
        inner.tell(session, json!({"sessionUpdate": kind, "messageId": id, "content": content}));
    }

    fn tool(&mut self, inner: &Inner, session: &str, part: &Value, folder: &str) {
        let id = part["callID"].as_str().unwrap_or_default();
        let tool = part["tool"].as_str().unwrap_or_default();
        let call = Call { id, tool, state: &part["state"], folder };
        if self.begun.insert(id.to_owned()) {
            inner.tell(session, updated("tool_call", call.begun(call.own_title())));
        }
        let update = match part["state"]["status"].as_str().unwrap_or_default() {
            "running" => {
                let printed = call.printed();
                let is_old = printed.is_some() && self.printed.get(id) == printed.as_ref();
                if let Some(printed) = &printed {
                    self.printed.insert(id.to_owned(), printed.clone());
                }
                call.running(printed.filter(|_| !is_old).as_deref())
            }
            "completed" => call.completed(),
            "error" => call.failed(),
            _ => {
                self.printed.remove(id);
                return;
            }
        };
        if matches!(part["state"]["status"].as_str(), Some("completed" | "error")) {
            self.begun.remove(id);
            self.printed.remove(id);
        }
        inner.tell(session, updated("tool_call_update", update));
    }
}

/// Messages as they are told to who loads their session.
pub(super) fn again(inner: &Inner, messages: &[Value]) {
    let mut told = Told::default();
    for message in messages {
        let info = &message["info"];
        let session = info["sessionID"].as_str().unwrap_or_default();
        let folder = info["path"]["cwd"].as_str().unwrap_or_default();
        for part in message["parts"].as_array().into_iter().flatten() {
            let kind = match (part["type"].as_str(), info["role"].as_str()) {
                (Some("tool"), _) => {
                    told.tool(inner, session, part, folder);
                    continue;
                }
                (Some("reasoning"), _) => "agent_thought_chunk",
                (Some("text" | "file"), Some("user")) => "user_message_chunk",
                (Some("text" | "file"), _) => "agent_message_chunk",
                _ => continue,
            };
            let is_thought = kind == "agent_thought_chunk" && inner.kind == ServerKind::Opencode;
            let id = if is_thought { &part["id"] } else { &info["id"] };
            if let Some(content) = block(part, &inner.started_in) {
                inner.tell(session, json!({"sessionUpdate": kind, "messageId": id, "content": content}));
            }
        }
    }
}

/// `sessionUpdate` stands first.
fn updated(kind: &str, update: Value) -> Value {
    let mut all = serde_json::Map::from_iter([("sessionUpdate".to_owned(), json!(kind))]);
    if let Value::Object(update) = update {
        all.extend(update);
    }
    Value::Object(all)
}
