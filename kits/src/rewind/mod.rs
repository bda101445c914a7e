//! The rewind kit: clients that keep a conversation in two lists, one for the user and one for the model, and let the user
//! edit a message: what came later goes, and the files go back if that is asked for. One sentence judges them: after an
//! edit the next request to the model holds the kept turns, then the edited one; the user sees the same; the tree is the
//! checkpoint's; and when something fails, nothing is lost.
//!
//! * `play` — a conversation, an edit, and what goes wrong around it; `clicks` — what the user does; `again` — a second edit; `conversation` — the lists;
//!   `ground` — the folders and the model of a case.
//! * `checks` — what must hold, one file a check.
//! * `reference` — a client that holds; `mutants` — what breaks it; `cut`, `restoring`, `shadow`, `keeping`, `resend`,
//!   `telling` — how it finds the place, puts files back, keeps its lists, sends, and tells the model.
//! * `server_play`, `server_client` — the same for clients that leave the history to a server; `server_script` — what its agents
//!   say; `server_window` — another window of the user.

mod again;
mod checks;
mod clicks;
mod conversation;
mod cut;
mod ground;
mod keeping;
mod mutants;
mod play;
mod reference;
mod resend;
mod restoring;
mod server_client;
mod server_play;
mod server_script;
mod server_window;
mod shadow;
mod telling;

use crate::adapter::serve;
use crate::case::{self, Head};
use crate::kit::{Capability, Check, Declaration, Kit, Mutant, POLICY, Play};
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use reference::Client;
use schemars::Schema;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// The kit.
#[derive(Debug)]
pub struct Rewind;

impl Kit for Rewind {
    fn name(&self) -> &'static str {
        "rewind"
    }

    fn about(&self) -> &'static str {
        "Clients whose user edits a message and goes on from there."
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability { name: "rewind.edit", about: "cuts both lists at an edited message and sends it" },
            Capability { name: "rewind.images", about: "a message may have pictures" },
            Capability { name: "rewind.checkpoint", about: "puts the files back to a checkpoint" },
            Capability {
                name: "rewind.server",
                about: "leaves the history to a server: revert, then a prompt",
            },
            Capability { name: "rewind.copy", about: "an edit on a server may go on in a copy" },
            Capability {
                name: "rewind.back",
                about: "goes back on a server without a prompt, and takes that back",
            },
            Capability {
                name: "rewind.atomic",
                about: "a kill leaves both lists old or both new, and the files with them",
            },
        ]
    }

    fn declarations(&self) -> &'static [Declaration] {
        &[POLICY, Declaration { name: "editImages", words: &["keep", "replace"] }]
    }

    fn updates(&self) -> &'static [&'static str] {
        &["stateUpdate", "notice", "seam"]
    }

    fn checks(&self) -> Vec<Check> {
        checks::all()
    }

    fn mutants(&self) -> &'static [Mutant] {
        mutants::MUTANTS
    }

    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<play::Editing>(self, file, text)
    }

    fn schema(&self) -> Schema {
        case::schema::<play::Editing>()
    }

    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(Arc::new(Client::new(mutant)), reader, writer))
    }
}
