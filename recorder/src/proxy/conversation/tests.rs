//! Goal: what is on the tape does not depend on where the pieces end, and an exchange is told as it was, however it is
//! cut short. Method: conversations as lists of words of both sides, whole and split.

use super::*;
use crate::clock;
use crate::ledger::Room;
use crate::tape::Tape;
use proptest::prelude::*;

/// The words of both sides in turn, the client first, cut at these places; then the end.
fn heard(words: &[&[u8]], cuts: &[usize], how: HowEnded) -> Vec<Line> {
    let tape = Tape::new();
    let mut ledger = Ledger::new(tape.clone(), Room::default());
    let mut conversation = Conversation::new(1);
    for (at, words) in words.iter().enumerate() {
        let side = if at % 2 == 0 { Side::Client } else { Side::Server };
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (words.len() + 1)).collect();
        ends.extend([0, words.len()]);
        ends.sort_unstable();
        for piece in ends.windows(2) {
            conversation.hear(side, clock::now(), &words[piece[0]..piece[1]], &mut ledger);
        }
    }
    conversation.end(clock::now(), how, &mut ledger);
    tape.lines()
}

/// Without their times; the chunks of a stream as one text.
fn told(lines: &[Line]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut is_stream = false;
    for line in lines {
        let text = match line {
            Line::Request(it) => {
                format!("{} {}?{} {:?} {:?}", it.method, it.path, it.query, it.headers, it.body)
            }
            Line::Response(it) => format!("{} {:?} {:?}", it.status, it.headers, it.body),
            Line::Chunk(it) => String::from_utf8(it.bytes()).unwrap(),
            Line::End(it) => format!("{:?}", it.how),
            other => format!("{other:?}"),
        };
        let continues = is_stream && matches!(line, Line::Chunk(_));
        is_stream = matches!(line, Line::Chunk(_));
        match told.last_mut().filter(|_| continues) {
            Some(last) => last.push_str(&text),
            None => told.push(text),
        }
    }
    told
}

const WORDS: [&[u8]; 4] = [
    b"PATCH /session/x?directory=%2Fw HTTP/1.1\r\nHost: a\r\nAccept: b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Own: 1\r\nContent-Type: text/plain\r\ncontent-length: 4\r\n\r\nfine",
    b"GET /event HTTP/1.1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n",
];

fn whole() -> Vec<&'static str> {
    vec![
        r#"PATCH /session/x?directory=%2Fw [("accept", "b"), ("transfer-encoding", "chunked")] Json(Object {"a": Number(1)})"#,
        r#"200 [("content-type", "text/plain")] Text("fine")"#,
        "GET /event? [] Empty",
        r#"200 [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")] Empty"#,
        "data: 1\n\ndata: 2\n\n",
        "Reset",
    ]
}

#[test]
fn an_exchange_is_told_with_what_may_be_kept_of_it() {
    assert_eq!(told(&heard(&WORDS, &[], HowEnded::Reset)), whole());
}

#[test]
fn an_answer_may_come_before_its_request_is_whole() {
    let lines = heard(
        &[
            b"POST /a HTTP/1.1\r\ncontent-length: 9\r\n\r\n123",
            b"HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n",
            b"456789",
        ],
        &[],
        HowEnded::Cut,
    );
    assert_eq!(told(&lines), [r#"POST /a? [] Json(Number(123))"#, "413 [] Empty"]);
}

#[test]
fn what_was_asked_and_not_answered_or_not_wholly_ended_as_the_connection_did() {
    let lines = heard(
        &[
            b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nPOST /c HTTP/1.1\r\ncontent-length: 3\r\n\r\n1",
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        ],
        &[],
        HowEnded::Broken,
    );
    let request = |line: &str| format!("{line}? [] Empty");
    assert_eq!(
        told(&lines),
        [
            request("GET /a"),
            request("GET /b"),
            r#"200 [] Text("half")"#.to_owned(),
            "Broken".to_owned(),
            "Broken".to_owned(),
            "POST /c? [] Json(Number(1))".to_owned(),
            "Broken".to_owned()
        ]
    );
}

#[test]
fn an_answer_that_nobody_asked_for_is_said() {
    let lines = heard(&[b"", b"HTTP/1.1 408 Late\r\n\r\n"], &[], HowEnded::Cut);
    let [Line::Note(note)] = &lines[..] else { panic!("{lines:?}") };
    assert!(note.text.contains("the server sent an answer that nobody asked for"), "{}", note.text);
}

proptest! {
    #[test]
    fn what_is_told_is_the_same_for_every_split(cuts in proptest::collection::vec(0..400_usize, 0..12)) {
        prop_assert_eq!(told(&heard(&WORDS, &cuts, HowEnded::Reset)), whole());
    }
}
