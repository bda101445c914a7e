//! Goal: what a user reads after a mistake is one clear message: what, where, what to do. Method: the binary, in a
//! folder of nonsense; the messages are snapshots, to be read by a person.

use crate::STANDIN;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn standin(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(STANDIN);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

/// The command lines, each with its exit code and what it says. Lists of names grow every week and are cut off.
fn told(lines: &[&[&str]], folder: &Path) -> String {
    let told = |args: &&[&str]| {
        let Output { status, stderr, .. } = standin(args, folder).output().unwrap();
        let said = String::from_utf8(stderr).unwrap();
        assert!(!said.contains("panicked"), "{args:?}: {said}");
        let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).map(without_list).collect();
        let code = status.code().unwrap();
        format!("$ standin {}\n{}\n[exit code {code}]", args.join(" "), said.join("\n"))
    };
    lines.iter().map(told).collect::<Vec<_>>().join("\n\n")
}

fn without_list(line: &str) -> &str {
    let end =
        ["there are: ", "There are: "].iter().filter_map(|list| Some(line.find(list)? + list.len())).min();
    end.map_or(line, |end| &line[..end])
}

fn plan(folder: &Path, name: &str, when: &str, act: &str) {
    fs::write(folder.join(name), format!("[[fault]]\nwhen = {{ {when} }}\ndo = {{ {act} }}\n")).unwrap();
}

/// Files that are none of what is asked for.
fn nonsense() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    for name in ["empty.toml", "empty.jsonl"] {
        write(name, b"");
    }
    for name in ["binary.toml", "binary.jsonl"] {
        write(name, b"\xFF\xFE\x00\x01");
    }
    // Nobody writes that much, and a device such as /dev/zero never ends.
    write("endless.toml", &vec![b'#'; 5 * 1024 * 1024]);
    write("scenario", b"about = \"x\"\n");
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

#[test]
fn faults_that_never_fire_are_refused_before_the_start() {
    let folder = nonsense();
    for (name, when, act) in [
        ("lane.toml", "lane = \"fone\", stream = \"event\", after_events = 1", "cut = \"between-frames\""),
        ("stream.toml", "stream = \"evnt\", after_events = 1", "cut = \"between-frames\""),
        ("type.toml", "stream = \"event\", after_event = \"mesage.updated\"", "cut = \"between-frames\""),
        ("kilo.toml", "stream = \"event\", after_event = \"session.turn.open\"", "cut = \"between-frames\""),
        (
            "nth.toml",
            "stream = \"event\", after_event = \"session.idle\", nth = 0",
            "cut = \"between-frames\"",
        ),
        (
            "connection.toml",
            "stream = \"event\", connection = 0, after_events = 1",
            "cut = \"between-frames\"",
        ),
        ("count.toml", "stream = \"event\", after_events = 99999999999", "cut = \"between-frames\""),
        ("bytes.toml", "stream = \"event\", after_events = 1", "cut = \"mid-frame\", bytes = -1"),
    ] {
        plan(folder.path(), name, when, act);
    }
    let agents = "[[acp]]\nwhen = { answer_to = \"initialize\" }\ndo = { linger = true }\n";
    fs::write(folder.path().join("agent.toml"), agents).unwrap();
    insta::assert_snapshot!(told(
        &[
            &["serve", "--lane", "phone", "--faults", "lane.toml"],
            &["serve", "--faults", "stream.toml"],
            &["serve", "--faults", "type.toml"],
            &["serve", "--faults", "kilo.toml", "--profile", "opencode"],
            &["serve", "--faults", "nth.toml"],
            &["serve", "--faults", "connection.toml"],
            &["serve", "--faults", "count.toml"],
            &["serve", "--faults", "bytes.toml"],
            &["serve", "--faults", "empty.toml"],
            &["serve", "--faults", "agent.toml"],
            &["serve", "--faults", "binary.toml"],
            &["serve", "--faults", "folder"],
            &["serve", "--faults", ""],
            &["serve", "--faults", "endless.toml"],
        ],
        folder.path()
    ));
}

#[test]
fn words_that_a_server_or_a_model_can_not_be_started_with() {
    let folder = nonsense();
    insta::assert_snapshot!(told(
        &[
            &["serve", "--lane", "a", "--lane", "a"],
            &["serve", "--lane", "main"],
            &["serve", "--lane", "a b"],
            &["serve", "--workspace", "nowhere"],
            &["serve", "--workspace", "scenario"],
            &["serve", "--seed", "x"],
            &["serve", "--seed", "-1"],
            &["serve", "--port", "70000"],
            &["serve", "--password", ""],
            &["serve", "--profile", "kiloo"],
            &["serve", "--scenario", ""],
            &["serve", "--scenario", "folder"],
            &["serve", "--scenario", "./folder"],
            &["serve", "--scenario", "scenario"],
            &["serve", "--scenario", "./scenario"],
            &["serve", "--scenario", "binary.toml"],
            &["serve", "--scenario", "none.toml"],
            &["serve", "--scenario", "write-allowed-once"],
            &["serve", "--scenario", "text/plian"],
            &["model", "--scenario", "text/plian"],
            &["model", "--scenario", "empty.toml"],
            &["model", "--scenario", "text/plain", "--port", "x"],
            &["model", "--scenario", "text/plain", "--workspace", ""],
        ],
        folder.path()
    ));
}

