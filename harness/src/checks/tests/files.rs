//! What is attached, and what is changed.

use super::{answers, asks, eyes, found, request, response, shows, started, told};
use crate::protocol::{Attachment, ChangedFile, Diff, Update, View};
use fixtures::recording::{Body, Line, Request, Response};
use mock_server::standin::MAIN_LANE;
use serde_json::{Value, json};

fn image(name: &str) -> Value {
    json!({ "mime": "image/png", "name": name, "url": format!("data:image/png;base64,{name}") })
}

fn attachment(name: &str) -> Attachment {
    serde_json::from_value(image(name)).unwrap()
}

/// The part that carries an image.
fn carries(name: &str) -> Value {
    json!({ "type": "file", "mime": "image/png", "filename": name, "url": format!("data:image/png;base64,{name}") })
}

/// A part of the person's message on the server.
fn kept(id: &str, name: &str) -> Value {
    let mut part = carries(name);
    (part["id"], part["messageID"]) = (json!(id), json!("msg_1"));
    part
}

/// The harness reads this in the end.
fn reads(exchange: u64, path: &str, answer: Value) -> Vec<Line> {
    let asked = match request(exchange, 0, "GET", path, Value::Null) {
        Line::Request(asked) => Line::Request(Request { lane: Some(MAIN_LANE.to_owned()), ..asked }),
        other => other,
    };
    vec![asked, good(exchange, answer)]
}

fn good(exchange: u64, answer: Value) -> Line {
    match response(exchange, 0, 200, &[]) {
        Line::Response(head) => Line::Response(Response { body: Body::Json(answer), ..head }),
        other => other,
    }
}

fn prompts(attached: &[&str], parts: Value) -> Vec<Line> {
    let attached: Vec<Value> = attached.iter().map(|name| image(name)).collect();
    let params = match attached.is_empty() {
        true => json!({ "taskId": "t", "text": "look" }),
        false => json!({ "taskId": "t", "text": "look", "attachments": attached }),
    };
    let path = "/session/ses_1/prompt_async";
    vec![
        asks(2, "task/send", params),
        request(9, 0, "POST", path, json!({ "parts": parts })),
        answers(2, json!({})),
    ]
}

fn words() -> Value {
    json!({ "type": "text", "text": "look" })
}

#[test]
fn what_is_attached_goes_along_whole_in_order_and_with_nothing_else() {
    for (attached, parts, findings) in [
        (vec!["a", "b"], json!([words(), carries("a"), carries("b")]), 0),
        (vec!["a", "b"], json!([carries("a"), carries("b"), words()]), 0),
        (vec!["a", "b"], json!([words(), carries("b"), carries("a")]), 1),
        (vec!["a", "b"], json!([words(), carries("a")]), 1),
        (vec!["a"], json!([words(), { "type": "text", "text": "a" }]), 2),
        (vec!["a"], json!([carries("a")]), 1),
        (vec![], json!([words(), carries("a")]), 1),
        (vec![], json!([words()]), 0),
    ] {
        let lines = [started(), prompts(&attached, parts.clone())].concat();
        let found = found("attachments", &lines);
        assert_eq!(found.len(), findings, "{attached:?} {parts}: {found:?}");
    }
}

/// The server has these files in one message, and has told of them; then this is shown.
fn with_images(names: &[&str], shown: Vec<Update>) -> Vec<String> {
    let parts: Vec<Value> =
        names.iter().enumerate().map(|(at, name)| kept(&format!("prt_{at}"), name)).collect();
    let info = json!({ "id": "msg_1", "sessionID": "ses_1", "role": "user" });
    let mut lines = started();
    lines.push(request(1, 0, "GET", "/event", Value::Null));
    lines.push(eyes(2));
    let message = json!({ "type": "message.updated", "properties": { "sessionID": "ses_1", "info": info } });
    let told_of = parts.iter().map(
        |part| json!({ "type": "message.part.updated", "properties": { "sessionID": "ses_1", "part": part } }),
    );
    for event in std::iter::once(message).chain(told_of) {
        lines.push(told(1, &event));
        lines.push(told(2, &json!({ "directory": "/w", "payload": event })));
    }
    lines.extend(shown.into_iter().map(shows));
    lines.extend(reads(5, "/session/ses_1/message", json!([{ "info": info, "parts": parts }])));
    found("attachments", &lines)
}

fn beside(message: &str, names: &[&str]) -> Update {
    let attachments = names.iter().map(|name| attachment(name)).collect();
    Update::Attachments { task_id: "t".into(), message_id: message.into(), attachments }
}

