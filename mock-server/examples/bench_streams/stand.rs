//! The stand-in, with a scenario whose answer has many deltas.

use crate::readers::{LAST, Subscribed};
use crate::until_all_are_full;
use bytes::Bytes;
use fixtures::ServerKind;
use fixtures::fault_plan::FaultPlan;
use fixtures::scenario::Scenario;
use mock_server::journal::Memory;
use mock_server::{Options, StandIn};
use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// As `standin serve` has it.
const JOURNAL_BYTES: usize = 64 * 1024 * 1024;

/// Each subscriber waits for the cut; the event does not come.
const ARMED: &str = "[[fault]]\nwhen = { stream = \"event\", after_event = \"session.deleted\", times = \"always\" }\n\
                     do = { cut = \"mid-frame\", bytes = 17 }\n";

/// The frames of a turn, without the greeting.
pub(crate) async fn frames(deltas: usize) -> Result<Vec<Bytes>, Box<dyn Error>> {
    let stand_in = start(deltas, false).await?;
    let place: SocketAddr = stand_in.url().trim_start_matches("http://").parse()?;
    let mut stream = TcpStream::connect(place).await?;
    stream.write_all(format!("GET /event HTTP/1.1\r\nhost: {place}\r\n\r\n").as_bytes()).await?;
    let mut heard = Vec::new();
    while !heard.ends_with(b"\n\n\r\n") {
        hear(&mut stream, &mut heard).await?;
    }
    prompt(place, "prompt_async").await?;
    while memchr::memmem::find(&heard, LAST).is_none() || !heard.ends_with(b"\n\n\r\n") {
        hear(&mut stream, &mut heard).await?;
    }
    let text = String::from_utf8(heard)?;
    let events = text.lines().filter(|line| line.starts_with("data: ")).skip(1);
    Ok(events.map(|line| Bytes::from(format!("{}\n\n", line.trim_end()))).collect())
}

async fn hear(stream: &mut TcpStream, heard: &mut Vec<u8>) -> std::io::Result<()> {
    match stream.read_buf(heard).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// Prompts in front of so many subscribers; how long it takes until the last one has all.
pub(crate) async fn turn(subscribers: usize, deltas: usize, armed: bool) -> Result<Duration, Box<dyn Error>> {
    let stand_in = start(deltas, armed).await?;
    let place: SocketAddr = stand_in.url().trim_start_matches("http://").parse()?;
    let readers = Subscribed::to(place, subscribers).await?.read();
    let begun = Instant::now();
    prompt(place, "prompt_async").await?;
    readers.done().await?;
    Ok(begun.elapsed())
}

/// The turn is over, and nobody has read of it; how long it takes until the last one has all.
pub(crate) async fn flood(subscribers: usize, deltas: usize) -> Result<Duration, Box<dyn Error>> {
    let stand_in = start(deltas, false).await?;
    let place: SocketAddr = stand_in.url().trim_start_matches("http://").parse()?;
    let subscribed = Subscribed::to(place, subscribers).await?;
    prompt(place, "message").await?;
    until_all_are_full().await;
    let begun = Instant::now();
    subscribed.read().done().await?;
    Ok(begun.elapsed())
}

async fn start(deltas: usize, armed: bool) -> Result<StandIn, Box<dyn Error>> {
    let steps = "{ say = \"word \" }, ".repeat(deltas);
    let text = format!(
        "about = \"A long answer\"\ntitle = \"Long\"\n[[agent]]\non = {{ prompt_contains = \"go on\" }}\nsteps = [{steps}]\n\
         [user]\nsteps = [{{ prompt = \"go on\" }}, {{ wait_for = \"idle\" }}]\n"
    );
    let scenario = Scenario::parse(Path::new("long.toml"), &text)?;
    let mut options = Options::scenario(ServerKind::Opencode, scenario);
    if armed {
        options.faults = FaultPlan::parse(Path::new("armed.toml"), ARMED)?;
    }
    options.memory = Memory::Latest { bytes: JOURNAL_BYTES };
    Ok(StandIn::start(options).await?)
}

/// A session, and a prompt in it by this operation.
async fn prompt(place: SocketAddr, by: &str) -> Result<(), Box<dyn Error>> {
    let made = ask(place, "/session", "{}").await?;
    let id = made
        .split("\"id\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .ok_or("no session was made")?;
    let body = r#"{"parts":[{"type":"text","text":"go on"}]}"#;
    ask(place, &format!("/session/{id}/{by}"), body).await?;
    Ok(())
}

async fn ask(place: SocketAddr, path: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(place).await?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {place}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8(answer)?)
}
