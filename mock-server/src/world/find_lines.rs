//! `GET /find`: lines by their content, in the words of the program that searches for the real servers.

use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, Found, Ticket, World};
use regex::bytes::Regex;
use serde_json::{Value, json};

/// So many lines are told.
const FOUND: usize = 10;
/// So many places of a line are told.
const PLACES: usize = 100;
/// A longer line is cut.
const LINE: usize = 2000;

/// Somebody looks for lines.
#[derive(Debug)]
pub(super) struct FindLines {
    ticket: Ticket,
    pattern: String,
}

impl World {
    pub(super) fn find_lines(&mut self, request: &ApiRequest) {
        let pattern = request.query.iter().find(|(key, _)| key == "pattern");
        let pattern = pattern.map(|(_, pattern)| pattern.clone()).unwrap_or_default();
        // No program can be started with such a word.
        if pattern.contains('\0') {
            return self.unknown_error(request.ticket);
        }
        let folder = self.directory_of(request);
        let find = FindLines { ticket: request.ticket, pattern };
        self.ask_place(PlaceAsk::FindLines(find), PlaceWish::Contents(folder));
    }

    pub(super) fn lines_found(&mut self, find: &FindLines, found: &Found) {
        let files = if let Found::Tree(files) = found { files.as_slice() } else { &[] };
        match Regex::new(&find.pattern) {
            Ok(wanted) => self.reply_json(find.ticket, matches(&wanted, files)),
            Err(_) => self.unknown_error(find.ticket),
        }
    }
}

fn matches(wanted: &Regex, files: &[(String, Vec<u8>)]) -> Value {
    // What has a zero is no text.
    let texts = files.iter().filter(|(_, content)| !content.contains(&0));
    texts.flat_map(|(path, content)| in_file(wanted, path, content)).take(FOUND).collect()
}

fn in_file(wanted: &Regex, path: &str, content: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(content);
    let mut offset = 0;
    let mut told = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        // Nothing at all is found within a letter, too.
        let places = wanted.find_iter(line.trim_end_matches('\n').as_bytes()).take(PLACES);
        let places: Vec<Value> = places
            .map(|place| {
                let text = String::from_utf8_lossy(place.as_bytes());
                json!({"match": {"text": text}, "start": place.start(), "end": place.end()})
            })
            .collect();
        if !places.is_empty() {
            told.push(json!({
                "path": {"text": path},
                "lines": {"text": shortened(line)},
                "line_number": at + 1,
                "absolute_offset": offset,
                "submatches": places,
            }));
        }
        offset += line.len();
    }
    told
}

pub(super) fn shortened(line: &str) -> String {
    let units: Vec<u16> = line.encode_utf16().collect();
    match units.get(..LINE).filter(|_| units.len() > LINE) {
        Some(start) => String::from_utf16_lossy(start) + "...",
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_with_their_places_in_bytes() {
        let files = [("a.txt".to_owned(), "äb\nxbyb\n".into()), ("b.bin".to_owned(), b"b\0".to_vec())];
        let told = matches(&Regex::new("b").unwrap(), &files);
        assert_eq!(
            told,
            json!([
                {
                    "path": {"text": "a.txt"}, "lines": {"text": "äb\n"}, "line_number": 1, "absolute_offset": 0,
                    "submatches": [{"match": {"text": "b"}, "start": 2, "end": 3}],
                },
                {
                    "path": {"text": "a.txt"}, "lines": {"text": "xbyb\n"}, "line_number": 2, "absolute_offset": 4,
                    "submatches": [
                        {"match": {"text": "b"}, "start": 1, "end": 2}, {"match": {"text": "b"}, "start": 3, "end": 4},
                    ],
                },
            ])
        );
    }

    #[test]
    fn nothing_is_found_at_each_byte() {
        let files = [("a".to_owned(), "äb\n".into())];
        let found = matches(&Regex::new("").unwrap(), &files);
        let starts: Vec<_> =
            found[0]["submatches"].as_array().unwrap().iter().map(|place| &place["start"]).collect();
        assert_eq!(starts, [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_too_much_is_cut() {
        let many =
            [("a".to_owned(), "x\n".repeat(11).into_bytes()), ("b".to_owned(), "y".repeat(2001).into())];
        assert_eq!(matches(&Regex::new("x").unwrap(), &many).as_array().unwrap().len(), FOUND);
        let long = matches(&Regex::new("y").unwrap(), &many);
        assert_eq!(long[0]["lines"]["text"], "y".repeat(2000) + "...");
        assert_eq!(long[0]["submatches"].as_array().unwrap().len(), PLACES);
    }
}
