//! What of the reference needs no agent: bytes as messages, a screen as text.

use super::Quirk;
use super::framing::{Lines, Said};
use super::screen::{Screen, Waits};
use serde_json::json;

fn messages(pieces: &[&[u8]]) -> Vec<Said> {
    let mut lines = Lines::new(Quirk::default());
    let mut all: Vec<Said> = pieces.iter().flat_map(|piece| lines.feed(piece).unwrap()).collect();
    all.extend(lines.end());
    all
}

#[test]
fn messages_are_found_however_they_come() {
    let one = json!({"jsonrpc": "2.0", "id": 1, "result": "é"});
    let line = format!("{one}\n");
    let said = Said::Message(one.clone());
    let by_byte: Vec<&[u8]> = line.as_bytes().chunks(1).collect();
    assert_eq!(messages(&by_byte), std::slice::from_ref(&said));
    assert_eq!(messages(&[format!("\u{feff}{one}\r\n").as_bytes()]), std::slice::from_ref(&said));
    assert_eq!(messages(&[format!("\u{1b}]0;agent\u{7}{one}\n").as_bytes()]), std::slice::from_ref(&said));
    assert_eq!(messages(&[format!("{one}{one}").as_bytes()]), [said.clone(), said.clone()]);
    assert_eq!(messages(&[b"INFO ready\n", line.as_bytes()]), [Said::Noise("INFO ready".to_owned()), said]);
    let mut lines = Lines::new(Quirk::default());
    assert!((0..40).any(|_| lines.feed(&vec![b' '; 1 << 20]).is_err()), "a line without an end is given up");
}

fn screen(pieces: &[&[u8]]) -> Screen {
    let mut screen = Screen::default();
    pieces.iter().for_each(|piece| screen.feed(piece, Quirk::default()));
    screen
}

#[test]
fn a_screen_is_text_and_a_prompt_stands_alone_on_its_last_line() {
    let shown = "\u{1b}]0;kiro\u{7}\u{1b}[?25lhéllo\u{1b}[0m\n\n\u{1b}[35m> \u{1b}[0m";
    let by_byte: Vec<&[u8]> = shown.as_bytes().chunks(1).collect();
    let mut by_byte = screen(&by_byte);
    assert_eq!(by_byte.waits(Quirk::default()), Some(Waits::ForWords));
    assert_eq!(by_byte.take("", Quirk::default()), "héllo");
    assert_eq!(screen(&[b"He said:\n> no prompt"]).waits(Quirk::default()), None);
    assert_eq!(screen(&[b"Allow? [y/n/t]:\n\n> "]).waits(Quirk::default()), Some(Waits::ForTrust));
    assert_eq!(screen(&[b"say hello\nHello.\n\nkiro> "]).take("say hello", Quirk::default()), "Hello.");
}
