//! `cargo xtask evidence`: what the recordings answer to the questions of `parity-specs/evidence`, as a page.

use crate::outcome::Outcome;
use crate::record::progress_bar;
use fixtures::{ServerKind, catalog};
use harness::say;
use parity_specs::evidence::{Evidence, render};
use std::fs;
use std::path::Path;

/// Where the page stands.
const PAGE: &str = "docs/evidence.md";

/// What `cargo xtask evidence` may be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail when the page is not what the recordings say.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    match ask(arguments, root) {
        Ok(outcome) => outcome,
        Err(why) => Outcome::Fails(why),
    }
}

fn ask(arguments: &Arguments, root: &Path) -> Result<Outcome, String> {
    let evidence = Evidence::embedded().map_err(|error| error.to_string())?;
    let recordings =
        ServerKind::ALL.iter().map(|server| catalog::recording_names(&server.release()).len()).sum();
    let bar = progress_bar(recordings);
    let answers = evidence.ask(|| bar.inc(1)).map_err(|error| error.to_string())?;
    bar.finish_and_clear();
    let page = render::markdown(&evidence, &answers);
    let path = root.join(PAGE);
    let mut lines: Vec<_> = evidence
        .claims()
        .filter(|(id, claim)| !claim.holds(id, &answers))
        .map(|(id, claim)| format!("{id} does not hold: {}", claim.says.trim()))
        .collect();
    if fs::read_to_string(&path).is_ok_and(|found| found == page) {
        say!("{PAGE}: {} claims, {recordings} recordings", evidence.claims().count());
    } else if arguments.check {
        lines.push(format!("{PAGE} is not what the recordings say; `cargo xtask evidence` writes it"));
    } else {
        fs::write(&path, page).map_err(|error| format!("failed to write {PAGE}: {error}"))?;
        say!("written: {PAGE}: {} claims, {recordings} recordings", evidence.claims().count());
    }
    Ok(if lines.is_empty() { Outcome::Holds } else { Outcome::Fails(lines.join("\n")) })
}
