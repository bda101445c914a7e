//! Talks to servers of tools at addresses of this machine: each line that is said is posted, and what comes back, at once
//! or bit by bit, is what they tell. Who does not take posts may be one of the older kind, which tells all on one stream.

use crate::fetch::{is_here, stays_here};
use crate::world::{Address, ProgramNews};
use fixtures::sse::Parser;
use futures_util::StreamExt as _;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

/// What is said of who can't be reached, in the servers' words.
pub(crate) const UNREACHABLE: &str = "SSE error: Unable to connect. Is the computer able to access the url?";
const NO_CONNECTION: &str = "Unable to connect. Is the computer able to access the url?";
const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A talk with one address. Who has it tells of what is heard.
struct Talk<T> {
    client: Client,
    url: Url,
    headers: HeaderMap,
    /// What each request repeats of what the server has said.
    known: Mutex<Known>,
    tell: T,
}

#[derive(Debug, Default)]
struct Known {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

/// Says the lines, and tells what is heard, until nobody says any more.
pub(crate) async fn talk(
    address: Address,
    mut said: UnboundedReceiver<String>,
    tell: impl Fn(ProgramNews) + Send + Sync + 'static,
) {
    let url = Url::parse(&address.url).ok().filter(is_here);
    let client = Client::builder().no_proxy().redirect(stays_here()).build().ok();
    // As if there were no network.
    let (Some(url), Some(client)) = (url, client) else {
        return tell(ProgramNews::Failed(UNREACHABLE.to_owned()));
    };
    let headers = address.headers.iter().filter_map(|(name, value)| {
        Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?))
    });
    let talk = Talk { client, url, headers: headers.collect(), known: Mutex::default(), tell };
    let Some(hello) = said.recv().await else { return };
    match talk.post(&hello).await {
        Ok(answer) => talk.hear(&hello, answer).await,
        Err(_) => return talk.by_stream(hello, said).await,
    }
    let talk = Arc::new(talk);
    let mut at_work = JoinSet::new();
    while let Some(line) = said.recv().await {
        let talk = Arc::clone(&talk);
        match (method(&line), is_question(&line)) {
            // The answer may take its time; what is said meanwhile does not wait for it.
            (_, true) => {
                at_work.spawn(async move { talk.say(&line).await });
            }
            (Some(said), false) if said == "notifications/initialized" => {
                talk.say(&line).await;
                at_work.spawn(async move { talk.listen().await });
            }
            _ => talk.say(&line).await,
        }
    }
}

fn method(line: &str) -> Option<String> {
    serde_json::from_str::<Value>(line).ok()?["method"].as_str().map(str::to_owned)
}

/// Does a line want an answer?
fn is_question(line: &str) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|said| said.get("id").is_some() && said.get("method").is_some())
}

impl<T: Fn(ProgramNews)> Talk<T> {
    fn asked(&self, asked: RequestBuilder, accept: &str) -> RequestBuilder {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = asked.headers(self.headers.clone()).header("accept", accept);
        if let Some(session) = &known.session {
            asked = asked.header("mcp-session-id", session);
        }
        if let Some(version) = &known.version {
            asked = asked.header("mcp-protocol-version", version);
        }
        asked
    }

    /// Posts a line. Who does not take it says why.
    async fn post(&self, line: &str) -> Result<Response, String> {
        let posted = self.client.post(self.url.clone()).body(line.to_owned()).header("content-type", JSON);
        let posted = self.asked(posted, &format!("{JSON}, {STREAM}"));
        let answer = posted.send().await.map_err(|_| NO_CONNECTION.to_owned())?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let words = answer.text().await.unwrap_or_default();
        Err(format!("Streamable HTTP error: Error POSTing to endpoint: {words}"))
    }

    async fn say(&self, line: &str) {
        match self.post(line).await {
            Ok(answer) => self.hear(line, answer).await,
            Err(why) => (self.tell)(ProgramNews::Refused { line: line.to_owned(), why }),
        }
    }

