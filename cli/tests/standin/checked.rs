//! Goal: what `standin check` says is the same in every format, and a baseline excuses what it lists and nothing else.
//! Method: the reference and a mutant, which fails in a known way, with few cases.

use crate::STANDIN;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const CUT: &str = "stream/events-of-somebody-else";
const PLAIN: &str = "turn/write-allowed-once";
const MUTANT: [&str; 2] = ["--mutant", "all_to_first_task"];

fn check(args: &[&str]) -> Output {
    Command::new(STANDIN)
        .args(["check", "--server", "kilo", "--case", CUT, "--case", PLAIN])
        .args(args)
        .output()
        .unwrap()
}

fn of_mutant(args: &[&str]) -> (Option<i32>, String) {
    let output = check(&[&MUTANT[..], args].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_cases_are_listed_one_a_line_with_the_server_and_a_part_of_them() {
    let list = |args: &[&str]| {
        let output = Command::new(STANDIN).args(["check", "--list"]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = list(&[]);
    assert!(all.contains(&format!("{CUT} kilo")) && all.contains(&format!("{CUT} opencode")), "{all:?}");
    let halves = [list(&["--partition", "1/2"]), list(&["--partition", "2/2"])];
    assert!(halves.iter().all(|half| !half.is_empty()));
    let mut both = halves.concat();
    both.sort();
    let mut sorted = all;
    sorted.sort();
    assert_eq!(both, sorted);
    let wrong = Command::new(STANDIN).args(["check", "--partition", "3/2"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn every_format_says_the_same() {
    let (code, json) = of_mutant(&["--format", "json"]);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["verdict"], "fail");
    assert_eq!(report["counts"], serde_json::json!({"fail": 1, "pass": 1}));
    let row = &report["rows"][0];
    assert_eq!((row["case"].as_str(), row["verdict"].as_str()), (Some(CUT), Some("fail")));
    let failing = |check: &&Value| check["verdict"] == "fail";
    let checks: Vec<&Value> = row["checks"].as_array().unwrap().iter().filter(failing).collect();
    assert!(checks.iter().any(|check| check["check"] == "convergence"), "{checks:?}");

    let (code, junit) = of_mutant(&["--format", "junit"]);
    assert_eq!(code, Some(1));
    assert!(junit.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{junit}");
    assert!(
        junit.contains("<testcase classname=\"stream\" name=\"events-of-somebody-else (kilo)\">"),
        "{junit}"
    );
    assert!(junit.contains("<testcase classname=\"turn\" name=\"write-allowed-once (kilo)\"/>"), "{junit}");
    assert!(!junit.contains("Wrote file successfully.\","), "quotes are escaped: {junit}");

    let (code, markdown) = of_mutant(&["--format", "markdown"]);
    assert_eq!(code, Some(1));
    assert!(markdown.starts_with("**1 of 2 pass with all_to_first_task**"), "{markdown}");
    assert!(markdown.contains(&format!("| {CUT} | kilo | ✗ fail | ")), "{markdown}");
    assert!(markdown.contains(&format!("| {PLAIN} | kilo | ✓ pass |  |")), "{markdown}");

    let (code, text) = of_mutant(&[]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains(&format!("✗ fail {CUT} (kilo)\n"))
            && text.contains(&format!("✓ pass {PLAIN} (kilo)\n")),
        "{text}"
    );
    assert!(text.ends_with("1 of 2 pass with all_to_first_task\n"), "{text}");
}

fn with_baseline(folder: &Path, entry: &str, args: &[&str]) -> Output {
    let file = folder.join("known.toml");
    std::fs::write(&file, format!("[[expected]]\n{entry}\n")).unwrap();
    check(&[&["--baseline", file.to_str().unwrap()], args].concat())
}

#[test]
fn a_baseline_excuses_what_it_lists_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let told = |entry: &str, args: &[&str]| {
        let output = with_baseline(folder.path(), entry, args);
        let all = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(all).unwrap())
    };
    let known = format!("case = \"{CUT}\"\nverdict = \"fail\"\nreason = \"It takes all for its own.\"");
    let (code, text) = told(&known, &MUTANT);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&format!("○ expected-failure {CUT} (kilo)\n")), "{text}");
    assert!(text.contains("    expected: It takes all for its own.\n"), "{text}");
    assert!(text.ends_with("1 of 2 pass, 1 fail as expected with all_to_first_task\n"), "{text}");
    let (code, junit) = told(&known, &[&MUTANT[..], &["--format", "junit"]].concat());
    assert_eq!(code, Some(0), "{junit}");
    assert!(junit.contains("<skipped message=\"expected-failure: It takes all for its own.\"/>"), "{junit}");

    // The reference has not that mistake.
    let (code, text) = told(&known, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("known.toml:2: stream/events-of-somebody-else (kilo) passes: delete the entry"),
        "{text}"
    );
    // What is not listed is red.
    let other = format!("case = \"{CUT}\"\ncheck = \"prefix\"\nverdict = \"fail\"\nreason = \"r\"");
    let (code, text) = told(&other, &MUTANT);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("prefix of stream/events-of-somebody-else (kilo) passes"), "{text}");
    let (code, text) =
        told("case = \"stream/events-of-sombody-else\"\nverdict = \"fail\"\nreason = \"r\"", &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("known.toml:2: there is no case 'stream/events-of-sombody-else'; did you mean"),
        "{text}"
    );
}

#[test]
fn a_server_that_an_adapter_leaves_behind_is_seen_before_it_is_ended_with_it() {
    for (mutant, code) in [("", Some(0)), (" --mutant leaves_servers", Some(1))] {
        let adapter = format!("{STANDIN} adapter{mutant}");
        let case = ["check", "--server", "kilo", "--case", "lifecycle/wrapper", "--adapter", &adapter];
        let output = Command::new(STANDIN).args(case).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), code, "{said}");
        let left = said.contains("the client has ended, and of the processes that it has started");
        assert_eq!(left, code == Some(1), "{said}");
    }
}
