//! `cargo xtask record`: performs scenarios with the real servers and holds the new recordings against the kept ones.

use crate::outcome::Outcome;
use crate::pinned;
use clap::Args;
use fixtures::acp::transcript::differences as acp_differences;
use fixtures::compare::Sides;
use fixtures::near_names::unknown;
use fixtures::recording::Recording;
use fixtures::{ServerKind, catalog};
use harness::machine::Machine;
use harness::performance::{Performance, PerformanceError, Piece, Program};
use harness::say;
use harness::truth::differences;
use indicatif::{ProgressBar, ProgressStyle};
use recorder::Limits;
use recorder::keep::keep;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where new recordings are written before they are compared, for whoever wants to look at one.
const TAKES: &str = "target/record";

/// Record scenarios with the real servers again, and compare.
#[derive(Debug, Args)]
#[command(
    after_help = "The servers are installed with npm the first time, outside the repository. New recordings are
written to target/record and compared; without --update nothing else in the work tree changes:

    cargo xtask record
    cargo xtask record text/plain --server kilo
    cargo xtask record text/plain --update
    cargo xtask record text/plain --server kilo --keep-as slow-model --model-pause-ms 600

    cargo xtask record --acp --server opencode text/plain

An older release has a folder of its own, with its /doc. Without a scenario those are recorded again that it has:

    cargo xtask record --release kilo@7.0.33
    cargo xtask record --release kilo@7.0.33 text/plain --update

Exit codes: 0 all equal, or written; 1 a recording differs or failed; 2 misuse; 3 a server can't be had."
)]
pub(crate) struct Arguments {
    /// Scenarios, as area/name; all when none is named.
    #[arg(value_parser = scenario_name)]
    scenarios: Vec<String>,
    /// Only this server: kilo or opencode.
    #[arg(long)]
    server: Option<ServerKind>,
    /// Not the pinned release but this one, as SERVER@VERSION; what is kept of it is compared or, with --update, replaced.
    #[arg(long, value_name = "SERVER@VERSION", value_parser = Take::parse, conflicts_with_all = ["server", "bin"])]
    release: Option<Take>,
    /// Replace recordings that differ, and add missing ones. Without it the work tree is not touched.
    #[arg(long)]
    update: bool,
    /// Keep the new recording beside the old one under this suffix, as evidence for a float. Implies nothing else.
    #[arg(long, value_name = "SUFFIX", value_parser = suffix)]
    keep_as: Option<String>,
    /// Let the scripted model think this long before each answer: what a server does at no fixed place shows then.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    model_pause_ms: u64,
    /// Read the server's state at each question too: what a client finds that refreshes in mid-turn.
    #[arg(long, requires = "keep_as")]
    read_at_questions: bool,
    /// The folder whose node_modules hold the servers; made and filled when absent [default: the user's cache, where
    /// each older release has a folder of its own].
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
    /// The agents on stdin and stdout (`kilo acp`, `opencode acp`) in place of the servers.
    #[arg(long, conflicts_with_all = ["release", "keep_as", "read_at_questions"])]
    acp: bool,
    /// A program to record instead of an installed server.
    #[arg(long, value_name = "PATH", requires = "server")]
    bin: Option<PathBuf>,
}

impl Arguments {
    /// All scenarios with both servers, compared and not replaced.
    pub(crate) fn everything() -> Self {
        Self::of(Vec::new(), None)
    }

    /// The same with these scenarios; all when none is named.
    pub(crate) fn of(scenarios: Vec<String>, npm_dir: Option<PathBuf>) -> Self {
        Self {
            scenarios,
            server: None,
            release: None,
            update: false,
            keep_as: None,
            model_pause_ms: 0,
            read_at_questions: false,
            npm_dir,
            acp: false,
            bin: None,
        }
    }
}

/// Which release is recorded.
#[derive(Debug, Clone)]
struct Take {
    server: ServerKind,
    version: String,
}

impl Take {
    fn pinned(server: ServerKind) -> Self {
        Self { server, version: server.pinned_version().to_owned() }
    }

    /// From the command line: `kilo@7.0.33`.
    fn parse(word: &str) -> Result<Self, String> {
        let (server, version) =
            word.split_once('@').ok_or("a release is a server and its version, as kilo@7.0.33")?;
        let is_good = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        if !version.starts_with(|c: char| c.is_ascii_digit()) || !version.chars().all(is_good) {
            return Err(format!("'{version}' is no version; one is 7.0.33"));
        }
        Ok(Self { server: server.parse()?, version: version.to_owned() })
    }

