//! Goal: a verdict is the history's alone, and only what was examined is green. Method: cases of the matrix with the
//! reference; then the same history told otherwise, or a fault that has no occasion to strike.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use fixtures::fault_plan::Scene;
use fixtures::recording::{Line, Recording};
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::history;
use harness::judge::{Verdict, judge};
use harness::protocol::Update;
use harness::report::terminal;
use harness::subject::Subject;
use parity_specs::{Matrix, NamedCase};
use std::path::PathBuf;

async fn history_of(named: &NamedCase, server: ServerKind) -> Recording {
    let finished = run_cell(named, server, &Subject::Reference, &Limits::default()).await;
    assert_eq!(finished.cell.verdict, Verdict::Pass, "{}", terminal::failure(&finished.cell));
    finished.history.unwrap()
}

#[tokio::test]
async fn a_saved_history_is_judged_again_to_the_same_verdict_and_a_doctored_one_is_not() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "reconnect/cut-in-mid-turn").unwrap();
    let history = history_of(named, ServerKind::Kilo).await;
    let text = history.render().unwrap();
    let again = Recording::parse(&PathBuf::from("h.jsonl"), &text).unwrap();
    assert_eq!(judge(&again.lines), judge(&history.lines));
    // The same history, had the screen never said the last word.
    let doctored =
        Recording::parse(&PathBuf::from("h.jsonl"), &text.replace("\"text\":\"Done.\"", "\"text\":\"Do\""))
            .unwrap();
    let doctored = judge(&doctored.lines);
    assert_eq!(doctored.verdict, Verdict::Pass, "changed on both sides, it is consistent");
    let screen_only: Vec<_> = again
        .lines
        .iter()
        .filter(|line| !matches!(history::update_of(line), Some(Update::Timeline { .. })))
        .cloned()
        .collect();
    assert_eq!(judge(&screen_only).verdict, Verdict::Fail);
    // A history without the server's word can't be judged, and that is not a pass.
    assert_eq!(judge(&[]).verdict, Verdict::Untestable);
}

#[tokio::test]
async fn the_end_of_the_prompt_before_is_not_the_end_of_this_one() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "turn/two-prompts").unwrap();
    let lines = history_of(named, ServerKind::Kilo).await.lines;
    let is_end = |line: &Line| matches!(history::update_of(line), Some(Update::Terminal { .. }));
    let ends: Vec<usize> = (0..lines.len()).filter(|at| is_end(&lines[*at])).collect();
    let is_send = |line: &Line| serde_json::to_string(line).unwrap().contains("\"task/send\"");
    let second = lines.iter().rposition(is_send).unwrap();
    let [first_end, last_end] = ends[..] else { panic!("two ends: {ends:?}") };
    assert!(first_end < second && second < last_end);
    // The same history, had the first end been shown just after the second prompt, and the second never.
    let Line::Adapter(mut late) = lines[first_end].clone() else { panic!("an adapter tells it") };
    late.at_us = lines[second].at_us();
    let mut doctored = lines.clone();
    doctored.remove(last_end);
    doctored.insert(second + 1, Line::Adapter(late));
    doctored.remove(first_end);
    let judged = judge(&doctored);
    let failing = judged.checks.iter().find(|check| check.check == "termination").unwrap();
    assert!(failing.findings.iter().any(|problem| problem.contains("never learns the end")), "{judged:?}");
}

#[tokio::test]
async fn a_fault_that_never_fires_is_not_green() {
    let matrix = Matrix::embedded().unwrap();
    let mut named =
        matrix.cases.iter().find(|named| named.name == "reconnect/cut-in-mid-turn").unwrap().clone();
    let Scene::Stream { connection, .. } = &mut named.case.faults[0].when.scene else { panic!("a stream") };
    *connection = Some(9);
    let finished = run_cell(&named, ServerKind::Opencode, &Subject::Reference, &Limits::default()).await;
    assert_eq!(finished.cell.verdict, Verdict::Untestable);
    assert!(finished.cell.troubles[0].starts_with("fault 1 never fired"), "{:?}", finished.cell.troubles);
}

#[tokio::test]
async fn passwords_reach_no_history() {
    let matrix = Matrix::embedded().unwrap();
    let history = history_of(&matrix.cases[0], ServerKind::Kilo).await.render().unwrap();
    let connect = history.lines().find(|line| line.contains("\"method\":\"connect\"")).unwrap();
    assert!(connect.contains("\"password\":\"redacted-"), "{connect}");
    assert!(!history.contains("\"authorization\""));
}

#[tokio::test]
async fn what_is_asked_and_answered_at_once_need_not_be_shown() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "permission/answered-elsewhere").unwrap();
    let mut lines = history_of(named, ServerKind::Kilo).await.lines;
    let verdict =
        |lines: &[Line]| judge(lines).checks.iter().find(|check| check.check == "questions").unwrap().verdict;
    let is_of_a_dialog = |line: &Line| {
        matches!(
            history::update_of(line),
            Some(Update::PermissionRequest { .. } | Update::PermissionResolved { .. })
        )
    };
    lines.retain(|line| !is_of_a_dialog(line));
    assert_eq!(verdict(&lines), Verdict::Pass);
    // Who draws nothing at all shows nothing of it either.
    lines.retain(|line| history::update_of(line).is_none());
    assert_eq!(verdict(&lines), Verdict::Untestable);
}

#[tokio::test]
async fn what_was_said_is_said_again_when_going_back_is_taken_back() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "history/taken-back").unwrap();
    let lines = history_of(named, ServerKind::Kilo).await.lines;
    let is_back = |line: &Line| serde_json::to_string(line).unwrap().contains("\"task/unrevert\"");
    let back = lines.iter().position(is_back).unwrap();
    let is_word = |line: &Line| matches!(history::update_of(line), Some(Update::AssistantDelta { .. }));
    let words = lines[..back].iter().rposition(is_word).unwrap();
    let findings = |at: usize| {
        let mut told = lines.clone();
        let Line::Adapter(mut again) = lines[words].clone() else { panic!("an adapter tells it") };
        again.at_us = lines[at].at_us();
        told.insert(at, Line::Adapter(again));
        let judged = judge(&told);
        judged.checks.iter().find(|check| check.check == "termination").unwrap().findings.clone()
    };
    assert_eq!(findings(back + 1), Vec::<String>::new());
    assert!(findings(back).iter().any(|finding| finding.contains("speaks on")));
}
