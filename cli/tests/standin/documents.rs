//! Goal: what the documents say to type works as written. Method: every line for `standin` in their shell blocks is
//! run, one after the other in a folder of its own; what serves is asked until it answers, then ended. Where a
//! document has a server of the person's, a stand-in is.

use crate::STANDIN;
use fixtures::fault_plan::FaultPlan;
use mock_server::StandIn;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// How a line for `standin` begins.
const PREFIXES: [&str; 2] = ["cargo run --bin standin -- ", "target/debug/standin "];
/// The person's own server.
const SERVER: &str = "http://127.0.0.1:4096";
/// A line with this needs npm; `cargo xtask test --extra real` does the like of it.
const NEEDS_NPM: &str = "--npm-dir";

fn lines(document: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in document.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ => {
                let line = PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix));
                lines.extend(line.filter(|line| inside && !line.contains(NEEDS_NPM)));
            }
        }
    }
    lines
}

fn command(line: &str, server: &str, folder: &Path) -> Command {
    // A test's binary may stand elsewhere than a user's.
    let line = line.replace("target/debug/standin", STANDIN).replace(SERVER, server);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("exec '{STANDIN}' {line}")]).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn first_line(from: impl std::io::Read) -> String {
    let mut line = String::new();
    BufReader::new(from).read_line(&mut line).unwrap();
    line
}

/// Ends it as Ctrl-C does.
fn interrupt(mut child: Child) -> Option<i32> {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap().code()
}

async fn works(document: &str, least: usize) {
    let stand_in = StandIn::kilo().scenario("text/plain").lenient().start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lines = lines(document);
    assert!(lines.len() >= least, "{lines:?}");
    for line in lines {
        let mut command = command(line, &stand_in.url(), folder.path());
        if line.starts_with("serve") || line.starts_with("as ") || line.contains("--proxy") {
            let mut server = command.spawn().unwrap();
            let mut stdout = BufReader::new(server.stdout.take().unwrap()).lines();
            let is_warning = |line: &String| line.starts_with("Warning: ");
            let ready =
                stdout.find_map(|line| line.ok().filter(|line| !is_warning(line))).unwrap_or_default();
            let url = ready.trim_end().strip_prefix("kilo server listening on ");
            let url = url.unwrap_or_else(|| panic!("{line}: {ready}"));
            let health = reqwest::get(format!("{url}/global/health")).await.unwrap();
            assert_eq!(health.status(), 200, "{line}");
            assert_eq!(interrupt(server), Some(0), "{line}");
        } else if line.contains("--attach") {
            let mut listener = command.spawn().unwrap();
            let begun = first_line(listener.stderr.take().unwrap());
            assert!(begun.starts_with("recording "), "{line}: {begun}");
            assert_eq!(interrupt(listener), Some(0), "{line}");
        } else {
            let output = command.output().unwrap();
            // Of mutants the pages say that they show a failure; two releases differ.
            let breaks =
                ["--mutant", "--adapter resume_without_refresh"].iter().any(|word| line.contains(word));
            let expected = i32::from(breaks || line.starts_with("drift "));
            assert_eq!(output.status.code(), Some(expected), "{line}: {output:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_of_the_readme_works() {
    works(include_str!("../../../README.md"), 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_recording_works() {
    works(include_str!("../../../docs/recording.md"), 6).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_started_servers_works() {
    works(include_str!("../../../docs/spawned.md"), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_ci_works() {
    works(include_str!("../../../docs/ci.md"), 5).await;
}

#[test]
fn every_plan_of_a_bad_start_is_one() {
    let plans: Vec<&str> = include_str!("../../../docs/spawned.md")
        .split("```toml")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        let read = FaultPlan::parse(Path::new("docs/spawned.md"), plan).unwrap();
        assert_eq!(read.starts.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_drift_works() {
    works(include_str!("../../../docs/drift.md"), 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_sweeps_works() {
    works(include_str!("../../../docs/sweeps.md"), 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_paths_works() {
    works(include_str!("../../../docs/path-corpus.md"), 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_standin_line_about_corpora_works() {
    works(include_str!("../../../docs/corpora.md"), 5).await;
}

/// They are run by `cargo xtask test --extra python,node`.
#[test]
fn the_programs_that_the_pages_show_are_those_that_are_run() {
    let paths = include_str!("../../../docs/path-corpus.md");
    let corpora = include_str!("../../../docs/corpora.md");
    for (page, language, program) in [
        (paths, "python", include_str!("../../../clients/tests/paths.py")),
        (paths, "ts", include_str!("../../../clients/tests/paths.ts")),
        (corpora, "python", include_str!("../../../clients/tests/commands.py")),
        (corpora, "ts", include_str!("../../../clients/tests/errors.ts")),
    ] {
        assert!(page.contains(&format!("```{language}\n{program}```\n")), "{language}");
    }
}