    fn is_pinned(&self) -> bool {
        self.version == self.server.pinned_version()
    }

    /// The folder of its recordings.
    fn release(&self) -> String {
        format!("{}-{}", self.server, self.version)
    }

    /// The program that performs.
    fn program(&self, arguments: &Arguments, machine: &Machine) -> Result<Program, String> {
        if let Some(path) = &arguments.bin {
            return Ok(pinned::at(path.clone(), machine));
        }
        let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| {
            let folder = machine.default_npm_dir();
            if self.is_pinned() { folder } else { folder.join("releases").join(self.release()) }
        });
        pinned::release(self.server, &self.version, &npm_dir, machine)
    }

    /// What is recorded when nobody says: all that there is; of an older release what is kept of it.
    fn scenarios(&self) -> Vec<String> {
        if self.is_pinned() { catalog::scenario_names() } else { catalog::recording_names(&self.release()) }
    }

    /// The same command again for one scenario, which replaces what is kept.
    fn command(&self, name: &str) -> String {
        if self.is_pinned() {
            return format!("cargo xtask record {name} --server {} --update", self.server);
        }
        format!("cargo xtask record {name} --release {}@{} --update", self.server, self.version)
    }
}

/// A scenario that there is: a typo is told once, and not by each server.
fn scenario_name(word: &str) -> Result<String, String> {
    let mut known = catalog::scenario_names();
    known.extend(catalog::acp_scenario_names());
    known.sort();
    known.dedup();
    if known.iter().any(|name| name == word) {
        Ok(word.to_owned())
    } else {
        Err(unknown("scenario", word, &known))
    }
}

/// A suffix becomes a part of a file's name.
fn suffix(word: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !word.is_empty() && word.chars().all(is_good) {
        return Ok(word.to_owned());
    }
    Err("a suffix is made of small letters, digits and '-', such as slow-model".to_owned())
}

