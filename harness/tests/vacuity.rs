//! Goal: a check whose facts are taken away is never green. Method: for each check a case that proves something by it,
//! and its history without what the adapter showed, counted and logged, without what it asked of the
//! server, or without what the harness saw of it and of the machine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use fixtures::recording::{Line, Speaker};
use harness::checks;
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::judge::{Judgement, Verdict, judge};
use harness::report::terminal;
use harness::subject::Subject;
use mock_server::standin::MAIN_LANE;
use parity_specs::{Matrix, NamedCase};
use std::collections::BTreeMap;

fn verdict(judgement: &Judgement, check: &str) -> Verdict {
    judgement.checks.iter().find(|judged| judged.check == check).unwrap().verdict
}

/// Without all that the adapter said by itself.
fn mute(lines: &[Line]) -> Vec<Line> {
    let is_notification = |line: &&Line| match line {
        Line::Adapter(said) => said.from == Speaker::Adapter && said.message.get("method").is_some(),
        _ => false,
    };
    lines.iter().filter(|line| !is_notification(line)).cloned().collect()
}

/// Without all that was asked of the server by the adapter, or by the harness's own eyes, and what came of it.
fn unasked(lines: &[Line], lane: &str) -> Vec<Line> {
    let of_adapter = |line: &Line| match line {
        Line::Request(request) if request.lane.as_deref() == Some(lane) => Some(request.exchange),
        _ => None,
    };
    let gone: Vec<u64> = lines.iter().filter_map(of_adapter).collect();
    let is_gone = |line: &&Line| match line {
        Line::Request(request) => gone.contains(&request.exchange),
        Line::Response(response) => gone.contains(&response.exchange),
        Line::Chunk(chunk) => gone.contains(&chunk.exchange),
        Line::End(end) => gone.contains(&end.exchange),
        _ => false,
    };
    lines.iter().filter(|line| !is_gone(line)).cloned().collect()
}

/// Without the adapter's answers to the harness, but for the first, which says what it can do.
fn unanswered(lines: &[Line]) -> Vec<Line> {
    let is_answer = |line: &&Line| match line {
        Line::Adapter(said) => {
            said.from == Speaker::Adapter
                && said.message.get("method").is_none()
                && said.message["result"].get("capabilities").is_none()
        }
        _ => false,
    };
    lines.iter().filter(|line| !is_answer(line)).cloned().collect()
}

/// Without what the harness itself saw of the machine.
fn unseen(lines: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| !matches!(line, Line::Note(_))).cloned().collect()
}

/// Check → a case that proves something by it.
fn witnesses(matrix: &Matrix) -> BTreeMap<String, &NamedCase> {
    let mut witnesses = BTreeMap::new();
    for named in &matrix.cases {
        let checks = named.case.proves.iter().filter_map(|id| matrix.requirements.get(id)?.check.clone());
        for check in checks {
            witnesses.entry(check).or_insert(named);
        }
    }
    witnesses
}

#[tokio::test]
async fn a_check_without_its_facts_is_not_green() {
    let matrix = Matrix::embedded().unwrap();
    let witnesses = witnesses(&matrix);
    for check in checks::all() {
        let named =
            witnesses.get(check.name).unwrap_or_else(|| panic!("nothing is proven by {}", check.name));
        let finished = run_cell(named, ServerKind::Opencode, &Subject::Reference, &Limits::default()).await;
        assert_eq!(finished.cell.verdict, Verdict::Pass, "{}", terminal::failure(&finished.cell));
        let lines = finished.history.unwrap().lines;
        assert_eq!(verdict(&judge(&lines), check.name), Verdict::Pass, "{} in {}", check.name, named.name);
        // What a check looks at is what the adapter says or what it asks for; some look at both.
        let without = [
            mute(&lines),
            unanswered(&lines),
            unasked(&lines, "adapter"),
            unasked(&lines, MAIN_LANE),
            unseen(&lines),
        ];
        let taken = without.map(|lines| verdict(&judge(&lines), check.name));
        assert!(
            taken.iter().any(|verdict| *verdict != Verdict::Pass),
            "{} is green without facts in {}: {taken:?}",
            check.name,
            named.name
        );
        assert_eq!(judge(&[]).verdict, Verdict::Untestable);
    }
}
