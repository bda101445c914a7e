//! The cloud kit: clients that fetch news with a token. They shall get what is there, never wait long, never bother the
//! user with what is missing, and never show the token to anybody else.
//!
//! * `play` — a cloud that breaks on cue, and fetches.
//! * `checks` — what must hold, one file a check.
//! * `reference` — a client that holds, and its mutants.

mod checks;
mod play;
mod reference;

use crate::adapter::serve;
use crate::case::{self, Head};
use crate::kit::{Capability, Check, Kit, Mutant, Play};
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use reference::Client;
use schemars::Schema;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// The kit.
#[derive(Debug)]
pub struct Cloud;

impl Kit for Cloud {
    fn name(&self) -> &'static str {
        "cloud"
    }

    fn about(&self) -> &'static str {
        "Clients that fetch the news of a cloud with a token."
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability { name: "cloud.notifications", about: "fetches the news of a cloud" },
            Capability { name: "cloud.token", about: "says to which cloud a token belongs" },
        ]
    }

    fn updates(&self) -> &'static [&'static str] {
        &["notificationsResponse", "log", "notice"]
    }

    fn checks(&self) -> Vec<Check> {
        checks::all()
    }

    fn mutants(&self) -> &'static [Mutant] {
        reference::MUTANTS
    }

    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<play::Fetching>(self, file, text)
    }

    fn schema(&self) -> Schema {
        case::schema::<play::Fetching>()
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
