//! `standin record`: a scenario performed with a real server, and kept.

use super::{FAILS, Failure, Outcome, runtime, scenario, words, writable_file, writable_folder};
use clap::{Args, ValueEnum};
use fixtures::ServerKind;
use fixtures::recording::{Header, Line};
use harness::machine::Machine;
use harness::performance::{OnProgress, Performance, PerformanceError, Piece, Program, Progress, Watch};
use harness::{complain, say};
use indicatif::{ProgressBar, ProgressStyle};
use mock_server::model::Report;
use recorder::Limits;
use recorder::keep::{KeepError, keep};
use recorder::launch::LaunchError;
use recorder::real_servers::{self, Release};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What is recorded, with what, and where to.
#[derive(Debug, Args)]
#[command(
    after_help = "The server is started in a fresh home and workspace; its model is the scenario's agent. What is
written holds no secret that is known or looks like one:

    standin record --server kilo --scenario text/plain
    standin record --server opencode --scenario mine.toml --bin ./my-server --out mine.jsonl

Exit codes: 0 it is recorded, 1 a step of the person failed, the model was asked in vain, or a secret was
found, 2 misuse, a place that can't be written among it, 3 the server could not be had or recorded."
)]
pub(crate) struct Arguments {
    /// The server: kilo or opencode.
    #[arg(long, value_parser = words::server)]
    server: ServerKind,
    /// The scenario to perform, as area/name, or a .toml file.
    #[arg(long, value_name = "NAME|FILE")]
    scenario: String,
    /// The server's program, or another one that serves as it does.
    #[arg(long, value_name = "PATH", conflicts_with = "npm_dir")]
    bin: Option<PathBuf>,
    /// The folder whose node_modules hold the server, in any release [default: the user's cache]
    ///
    /// Where there is none, npm installs the pinned one.
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
    /// Where to keep it: a .jsonl file, or a folder that gets SERVER-VERSION/NAME.jsonl.
    ///
    /// In a folder the server's /doc is kept beside it. What stands there is replaced.
    #[arg(long, value_name = "FILE|DIR", default_value = "standin-recordings")]
    out: PathBuf,
    /// Also keep what the server says on stdout and stderr, its log among it.
    #[arg(long, value_name = "FILE")]
    keep_server_log: Option<PathBuf>,
    /// What is printed in the end.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let piece = Piece {
        name: name(&arguments.scenario),
        scenario: scenario(&arguments.scenario)?,
        server: arguments.server,
    };
    if is_file(&arguments.out) {
        writable_file(&arguments.out, "--out")?;
    } else {
        writable_folder(&arguments.out, "--out")?;
    }
    if let Some(log) = &arguments.keep_server_log {
        writable_file(log, "--keep-server-log")?;
    }
    let program = program(arguments)?;
    let bar = Bar::new(arguments.server);
    let (out, begun) = (arguments.out.clone(), Arc::new(OnceLock::new()));
    let begins = Arc::clone(&begun);
    let watch = Watch {
        progress: bar.listener(),
        place: Some(Arc::new(move |header| begins.get_or_init(|| place(&out, header)).clone())),
    };
    let performance = runtime()?.block_on(piece.by_watched_program(&program, &Limits::default(), &watch));
    bar.end();
    let performance = performance.map_err(|error| {
        let left = begun.get().map(|kept| partial_of(kept)).filter(|partial| partial.exists());
        let left = left.map(|path| format!("\nwhat was recorded until then: {}", path.display()));
        failure(&error, &left.unwrap_or_default())
    })?;
    let kept = place(&arguments.out, &performance.recording.header);
    keep(&performance.recording, &performance.secrets, &kept).map_err(|error| match error {
        KeepError::Secret { .. } => Failure::Fails(error.to_string()),
        _ => Failure::CouldNot(error.to_string()),
    })?;
    if !is_file(&arguments.out) {
        keep_doc(&performance, &arguments.out)?;
    }
    let summary = Summary::of(&performance, kept);
    match arguments.format {
        Format::Text => say!("{}", summary.text().trim_end()),
        Format::Json => say!("{}", summary.json()),
    }
    Ok(ExitCode::from(if performance.script.unscripted.is_empty() { 0 } else { FAILS }))
}

