//! The reference client of agents: what a careful bot does. It imports nothing of the stand-in. Each mutant is a switch at
//! the place where it decides otherwise.
//!
//! * `framing`, `words`, `screen`, `keep` — without IO: bytes as messages, messages in any dialect, a terminal's text, files.
//! * `process`, `agent` — a process that ends with all it has started, and its requests.
//! * `client` — chats and their sessions; `start` — how an agent is found and begun; `turn` — a prompt and its one end;
//!   `told` — what an agent tells and asks; `asks` — what a person wants of a session beside prompts; `texting` — an agent in text.

mod agent;
mod asks;
mod chat;
mod client;
mod framing;
mod keep;
mod process;
mod screen;
mod start;
#[cfg(test)]
mod tests;
mod texting;
mod told;
mod turn;
mod words;

use crate::adapter::{Adapter, Screen};
use client::Client;
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::sync::Arc;

/// Which promise is broken, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Quirk(Option<&'static str>);

impl Quirk {
    pub(super) fn of(mutant: Option<&'static str>) -> Self {
        Self(mutant)
    }

    fn is(self, mutant: &str) -> bool {
        self.0 == Some(mutant)
    }
}

/// The reference, or a mutant of it.
pub(super) struct Reference {
    client: Arc<Client>,
    quirk: Quirk,
}

impl Reference {
    pub(super) fn new(quirk: Quirk) -> Self {
        Self { client: Arc::new(Client::new(quirk)), quirk }
    }
}

impl Adapter for Reference {
    fn introduce(&self) -> Value {
        let policy = if self.quirk.is("to-the-letter") { "seed" } else { "careful" };
        let can: Vec<&str> = super::CAPABILITIES.iter().map(|capability| capability.name).collect();
        json!({"name": "reference", "capabilities": can, "clock": "scaled", "declares": {"policy": policy}})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        let client = Arc::clone(&self.client);
        Box::pin(async move {
            match method.as_str() {
                "client/start" => client.start(&params, screen).await,
                "client/stop" => client.stop().await,
                "chat/open" => client.open(&params, &screen).await,
                "chat/send" => client.send(&params, screen).await,
                "chat/sendImage" => client.send_image(&params, screen).await,
                "chat/cancel" => client.cancel(&params).await,
                "chat/setMode" => client.set_mode(&params).await,
                "chat/setModel" => client.set_model(&params).await,
                "chat/command" => client.command(&params).await,
                "chat/save" => client.save(&params),
                "chat/restore" => client.restore(&params, &screen).await,
                _ => Err(RpcError::unsupported(&method)),
            }
        })
    }
}
