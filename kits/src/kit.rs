//! What a kit is.

use crate::case::Head;
use crate::scene::{Scene, Troubled};
use crate::story::Story;
use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use harness::checks::Examined;
use harness::clock::Limits;
use schemars::Schema;
use std::path::Path;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

/// A judge of one kind of system.
pub trait Kit: Sync {
    /// Its name: that of its folder, of its cases and of its requirements.
    fn name(&self) -> &'static str;

    /// What it judges, in a sentence.
    fn about(&self) -> &'static str;

    /// What adapters may say that they can do.
    fn capabilities(&self) -> &'static [Capability];

    /// What its adapters may declare of themselves.
    fn declarations(&self) -> &'static [Declaration] {
        &[POLICY]
    }

    /// The kinds of `update` that its adapters send, beside those of the spine (`waits`, `waited`).
    fn updates(&self) -> &'static [&'static str];

    /// How long what may take, where its adapters need longer than others.
    fn limits(&self, usual: Limits) -> Limits {
        usual
    }

    /// Its checks.
    fn checks(&self) -> Vec<Check>;

    /// Adapters that break one promise each.
    fn mutants(&self) -> &'static [Mutant];

    /// Reads a case: `case::read::<PART>(file, text)` with the kit's own part.
    ///
    /// # Errors
    /// It is no case of this kit; the error says where and why.
    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError>;

    /// What an editor is told of its cases: `case::schema::<PART>()`.
    fn schema(&self) -> Schema;

    /// Serves a pipe as the reference adapter does, or as a mutant of it.
    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()>;
}

/// The kit's own part of a case.
pub trait Play: Send + Sync {
    /// Does what the case says. What an adapter does wrong is told by the history; an error is what ends the case.
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>>;
}

/// Something that an adapter may be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// Its word, as `guard.path`.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// Something that an adapter declares of itself, by one of a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its name, as `policy`.
    pub name: &'static str,
    /// The words that it may have.
    pub words: &'static [&'static str],
}

/// Whether a rule is followed to the letter or by its aim.
pub const POLICY: Declaration = Declaration { name: "policy", words: &["careful", "seed"] };

/// An adapter that breaks one promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant {
    /// Its name.
    pub name: &'static str,
    /// The bug that it stands for.
    pub about: &'static str,
}

/// A check: a pure function from a history to findings. Without a fact nothing passes.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name in requirements and reports.
    pub name: &'static str,
    /// What it asks, in a sentence.
    pub about: &'static str,
    /// Examines a history. What is `degraded` in the result is advice.
    pub examine: fn(&Story<'_>) -> Examined,
}
