//! Was every text on the screen the beginning of a text that the server had?
//!
//! What the server had of a part is told by its events on the harness's own lane and by every answer to a read of
//! messages: each full text, and each sum of deltas. A text with a hole, or with another one's words, is the
//! beginning of none of them, however well the screen looks in the end. Where a delta was lost within one stream nobody
//! can know of the hole: there the sum of what that stream has told, from the part's own beginning on, is the server's
//! word, too.

use super::{Check, Examined};
use crate::course::Course;
use crate::history;
use crate::protocol::Screen;
use fixtures::recording::Line;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "prefix",
    about: "At every moment each text on the screen, and what a call has said, is the beginning of what the server had of \
            it.",
    needs: &[],
    has_occasion: |course| {
        course.has_answer(|part| part["text"].as_str().is_some_and(|text| !text.is_empty()))
    },
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let lines = course.lines;
    let mut had = BTreeMap::new();
    texts_of(course.events.iter().map(|sent| &sent.event), false, &mut had);
    for stream in course.streams() {
        texts_of(stream.events.iter().map(|sent| &sent.event), true, &mut had);
    }
    read_texts(lines, &mut had);
    let mut screen = Screen::default();
    // Each text is looked at once, and each part is told of once.
    let mut seen = Texts::new();
    let mut told = BTreeSet::new();
    let mut examined = Examined::default();
    for (_, update) in course.shown() {
        screen.apply(update);
        for item in screen.tasks.values().flat_map(|view| &view.items) {
            // A row has words of its own, or what a call has said.
            let text = item.text.as_deref().or(item.output.as_deref());
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            if seen.get(&item.part_id).is_some_and(|texts| texts.contains(text)) {
                continue;
            }
            note(&mut seen, item.part_id.clone(), text.to_owned());
            examined.facts += 1;
            let texts = had.get(&item.part_id);
            let is_beginning = texts.is_some_and(|texts| texts.iter().any(|full| full.starts_with(text)));
            if !is_beginning && told.insert(item.part_id.clone()) {
                let full = texts.and_then(|texts| texts.iter().max_by_key(|full| full.len()));
                examined.findings.push(match full {
                    Some(full) => format!("the screen shows {text:?}, and the server had {full:?}"),
                    None => format!("the screen shows {text:?}, and the server had no such text"),
                });
            }
        }
    }
    examined
}

/// Part → every text that the server had of it.
type Texts = BTreeMap<String, BTreeSet<String>>;

/// Every text that events tell of; perhaps only of parts that they tell from their beginning on. One of which more was told
/// before its beginning is none of these: whoever has heard that more has to remember it.
fn texts_of<'a>(events: impl IntoIterator<Item = &'a Value>, begun_only: bool, texts: &mut Texts) {
    let mut now: BTreeMap<String, String> = BTreeMap::new();
    let mut headless = BTreeSet::new();
    // What comes behind the end of a text was said before it, and is no part of it twice.
    let mut ended = BTreeSet::new();
    // Word for word the same event, id and all, is told twice and has happened once.
    let mut told: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in events {
        if let Some(id) = event["id"].as_str() {
            let alike = told.entry(id).or_default();
            if alike.contains(&event) {
                continue;
            }
            alike.push(event);
        }
        let properties = &event["properties"];
        match event["type"].as_str() {
            Some("message.part.updated") => {
                if let Some((part, text)) = text_of(&properties["part"]) {
                    match properties["part"]["time"]["end"].is_null() {
                        true => ended.remove(&part),
                        false => ended.insert(part.clone()),
                    };
                    now.insert(part.clone(), text.clone());
                    note(texts, part, text);
                }
                note_outputs(&properties["part"], texts);
            }
            Some("message.part.delta") => {
                let (part, delta) = (properties["partID"].as_str(), properties["delta"].as_str());
                if let (Some(part), Some(delta), "text") =
                    (part, delta, properties["field"].as_str().unwrap_or_default())
                {
                    if ended.contains(part) {
                        continue;
                    }
                    if begun_only && (!now.contains_key(part) || headless.contains(part)) {
                        headless.insert(part.to_owned());
                        continue;
                    }
                    let text = now.entry(part.to_owned()).or_default();
                    text.push_str(delta);
                    note(texts, part.to_owned(), text.clone());
                }
            }
            _ => {}
        }
    }
}