    /// Tells what an answer to a line says.
    async fn hear(&self, line: &str, answer: Response) {
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).session = Some(session.clone());
        }
        if answer.status() == reqwest::StatusCode::ACCEPTED || !is_question(line) {
            return;
        }
        if kind.contains(STREAM) {
            return self.hear_stream(answer, |told| self.told(told)).await;
        }
        if !kind.contains(JSON) {
            let why = format!("Streamable HTTP error: Unexpected content type: {kind}");
            return (self.tell)(ProgramNews::Refused { line: line.to_owned(), why });
        }
        match answer.json::<Value>().await {
            Ok(Value::Array(all)) => all.iter().for_each(|told| self.told(&told.to_string())),
            Ok(told) => self.told(&told.to_string()),
            Err(error) => {
                (self.tell)(ProgramNews::Refused { line: line.to_owned(), why: error.to_string() });
            }
        }
    }

    fn told(&self, line: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.version.is_none() {
            let hello = serde_json::from_str::<Value>(line).unwrap_or_default();
            let version = hello.pointer("/result/protocolVersion").and_then(Value::as_str);
            known.version = version.and_then(|version| HeaderValue::from_str(version).ok());
        }
        drop(known);
        (self.tell)(ProgramNews::Line(line.to_owned()));
    }

    async fn hear_stream(&self, answer: Response, mut heard: impl FnMut(&str)) {
        let (mut parser, mut pieces) = (Parser::new(), answer.bytes_stream());
        while let Some(Ok(piece)) = pieces.next().await {
            parser
                .feed(&piece)
                .iter()
                .filter(|frame| frame.kind() == "message")
                .for_each(|frame| heard(&frame.data));
        }
    }

    /// Hears what the server says of its own accord, if it does.
    async fn listen(&self) {
        let asked = self.asked(self.client.get(self.url.clone()), STREAM);
        if let Ok(answer) = asked.send().await
            && answer.status().is_success()
        {
            self.hear_stream(answer, |told| self.told(told)).await;
        }
    }

    /// The older way: a stream names the address that lines are posted to, and tells all answers.
    async fn by_stream(&self, hello: String, mut said: UnboundedReceiver<String>) {
        let fails = |why: String| (self.tell)(ProgramNews::Failed(why));
        let answer = match self.asked(self.client.get(self.url.clone()), STREAM).send().await {
            Ok(answer) => answer,
            Err(_) => return fails(UNREACHABLE.to_owned()),
        };
        if answer.status() != reqwest::StatusCode::OK {
            return fails(format!("SSE error: Non-200 status code ({})", answer.status().as_u16()));
        }
        let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with(STREAM)) {
            return fails(format!("SSE error: Invalid content type, expected \"{STREAM}\""));
        }
        let (mut parser, mut pieces) = (Parser::new(), answer.bytes_stream());
        let mut place: Option<Url> = None;
        let mut waiting = vec![hello];
        loop {
            tokio::select! {
                piece = pieces.next() => {
                    let Some(Ok(piece)) = piece else { break };
                    for frame in parser.feed(&piece) {
                        match frame.kind() {
                            "endpoint" => place = self.url.join(&frame.data).ok().filter(is_here),
                            _ => self.told(&frame.data),
                        }
                    }
                }
                line = said.recv() => match line {
                    Some(line) => waiting.push(line),
                    None => return,
                },
            }
            let Some(place) = &place else { continue };
            for line in waiting.drain(..) {
                let posted = self.client.post(place.clone()).body(line.clone()).header("content-type", JSON);
                let taken = self.asked(posted, "*/*").send().await;
                if let Some(why) = refusal(taken).await {
                    (self.tell)(ProgramNews::Refused { line, why });
                }
            }
        }
        (self.tell)(ProgramNews::Ended);
    }
}

/// Why a line was not taken, in the older way.
async fn refusal(taken: Result<Response, reqwest::Error>) -> Option<String> {
    match taken {
        Ok(answer) if answer.status().is_success() => None,
        Ok(answer) => {
            let status = answer.status().as_u16();
            let words = answer.text().await.unwrap_or_default();
            Some(format!("Error POSTing to endpoint (HTTP {status}): {words}"))
        }
        Err(_) => Some(NO_CONNECTION.to_owned()),
    }
}
