//! Goal: a command that does right passes every case for commands, and each mistake of such clients is caught by the
//! check that is about it. Method: a small client as a program, good and with one mistake at a time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use harness::blackbox::{Command, run_cell};
use harness::clock::Limits;
use harness::judge::Verdict;
use harness::report::Cell;
use parity_specs::{Matrix, NamedCase};
use std::time::Duration;

/// The example `prompting_client`, which cargo builds with the tests.
fn client(mistake: &str) -> String {
    let own = std::env::current_exe().unwrap();
    let program = own.parent().unwrap().parent().unwrap().join("examples/prompting_client");
    format!("{} {{url}} {{user}} {{password}} {{prompt}} {mistake}", program.display())
}

fn case(name: &str) -> NamedCase {
    let cases = parity_specs::commands::cases().unwrap();
    cases.into_iter().find(|named| named.name == format!("command/{name}")).unwrap()
}

async fn judged(named: &NamedCase, server: ServerKind, command: &str) -> Cell {
    let command = Command::parse(command, Duration::from_secs(20)).unwrap();
    run_cell(named, server, &command, &Limits::default()).await.cell
}

/// The checks that fail, and why.
fn failing(cell: &Cell) -> Vec<(&'static str, String)> {
    let red = cell.checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
    red.map(|judged| (judged.check, judged.findings.join("; "))).collect()
}

#[tokio::test]
async fn a_command_that_does_right_passes_every_case() {
    for named in parity_specs::commands::cases().unwrap() {
        for server in ServerKind::ALL {
            let cell = judged(&named, server, &client("")).await;
            assert_eq!(
                cell.verdict,
                Verdict::Pass,
                "{} ({server}): {:?} {:?}",
                named.name,
                cell.troubles,
                failing(&cell)
            );
        }
    }
}

#[tokio::test]
async fn each_mistake_is_caught_by_its_check() {
    for (mistake, name, check, words) in [
        ("half", "stream-cut", "command.answer", "does not print the whole answer"),
        ("half", "stream-ends", "command.answer", "does not print the whole answer"),
        ("silent", "not-let-in", "command.answer", "there is no answer"),
        ("silent", "not-let-in", "command.effort", "it is not let in, and ends with exit code 0"),
        ("twice", "nothing-breaks", "command.prompt", "the server has the prompt 2 times"),
        ("storm", "stream-refused-again", "command.effort", "it asks for event streams 51 times in 5 s"),
        ("yes", "leave-asked", "command.leave", "it gives leave that nobody gave: once"),
    ] {
        let cell = judged(&case(name), ServerKind::Kilo, &client(mistake)).await;
        assert_eq!(cell.verdict, Verdict::Fail, "{mistake} in {name}");
        let found = failing(&cell).into_iter().find(|(failing, _)| *failing == check);
        let (_, why) = found.unwrap_or_else(|| panic!("{mistake} in {name}: {:?}", failing(&cell)));
        assert!(why.contains(words), "{mistake} in {name}: {why}");
    }
    let allowed = judged(&case("leave-asked"), ServerKind::Kilo, &client("yes --auto")).await;
    assert_eq!(allowed.verdict, Verdict::Pass, "it says that it gives leave: {:?}", failing(&allowed));
}

#[tokio::test]
async fn programs_that_are_no_clients_fail_and_what_hangs_is_ended() {
    let plain = case("nothing-breaks");
    let idle = judged(&plain, ServerKind::Kilo, "true {url} {prompt}").await;
    let checks: Vec<&str> = failing(&idle).iter().map(|(check, _)| *check).collect();
    assert_eq!((idle.verdict, checks), (Verdict::Fail, vec!["command.answer", "command.prompt"]));
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("hangs");
    std::fs::write(&script, "sleep 1000\n").unwrap();
    let hangs =
        Command::parse(&format!("sh {} {{url}} {{prompt}}", script.display()), Duration::from_millis(500))
            .unwrap();
    let cell = run_cell(&plain, ServerKind::Kilo, &hangs, &Limits::default()).await.cell;
    assert_eq!(failing(&cell)[0], ("command.ends", "it did not end within 0.5 s".to_owned()));
    let missing = judged(&plain, ServerKind::Kilo, "/nowhere/client {url} {prompt}").await;
    assert_eq!(missing.verdict, Verdict::HarnessError);
    assert!(
        missing.troubles[0].starts_with("failed to start the command /nowhere/client"),
        "{:?}",
        missing.troubles
    );
}

#[tokio::test]
async fn a_case_in_which_a_person_answers_is_none_for_a_command() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "turn/write-allowed-once").unwrap();
    let cell = judged(named, ServerKind::Kilo, "true {url} {prompt}").await;
    assert_eq!(cell.verdict, Verdict::NotApplicable);
    assert!(
        cell.troubles[0].starts_with("a command can only be prompted, and here the person"),
        "{:?}",
        cell.troubles
    );
}
