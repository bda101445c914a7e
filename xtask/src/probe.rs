//! What the real servers let agents do, beside what the stand-ins do: every row of the probe has to be the same.

use crate::outcome::Outcome;
use crate::pinned;
use clap::Args;
use fixtures::ServerKind;
use harness::machine::Machine;
use harness::performance::Program;
use harness::probe::folder::AgentFolder;
use harness::probe::{Probe, Row, Subject};
use harness::say;
use recorder::Limits;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Agents with rules that servers and people read differently; the tests of the stand-ins ask about the same ones.
const AGENTS: &str = "harness/tests/probed";

/// Which servers, and from where.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder whose node_modules hold the servers [default: the user's cache]
    #[arg(long, value_name = "DIR")]
    pub(crate) npm_dir: Option<PathBuf>,
}

/// Asks both, and tells where they differ.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let machine = Machine::of_this_process();
    let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
    Outcome::of_all(ServerKind::ALL.into_iter().map(|server| {
        let program = match pinned::program(server, &npm_dir, &machine) {
            Ok(program) => program,
            Err(why) => return Outcome::Untestable(why),
        };
        match asked(server, &program, root) {
            Ok((real, stand_in)) => compared(server, &real, &stand_in),
            Err(why) => Outcome::Fails(format!("{}: {why}", server.word())),
        }
    }))
}

fn asked(server: ServerKind, program: &Program, root: &Path) -> Result<(Probe, Probe), String> {
    let folder = AgentFolder::read(&root.join(AGENTS), server).map_err(|error| error.to_string())?;
    let subject = Subject { folder, server, agents: Vec::new() };
    let limits = Limits { quiet: Duration::from_secs(5), ..Limits::default() };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let real = subject.ask(Some(program), &limits).await.map_err(|error| error.to_string())?;
        let stand_in = subject.ask(None, &limits).await.map_err(|error| error.to_string())?;
        Ok((real, stand_in))
    })
}

fn compared(server: ServerKind, real: &Probe, stand_in: &Probe) -> Outcome {
    let lines = differences(&real.rows, &stand_in.rows);
    say!("{}: {} rows asked, {} differ", server.word(), real.rows.len(), lines.len());
    if lines.is_empty() && !real.rows.is_empty() {
        return Outcome::Holds;
    }
    let lines = if lines.is_empty() { vec!["nothing was asked".to_owned()] } else { lines };
    Outcome::Fails(
        lines.iter().map(|line| format!("{}: {line}", server.word())).collect::<Vec<_>>().join("\n"),
    )
}

/// What only one of them says.
fn differences(real: &[Row], stand_in: &[Row]) -> Vec<String> {
    let words = |rows: &[Row]| -> BTreeSet<String> {
        rows.iter()
            .map(|row| format!("{} {} {}: {}", row.agent, row.role, row.about, row.effective))
            .collect()
    };
    let (real, stand_in) = (words(real), words(stand_in));
    let only = |who: &str, one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).map(|line| format!("only {who}: {line}")).collect()
    };
    [only("the real server", &real, &stand_in), only("the stand-in", &stand_in, &real)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_only_one_has_is_a_difference() {
        let row = |effective: &str| Row {
            agent: "coder".to_owned(),
            role: "called",
            about: "bash".to_owned(),
            declared: None,
            effective: effective.to_owned(),
            holds: None,
            at: None,
        };
        assert_eq!(differences(&[row("ask")], &[row("ask")]), Vec::<String>::new());
        assert_eq!(
            differences(&[row("ask")], &[row("allow")]),
            ["only the real server: coder called bash: ask", "only the stand-in: coder called bash: allow"]
        );
        assert_eq!(differences(&[row("ask")], &[]).len(), 1);
    }
}
