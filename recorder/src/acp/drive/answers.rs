//! What the agent asks of its client, but for permissions: those are the person's to answer.

use crate::acp::wire::Wire;
use serde_json::{Value, json};
use std::path::Path;
use tokio::task::JoinHandle;

/// The method that asks the person.
pub(super) const PERMISSION: &str = "session/request_permission";

/// Answers until the agent has left.
pub(super) fn spawn(wire: &Wire) -> JoinHandle<()> {
    let wire = wire.clone();
    tokio::spawn(async move {
        let is_asked = |message: &Value| {
            message["method"].as_str().is_some_and(|method| method != PERMISSION)
                && message.get("id").is_some()
        };
        let mut from = 0;
        while let Some((at, asked)) = wire.wait_for(from, is_asked).await {
            from = at + 1;
            let answer = match answered(&asked) {
                Ok(result) => json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}),
                Err(error) => json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}),
            };
            // An agent that has left needs no answer.
            wire.say(format!("{answer}\n").as_bytes()).await.ok();
        }
    })
}

/// Files as the agent wants them; all else is not offered.
fn answered(asked: &Value) -> Result<Value, Value> {
    let method = asked["method"].as_str().unwrap_or_default();
    let params = &asked["params"];
    let path = Path::new(params["path"].as_str().unwrap_or_default());
    let failed = |error: std::io::Error| json!({"code": -32603, "message": error.kind().to_string()});
    match method {
        "fs/read_text_file" => {
            let text = std::fs::read_to_string(path).map_err(failed)?;
            Ok(json!({"content": text}))
        }
        _ => Err(
            json!({"code": -32601, "message": format!("\"Method not found\": {method}"), "data": {"method": method}}),
        ),
    }
}
