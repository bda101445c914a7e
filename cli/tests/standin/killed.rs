//! Goal: a recorder that is killed leaves files that read, and nothing that runs. Method: `kill -9` at moments that a
//! seed chooses, while programs are recorded that would rather stay; then a look at every process of the machine.
//!
//! `cargo xtask kills --count 200` does it more often. Linux, because `/proc` says whose a process is.

use crate::programs::{program, record, serving};
use fixtures::ServerKind;
use fixtures::recording::Recording;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use recorder::clock::{until, within};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;
use walkdir::WalkDir;

/// Until the last process is gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Kills in `cargo test`.
const FEW: u64 = 12;

#[expect(clippy::disallowed_methods, reason = "cargo xtask kills says it this way")]
fn told(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// When the recorder is killed.
#[derive(Debug)]
enum Moment {
    /// When it has said this many lines.
    Said(usize),
    /// When the file that it writes has this many bytes.
    Written(u64),
    /// When this much has been counted.
    Counted(u64),
}

#[tokio::test]
async fn a_killed_recorder_leaves_files_that_read_and_nothing_that_runs() {
    let (kills, seed) = (told("STANDIN_KILLS", FEW), told("STANDIN_KILLS_SEED", 1));
    let kinds = kinds();
    let mut lines = 0;
    for kill in 0..kills {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(kill);
        let mut below = |end: u64| random.next_u64() % end;
        let moment = match kill % 3 {
            0 => Moment::Said(usize::try_from(below(7)).unwrap()),
            1 => Moment::Written(below(40_000)),
            _ => Moment::Counted(below(300_000_000)),
        };
        let kind = usize::try_from(below(kinds.len() as u64)).unwrap();
        let what = format!("seed {seed}, kill {kill}: {moment:?}, program {kind}");
        // The last one never serves, so there is no file to wait for.
        let moment = if kind == kinds.len() - 1 { Moment::Said(1) } else { moment };
        lines += kill_one(&kinds[kind], &moment, &what).await;
    }
    assert!(lines > 0, "no kill was late enough to leave a line");
}

#[test]
fn a_recorder_that_ends_by_itself_leaves_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let bin = program(folder.path(), &kinds()[2]);
    let output = record(folder.path(), &bin, ServerKind::Kilo).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // At once: it has waited for its guardian.
    assert_eq!(processes_of(folder.path()), [] as [String; 0]);
    assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);
}

/// What a program may do before it serves, and one that never does.
fn kinds() -> Vec<String> {
    let serves = serving(ServerKind::Kilo);
    let stays = serves.trim_start_matches("exec ");
    vec![
        serves.clone(),
        format!("trap '' TERM INT HUP; sleep 1000 & (setsid sleep 1000 &) ; {stays}; sleep 1000"),
        format!("(setsid sh -c \"trap '' TERM; sleep 1000 & sleep 1000\" > /dev/null 2>&1 &); {serves}"),
        "sleep 1000 & sleep 1000".to_owned(),
    ]
}

/// Gives the number of lines that were left.
async fn kill_one(script: &str, moment: &Moment, what: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let bin = program(folder.path(), script);
    let mut recorder = record(folder.path(), &bin, ServerKind::Kilo)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = recorder.stderr.take().unwrap();
    await_moment(moment, &mut recorder, &mut stderr, folder.path()).await;
    // SIGKILL; one that has ended already is as dead.
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let all_gone = until(|| processes_of(folder.path()).is_empty());
    let gone = within(PATIENCE, all_gone).await;
    assert!(gone.is_some(), "{what}: still there:\n{}", processes_of(folder.path()).join("\n"));
    assert_eq!(std::fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0, "{what}: a sandbox is left");
    let mut lines = 0;
    for file in files(&folder.path().join("standin-recordings")) {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{what}: {}", file.display());
        // Who had recorded everything by then has kept `/doc`, too, and all of it.
        if file.ends_with("doc.json") {
            let doc = std::fs::read(&file).unwrap();
            serde_json::from_slice::<serde_json::Value>(&doc)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            continue;
        }
        // What has no name that a recording can have was being made in that moment.
        if file.extension().is_some_and(|extension| extension != "new") {
            lines += Recording::read(&file).unwrap_or_else(|error| panic!("{what}: {error}")).lines.len();
        }
    }
    lines
}

async fn await_moment(moment: &Moment, recorder: &mut Child, stderr: &mut ChildStderr, folder: &Path) {
    match moment {
        Moment::Said(count) => {
            let said = BufReader::new(stderr).lines().take(*count).count();
            assert!(said <= *count);
        }
        Moment::Written(bytes) => {
            let written = || {
                let sizes = files(&folder.join("standin-recordings")).into_iter();
                sizes.map(|file| std::fs::metadata(file).map_or(0, |file| file.len())).sum::<u64>()
            };
            until(|| written() >= *bytes || recorder.try_wait().unwrap().is_some()).await;
        }
        Moment::Counted(count) => {
            for number in 0..*count {
                std::hint::black_box(number);
            }
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Every process that has the folder in its environment or its command line.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let number = entry.file_name().to_string_lossy().into_owned();
        if number == own || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let read = |file| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', " ");
        let (command, environment) = (text(&read("cmdline")), text(&read("environ")));
        if command.contains(folder) || environment.contains(folder) {
            found.push(format!("{number} {command}"));
        }
    }
    found
}
