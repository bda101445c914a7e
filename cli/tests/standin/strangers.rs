//! Goal: whatever a program does that is given as an adapter, it is over soon, with a verdict that says what happened,
//! and nothing of it is left. Method: small programs of the system, and the reference adapter in a shell that
//! spoils it.

use crate::STANDIN;
use fixtures::ServerKind;
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::handshake::{NoAdapter, greet};
use harness::judge::Verdict;
use harness::report::Cell;
use harness::subject::Subject;
use parity_specs::Matrix;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn program(words: &[&str]) -> Subject {
    let args = words[1..].iter().map(|word| (*word).to_owned()).collect();
    Subject::Program { program: PathBuf::from(words[0]), args }
}

/// A shell script in which `$0` is the binary.
fn script(text: &str) -> Subject {
    program(&["/bin/sh", "-c", text, STANDIN])
}

fn short() -> Limits {
    let ms = Duration::from_millis;
    Limits { end: ms(500), ..Limits::default() }
}

async fn judged(subject: &Subject) -> Cell {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "turn/write-allowed-once").unwrap();
    run_cell(named, ServerKind::Opencode, subject, &short()).await.cell
}

#[tokio::test]
async fn who_does_not_speak_the_protocol_is_told_so_at_the_first_words() {
    for (words, expected) in [
        (&["yes"][..], "babble: the adapter wrote what is no message before it answered anything"),
        (&["cat"], "an adapter asks nothing, but this one does: {\"jsonrpc\":\"2.0\",\"id\":1,"),
        (&["true"], "the adapter ended before it answered initialize"),
        (
            &["false"],
            "the adapter ended before it answered initialize\nthe adapter ended with exit status: 1",
        ),
        (&["echo", "Welcome!"], "Welcome!"),
        (&["sh", "-c", "kill -9 $$"], "the adapter ended with signal: 9"),
        (&["head", "-c", "5000000", "/dev/zero"], "a line of more than 4194304 bytes"),
    ] {
        match greet(&program(words), &Limits::default()).await {
            Err(NoAdapter::DoesNotSpeak(why)) => assert!(why.contains(expected), "{words:?}: {why}"),
            other => panic!("{words:?}: {other:?}"),
        }
    }
    let brief = Duration::from_millis(200);
    let silent = Limits { start: brief, answer: brief, ..short() };
    for words in [&["sleep", "1000"][..], &["sh", "-c", "trap '' TERM; sleep 1000"]] {
        let why = greet(&program(words), &silent).await.unwrap_err().to_string();
        assert!(why.contains("initialize was not answered within 0.2 s"), "{why}");
        assert!(why.contains("did not end by itself, and was killed"), "{why}");
    }
    let missing = greet(&program(&["/nowhere/adapter"]), &Limits::default()).await.unwrap_err();
    assert!(matches!(&missing, NoAdapter::CannotStart(why) if why.contains("/nowhere/adapter")), "{missing}");
    assert_eq!(greet(&program(&[STANDIN, "adapter"]), &Limits::default()).await, Ok(()));
}

