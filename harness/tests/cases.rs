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
use fixtures::recording::{Body, Line, Recording, Request, Response};
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::history;
use harness::judge::{Verdict, judge};
use harness::protocol::Update;
use harness::report::terminal;
use harness::subject::Subject;
use parity_specs::case::ADAPTER_LANE;
use parity_specs::{Matrix, NamedCase};
use serde_json::json;
use std::path::PathBuf;

fn findings(lines: &[Line], check: &str) -> Vec<String> {
    let judged = judge(lines);
    judged.checks.iter().find(|judged| judged.check == check).unwrap().findings.clone()
}

/// The adapter shows this, when it showed something else.
fn shown(at: &Line, update: &serde_json::Value) -> Line {
    let Line::Adapter(mut told) = at.clone() else { panic!("an adapter tells it") };
    told.message["params"]["update"] = update.clone();
    Line::Adapter(told)
}

/// Where the row of the first words is opened, and the same words as a whole.
fn first_words(lines: &[Line]) -> (usize, serde_json::Value) {
    let found = lines.iter().find_map(|line| match history::update_of(line) {
        Some(Update::AssistantDelta { task_id, part_id, message_id, delta }) if !delta.is_empty() => {
            let item = json!({ "partId": part_id, "messageId": message_id, "kind": "text", "text": delta });
            let view = json!({ "items": [item], "permissions": [], "status": "busy" });
            Some(json!({ "kind": "timeline", "taskId": task_id, "view": view }))
        }
        _ => None,
    });
    let is_row = |line: &Line| matches!(history::update_of(line), Some(Update::AssistantDelta { .. }));
    (lines.iter().position(is_row).unwrap(), found.unwrap())
}

/// What the adapter says from a place on comes so much later, and the server's streams last.
fn later(lines: &[Line], from: usize, by_us: u64) -> Vec<Line> {
    let mut lines = lines.to_vec();
    for (at, line) in lines.iter_mut().enumerate() {
        match line {
            Line::Adapter(said) if at >= from => said.at_us += by_us,
            Line::End(end) => end.at_us += 10 * by_us,
            _ => {}
        }
    }
    lines
}

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

#[tokio::test]
async fn first_words_that_a_timeline_shows_are_first_words() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "stream/first-words").unwrap();
    let lines = history_of(named, ServerKind::Kilo).await.lines;
    let (words, timeline) = first_words(&lines);
    let late = later(&lines, words, 5_000_000);
    let is_late = |finding: &String| finding.contains("first words");
    assert!(findings(&late, "signals").iter().any(is_late), "they were told to come at once");
    // They had been there in time, drawn as a whole.
    let mut drawn = late;
    drawn.insert(words, shown(&lines[words], &timeline));
    assert!(!findings(&drawn, "signals").iter().any(is_late));
}

#[tokio::test]
async fn words_that_were_read_are_as_quick_as_those_that_were_heard() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "stream/first-words").unwrap();
    let lines = history_of(named, ServerKind::Kilo).await.lines;
    let (words, timeline) = first_words(&lines);
    let late = later(&lines, words, 5_000_000);
    let is_late = |finding: &String| finding.contains("showed anything");
    assert!(findings(&late, "cadence").iter().any(is_late), "what is heard is shown 5 s later");
    // The task is read for another reason, and drawn with its first words in time.
    let session = lines.iter().find_map(|line| match line {
        Line::Request(asked) if asked.path.ends_with("/prompt_async") => {
            Some(asked.path.trim_end_matches("prompt_async").to_owned())
        }
        _ => None,
    });
    let at_us = lines[words].at_us();
    let (exchange, path, lane) = (9999, session.unwrap() + "message", Some(ADAPTER_LANE.to_owned()));
    let (method, query, headers) = ("GET".to_owned(), String::new(), Vec::new());
    let request = Request { at_us, exchange, lane, method, path, query, headers, body: Body::Empty };
    let response =
        Response { at_us, exchange, status: 200, headers: Vec::new(), body: Body::Json(json!([])) };
    let mut read = late;
    let drawn = shown(&lines[words], &timeline);
    read.splice(words..words, [Line::Request(request), Line::Response(response), drawn]);
    assert!(!findings(&read, "cadence").iter().any(is_late));
}

#[tokio::test]
async fn words_that_wait_for_retry_are_not_late() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "stream/first-words").unwrap();
    let lines = history_of(named, ServerKind::Kilo).await.lines;
    let (words, timeline) = first_words(&lines);
    let mut late = later(&lines, words, 5_000_000);
    let drawn = shown(&late[words], &timeline);
    late.insert(words, drawn);
    let is_late = |finding: &String| finding.contains("showed anything");
    assert!(findings(&late, "cadence").iter().any(is_late));
    let doubt = json!({ "kind": "error", "taskId": "task-1", "message": "Something is not understood.", "retry": true });
    late.insert(words, shown(&lines[words], &doubt));
    assert!(!findings(&late, "cadence").iter().any(is_late));
}

#[tokio::test]
async fn an_input_that_opens_while_it_is_looked_at_may_be_told_as_open() {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == "permission/closes-the-input").unwrap();
    let mut lines = history_of(named, ServerKind::Kilo).await.lines;
    let message = |line: &Line| match line {
        Line::Adapter(said) => said.message.clone(),
        _ => serde_json::Value::Null,
    };
    let is_over = |line: &Line| matches!(history::update_of(line), Some(Update::PermissionResolved { .. }));
    let over = lines.iter().position(is_over).unwrap();
    let look = lines[..over].iter().rposition(|line| message(line)["method"] == "ui/affordances").unwrap();
    let id = message(&lines[look])["id"].clone();
    let is_answer = |line: &Line| message(line)["id"] == id && message(line).get("result").is_some();
    let answer = lines.iter().position(is_answer).unwrap();
    let Line::Adapter(said) = &mut lines[answer] else { panic!("an adapter answers") };
    said.message["result"]["offers"] = json!(["input"]);
    assert!(findings(&lines, "input").iter().any(|finding| finding.contains("its input is open")));
    let gone = lines.remove(over);
    lines.insert(answer, gone);
    assert_eq!(findings(&lines, "input"), Vec::<String>::new());
}
