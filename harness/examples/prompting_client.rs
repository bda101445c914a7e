//! A client that is a command: prompts once, prints the answer, ends. The tests judge it as a black box, and with one of
//! the mistakes that such clients make.
//!
//! `prompting_client URL USER PASSWORD PROMPT [MISTAKE]`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use std::process::ExitCode;

struct Server {
    client: Client,
    url: String,
    user: String,
    password: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, user, password, prompt, rest @ ..] = words.as_slice() else { return ExitCode::from(2) };
    let mistake = rest.first().map(String::as_str).unwrap_or_default();
    match run(url, user, password, prompt, mistake).await {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(_) if mistake == "silent" => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("failed: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str, user: &str, password: &str, prompt: &str, mistake: &str) -> Result<String, String> {
    let client = Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
    let server = Server { client, url: url.to_owned(), user: user.to_owned(), password: password.to_owned() };
    let mut stream = good(server.get("/event")).await?;
    let session: Value =
        good(server.post("/session", &json!({}))).await?.json().await.map_err(|error| error.to_string())?;
    let id = session["id"].as_str().unwrap_or_default();
    let body = json!({"parts": [{"type": "text", "text": prompt}]});
    for _ in 0..if mistake == "twice" { 2 } else { 1 } {
        good(server.post(&format!("/session/{id}/prompt_async"), &body)).await?;
    }
    let (mut text, mut told) = (String::new(), String::new());
    loop {
        let chunk = match stream.chunk().await {
            Ok(Some(chunk)) => chunk,
            _ if mistake == "half" => return Ok(told),
            _ if mistake == "storm" => storm(&server).await?,
            _ => return Err("the stream broke".to_owned()),
        };
        text.push_str(&String::from_utf8_lossy(&chunk));
        while let Some((frame, rest)) = text.split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())) {
            text = rest;
            let event: Value = serde_json::from_str(frame.trim_start_matches("data:")).unwrap_or_default();
            match event["type"].as_str() {
                Some("message.part.delta") => {
                    told.push_str(event["properties"]["delta"].as_str().unwrap_or_default())
                }
                Some("permission.asked") => {
                    let reply = if mistake == "yes" { "once" } else { "reject" };
                    let asked = event["properties"]["id"].as_str().unwrap_or_default();
                    good(server.post(&format!("/permission/{asked}/reply"), &json!({"reply": reply})))
                        .await?;
                }
                Some("session.idle") => return Ok(told),
                _ => {}
            }
        }
    }
}

/// Asks for the stream again and again without a pause.
async fn storm(server: &Server) -> Result<bytes::Bytes, String> {
    for _ in 0..50 {
        drop(server.get("/event").send().await);
    }
    Err("there was no stream".to_owned())
}

async fn good(request: RequestBuilder) -> Result<Response, String> {
    let sent = request.send().await.and_then(Response::error_for_status);
    sent.map_err(|error| error.to_string())
}

impl Server {
    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).basic_auth(&self.user, Some(&self.password))
    }

    fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(format!("{}{path}", self.url))
            .basic_auth(&self.user, Some(&self.password))
            .json(body)
    }
}