#[test]
fn no_case_is_run_with_a_program_that_is_no_adapter() {
    for (adapter, code, expected) in [
        ("yes", 1, "fail: yes is no adapter; no case was run"),
        ("true", 1, "fail: true is no adapter; no case was run\n    the adapter ended before it answered"),
        ("ls /nowhere-at-all", 1, "    its last words on stderr:\n      ls: "),
        ("/nowhere/adapter", 2, "there is no program /nowhere/adapter"),
    ] {
        let output = Command::new(STANDIN).args(["check", "--adapter", adapter]).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn a_kit_has_its_first_words_with_an_adapter_once_and_not_in_every_case() {
    let program = |text: &str| {
        let args = ["-c", text, STANDIN].map(str::to_owned).to_vec();
        kits::gate::Subject::Program { program: "sh".into(), args }
    };
    let kit = kits::find("guards").unwrap();
    let brief = Duration::from_millis(200);
    let silent = Limits { start: brief, answer: brief, ..short() };
    let why = kits::handshake::greet(kit, &program("sleep 1000"), &silent).await.unwrap_err().to_string();
    assert!(why.contains("initialize was not answered within 0.2 s"), "{why}");
    assert!(why.contains("did not end by itself, and was killed"), "{why}");
    for (text, expected) in [
        ("\"$0\" adapter --kit cloud", "in the kit guards there is no capability 'cloud."),
        ("\"$0\" adapter --kit guards; exit 7", "the adapter ended with exit status: 7"),
        ("echo Welcome!", "Welcome!"),
        ("echo no such module >&2; exit 1", "its last words on stderr:\n  no such module"),
    ] {
        let why = kits::handshake::greet(kit, &program(text), &Limits::default()).await.unwrap_err();
        assert!(why.to_string().contains(expected), "{text}: {why}");
    }
    let good = program("exec \"$0\" adapter --kit guards");
    assert_eq!(kits::handshake::greet(kit, &good, &Limits::default()).await, Ok(()));

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let asked = ["kit", "acp", "--adapter", "true", "--out"];
    let output = Command::new(STANDIN).args(asked).arg(&out).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("fail: true is no adapter of the kit acp; no case was run"), "{told}");
}

#[tokio::test]
async fn an_adapter_that_goes_wrong_in_mid_case_fails_it() {
    // The first lines of the adapter, each as it comes.
    let begins = "\"$0\" adapter | { i=0; while [ $i -lt 8 ] && IFS= read -r line; do printf '%s\\n' \"$line\"; i=$((i+1)); done";
    let babbles = format!("{begins}; exec yes; }}");
    let leaves = format!("{begins}; }}");
    for (text, expected) in [
        (babbles.as_str(), "babble: the adapter wrote more than 20 lines"),
        (&leaves, "the adapter ended"),
        ("\"$0\" adapter; sleep 1000", "the adapter did not end by itself, and was killed"),
        ("trap '' TERM; \"$0\" adapter; while :; do sleep 1000; done", "and was killed"),
        ("\"$0\" adapter; exit 7", "the adapter ended with exit status: 7"),
    ] {
        let cell = judged(&script(text)).await;
        assert_eq!(cell.verdict, Verdict::Fail, "{text}");
        let troubles = cell.troubles.join("\n");
        assert!(troubles.contains(expected), "{text}: {troubles}");
    }
}

#[tokio::test]
async fn a_loud_stderr_harms_nobody_and_children_do_not_survive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("child");
    let text = format!(
        "yes this is loud >&2 & sleep 1000 & echo $! > {}; exec \"$0\" adapter",
        file.to_str().unwrap()
    );
    let cell = judged(&script(&text)).await;
    assert_eq!(cell.verdict, Verdict::Pass, "{:?}", cell.troubles);
    let child = std::fs::read_to_string(&file).unwrap();
    let stat = format!("/proc/{}/stat", child.trim());
    // It was sent its end already; that it takes a moment is the system's.
    let is_gone = || std::fs::read_to_string(Path::new(&stat)).map_or(true, |stat| stat.contains(") Z"));
    assert!((0..1_000_000).any(|_| is_gone()), "{} still runs", child.trim());
}

#[tokio::test]
async fn a_password_in_a_log_line_is_found() {
    let speaks = r#"printf '{"jsonrpc":"2.0","method":"log","params":{"level":"debug","text":"in with %s"}}\n' "$p" >&3"#;
    let text = format!(
        r#"exec 3>&1; while IFS= read -r line; do case $line in *'"connect"'*) p=${{line#*'"password":"'}}; p=${{p%%'"'*}}; {speaks};; esac; printf '%s\n' "$line"; done | "$0" adapter"#
    );
    let cell = judged(&script(&text)).await;
    let logs = cell.checks.iter().find(|judged| judged.check == "logs").unwrap();
    let found = logs.findings.iter().any(|finding| finding.starts_with("a server's password stands in "));
    assert!(found, "{:?} {:?}", logs.findings, cell.troubles);
}
