//! Goal: what is on disk at any moment reads, holds all that is whole, and no secret however it is split.

use super::*;
use crate::testing::header;
use fixtures::recording::{Chunk, End, HowEnded, Recording};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const SECRET: &str = "correct-horse-battery";

fn frame(kind: &str, properties: &Value) -> String {
    format!("data: {}\n\n", json!({ "type": kind, "properties": properties }))
}

fn delta(text: &str) -> String {
    frame("message.part.delta", &json!({ "sessionID": "s", "partID": "p", "delta": text }))
}

fn chunks(texts: &[&str]) -> Vec<Line> {
    let chunk = |(at, text): (usize, &&str)| Line::Chunk(Chunk::new(at as u64 + 1, 1, text.as_bytes()));
    texts.iter().enumerate().map(chunk).collect()
}

/// What stands on disk after each line, and in the end.
fn written(lines: &[Line]) -> (Vec<usize>, Recording) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let mut secrets = Secrets::default();
    secrets.add(SECRET);
    let mut page = Page::begin(&path, &header(), secrets).unwrap();
    let partial = page.writer.partial().to_owned();
    let mut counts = Vec::new();
    for line in lines {
        page.take(line.clone()).unwrap();
        counts.push(Recording::read(&partial).unwrap().lines.len());
    }
    page.let_go().unwrap();
    let text = fs::read_to_string(&partial).unwrap();
    assert!(!text.contains(SECRET));
    (counts, Recording::read(&partial).unwrap())
}

#[test]
fn lines_go_when_their_frame_is_whole() {
    let (counts, all) = written(&chunks(&["data: {}\n\n", "data: ", "{}\n", "\n"]));
    assert_eq!(counts, [1, 1, 1, 4]);
    assert_eq!(all.lines, chunks(&["data: {}\n\n", "data: ", "{}\n", "\n"]));
}

#[test]
fn deltas_go_when_their_part_is_whole_or_can_not_be_any_more() {
    let whole = frame("message.part.updated", &json!({ "sessionID": "s", "part": { "id": "p" } }));
    let other = frame("message.part.updated", &json!({ "sessionID": "s", "part": { "id": "q" } }));
    let idle = frame("session.idle", &json!({ "sessionID": "s" }));
    for last in [whole, idle] {
        let lines = chunks(&[&delta("a"), &other, &delta("b"), &last, &other]);
        assert_eq!(written(&lines).0, [0, 0, 0, 4, 5]);
    }
    let mut lines = chunks(&[&delta("a"), "data: {"]);
    lines.push(Line::End(End { at_us: 9, exchange: 1, how: HowEnded::Broken }));
    assert_eq!(written(&lines).0, [0, 0, 3]);
}

#[test]
fn a_secret_is_replaced_whole_split_over_chunks_and_split_over_deltas() {
    let (first, second) = SECRET.split_at(7);
    let in_frame = format!("data: {{\"text\":\"{SECRET}\"}}\n\n");
    let end = frame("message.part.updated", &json!({ "part": { "id": "p" } }));
    for secret in [
        chunks(&[&in_frame]),
        chunks(&[&in_frame[..18], &in_frame[18..]]),
        chunks(&[&delta(first), &delta(second), &end]),
    ] {
        let all = written(&secret).1;
        assert_eq!(all.lines.len(), secret.len());
        for (line, before) in all.lines.iter().zip(&secret) {
            let (Line::Chunk(line), Line::Chunk(before)) = (line, before) else { panic!("{line:?}") };
            assert_eq!(line.bytes().len(), before.bytes().len(), "each chunk is as long as it was");
        }
        let text: Vec<u8> = all.lines.iter().flat_map(|line| serde_json::to_vec(line).unwrap()).collect();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("red") && !text.contains(first) && !text.contains(second), "{text}");
    }
}

#[test]
fn what_only_the_scan_finds_is_left_out() {
    // Nothing replaces it backwards.
    let backwards: String = SECRET.chars().rev().collect();
    let in_frame = format!("data: {{\"text\":\"{backwards}\"}}\n\n");
    let mut lines = chunks(&["data: 1\n\n", &in_frame, "data: 2\n\n"]);
    let all = written(&lines).1;
    let Line::Note(note) = &all.lines[1] else { panic!("{:?}", all.lines) };
    assert!(note.text.starts_with("left out while recording: a secret of this run"), "{}", note.text);
    lines[1] = all.lines[1].clone();
    assert_eq!(all.lines, lines);
    let split = chunks(&[&in_frame[..18], &in_frame[18..]]);
    let all = written(&split).1;
    assert!(matches!(&all.lines[..], [Line::Note(_)]), "{:?}", all.lines);
}

#[test]
fn the_thread_takes_down_what_was_said_before_it_began_and_the_file_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/x.jsonl");
    let (dictation, dictated) = dictation();
    let lines = chunks(&["data: 1\n\n", "data: 2"]);
    dictation.hear(&Arc::new(lines[0].clone()));
    let scribe = Scribe::begin(&path, &header(), Secrets::default(), (dictation.clone(), dictated)).unwrap();
    dictation.hear(&Arc::new(lines[1].clone()));
    let partial = scribe.partial().to_owned();
    scribe.end().unwrap();
    dictation.hear(&Arc::new(lines[1].clone()));
    assert_eq!(Recording::read(&partial).unwrap().lines, lines);
    assert_eq!(fs::metadata(&partial).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!path.exists() && partial.ends_with("deep/x.jsonl.partial"));
}

#[test]
fn a_place_that_can_not_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = folder.path().join("file/x.jsonl");
    let error = Scribe::begin(&path, &header(), Secrets::default(), dictation()).unwrap_err().to_string();
    assert!(error.contains("x.jsonl: failed to create it: "), "{error}");
}