fn anew(diff: Option<Diff>, names: &[&str]) -> Update {
    let files: Vec<Attachment> = names.iter().map(|name| attachment(name)).collect();
    let attachments = (!files.is_empty()).then(|| ("msg_1".to_owned(), files)).into_iter().collect();
    Update::Timeline { task_id: "t".into(), view: View { attachments, diff, ..View::default() } }
}

#[test]
fn each_message_shows_its_own_files_in_order_live_and_when_it_was_loaded() {
    let all = || beside("msg_1", &["a", "b"]);
    for (shown, findings) in [
        (vec![beside("msg_1", &["a"]), all()], 0),
        (vec![all(), anew(None, &["a", "b"])], 0),
        (vec![all(), anew(None, &[])], 1),
        (vec![beside("msg_1", &["a"])], 1),
        (vec![beside("msg_1", &["b", "a"]), all()], 1),
        (vec![beside("msg_1", &["c"]), all()], 1),
        (vec![all(), beside("msg_9", &["a"])], 2),
        (vec![], 1),
    ] {
        let found = with_images(&["a", "b"], shown.clone());
        assert_eq!(found.len(), findings, "{shown:?}: {found:?}");
    }
    assert_eq!(with_images(&[], vec![]), Vec::<String>::new());
}

fn file(name: &str, additions: u64, deletions: u64) -> Value {
    let patch = "@@ -1,2 +1,2 @@\n-gone\n+come\n stays\n+--- a line\n";
    json!({ "file": name, "additions": additions, "deletions": deletions, "status": "modified", "patch": patch })
}

fn files(list: &Value) -> Diff {
    Diff::Known(serde_json::from_value::<Vec<ChangedFile>>(list.clone()).unwrap())
}

/// The server has told of no changes, then of `list`; then this happens, and `list` is read in the end.
fn with_changes(list: &Value, happens: Vec<Line>) -> Vec<String> {
    let changed = |diff: &Value| json!({ "type": "session.diff", "properties": { "sessionID": "ses_1", "diff": diff } });
    let mut lines = started();
    lines.push(request(1, 0, "GET", "/event", Value::Null));
    lines.push(eyes(2));
    for event in [changed(&json!([])), changed(list)] {
        lines.push(told(1, &event));
        lines.push(told(2, &json!({ "directory": "/w", "payload": event })));
    }
    lines.extend(happens);
    lines.extend(reads(5, "/session/ses_1/diff", list.clone()));
    found("changes", &lines)
}

fn shown(diff: Diff) -> Line {
    shows(Update::Diff { task_id: "t".into(), diff })
}

#[test]
fn what_is_changed_is_shown_as_it_was_told_and_counted() {
    let list = json!([file("a.txt", 2, 1)]);
    let none = || Diff::Known(Vec::new());
    for (happens, findings) in [
        (vec![shown(none()), shown(files(&list))], 0),
        (vec![shown(none())], 1),
        (vec![], 1),
        // Told of by nobody, miscounted, and not what the server has.
        (vec![shown(files(&json!([file("a.txt", 1, 2)])))], 3),
        (vec![shown(files(&json!([file("b.txt", 2, 1)])))], 2),
        (vec![shown(files(&list)), shown(Diff::Unavailable)], 2),
    ] {
        let found = with_changes(&list, happens.clone());
        assert_eq!(found.len(), findings, "{happens:?}: {found:?}");
    }
    let odd = json!([file("a.txt", 7, 7)]);
    assert_eq!(with_changes(&odd, vec![shown(files(&odd))]), Vec::<String>::new(), "the server counts so");
    assert_eq!(with_changes(&json!([]), vec![]), Vec::<String>::new(), "nothing is no row");
}

#[test]
fn what_is_shown_after_a_reconnect_was_read_since_or_is_called_unavailable() {
    let list = json!([file("a.txt", 2, 1)]);
    let again = || request(6, 0, "GET", "/event", Value::Null);
    let asked = || request(7, 0, "GET", "/session/ses_1/diff", Value::Null);
    let failed = || response(7, 0, 500, &[]);
    let shows = |diff| shows(anew(Some(diff), &[]));
    for (happens, findings) in [
        (vec![again(), asked(), good(7, list.clone()), shows(files(&list))], 0),
        (vec![again(), asked(), failed(), shows(Diff::Unavailable)], 0),
        // Nothing is not what could not be read; nor is what was known before.
        (vec![again(), asked(), failed(), shows(Diff::Known(Vec::new()))], 2),
        (vec![again(), asked(), failed(), shows(files(&list))], 1),
        (vec![again(), asked(), good(7, list.clone()), shows(Diff::Unavailable)], 2),
        (vec![again(), shows(Diff::Known(Vec::new()))], 2),
    ] {
        let found = with_changes(&list, happens.clone());
        assert_eq!(found.len(), findings, "{happens:?}: {found:?}");
    }
}
