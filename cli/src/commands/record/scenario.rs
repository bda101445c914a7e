//! A scenario performed with a real server that is started for it, and kept.

use super::super::{FAILS, Failure, Outcome, runtime, scenario, writable_file, writable_folder};
use super::doc::keep_doc;
use super::summary::Summary;
use super::{Arguments, Format, is_file, not_kept, place};
use fixtures::ServerKind;
use fixtures::recording::Line;
use harness::machine::Machine;
use harness::performance::{OnProgress, PerformanceError, Piece, Program, Progress, Watch};
use harness::{complain, say};
use indicatif::{ProgressBar, ProgressStyle};
use recorder::Limits;
use recorder::keep::keep;
use recorder::launch::LaunchError;
use recorder::real_servers::{self, Release};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// All are read before the first one is performed, and none keeps the others from being performed.
pub(super) fn recorded(arguments: &Arguments, server: ServerKind) -> Outcome {
    let pieces = arguments
        .scenario
        .iter()
        .map(|word| Ok(Piece { name: name(word), scenario: scenario(word)?, server }))
        .collect::<Result<Vec<_>, Failure>>()?;
    let alone = pieces.len() == 1;
    places(arguments, &pieces)?;
    let program = program(arguments, server)?;
    let mut worst = 0;
    for piece in &pieces {
        worst = worst.max(match performed(arguments, piece, &program) {
            Err(failure) if alone => return Err(failure),
            Err(failure) => {
                complain!("{}: {failure}", piece.name);
                failure.code()
            }
            Ok(code) => code,
        });
    }
    Ok(ExitCode::from(worst))
}

/// Where what is recorded goes to can be written, and is no place of two.
fn places(arguments: &Arguments, pieces: &[Piece]) -> Result<(), Failure> {
    if pieces.len() > 1 {
        let misuse = |what: &str| Err(Failure::Misuse(what.to_owned()));
        if is_file(&arguments.out) {
            return misuse("--out is a file, and several scenarios are to be recorded: name a folder");
        }
        if arguments.keep_server_log.is_some() {
            return misuse("--keep-server-log keeps the log of one scenario: name one");
        }
        let twice =
            pieces.iter().enumerate().find(|(at, piece)| pieces[..*at].iter().any(|p| p.name == piece.name));
        if let Some((_, piece)) = twice {
            return misuse(&format!(
                "two scenarios have the name {}, and one would replace the other",
                piece.name
            ));
        }
    }
    if is_file(&arguments.out) {
        writable_file(&arguments.out, "--out")?;
    } else {
        writable_folder(&arguments.out, "--out")?;
    }
    match &arguments.keep_server_log {
        Some(log) => writable_file(log, "--keep-server-log"),
        None => Ok(()),
    }
}

/// The exit code of one.
fn performed(arguments: &Arguments, piece: &Piece, program: &Program) -> Result<u8, Failure> {
    let bar = Bar::new(piece.server);
    let (out, begun) = (arguments.out.clone(), Arc::new(OnceLock::new()));
    let begins = Arc::clone(&begun);
    let watch = Watch {
        progress: bar.listener(),
        place: Some(Arc::new(move |header| begins.get_or_init(|| place(&out, header)).clone())),
    };
    let performance = runtime()?.block_on(piece.by_watched_program(program, &Limits::default(), &watch));
    bar.end();
    let performance = performance.map_err(|error| {
        let left = begun.get().map(|kept| partial_of(kept)).filter(|partial| partial.exists());
        let left = left.map(|path| format!("\nwhat was recorded until then: {}", path.display()));
        failure(&error, &left.unwrap_or_default())
    })?;
    let kept = place(&arguments.out, &performance.recording.header);
    keep(&performance.recording, &performance.secrets, &kept).map_err(|error| not_kept(&error))?;
    if !is_file(&arguments.out) {
        keep_doc(&performance.doc, &performance.secrets, &arguments.out, &performance.recording.header)?;
    }
    let summary = Summary::of(&performance, kept);
    match arguments.format {
        Format::Text => say!("{}", summary.text().trim_end()),
        Format::Json => say!("{}", summary.json()),
    }
    Ok(if performance.script.unscripted.is_empty() { 0 } else { FAILS })
}

/// A scenario that is not in the catalogue has the name of its file.
fn name(name_or_file: &str) -> String {
    match Path::new(name_or_file).file_stem() {
        Some(stem) if name_or_file.ends_with(".toml") => stem.to_string_lossy().into_owned(),
        _ => name_or_file.to_owned(),
    }
}

/// Where it is written until it is finished.
fn partial_of(kept: &Path) -> PathBuf {
    let mut name = kept.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn program(arguments: &Arguments, server: ServerKind) -> Result<Program, Failure> {
    let machine = Machine::of_this_process();
    let path = match &arguments.bin {
        // A bare name is looked for on the PATH. The program is started in another folder than this one.
        Some(path) if path.components().count() > 1 => std::path::absolute(path)
            .map_err(|error| Failure::Misuse(format!("{} is no path: {error}", path.display())))?,
        Some(path) => path.clone(),
        None => {
            let npm_dir = arguments.npm_dir.clone().unwrap_or_else(|| machine.default_npm_dir());
            real_servers::program(server, &npm_dir, Release::Installed, |what| complain!("{what}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_has_its_name_or_that_of_its_file() {
        assert_eq!(name("some/where/mine.toml"), "mine");
        assert_eq!(name("text/plain"), "text/plain");
    }
}
