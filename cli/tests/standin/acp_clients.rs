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
