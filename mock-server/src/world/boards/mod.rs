//! Boards: what the agents of one family of sessions leave for each other to read. Nobody is woken by it; that there is something
//! new is hinted at where a call ends. The board belongs to the main session; the family is what works under it in its folder.

mod door;
mod family;
mod hint;
mod post;
mod reading;

/// What is offered where there are boards, and nowhere else.
pub(super) const TOOLS: [&str; 2] = [READ, POST];

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) use family::Given;
pub(crate) use hint::Looked;
pub(super) use hint::hinted;
pub(super) use post::{POST, PostPlan};
pub(super) use reading::{READ, ReadPlan};

/// To whom a note goes that is for everybody.
const ALL: &str = "ALL";
/// What the main session is called on its board.
const MAIN: &str = "main";
/// So many bytes a note may have, with all that is told of it.
const NOTE_MAX: usize = 4096;
/// So many notes may stand there, and so many bytes of them.
const NOTES_MAX: usize = 1000;
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// What was written, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Board {
    notes: Vec<Note>,
    /// So many of them were taken off. They are known still, and read by nobody.
    cleared: usize,
    /// So many bytes stand there.
    bytes: usize,
}

/// What an agent has left.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    id: String,
    time_ms: u64,
    /// The session that wrote it.
    from: String,
    /// The session that it is for, or all.
    to: String,
    kind: String,
    body: String,
    reply_to: Option<String>,
}

impl Board {
    pub(super) fn is_new(&self) -> bool {
        self.notes.is_empty()
    }

    /// How often it was written on.
    fn revision(&self) -> usize {
        self.notes.len()
    }

    /// The number of a note, counted from one.
    fn number_of(&self, id: &str) -> Option<usize> {
        self.notes.iter().position(|note| note.id == id).map(|at| at + 1)
    }

    /// What can be read after the note of a number.
    fn after(&self, number: usize) -> &[Note] {
        self.notes.get(number.max(self.cleared)..).unwrap_or_default()
    }

    /// What can be read before it, the newest first.
    fn before(&self, number: Option<usize>) -> impl Iterator<Item = &Note> {
        let end = number.map_or(self.notes.len(), |number| number - 1);
        self.notes.get(self.cleared..end.max(self.cleared)).unwrap_or_default().iter().rev()
    }

    /// Writes a note; says why it can't.
    fn write(&mut self, note: Note, root: &str) -> Result<(), String> {
        let written = note.wire(root).to_string().len();
        if written > NOTE_MAX {
            return Err(format!("Formatted board message exceeds {NOTE_MAX} bytes"));
        }
        if self.after(0).len() >= NOTES_MAX {
            return Err("Board message limit reached".to_owned());
        }
        if self.bytes + written > BYTES_MAX {
            return Err("Board storage limit reached".to_owned());
        }
        self.bytes += written;
        self.notes.push(note);
        Ok(())
    }

    /// Takes off what stands there.
    fn clear(&mut self) {
        self.cleared = self.notes.len();
        self.bytes = 0;
    }
}

impl Note {
    /// As it is told on the board of a session.
    fn wire(&self, root: &str) -> Value {
        let mut told = json!({
            "id": self.id, "timestamp": self.time_ms, "from": called(&self.from, root), "to": called(&self.to, root),
            "type": self.kind, "body": self.body,
        });
        if let Some(reply_to) = &self.reply_to {
            told["reply_to"] = json!(reply_to);
        }
        told
    }
}

/// Do settings leave the agents their boards?
pub(super) fn are_there(settings: &Map<String, Value>) -> bool {
    settings.get("shared_agent_board").is_none_or(|setting| *setting != false)
}

/// What a session is called on a board.
fn called<'a>(session: &'a str, root: &str) -> &'a str {
    if session == root { MAIN } else { session }
}

/// As much of a text as fits into so many bytes.
fn excerpt(text: &str, max: usize) -> String {
    const CUT: &str = "[truncated]";
    if text.len() <= max {
        return text.to_owned();
    }
    format!("{}{CUT}", &text[..text.floor_char_boundary(max - CUT.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(body: &str) -> Note {
        Note {
            id: format!("board_{body}"),
            time_ms: 1,
            from: "ses_a".to_owned(),
            to: ALL.to_owned(),
            kind: "INFO".to_owned(),
            body: body.to_owned(),
            reply_to: None,
        }
    }

    #[test]
    fn what_was_taken_off_is_known_and_not_read() {
        let mut board = Board::default();
        for body in ["one", "two"] {
            board.write(note(body), "ses_a").unwrap();
        }
        board.clear();
        board.write(note("three"), "ses_a").unwrap();
        let read = |board: &Board, after| {
            board.after(after).iter().map(|note| note.body.clone()).collect::<Vec<_>>()
        };
        assert_eq!(read(&board, 0), ["three"]);
        assert_eq!(board.number_of("board_one"), Some(1));
        assert_eq!(read(&board, 1), ["three"]);
        assert_eq!(board.before(Some(3)).count(), 0);
        assert_eq!(board.before(Some(1)).count(), 0, "it was taken off, and so was all before it");
        assert_eq!(board.revision(), 3);
    }

    #[test]
    fn a_board_has_its_bounds() {
        let mut board = Board::default();
        assert!(board.write(note(&"x".repeat(NOTE_MAX)), "ses_a").unwrap_err().contains("4096 bytes"));
        for number in 0..NOTES_MAX {
            board.write(note(&number.to_string()), "ses_a").unwrap();
        }
        assert_eq!(board.write(note("more"), "ses_a").unwrap_err(), "Board message limit reached");
        board.clear();
        board.write(note("more"), "ses_a").unwrap();
    }

    #[test]
    fn a_label_is_cut_between_letters() {
        assert_eq!(excerpt("short", 20), "short");
        assert_eq!(excerpt(&"ä".repeat(20), 20), "ääää[truncated]");
    }
}
