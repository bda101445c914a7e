//! Goal: the kit of clients of agents judges through the program as it is installed: a careful client passes, broken ones are
//! caught by what their cases are about, and who follows the design to the letter is expected to fail. Method: a few cases of
//! each kind; `standin gate` runs all.

use crate::STANDIN;
use std::process::{Command, Output};

fn kit(more: &[&str]) -> Output {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(STANDIN);
    command.args(["kit", "acp", "--out"]).arg(out.path()).args(more);
    command.output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_careful_client_holds_as_a_process() {
    let adapter = format!("{STANDIN} adapter --kit acp");
    let cases = [
        "plain/opened",
        "permission/free-ids",
        "cancel/mid-stream",
        "load/replay",
        "process/child",
        "text/trust",
    ];
    let cases: Vec<&str> = cases.iter().flat_map(|case| ["--case", case]).collect();
    let output = kit(&[["--adapter", &adapter].as_slice(), &cases].concat());
    assert!(output.status.success(), "{}", told(&output));
}

#[test]
fn broken_clients_are_caught_by_what_their_cases_are_about() {
    for (mutant, case, check) in [
        ("kind-as-option", "permission/free-ids", "permission: fail"),
        ("replay-as-new", "load/replay", "replay: fail"),
        ("kills-leader-alone", "process/child", "remains: fail"),
        ("utf8-by-chunk", "framing/every-byte", "text: fail"),
    ] {
        let output = kit(&["--mutant", mutant, "--case", case]);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(1), "{mutant}: {told}");
        assert!(told.contains(check), "{mutant}: {told}");
    }
}

#[test]
fn who_follows_the_design_to_the_letter_is_expected_to_fail() {
    let output = kit(&["--mutant", "to-the-letter", "--case", "turn/standard", "--case", "image/sent"]);
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    for hazard in ["expected failure (003/turn-end)", "expected failure (003/image)"] {
        assert!(told.contains(hazard), "{told}");
    }
}

/// Runs a client that is a command through cases.
fn command(toml: &str, cases: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("client.toml");
    std::fs::write(&file, toml).unwrap();
    let adapter = format!("{STANDIN} adapter --kit acp --commands {}", file.display());
    let cases = cases.iter().flat_map(|case| ["--case", case]);
    kit(&["--adapter", &adapter].into_iter().chain(cases).collect::<Vec<_>>())
}

#[test]
fn a_client_that_is_a_command_is_judged_by_what_it_prints_and_what_its_agent_read() {
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/standin/acp_client.sh");
    let toml = format!("prompt = \"sh {client} {{agent}} {{prompt}}\"");
    let cases =
        ["turn/standard", "turn/refused", "process/environment", "requests/first-words", "plain/opened"];
    let output = command(&toml, &cases);
    assert!(output.status.success(), "{}", told(&output));
    let output =
        command(&toml, &["turn/thoughts", "permission/free-ids", "sessions/foreign", "requests/version-99"]);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("does not declare acp.permission"), "nobody says how it gives leave: {told}");
    assert!(told.contains("isolation: fail"), "it shows what is said in any session: {told}");
    assert!(told.contains("the turn in a was to end as [\"error\"]"), "it reads no version: {told}");
    assert!(!told.contains("fail turn/thoughts"), "{told}");
}

#[test]
fn a_command_that_starts_no_agent_is_seen_through() {
    let output = command(
        "prompt = \"echo {agent} {prompt} >&2; echo 'Hello, and welcome. What shall we dö?'\"",
        &["turn/standard", "plain/opened"],
    );
    let told = told(&output);
    assert_eq!(output.status.code(), Some(3), "its text is right, and nothing else is seen: {told}");
    assert!(told.contains("untestable turn/standard"), "{told}");
}

#[test]
fn a_command_that_can_not_work_is_refused_with_the_mend() {
    for (toml, words) in [
        ("prompt = \"c {prompt}\"", "`prompt` says nowhere {agent}: where does it belong?"),
        ("prompt = \"c {agent} {prompt}\"\nallow = \"-y\"", "say all three, or none"),
        ("promt = \"c\"", "promt"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("client.toml");
        std::fs::write(&file, toml).unwrap();
        let output = Command::new(STANDIN)
            .args(["adapter", "--kit", "acp", "--commands"])
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
