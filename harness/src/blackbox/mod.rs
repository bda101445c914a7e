//! A client that is a command and has no adapter: started once a case, with the server's address, credentials and the
//! person's prompt, and judged by what it prints, how it ends, and what it asks of the server.
//!
//! * `command` — the template and the running program.
//! * `scene` — what of a case can be played with it, and playing it.
//! * `evidence` — what the journal says of it.
//! * `checks` — pure functions on that.

mod checks;
mod command;
mod evidence;
mod scene;

pub use checks::NAMES;
pub use command::Command;

use crate::cells::{self, Finished};
use crate::clock::Limits;
use crate::judge::{Judged, Verdict};
use crate::report::{Cell, timeline};
use evidence::Evidence;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use parity_specs::NamedCase;
use scene::NotPlayed;

/// How many commands run at once: each is a program of its own, and some need seconds to start.
const AT_ONCE: usize = 2;

/// Runs cases with a command; the order of the result is that of the cases.
pub async fn run_cases(
    cases: &[NamedCase],
    command: &Command,
    limits: &Limits,
    seen: impl Fn(&Cell, Option<Recording>),
) -> Vec<Cell> {
    let cells = cases.iter().flat_map(|named| named.case.servers.iter().map(move |server| (named, *server)));
    cells::run(cells.map(|(named, server)| run_cell(named, server, command, limits)), AT_ONCE, seen).await
}

/// Runs and judges one case with one server.
pub async fn run_cell(named: &NamedCase, server: ServerKind, command: &Command, limits: &Limits) -> Finished {
    let words = format!(" --command '{}'", command.name());
    let mut cell = cells::unjudged(named, server, command.name(), &words);
    match scene::play(named, server, command, limits).await {
        Ok(played) => {
            let evidence = Evidence::of(&played, named.case.plain, command);
            cell.checks = checks::judge(&evidence);
            cell.verdict = verdict(&cell);
            cell.checks.extend(unsupported());
            if let Some(why) = played.nothing_broke {
                cell.verdict = cell.verdict.max(Verdict::Untestable);
                cell.troubles.push(why);
            }
            cell.timeline = timeline::of(&played.history);
            Finished { cell, history: Some(played.history) }
        }
        Err(why) => {
            if matches!(why, NotPlayed::NotApplicable(_)) {
                cell.verdict = Verdict::NotApplicable;
            }
            cell.troubles.push(why.to_string());
            Finished { cell, history: None }
        }
    }
}

/// The worst of the checks; nothing that was not examined is green.
fn verdict(cell: &Cell) -> Verdict {
    let worst = cell.checks.iter().map(|judged| judged.verdict).max();
    worst.filter(|worst| *worst != Verdict::NotApplicable).unwrap_or(Verdict::Untestable)
}

/// The checks on what a person sees: a command shows nobody anything.
fn unsupported() -> impl Iterator<Item = Judged> {
    crate::checks::all().into_iter().map(|check| Judged::unseen(check.name, Verdict::Unsupported))
}
