//! `cargo xtask truth`: holds the stand-in's world and its replay against every recording.

use crate::outcome::Outcome;
use crate::record;
use clap::Args;
use fixtures::catalog;
use fixtures::compare::Sides;
use harness::acp::truth as acp;
use harness::say;
use harness::truth::{Comparison, Selection, compare_all, stand_in_limits};
use parity_specs::Matrix;
use std::path::{Path, PathBuf};

/// What to say.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show the differences of what is owed, too.
    #[arg(long)]
    owed: bool,
    /// Hold the recordings against the real servers themselves, too: each scenario is performed again.
    #[arg(long)]
    live: bool,
    /// With --live: the folder whose node_modules hold the servers [default: the user's cache].
    #[arg(long, value_name = "DIR", requires = "live")]
    npm_dir: Option<PathBuf>,
    /// Only the agents on stdin and stdout.
    #[arg(long, conflicts_with_all = ["owed", "live"])]
    acp: bool,
    /// Only scenarios whose names contain this.
    #[arg(value_name = "NAME")]
    only: Option<String>,
}

/// Compares; needs nothing but the recordings in the repository, and with `--live` npm the first time.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    if arguments.acp {
        return agents(arguments);
    }
    let recorded = match (by_recordings(arguments), agents(arguments)) {
        // There may be a name that agents perform alone, or servers.
        (Outcome::Misuse(_), agents) => agents,
        (servers, Outcome::Misuse(_)) => servers,
        (servers, agents) => Outcome::of_all(vec![servers, agents]),
    };
    if !arguments.live || matches!(recorded, Outcome::Misuse(_)) {
        return recorded;
    }
    let only = arguments.only.as_deref().unwrap_or_default();
    let names = catalog::scenario_names().into_iter().filter(|name| name.contains(only)).collect();
    let again = record::Arguments::of(names, arguments.npm_dir.clone());
    Outcome::of_all(vec![recorded, record::run(&again, root)])
}

fn by_recordings(arguments: &Arguments) -> Outcome {
    let matrix = match Matrix::embedded() {
        Ok(matrix) => matrix,
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let only = arguments.only.as_deref().unwrap_or_default();
    let limits = stand_in_limits();
    let selection = Selection { names: only, ..Selection::default() };
    let compared =
        compare_all(&matrix, &selection, &limits, |comparison, _| tell(comparison, arguments.owed));
    let comparisons = runtime.block_on(compared);
    let equal = comparisons.iter().filter(|comparison| comparison.is_equal()).count();
    let owed = comparisons.iter().filter(|comparison| comparison.holds() && !comparison.is_equal()).count();
    say!("\n{equal} of {} equal, {owed} owed", comparisons.len());
    let wrong = comparisons.iter().filter(|comparison| !comparison.holds()).count();
    if comparisons.is_empty() {
        Outcome::Misuse(format!("no scenario's name contains '{only}'"))
    } else if wrong == 0 {
        Outcome::Holds
    } else {
        Outcome::Fails(format!("{wrong} comparisons are not as they are meant to be"))
    }
}

/// The stand-in's agent against the recordings of the real ones.
fn agents(arguments: &Arguments) -> Outcome {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let only = arguments.only.as_deref().unwrap_or_default();
    let comparisons = runtime.block_on(acp::compare_all(only, &stand_in_limits(), tell_agent));
    let equal = comparisons.iter().filter(|comparison| comparison.is_equal()).count();
    let wrong = comparisons.len() - equal;
    say!("\n{equal} of {} conversations with agents equal", comparisons.len());
    match (comparisons.is_empty(), wrong) {
        (true, _) => Outcome::Misuse(format!("no scenario's name contains '{only}'")),
        (false, 0) => Outcome::Holds,
        (false, wrong) => Outcome::Fails(format!("{wrong} conversations with agents differ")),
    }
}

fn tell_agent(comparison: &acp::Comparison) {
    let of = format!("{} acp {}", comparison.server, comparison.scenario);
    if comparison.is_equal() {
        return say!("✓ {of}");
    }
    say!("✗ {of}");
    match &comparison.found {
        Ok(differences) => {
            let sides = Sides::new("the recording", "the stand-in");
            differences.iter().for_each(|difference| say!("    {}", difference.told(&sides)));
        }
        Err(why) => say!("    {why}"),
    }
}

fn tell(comparison: &Comparison, show_owed: bool) {
    let mark = match (comparison.is_equal(), &comparison.owed) {
        (true, None) => "✓",
        (false, Some(_)) => "○",
        _ => "✗",
    };
    let of = format!("{} {} {}", comparison.server, comparison.candidate, comparison.scenario);
    match &comparison.owed {
        None => say!("{mark} {of}"),
        Some(why) if comparison.is_equal() => {
            say!("{mark} {of}: equal, and yet owed in parity-specs/debt.toml (\"{why}\"): delete the entry");
        }
        Some(why) => say!("{mark} {of}: owed. {why}"),
    }
    if comparison.owed.is_some() && !show_owed {
        return;
    }
    match &comparison.outcome {
        Ok(differences) => {
            let sides = comparison.sides();
            differences.iter().for_each(|difference| say!("    {}", difference.told(&sides)));
        }
        Err(why) => say!("    {why}"),
    }
}
