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
}
