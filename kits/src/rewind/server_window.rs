//! Another window of the user, on the same server: what is seen and done there the client under test knows nothing of.

use mock_server::StandIn;
use serde_json::{Value, json};

/// Another window of the user says yes; that the server knows of no such question any more is right.
pub(super) async fn say_yes(server: &StandIn, id: &str) -> Result<(), String> {
    post(server, &format!("/permission/{id}/reply"), json!({"reply": "once"})).await.map(drop)
}

/// What stands in the session that was made first, up to where it has gone back to.
pub(super) async fn first_session(server: &StandIn) -> Result<Vec<Value>, String> {
    let sessions = read(server, "/session").await?;
    let first = sessions.as_array().into_iter().flatten().min_by_key(|one| one["time"]["created"].as_u64());
    let id = first.and_then(|one| one["id"].as_str()).ok_or("the server has no session")?;
    let gone = first.and_then(|one| one["revert"]["messageID"].as_str());
    let messages = read(server, &format!("/session/{id}/message")).await?;
    let shown =
        messages.as_array().into_iter().flatten().take_while(|one| one["info"]["id"].as_str() != gone);
    let entry = |one: &Value| {
        let texts = one["parts"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        json!({"text": texts.collect::<Vec<_>>().join("\n")})
    };
    Ok(shown.map(entry).collect())
}

/// Begins another conversation with this prompt. Gives its session.
pub(super) async fn begin_another(server: &StandIn, words: &str) -> Result<String, String> {
    let made = post(server, "/session", json!({})).await?;
    let id = made["id"].as_str().ok_or("the server makes no session")?.to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": words}]});
    post(server, &format!("/session/{id}/prompt_async"), prompt).await?;
    Ok(id)
}

/// Is a question of this session open?
pub(super) async fn asks(server: &StandIn, session: &str) -> Result<bool, String> {
    let open = read(server, "/permission").await?;
    Ok(open.as_array().into_iter().flatten().any(|one| one["sessionID"] == session))
}

async fn read(server: &StandIn, path: &str) -> Result<Value, String> {
    let answer = client()?.get(format!("{}{path}", server.url())).send().await;
    let bytes = answer.map_err(|error| error.to_string())?.bytes().await;
    let bytes = bytes.map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{path} can't be read: {error}"))
}

/// What is answered; nothing where that is no JSON.
async fn post(server: &StandIn, path: &str, body: Value) -> Result<Value, String> {
    let answer = client()?.post(format!("{}{path}", server.url())).json(&body).send().await;
    let bytes = answer.map_err(|error| error.to_string())?.bytes().await;
    Ok(serde_json::from_slice(&bytes.map_err(|error| error.to_string())?).unwrap_or_default())
}

fn client() -> Result<reqwest::Client, String> {
    reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())
}