/// A scenario that is not in the catalogue has the name of its file.
fn name(name_or_file: &str) -> String {
    match Path::new(name_or_file).file_stem() {
        Some(stem) if name_or_file.ends_with(".toml") => stem.to_string_lossy().into_owned(),
        _ => name_or_file.to_owned(),
    }
}

fn is_file(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "jsonl")
}

fn place(out: &Path, header: &Header) -> PathBuf {
    if is_file(out) {
        return out.to_owned();
    }
    release_folder(out, header).join(format!("{}.jsonl", header.scenario))
}

fn release_folder(out: &Path, header: &Header) -> PathBuf {
    out.join(format!("{}-{}", header.server, header.version))
}

/// `/doc` belongs to the release: every scenario reads the same one. As a recording it has its name when all of it is
/// there, and is its owner's alone.
fn keep_doc(performance: &Performance, out: &Path) -> Result<(), Failure> {
    let path = release_folder(out, &performance.recording.header).join("doc.json");
    let doc = String::from_utf8_lossy(&performance.doc);
    match performance.secrets.scan(&doc).first() {
        None => write_whole(&path, &doc).map_err(|error| {
            Failure::CouldNot(format!("failed to write {}: {}", path.display(), super::io_words(&error)))
        }),
        Some(finding) => Err(Failure::Fails(format!(
            "{} would hold a secret and was not written: {finding}",
            path.display()
        ))),
    }
}

