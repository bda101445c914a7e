//! Kits: judges of systems that are no chats on a server: guards, rewinds, pipelines, clients of agents. Each kit has a
//! folder here, and all of them share one spine:
//!
//! * [`kit`] — what a kit is: capabilities, checks, mutants, a reference adapter, and how a case is played.
//! * [`case`] — `cases/<kit>/<area>/<slug>.toml`: what is shown, what it proves, whom it catches, and the kit's own part.
//! * [`handshake`] — the first words with an adapter, before any case.
//! * [`scene`] — a case while it is played: the adapter, its time, a folder, the one time line.
//! * [`story`] — a history, put in order for the checks.
//! * [`judge`] — a history → a verdict; what follows a rule to the letter that is wrong is pinned.
//! * [`gate`] — a kit's cases with an adapter, its mutants, and what must hold.
//! * `git` — with nothing of the person's. * `held` — files that are kept open, to see which are written where they stand.
//! * `gaps` — files that are gone for a moment.
//! * `timeline` — a history for people.
//! * `shell` — systems that are commands: lines for the shell with words to fill in.
//! * [`adapter`] — the lines of an adapter of our own: no reference need know how they are read.
//!
//! A kit's adapters are programs in any language that speak JSON-RPC in lines, as docs/kits.md says. What a kit asks for
//! stands in `parity-specs/kits/<kit>/`.

pub mod acp;
pub mod adapter;
pub mod case;
pub mod cloud;
mod gaps;
pub mod gate;
mod git;
pub mod guards;
pub mod handshake;
mod held;
pub mod judge;
pub mod kit;
pub mod pipeline;
pub mod rewind;
pub mod scene;
mod shell;
pub mod story;
mod timeline;

pub use kit::{Capability, Check, Kit, Mutant, Play};
pub use scene::{Scene, Troubled};
pub use story::Story;

/// All kits.
#[must_use]
pub fn all() -> Vec<&'static dyn Kit> {
    vec![&acp::Acp, &cloud::Cloud, &guards::Guards, &pipeline::Pipeline, &rewind::Rewind]
}

/// The kit of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Kit> {
    all().into_iter().find(|kit| kit.name() == name)
}
