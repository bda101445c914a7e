//! A question for permission: asked of the client, and its answer given to the server. Those of one session wait for each
//! other; nothing else waits for them.

use super::agent::Inner;
use super::patch;
use super::tools::Call;
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Inner {
    /// A server asks whether something may be done.
    pub(super) fn asked_permission(self: &Arc<Self>, asked: Value) {
        let inner = Arc::clone(self);
        let session = asked["sessionID"].as_str().unwrap_or_default().to_owned();
        let (done, is_done) = oneshot::channel::<()>();
        let before = self.state().permissions.insert(session, is_done);
        tokio::spawn(async move {
            if let Some(before) = before {
                before.await.ok();
            }
            inner.ask_permission(&asked).await;
            drop(done);
        });
    }

    async fn ask_permission(&self, asked: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (session, id, tool) = (text(&asked["sessionID"]), text(&asked["id"]), text(&asked["permission"]));
        let Some(known) = self.session(&session) else { return };
        let state = json!({"input": asked["metadata"]});
        let call_id = asked["tool"]["callID"].as_str().unwrap_or(&id);
        let call = Call { id: call_id, tool: &tool, state: &state, folder: "" };
        let mut told = call.begun(title(&tool, &asked["metadata"]).as_deref());
        told["locations"] = locations(&call, &asked["metadata"]);
        let diffs = diffs(&tool, &asked["metadata"], Path::new(&self.started_in)).await;
        if !diffs.is_empty() {
            told["content"] = json!(diffs);
        }
        let options = json!([
            {"optionId": "once", "kind": "allow_once", "name": "Allow once"},
            {"optionId": "always", "kind": "allow_always", "name": "Always allow"},
            {"optionId": "reject", "kind": "reject_once", "name": "Reject"},
        ]);
        let params = json!({"sessionId": session, "toolCall": told, "options": options});
        let answer = self.ask("session/request_permission", &params).await;
        let Ok(Ok(answer)) = answer else {
            return self.reply(&id, "reject", &known.folder).await;
        };
        let outcome = &answer["outcome"];
        if outcome.is_null() {
            // The real agents stumble over an answer that says nothing: the question stays.
            return;
        }
        let chosen = match (outcome["outcome"].as_str(), outcome["optionId"].as_str()) {
            (Some("selected"), Some(chosen @ ("once" | "always"))) => chosen,
            _ => "reject",
        };
        if chosen != "reject" && tool == "edit" {
            self.propose_file(&session, &asked["metadata"]).await;
        }
        self.reply(&id, chosen, &known.folder).await;
    }

    async fn reply(&self, id: &str, answer: &str, folder: &str) {
        self.aborted(u64::MAX).await;
        let mut body = json!({"reply": answer});
        if self.kind == ServerKind::Kilo {
            body["interactive"] = json!(answer != "reject");
        }
        // A question that is settled already needs no answer.
        self.server.post(&format!("/permission/{id}/reply"), folder, &body).await.ok();
    }

    /// The client may write the file itself; the server writes it in any case, and whether the client can was not asked:
    /// so do the real agents.
    async fn propose_file(&self, session: &str, metadata: &Value) {
        let (Some(path), Some(diff)) = (metadata["filepath"].as_str(), metadata["diff"].as_str()) else {
            return;
        };
        let before = read(&Path::new(&self.started_in).join(path)).await;
        if let Some(content) = patch::applied(&before, diff) {
            let params = json!({"sessionId": session, "path": path, "content": content});
            drop(self.ask("fs/write_text_file", &params));
        }
    }
}

/// What a file holds now; nothing when it is not there.
async fn read(path: &Path) -> String {
    tokio::fs::read_to_string(path).await.unwrap_or_default()
}

fn title(tool: &str, input: &Value) -> Option<String> {
    let text = |names: &[&str]| names.iter().find_map(|name| input[*name].as_str()).map(str::to_owned);
    match tool.to_lowercase().as_str() {
        "external_directory" => text(&["description", "command", "parentDir"]),
        "webfetch" => text(&["url"]),
        "websearch" => text(&["query"]),
        "grep" | "glob" => text(&["pattern"]),
        "read" | "edit" | "write" => match files(input).as_slice() {
            [] => text(&["filePath", "filepath", "path"]),
            [one] => one["relativePath"].as_str().or(one["filePath"].as_str()).map(str::to_owned),
            more => Some(format!("{} files", more.len())),
        },
        _ => None,
    }
}

fn files(input: &Value) -> Vec<&Value> {
    let files = input["files"].as_array().into_iter().flatten();
    files.filter(|file| file["filePath"].as_str().is_some_and(|path| !path.is_empty())).collect()
}

fn locations(call: &Call<'_>, input: &Value) -> Value {
    let files = files(input);
    if files.is_empty() {
        return call.locations();
    }
    let paths = files.iter().flat_map(|file| [&file["filePath"], &file["movePath"]]);
    let mut all: Vec<&str> = Vec::new();
    for path in paths.filter_map(Value::as_str).filter(|path| !path.is_empty()) {
        if !all.contains(&path) {
            all.push(path);
        }
    }
    all.into_iter().map(|path| json!({"path": path})).collect()
}

/// What of a file is to change; of a patch, of each of its files.
async fn diffs(tool: &str, input: &Value, started_in: &Path) -> Vec<Value> {
    if tool.to_lowercase() != "edit" {
        return Vec::new();
    }
    let mut all = Vec::new();
    let files = files(input);
    for file in &files {
        all.extend(diff(&file["filePath"], &file["patch"], &file["movePath"], started_in).await);
    }
    if files.is_empty() {
        let path = if input["filepath"].is_string() { &input["filepath"] } else { &input["filePath"] };
        all.extend(diff(path, &input["diff"], &Value::Null, started_in).await);
    }
    all
}

async fn diff(path: &Value, diff: &Value, moved: &Value, started_in: &Path) -> Option<Value> {
    let path = path.as_str()?;
    let before = read(&started_in.join(path)).await;
    let after = patch::applied(&before, diff.as_str().filter(|diff| !diff.is_empty())?)?;
    Some(json!({"type": "diff", "path": moved.as_str().unwrap_or(path), "oldText": before, "newText": after}))
}
