//! Goal: what is read does not depend on where the pieces end, and what is no HTTP is said. Method: conversations of
//! all framings, fed whole, byte by byte and at random splits.

use super::*;
use proptest::prelude::*;

/// What is read, as text; bodies joined.
fn told(pieces: &[&[u8]], framing: impl Fn(&Head) -> Framing) -> Vec<String> {
    let mut messages = Messages::new();
    let mut told: Vec<String> = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        loop {
            match messages.next(&mut input) {
                Ok(None) => break,
                Ok(Some(Part::Head(head))) => {
                    messages.body_is(framing(&head));
                    told.push(format!("{:?}", (head.method(), head.target())));
                    told.push(String::new());
                }
                Ok(Some(Part::Data(data))) => {
                    told.last_mut().unwrap().push_str(std::str::from_utf8(data).unwrap());
                }
                Ok(Some(Part::End)) => told.push("end".to_owned()),
                Err(error) => {
                    told.push(error.to_string());
                    return told;
                }
            }
        }
    }
    told
}

const REQUESTS: &[u8] = b"\r\nGET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n\
    POST http://127.0.0.1:1/p HTTP/1.1\r\nCONTENT-LENGTH: 5\r\n\r\nhello\
    PUT /q HTTP/1.1\nTransfer-Encoding: gzip, chunked\n\n3;x=y\r\nabc\r\n0a \r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n\
    HEAD / HTTP/1.0\r\n\r\n";

fn requests() -> Vec<&'static str> {
    vec![
        r#"("GET", ("/a", "b=c"))"#,
        "",
        "end",
        r#"("POST", ("/p", ""))"#,
        "hello",
        "end",
        r#"("PUT", ("/q", ""))"#,
        "abc0123456789",
        "end",
        r#"("HEAD", ("/", ""))"#,
        "",
        "end",
    ]
}

#[test]
fn all_framings_are_read_whole_and_byte_by_byte() {
    assert_eq!(told(&[REQUESTS], Head::request_framing), requests());
    let bytes: Vec<&[u8]> = REQUESTS.chunks(1).collect();
    assert_eq!(told(&bytes, Head::request_framing), requests());
}

#[test]
fn a_response_is_framed_by_its_status_and_the_requests_method() {
    let head = |text: &str| Head::read(text.as_bytes()).unwrap();
    let with_length = head("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n");
    assert_eq!(with_length.status(), Ok(200));
    assert_eq!(with_length.response_framing(200, "GET"), Framing::Length(7));
    assert_eq!(with_length.response_framing(200, "HEAD"), Framing::Nothing);
    for status in [100, 101, 204, 304] {
        assert_eq!(with_length.response_framing(status, "GET"), Framing::Nothing);
    }
    assert_eq!(head("HTTP/1.1 200 OK\r\n\r\n").response_framing(200, "GET"), Framing::UntilClose);
    assert!(head("HTTP/1.1 what\r\n\r\n").status().is_err());
}

#[test]
fn what_is_no_http_is_said() {
    for (bytes, why) in [
        (&b"\x16\x03\x01\n\n"[..], "no head of HTTP/1"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no head of HTTP/1"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\n", "a chunk without a length"),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "a chunk whose length is no number"),
        (
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
            "a chunk that is longer than it says",
        ),
        (
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
            "a chunk whose length is no number",
        ),
    ] {
        assert_eq!(told(&[bytes], Head::request_framing).last().unwrap(), why);
    }
    let endless = vec![b'a'; LONGEST_HEAD + 1];
    assert_eq!(told(&[&endless], Head::request_framing), ["a head without an end"]);
}

proptest! {
    #[test]
    fn what_is_read_is_the_same_for_every_split(cuts in proptest::collection::vec(0..REQUESTS.len(), 0..12)) {
        let mut cuts = cuts;
        cuts.extend([0, REQUESTS.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|ends| &REQUESTS[ends[0]..ends[1]]).collect();
        prop_assert_eq!(told(&pieces, Head::request_framing), requests());
    }

    #[test]
    fn no_bytes_disturb_it(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut messages = Messages::new();
        let all = [b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", &bytes[..]].concat();
        let mut input = &all[..];
        while let Ok(Some(part)) = messages.next(&mut input) {
            if let Part::Head(head) = part {
                messages.body_is(head.request_framing());
            }
        }
    }
}
