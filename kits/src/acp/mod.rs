//! The kit of clients of agents: bots, editors and gateways that start an agent on stdin and stdout and speak ACP with it,
//! or read it as text where there is no ACP.
//!
//! * `play` — a case: the agent as the case wants it, and what the person does (`steps`).
//! * `desk` — where agents tell what they read and wrote; `heard` — that, read again by the `checks`.
//! * [`commands`] — an adapter for clients that are commands.
//! * `reference` — a careful client, and in it the mutants' switches (`mutants`).

mod checks;
pub mod commands;
mod desk;
mod heard;
mod mutants;
mod play;
mod reference;
mod steps;

use crate::adapter::serve;
use crate::case::{self, Head};
use crate::kit::{Capability, Check, Declaration, Kit, Mutant, POLICY, Play};
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use reference::{Quirk, Reference};
use schemars::Schema;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// The kit.
pub(crate) struct Acp;

const CAPABILITIES: &[Capability] = &[
    Capability {
        name: "acp.core",
        about: "starts an agent, opens chats, sends prompts and shows the answers",
    },
    Capability { name: "acp.cancel", about: "stops a turn" },
    Capability { name: "acp.permission", about: "answers questions for permission as the person means it" },
    Capability { name: "acp.sessions", about: "has several chats with one agent" },
    Capability { name: "acp.load", about: "saves chats and restores them, in the session or in a fresh one" },
    Capability { name: "acp.modes", about: "sets a session's mode" },
    Capability { name: "acp.models", about: "sets a session's model" },
    Capability { name: "acp.image", about: "sends pictures" },
    Capability { name: "kiro.commands", about: "gives Kiro's commands, and shows which there are" },
    Capability { name: "kiro.compaction", about: "shows how a summary stands" },
    Capability { name: "kiro.mcp", about: "shows what servers of tools want" },
    Capability {
        name: "kiro.words",
        about: "reads agents in the words of the design, and knows its word for the end of a turn",
    },
    Capability { name: "detect", about: "finds out whether there is ACP, and falls back to text" },
    Capability { name: "text", about: "reads an agent in text" },
    Capability { name: "environment", about: "hands variables on to the agent" },
];

impl Kit for Acp {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn about(&self) -> &'static str {
        "Clients of agents on stdin and stdout: framing, ends of turns, permission, routing, cancel, load, teardown, text."
    }

    fn capabilities(&self) -> &'static [Capability] {
        CAPABILITIES
    }

    fn declarations(&self) -> &'static [Declaration] {
        &[POLICY, Declaration { name: "agent", words: &["early", "late"] }]
    }

    fn updates(&self) -> &'static [&'static str] {
        &[
            "chatText",
            "chatTool",
            "chatDone",
            "chatPermission",
            "chatCommands",
            "chatCompaction",
            "chatMcp",
            "chatNotice",
            "log",
        ]
    }

    fn checks(&self) -> Vec<Check> {
        checks::all()
    }

    fn mutants(&self) -> &'static [Mutant] {
        mutants::ALL
    }

    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<play::Part>(self, file, text)
    }

    fn schema(&self) -> Schema {
        case::schema::<play::Part>()
    }

    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(Arc::new(Reference::new(Quirk::of(mutant))), reader, writer))
    }
}
