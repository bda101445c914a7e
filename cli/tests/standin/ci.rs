//! Goal: what a user copies into a CI works. Method: the shell recipe is run as it is; of the workflow every line that
//! calls `standin` is held against the program's own help, and its form against what it means to be.

use crate::STANDIN;
use std::path::Path;
use std::process::Command;

const RECIPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ci/gate.sh");
const WORKFLOW: &str = include_str!("../../../docs/ci/github-actions.yml");

#[test]
fn the_recipe_runs_the_gate_in_parts_and_puts_them_together() {
    let folder = tempfile::tempdir().unwrap();
    let run = |adapter: &str| {
        let mut command = Command::new("/bin/sh");
        command.args([RECIPE, adapter, "2", "out"]).current_dir(folder.path());
        command.env("STANDIN", STANDIN).env("PHASE", "0").env("GITHUB_STEP_SUMMARY", "summary.md");
        command.output().unwrap()
    };
    let passed = run(&format!("{STANDIN} adapter"));
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.starts_with("## Standin gate: PASS"), "{summary}");
    for file in ["report.json", "report.html", "report.md", "junit.xml", "part-2/report.json"] {
        assert!(folder.path().join("out").join(file).is_file(), "{file}");
    }
    let broken = run("/bin/cat");
    assert_eq!(broken.status.code(), Some(1), "{broken:?}");
    let told = String::from_utf8(broken.stderr).unwrap();
    assert!(told.contains("/bin/cat is no adapter"), "{told}");
    let missing = run("/no/such/adapter");
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
}

/// A folder's name is the user's, and so is a slip of the keyboard.
#[test]
fn the_recipe_takes_any_folder_and_tells_what_is_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let run = |parts: &str, out: &str| {
        let mut command = Command::new("/bin/sh");
        command.args([RECIPE, &format!("{STANDIN} adapter"), parts, out]).current_dir(folder.path());
        command.env("STANDIN", STANDIN).env("PHASE", "0").env_remove("GITHUB_STEP_SUMMARY");
        command.output().unwrap()
    };
    let passed = run("1", "not there/with a space");
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    assert!(folder.path().join("not there/with a space/report.json").is_file());
    for parts in ["0", "abc", "2x", "-1"] {
        let told = run(parts, "out");
        assert_eq!(told.status.code(), Some(2), "{parts}: {told:?}");
        let told = String::from_utf8(told.stderr).unwrap();
        assert!(told.contains(&format!("PARTS is '{parts}'; write a whole number from 1")), "{told}");
    }
}

/// Whoever tries the example of a help page is not refused.
#[test]
fn the_threshold_that_the_help_shows_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    std::fs::write(&report, harness::report::Report::of(Vec::new()).json().unwrap()).unwrap();
    let report = report.to_str().unwrap();
    for (command, more) in [(&["gate"][..], None), (&["report", "merge"], Some(report))] {
        let told = |words: &[&str]| {
            let mut tried = Command::new(STANDIN);
            let output = tried.args(command).args(more).args(words).current_dir(folder.path()).output();
            output.unwrap()
        };
        let help =
            String::from_utf8(Command::new(STANDIN).args(command).arg("--help").output().unwrap().stdout);
        let help = help.unwrap();
        let (_, example) = help.split_once("for a trigger of real use, as ").unwrap();
        let example = example.split_whitespace().next().unwrap().trim_end_matches('.');
        // Behind the thresholds comes the export, and there is none.
        for (threshold, refused) in
            [(example, "no-export.jsonl"), ("cross-talk=0", "trigger with a threshold")]
        {
            let tried = told(&["--threshold", threshold, "--signals", "no-export.jsonl"]);
            let why = String::from_utf8(tried.stderr).unwrap();
            assert!(why.contains(refused), "{command:?} {threshold}: {why}");
        }
    }
}

#[test]
fn the_workflow_calls_the_program_as_its_help_has_it() {
    let calls: Vec<&str> = WORKFLOW
        .lines()
        .filter_map(|line| {
            let at = line.find("/standin gate ").or(line.find("/standin report "))?;
            Some(&line[at + "/standin ".len()..])
        })
        .collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    for call in calls {
        let words: Vec<&str> = call.split_whitespace().collect();
        let command = if words[0] == "report" { &words[..2] } else { &words[..1] };
        let help = Command::new(STANDIN).args(command).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "{flag} is none of `standin {}`", command.join(" "));
        }
    }
}

/// The workflow's parts, as the job that puts them together names them, are those that run.
#[test]
fn the_workflow_merges_the_parts_that_it_runs() {
    let documents = yaml_rust2::YamlLoader::load_from_str(WORKFLOW).unwrap();
    let jobs = &documents[0]["jobs"];
    let parts = jobs["part"]["strategy"]["matrix"]["part"].as_vec().unwrap().len();
    assert!(WORKFLOW.contains(&format!("--partition ${{{{ matrix.part }}}}/{parts} ")));
    for part in 1..=parts {
        assert!(WORKFLOW.contains(&format!("part-{part}/report.json")), "{part}");
    }
    assert!(!WORKFLOW.contains(&format!("part-{}/report.json", parts + 1)));
    assert_eq!(jobs["whole"]["needs"].as_str(), Some("part"));
    assert!(Path::new(RECIPE).is_file());
    assert_eq!(documents[0]["permissions"]["contents"].as_str(), Some("read"), "it writes nothing");
}