/// Written beside its place, readable by its owner alone, and put there when it is whole.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix("doc.json.").suffix(".new").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Where it is written until it is finished.
fn partial_of(kept: &Path) -> PathBuf {
    let mut name = kept.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn program(arguments: &Arguments) -> Result<Program, Failure> {
    let machine = Machine::of_this_process();
    let path = match &arguments.bin {
        // A bare name is looked for on the PATH. The program is started in another folder than this one.
        Some(path) if path.components().count() > 1 => std::path::absolute(path)
            .map_err(|error| Failure::Misuse(format!("{} is no path: {error}", path.display())))?,
        Some(path) => path.clone(),
        None => {
            let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
            real_servers::program(arguments.server, &npm_dir, Release::Installed, |what| complain!("{what}"))
                .map_err(|error| Failure::CouldNot(error.to_string()))?
        }
    };
    Ok(Program {
        path,
        args: Vec::new(),
        path_env: machine.path_env,
        model_pause: Duration::ZERO,
        server_log: arguments.keep_server_log.clone(),
        secrets: machine.secrets,
    })
}

fn failure(error: &PerformanceError, left: &str) -> Failure {
    let said = format!("{error}{left}");
    match error {
        PerformanceError::Launch(LaunchError::NotFound { .. } | LaunchError::NotExecutable { .. }) => {
            Failure::Misuse(said)
        }
        PerformanceError::Drive(_) => Failure::Fails(said),
        _ => Failure::CouldNot(said),
    }
}

/// A line that changes on a terminal; elsewhere a line for each thing that is done.
struct Bar {
    server: ServerKind,
    bar: ProgressBar,
}

impl Bar {
    fn new(server: ServerKind) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {pos} lines ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { server, bar }
    }

    fn listener(&self) -> OnProgress {
        let (bar, server) = (self.bar.clone(), self.server);
        let says = move |what: String| {
            if bar.is_hidden() {
                complain!("{what}");
            }
            bar.set_message(what);
        };
        let bar = self.bar.clone();
        Arc::new(move |progress| match progress {
            Progress::Starting => says(format!("starting {server}")),
            Progress::Started(version) => says(format!("{server} {version} answers")),
            Progress::Line(line) => {
                bar.inc(1);
                if let Line::User(user) = line {
                    says(format!("step {}: {}", user.step, user.does));
                }
            }
            Progress::Ending => says(format!("ending {server}")),
        })
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// What was recorded.
struct Summary<'a> {
    header: &'a Header,
    events: usize,
    exchanges: usize,
    model_calls: usize,
    script: &'a Report,
    kept: PathBuf,
}

impl<'a> Summary<'a> {
    fn of(performance: &'a Performance, kept: PathBuf) -> Self {
        let lines = &performance.recording.lines;
        let mut streams: BTreeMap<u64, fixtures::sse::Parser> = BTreeMap::new();
        let mut events = 0;
        for line in lines {
            if let Line::Chunk(chunk) = line {
                events += streams.entry(chunk.exchange).or_default().feed(&chunk.bytes()).len();
            }
        }
        let count = |is: fn(&Line) -> bool| lines.iter().filter(|line| is(line)).count();
        Self {
            header: &performance.recording.header,
            events,
            exchanges: count(|line| matches!(line, Line::Request(_))),
            model_calls: count(|line| matches!(line, Line::Model(_))),
            script: &performance.script,
            kept,
        }
    }

    /// The stand-in and the recordings that travel with it are of one release.
    fn note(&self) -> Option<String> {
        let pinned = self.header.server.pinned_version();
        (self.header.version != pinned).then(|| {
            format!(
                "this is {} {}; the stand-in is made after {pinned}, so what differs may be the release",
                self.header.server, self.header.version
            )
        })
    }

    fn text(&self) -> String {
        let Header { server, version, scenario, .. } = self.header;
        let note = self.note().map(|note| format!("note: {note}\n")).unwrap_or_default();
        // One that never asks has a model of its own.
        let unused = self
            .script
            .unused
            .iter()
            .filter(|_| self.model_calls > 0)
            .map(|part| format!("the server never asked for: {part}\n"));
        let unscripted = self.script.unscripted.iter().map(|why| format!("asked for in vain: {why}\n"));
        let script: String = unused.chain(unscripted).collect();
        format!(
            "{server} {version} performed {scenario}: {} events, {} exchanges, {} model calls\n{script}{note}{}\n",
            self.events,
            self.exchanges,
            self.model_calls,
            self.kept.display()
        )
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "server": self.header.server,
            "version": self.header.version,
            "scenario": self.header.scenario,
            "events": self.events,
            "exchanges": self.exchanges,
            "model_calls": self.model_calls,
            "never_asked_for": self.script.unused,
            "asked_for_in_vain": self.script.unscripted,
            "note": self.note(),
            "file": self.kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::{FORMAT, FileKind, Performer, Provenance};

    fn header(version: &str) -> Header {
        Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server: ServerKind::Opencode,
            version: version.into(),
            performer: Performer::Real,
            scenario: "a/b".into(),
            workspace: "/tmp/w".into(),
            by: "test".into(),
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn the_place_is_the_file_or_below_the_folder_by_release() {
        let header = header("1.2.3");
        assert_eq!(place(Path::new("x/y.jsonl"), &header), Path::new("x/y.jsonl"));
        assert_eq!(place(Path::new("x"), &header), Path::new("x/opencode-1.2.3/a/b.jsonl"));
        assert_eq!(name("some/where/mine.toml"), "mine");
        assert_eq!(name("text/plain"), "text/plain");
    }

    #[test]
    fn another_release_is_noted() {
        let summary = |version| {
            let header = &header(version);
            Summary {
                header,
                events: 1,
                exchanges: 2,
                model_calls: 3,
                script: &Report::default(),
                kept: "k".into(),
            }
            .text()
        };
        assert_eq!(
            summary("1.2.3"),
            "opencode 1.2.3 performed a/b: 1 events, 2 exchanges, 3 model calls\n\
             note: this is opencode 1.2.3; the stand-in is made after 1.18.33, so what differs may be the release\n\
             k\n"
        );
        assert!(!summary(ServerKind::Opencode.pinned_version()).contains("note"));
    }
}
