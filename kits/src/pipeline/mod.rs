//! The pipeline kit: runners that send agents through the phases of an issue. What is on disk when they are killed, where
//! they go on, what becomes of the work and of what the person had there before.
//!
//! * `play` — a case: what is done, where the runner is killed. * `phases` — who works at what. * `stage` — the server whose
//!   agents do the work.
//! * `shim` — a git that holds at any of its calls. * `failing` — one that fails. * `docker` — one without machines, that
//!   writes down what there would be.
//! * [`commands`] — an adapter for runners that are commands.
//! * `repository` — the folder and its repository; what the harness sees of it. * `kept` — whether work is still somewhere.
//!   * `touched` — what of the person's is other than it was.
//! * `patches` — those of agents, put on the beginning again.
//! * `checks` — pure functions of the history. * `reference` — a careful runner, and mutants of it.

mod checks;
pub mod commands;
mod docker;
mod failing;
mod kept;
mod patches;
mod phases;
mod play;
mod reference;
mod repository;
mod shim;
mod stage;
mod touched;

use crate::adapter::serve;
use crate::case::{self, Head};
use crate::kit::{Capability, Check, Declaration, Kit, Mutant, POLICY, Play};
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use harness::clock::Limits;
use reference::Runner;
use schemars::Schema;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// A run is a hundred processes and more: where others keep the machine busy, it takes several times as long as alone.
const RUN: Duration = Duration::from_secs(60);

/// The kit.
pub struct Pipeline;

impl Kit for Pipeline {
    fn name(&self) -> &'static str {
        "pipeline"
    }

    fn about(&self) -> &'static str {
        "Runners that send agents through the phases of an issue: checkpoints, resume, forks, diffs, worktrees."
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability { name: "pipeline.checkpoint", about: "writes a checkpoint after each phase" },
            Capability { name: "pipeline.resume", about: "goes on after it was killed" },
            Capability { name: "pipeline.fork", about: "makes a way back before destructive edits" },
            Capability { name: "pipeline.difflog", about: "logs the diff of each agent" },
            Capability { name: "pipeline.worktree", about: "gives each agent a worktree of its own" },
            Capability { name: "pipeline.together", about: "works on two issues at once in one repository" },
            Capability { name: "pipeline.plan", about: "hands the designer's last words on to those behind" },
            Capability { name: "pipeline.submodule", about: "a worktree has the repository's submodules" },
            Capability {
                name: "pipeline.container",
                about: "begins a container for an agent, and removes it",
            },
            Capability {
                name: "pipeline.unattended",
                about: "ends when an agent asks for leave and nobody is there",
            },
            Capability { name: "pipeline.status", about: "tells where a resume would begin" },
            Capability { name: "pipeline.revert", about: "takes one file of an agent's diff back" },
        ]
    }

    fn declarations(&self) -> &'static [Declaration] {
        &[POLICY, Declaration { name: "failed", words: &["rerun", "stop"] }]
    }

    fn updates(&self) -> &'static [&'static str] {
        &["notice"]
    }

    fn limits(&self, usual: Limits) -> Limits {
        Limits { answer: usual.answer.max(RUN), ..usual }
    }

    fn checks(&self) -> Vec<Check> {
        checks::all()
    }

    fn mutants(&self) -> &'static [Mutant] {
        reference::MUTANTS
    }

    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<play::Played>(self, file, text)
    }

    fn schema(&self) -> Schema {
        case::schema::<play::Played>()
    }

    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(Arc::new(Runner::new(mutant)), reader, writer))
    }
}
