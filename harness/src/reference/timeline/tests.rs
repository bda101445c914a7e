//! In which order rows stand, and when they are shown.

use super::super::strategy::Careful;
use super::*;

fn message(id: &str) -> Message {
    let (completed, parent, last, is_cut, failure) = (false, None, true, false, None);
    Message { id: id.to_owned(), assistant: true, completed, parent, last, is_cut, failure }
}

fn text(id: &str, message: &str) -> Part {
    let body = Body::Text { kind: ItemKind::Text, text: String::new(), ended: false };
    Part { id: id.to_owned(), message_id: message.to_owned(), body }
}

#[test]
fn a_part_that_comes_before_its_message_is_shown_with_it() {
    let mut timeline = Timeline::new("t");
    assert_eq!(
        timeline.part(text("prt_1", "msg_1"), &Careful),
        Change::None,
        "whose it is, is not known yet"
    );
    assert_eq!(timeline.delta("msg_1".to_owned(), "prt_1", "Hi", &Careful), Change::None);
    assert_eq!(timeline.items(), []);
    assert_eq!(timeline.message(message("msg_1")), Change::Redraw);
    assert_eq!(timeline.items()[0].text.as_deref(), Some("Hi"));
    assert_eq!(timeline.message(message("msg_1")), Change::None);
}

#[test]
fn a_late_part_of_an_older_message_goes_beside_its_siblings() {
    let mut timeline = Timeline::new("t");
    timeline.message(message("msg_1"));
    timeline.message(message("msg_2"));
    for (part, of) in [("prt_1", "msg_1"), ("prt_3", "msg_2")] {
        assert!(matches!(timeline.part(text(part, of), &Careful), Change::Update(_)));
    }
    assert_eq!(
        timeline.part(text("prt_2", "msg_1"), &Careful),
        Change::Redraw,
        "no update can put it in the middle"
    );
    let order: Vec<String> = timeline.items().into_iter().map(|item| item.part_id).collect();
    assert_eq!(order, ["prt_1", "prt_2", "prt_3"]);
}
