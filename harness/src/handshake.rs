//! The first words with an adapter: does it speak the protocol, and is it honest?

use crate::clock::Limits;
use crate::history;
use crate::link::{AskError, Link};
use crate::net::Web;
use crate::protocol::rpc::METHOD_NOT_FOUND;
use crate::protocol::{Capability, Initialize, Initialized};
use crate::protocol::{PROTOCOL, Request};
use crate::subject::Subject;
use mock_server::Journal;
use mock_server::clock::{Clock, ClockKind};
use std::sync::Arc;

/// Why no case can be run with an adapter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAdapter {
    /// The program can't be started.
    #[error("{0}; give --adapter a program that can be run")]
    CannotStart(String),
    /// It is a program, and it does not speak the protocol.
    #[error("{0}")]
    DoesNotSpeak(String),
}

/// Starts a subject once, says hello and good-bye. A program that fails here would fail in every case, each time
/// after the same wait.
///
/// # Errors
/// It can't be started, or does not answer as an adapter does; the message tells all that went wrong.
pub async fn greet(subject: &Subject, limits: &Limits) -> Result<(), NoAdapter> {
    capabilities(subject, limits).await.map(drop)
}

/// As [`greet`]: what it can do.
///
/// # Errors
/// As with [`greet`].
pub async fn capabilities(subject: &Subject, limits: &Limits) -> Result<Vec<Capability>, NoAdapter> {
    let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
    let net = Web::new().map_err(|error| NoAdapter::CannotStart(error.to_string()))?;
    let mut running = subject.start(journal.clone(), Arc::new(net)).map_err(NoAdapter::CannotStart)?;
    let hello = hello(&mut running.link, limits, 1.0).await;
    // Who is silent once is not waited for again.
    let was_told = hello.is_ok() && running.link.ask(&Request::Shutdown, limits.answer).await.is_ok();
    let ended = running.end(was_told, limits.end).await;
    let why = match hello {
        Ok(can) => return Ok(can),
        Err(why) => why,
    };
    let lines = journal.lines();
    let troubles = history::troubles(&lines).map(|(_, what)| what.to_owned());
    let said = history::last_words(&lines);
    let all: Vec<String> = std::iter::once(why).chain(troubles).chain(ended.err()).chain(said).collect();
    Err(NoAdapter::DoesNotSpeak(all.join("\n")))
}

/// Says hello and tests the adapter's honesty: it must not know a method that there is not. Gives what it can do.
pub(crate) async fn hello(
    link: &mut Link,
    limits: &Limits,
    time_scale: f64,
) -> Result<Vec<Capability>, String> {
    let asked = Request::Initialize(Initialize { protocol: PROTOCOL, time_scale });
    let said = link.ask(&asked, limits.start).await.map_err(|error| error.to_string())?;
    let said: Initialized = serde_json::from_value(said).map_err(|error| format!("initialize: {error}"))?;
    match link.probe(limits.answer).await {
        Err(AskError::Refused { error, .. }) if error.code == METHOD_NOT_FOUND => {}
        Err(error @ (AskError::Silent { .. } | AskError::Ended { .. })) => return Err(error.to_string()),
        _ => return Err("it must answer a method that it does not know with error -32601".to_owned()),
    }
    if !said.capabilities.contains(&Capability::Chat) {
        return Err("it does not declare the capability 'chat', which every case needs".to_owned());
    }
    Ok(said.capabilities)
}