/// Records; needs npm the first time.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let takes: Vec<Take> = match (&arguments.release, arguments.server) {
        (Some(take), _) => vec![take.clone()],
        (None, Some(server)) => vec![Take::pinned(server)],
        (None, None) => ServerKind::ALL.into_iter().map(Take::pinned).collect(),
    };
    let names = |take: &Take| match arguments.scenarios.is_empty() {
        true if arguments.acp => catalog::acp_scenario_names(),
        true => take.scenarios(),
        false => arguments.scenarios.clone(),
    };
    let machine = Machine::of_this_process();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let bar = progress_bar(takes.iter().map(|take| names(take).len()).sum());
    let mut outcomes = Vec::new();
    for take in &takes {
        let program = match take.program(arguments, &machine) {
            Ok(program) => {
                Program { model_pause: Duration::from_millis(arguments.model_pause_ms), ..program }
            }
            Err(why) => {
                outcomes.push(Outcome::Untestable(why));
                continue;
            }
        };
        let names = names(take);
        if names.is_empty() {
            let what = take.release();
            let why = format!("nothing of {what} is kept yet: name the scenarios that are to be recorded");
            outcomes.push(Outcome::Untestable(why));
        }
        for name in &names {
            bar.set_message(format!("{} performs {name}", take.server));
            let outcome = record(name, take, &program, arguments, root, &runtime);
            bar.suspend(|| say!("{}", outcome.1));
            outcomes.push(outcome.0);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Outcome::of_all(outcomes)
}

pub(crate) fn progress_bar(length: usize) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(length).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The outcome, and a line for the person.
fn record(
    name: &str,
    wanted: &Take,
    program: &Program,
    arguments: &Arguments,
    root: &Path,
    runtime: &tokio::runtime::Runtime,
) -> (Outcome, String) {
    let server = wanted.server;
    let what = format!("{server} {name}");
    let fails = |why: String| (Outcome::Fails(format!("{what}: {why}")), format!("✗ {what}: {why}"));
    let scenario = match catalog::scenario(name) {
        Ok(scenario) => scenario,
        Err(error) => return fails(error.to_string()),
    };
    let piece = Piece { name: name.to_owned(), scenario, server };
    let limits = Limits { reads_at_questions: arguments.read_at_questions, ..Limits::default() };
    let performed = match arguments.acp {
        true => runtime.block_on(piece.by_acp_program(program, &limits)),
        false => runtime.block_on(piece.by_program(program, &limits)),
    };
    let performance = match performed {
        Ok(performance) => performance,
        Err(error @ PerformanceError::Lacks { .. }) => {
            return (Outcome::Untestable(format!("{what}: {error}")), format!("? {what}: {error}"));
        }
        Err(error) => return fails(error.to_string()),
    };
    if let Some(why) = performance.script.unscripted.first() {
        return fails(format!("the scripted model was asked for something that it does not know: {why}"));
    }
    let version = &performance.recording.header.version;
    if *version != wanted.version {
        return fails(format!(
            "the program says that it is {version}, and the recordings are of {}; \
             --release records another one",
            wanted.version
        ));
    }
    let folder = root.join("fixtures/recordings").join(wanted.release());
    let name = &if arguments.acp { catalog::acp_place(name) } else { name.to_owned() };
    if let Some(suffix) = &arguments.keep_as {
        return match keep_one(&performance, &folder.join(format!("{name}.{suffix}.jsonl"))) {
            Ok(path) => (Outcome::Holds, format!("✓ {what}: kept as {path}")),
            Err(why) => fails(why),
        };
    }
    // What is compared is the file as it would be kept: without its secrets, and read again.
    let take = root.join(TAKES).join(wanted.release()).join(format!("{name}.jsonl"));
    let compared = keep_one(&performance, &take)
        .and_then(|_| compare(&take, &folder.join(format!("{name}.jsonl")), server, arguments.acp));
    match compared {
        Ok(None) => match update_doc(&performance, &folder, arguments.update) {
            Ok(note) => (Outcome::Holds, format!("✓ {what}: equal to the recording{note}")),
            Err(why) => fails(why),
        },
        Ok(Some(why)) if arguments.update => {
            let kept = keep_one(&performance, &folder.join(format!("{name}.jsonl")))
                .and_then(|path| update_doc(&performance, &folder, true).map(|_| path));
            match kept {
                Ok(path) => (Outcome::Holds, format!("✓ {what}: {why}\n  written: {path}")),
                Err(why) => fails(why),
            }
        }
        Ok(Some(why)) => {
            let take = take.display();
            fails(format!("{why}\n  the new one: {take}\n  `{}` replaces it", wanted.command(name)))
        }
        Err(why) => fails(why),
    }
}

fn keep_one(performance: &Performance, path: &Path) -> Result<String, String> {
    keep(&performance.recording, &performance.secrets, path).map_err(|error| error.to_string())?;
    Ok(path.display().to_string())
}

/// `None` when equal; else what is to be said.
fn compare(take: &Path, path: &Path, server: ServerKind, is_acp: bool) -> Result<Option<String>, String> {
    if !path.exists() {
        return Ok(Some("not recorded yet".to_owned()));
    }
    let read = |path| Recording::read(path).map_err(|error| error.to_string());
    let (old, new) = (read(path)?, read(take)?);
    let floats = catalog::floats(server).map_err(|error| error.to_string())?;
    let found = if is_acp { acp_differences(&old, &new) } else { differences(&old, &new, &floats) };
    if found.is_empty() {
        return Ok(None);
    }
    let sides = Sides::new("the recording", "the new run");
    let lines: Vec<String> =
        found.iter().map(|difference| format!("  {}", difference.told(&sides))).collect();
    let count = match found.len() {
        1 => "1 difference".to_owned(),
        more => format!("{more} differences"),
    };
    Ok(Some(format!("{count} between the recording and the new run\n{}", lines.join("\n"))))
}

/// `/doc` belongs to the release: every scenario reads the same one.
fn update_doc(performance: &Performance, folder: &Path, update: bool) -> Result<&'static str, String> {
    // An agent has none.
    if performance.doc.is_empty() {
        return Ok("");
    }
    let path = folder.join("doc.json");
    let same = std::fs::read(&path).is_ok_and(|doc| doc == performance.doc);
    if same {
        return Ok(", /doc too");
    }
    if !update {
        return Err("/doc differs from doc.json; --update replaces it".to_owned());
    }
    std::fs::write(&path, &performance.doc)
        .map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    Ok("")
}

#[cfg(test)]
mod tests {
    use super::Take;

    #[test]
    fn a_release_is_a_server_and_a_version() {
        let take = Take::parse("kilo@7.0.33").unwrap();
        assert_eq!((take.release().as_str(), take.is_pinned()), ("kilo-7.0.33", false));
        assert_eq!(take.command("a/b"), "cargo xtask record a/b --release kilo@7.0.33 --update");
        assert!(take.scenarios().contains(&"text/plain".to_owned()));
        for wrong in ["kilo", "kilo@", "kilo@latest", "vim@1.0", "kilo@../x", "kilo@1/2"] {
            assert!(Take::parse(wrong).is_err(), "{wrong}");
        }
    }
}