/// Every text that was read.
fn read_texts(lines: &[Line], texts: &mut Texts) {
    for messages in history::reads(lines, |path| path.ends_with("/message")) {
        let parts = messages
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|message| message["parts"].as_array().cloned().unwrap_or_default());
        for part in parts {
            if let Some((part, text)) = text_of(&part) {
                note(texts, part, text);
            }
            note_outputs(&part, texts);
        }
    }
}

/// What a call has said: while it runs, in the end, or why it failed.
fn note_outputs(part: &Value, texts: &mut Texts) {
    let (state, Some(id)) = (&part["state"], part["id"].as_str()) else { return };
    let outputs = [&state["output"], &state["error"], &state["metadata"]["output"]];
    for output in outputs.into_iter().filter_map(Value::as_str) {
        note(texts, id.to_owned(), output.to_owned());
    }
}

/// What the server says of its own progress is no text of the agent, and is taken away again.
fn text_of(part: &Value) -> Option<(String, String)> {
    if part["metadata"]["kilocode.lifecycle"] == "transient" {
        return None;
    }
    Some((part["id"].as_str()?.to_owned(), part["text"].as_str()?.to_owned()))
}

fn note(texts: &mut Texts, part: String, text: String) {
    if !text.is_empty() {
        texts.entry(part).or_default().insert(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::rpc::notification_line;
    use crate::protocol::{Notification, Update};
    use fixtures::recording::{AdapterLine, Body, Request, Response, Speaker};
    use mock_server::standin::MAIN_LANE;
    use serde_json::json;

    /// What is found when the server says that a part is "one two three", and these deltas of it are shown.
    fn found(part: &str, deltas: &[&str]) -> (usize, Vec<String>) {
        let (at_us, exchange) = (0, 1);
        let read = Request {
            at_us,
            exchange,
            lane: Some(MAIN_LANE.to_owned()),
            method: "GET".to_owned(),
            path: "/session/ses_1/message".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Body::Empty,
        };
        let messages = json!([{"parts": [{"id": "prt_1", "text": "one two three"}]}]);
        let body = Body::Json(messages);
        let said = Response { at_us, exchange, status: 200, headers: Vec::new(), body };
        let shows = |delta: &&str| {
            let update = Update::AssistantDelta {
                task_id: "t".into(),
                message_id: "msg_1".into(),
                part_id: part.into(),
                delta: (*delta).into(),
            };
            let message = serde_json::from_str(&notification_line(&Notification::Update(update))).unwrap();
            Line::Adapter(AdapterLine { at_us, from: Speaker::Adapter, message })
        };
        let mut lines = vec![Line::Request(read), Line::Response(said)];
        lines.extend(deltas.iter().map(shows));
        let Examined { facts, findings, .. } = examine(&Course::of(&lines));
        (facts, findings)
    }

    #[test]
    fn a_text_is_shown_from_its_beginning_or_it_is_told_once() {
        assert_eq!(found("prt_1", &["", "one", " two three"]), (2, vec![]));
        let late = "the screen shows \"two\", and the server had \"one two three\"".to_owned();
        assert_eq!(found("prt_1", &["two", " three"]), (2, vec![late]));
        let longer = "the screen shows \"one two three!\", and the server had \"one two three\"".to_owned();
        assert_eq!(found("prt_1", &["one two three!"]), (1, vec![longer]));
        let foreign = "the screen shows \"one\", and the server had no such text".to_owned();
        assert_eq!(found("prt_2", &["one"]), (1, vec![foreign]));
    }
}
