//! The kit `guards`: what stands between an agent and a person's machine. Paths, commands, keys, the policy of a webview;
//! and what keeps a program up when others fail: tries, kinds of errors, the window of a model, limits.
//!
//! * `play` — what a case does, step by step; `ground` — the folder in which it happens.
//! * `checks` — what has to hold, one file each.
//! * `reference` — an adapter that keeps every promise, and the switches that break one each (`mutants`).

mod checks;
mod ground;
mod key;
mod mutants;
mod play;
mod reference;

use crate::adapter::serve;
use crate::case::{self, Head};
use crate::kit::{Capability, Check, Declaration, Kit, Mutant, POLICY, Play};
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use schemars::Schema;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// The kit.
pub struct Guards;

const fn capability(name: &'static str, about: &'static str) -> Capability {
    Capability { name, about }
}

impl Kit for Guards {
    fn name(&self) -> &'static str {
        "guards"
    }

    fn about(&self) -> &'static str {
        "Guards of an agent: paths, commands, keys, a webview's policy; tries, errors, a model's window, limits."
    }

    fn capabilities(&self) -> &'static [Capability] {
        const {
            &[
                capability("guard.path", "says which paths a tool may be let at, and acts on them"),
                capability("guard.ignore", "keeps tools from ignored and protected files"),
                capability("guard.command", "says which lines may run, asks the person, and runs them"),
                capability("guard.secret", "keeps a key, uses it, and forgets it"),
                capability("guard.csp", "says which policy its webview has"),
                capability("guard.view", "says what its page makes of the model's words"),
                capability("resilience.retry", "tries an operation again"),
                capability("resilience.errors", "sorts errors, logs them and reports them"),
                capability(
                    "resilience.limits",
                    "debounces changes of files, gathers batches, keeps answers for a while",
                ),
                capability("context.window", "fits a conversation into the window of a model"),
                capability("flow.task", "works on a task with a model and tools"),
                capability("service.single", "has services that are there once, and tell what they do"),
                capability("state.scopes", "keeps state for all, for a workspace, for a session"),
                capability("memory.checkpoints", "keeps copies of a conversation"),
                capability("mcp.use", "uses servers of tools"),
                capability("monitor.timings", "tells how long operations take"),
                capability("index.workspace", "indexes a workspace, and searches it"),
            ]
        }
    }

    fn declarations(&self) -> &'static [Declaration] {
        &[
            POLICY,
            Declaration { name: "commands", words: &["exact", "argv-prefix", "every-segment"] },
            Declaration { name: "paths", words: &["realpath", "lexical"] },
        ]
    }

    fn updates(&self) -> &'static [&'static str] {
        &["prompt", "log", "notice", "indexed", "batch", "says", "done", "ended", "action"]
    }

    fn checks(&self) -> Vec<Check> {
        checks::all()
    }

    fn mutants(&self) -> &'static [Mutant] {
        mutants::ALL
    }

    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<play::Steps>(self, file, text)
    }

    fn schema(&self) -> Schema {
        case::schema::<play::Steps>()
    }

    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(Arc::new(reference::Reference::new(mutant)), reader, writer))
    }
}