#[test]
fn words_and_files_that_can_not_be_judged() {
    let folder = nonsense();
    let recorded = |server: &str, name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        fs::read_to_string(root.join(format!("fixtures/recordings/{server}/{name}.jsonl"))).unwrap()
    };
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let kilo = recorded("kilo-7.7.7", "text/plain");
    write("kilo.jsonl", &kilo);
    write("torn.jsonl", &kilo[..kilo.len() - 9]);
    write("newer.jsonl", &kilo.replacen("\"format\":", "\"format\":9", 1));
    write("opencode.jsonl", &recorded("opencode-1.18.33", "text/plain"));
    insta::assert_snapshot!(told(
        &[
            &["judge", "kilo.jsonl"],
            &["judge", "torn.jsonl"],
            &["judge", "empty.jsonl"],
            &["judge", "binary.jsonl"],
            &["judge", "folder"],
            &["judge", "none.jsonl"],
            &["compare", "kilo.jsonl", "opencode.jsonl"],
            &["compare", "torn.jsonl", "none.jsonl"],
            &["check", "--case", "cut-in-mid-trun"],
            &["check", "--mutant", "resume_withot_refresh"],
            &["check", "--adapter", "./none"],
            &["check", "--adapter", " "],
            &["check", "--histories", "scenario"],
            &["check", "--histories", "scenario/below"],
            &["gate", "--phase", "9"],
            &["gate", "--phase", "x"],
            &["gate", "--out", "scenario"],
            &["gate", "--out", "scenario/below"],
            &["adapter", "--mutant", "resume_withot_refresh"],
        ],
        folder.path()
    ));
    let newer = told(&[&["judge", "newer.jsonl"]], folder.path());
    assert!(
        newer.contains("newer.jsonl:1: format 9") && newer.contains("update standin\n[exit code 2]"),
        "{newer}"
    );
}

#[test]
fn two_recordings_differ_with_their_names_and_their_neighbours() {
    let folder = nonsense();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join("fixtures/recordings/kilo-7.7.7/text/plain.jsonl")).unwrap();
    fs::write(folder.path().join("before.jsonl"), &text).unwrap();
    assert!(text.contains("What shall we do?"));
    fs::write(folder.path().join("after.jsonl"), text.replace("What shall we do?", "What shall we say?"))
        .unwrap();
    let output = standin(&["compare", "before.jsonl", "after.jsonl"], folder.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let sides: Vec<&str> = said
        .lines()
        .skip_while(|line| !line.contains("/response/body/parts/1/text"))
        .skip(1)
        .take(2)
        .collect();
    assert_eq!(
        sides,
        [
            "        before.jsonl: \"Hello, and welcome. What shall we do?\"",
            "        after.jsonl: \"Hello, and welcome. What shall we say?\"",
        ],
        "{said}"
    );
    let equal = standin(&["compare", "before.jsonl", "before.jsonl"], folder.path()).output().unwrap();
    assert_eq!((equal.status.code(), equal.stdout.as_slice()), (Some(0), b"equal\n".as_slice()));
}

#[test]
fn a_reader_who_leaves_changes_no_exit_code() {
    let folder = nonsense();
    let case = ["check", "--case", "turn/write-allowed-once", "--server", "kilo"];
    for (args, code) in [(&case[..], 0), (&["compare", "none", "none"], 2)] {
        let mut child =
            standin(args, folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_could_not_be_written_is_told() {
    let full = fs::File::create("/dev/full").unwrap();
    let folder = nonsense();
    let case = ["check", "--case", "turn/write-allowed-once", "--server", "kilo"];
    let output = standin(&case, folder.path()).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("failed to write to stdout"), "{said}");
}

#[test]
fn every_help_teaches() {
    let folder = nonsense();
    for command in [
        "serve", "as", "acp", "drift", "tell", "model", "record", "compare", "check", "sweep", "judge",
        "gate", "adapter", "kit", "cloud",
    ] {
        let output = standin(&[command, "--help"], folder.path()).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(help.contains("Exit codes: 0"), "{command}: {help}");
        assert!(help.contains("\n    standin "), "{command} shows no example: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 110), "{command}: {help}");
    }
}
