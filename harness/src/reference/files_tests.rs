//! What is attached and what is changed, against scripted inputs.

use super::script::{Script, end_of_turn, half_a_turn, reconnect, server};
use super::strategy::Strategies;
use crate::protocol::{Attachment, ChangedFile, Diff, Request, TaskEdit, TaskSend, Update};
use serde_json::{Value, json};

/// A path in the folder of the tests.
fn at(path: &str) -> String {
    format!("{path}?directory=%2Fwork%20space")
}

fn image(name: &str) -> Attachment {
    let url = format!("data:image/png;base64,{name}");
    Attachment { mime: "image/png".to_owned(), name: Some(name.to_owned()), url }
}

fn part(id: &str, message: &str, name: &str) -> Value {
    let url = format!("data:image/png;base64,{name}");
    json!({ "id": id, "messageID": message, "type": "file", "mime": "image/png", "filename": name, "url": url })
}

fn told(part: &Value) -> Value {
    json!({ "sessionID": "ses_a", "part": part })
}

fn images(script: &Script, message: &str) -> Vec<String> {
    let files = script.view("a").attachments.remove(message).unwrap_or_default();
    files.into_iter().filter_map(|file| file.name).collect()
}

#[test]
fn images_stand_beside_their_message_in_the_order_of_their_parts() {
    let mut script = Script::with_two_tasks(Strategies::default());
    // Before anybody has said whose the message is.
    script.event("message.part.updated", told(&part("prt_2", "msg_1", "b")));
    assert_eq!(script.updates(), []);
    script.event("message.updated", server::message("ses_a", "msg_1", "user"));
    assert_eq!(images(&script, "msg_1"), ["b"]);
    script.event("message.part.updated", told(&part("prt_1", "msg_1", "a")));
    assert_eq!(images(&script, "msg_1"), ["a", "b"]);
    script.updates();
    script.event("message.part.updated", told(&part("prt_1", "msg_1", "a")));
    assert_eq!(script.updates(), [], "that is no news");
    script.event("message.part.removed", json!({ "sessionID": "ses_a", "partID": "prt_1" }));
    assert_eq!(images(&script, "msg_1"), ["b"]);
    let gone = json!({ "id": "ses_a", "revert": { "messageID": "msg_1" } });
    script.event("session.updated", json!({ "sessionID": "ses_a", "info": gone }));
    assert_eq!(images(&script, "msg_1"), [""; 0]);
    script.event("session.updated", json!({ "sessionID": "ses_a", "info": { "id": "ses_a" } }));
    assert_eq!(images(&script, "msg_1"), ["b"]);
    script.event("message.removed", json!({ "sessionID": "ses_a", "messageID": "msg_1" }));
    assert_eq!(images(&script, "msg_1"), [""; 0]);
    script.event("message.updated", server::message("ses_a", "msg_2", "assistant"));
    script.event("message.part.updated", told(&part("prt_3", "msg_2", "c")));
    assert_eq!(images(&script, "msg_2"), [""; 0], "it is the agent's");
}

#[test]
fn images_are_sent_shown_again_after_a_gap_and_kept_by_an_edit() {
    let mut script = Script::with_two_tasks(Strategies::default());
    let (task_id, text) = ("a".to_owned(), String::new());
    script.ask(Request::TaskSend(TaskSend { task_id, text, attachments: vec![image("a"), image("b")] }));
    let sent = |name: &str| json!({ "type": "file", "mime": "image/png", "filename": name, "url": format!("data:image/png;base64,{name}") });
    assert_eq!(script.body(&at("POST /session/ses_a/prompt_async"))["parts"], json!([sent("a"), sent("b")]));
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    end_of_turn(&mut script);
    reconnect(&mut script);
    let mut messages = server::messages(&[server::text_part("prt_2", "Hello, ", true)], true);
    messages[0]["parts"] = json!([part("prt_01", "msg_1", "a"), part("prt_02", "msg_1", "b")]);
    script.refreshed(&messages, &json!({}), &json!([]));
    assert_eq!(images(&script, "msg_1"), ["a", "b"]);
    let edit = TaskEdit { task_id: "a".to_owned(), message_id: "msg_1".to_owned(), text: "no".to_owned() };
    script.ask(Request::TaskEdit(edit));
    script.reply(&at("POST /session/ses_a/revert"), 200, &json!({}));
    let words = json!({ "type": "text", "text": "no" });
    assert_eq!(
        script.body(&at("POST /session/ses_a/prompt_async"))["parts"],
        json!([words, sent("a"), sent("b")])
    );
}

fn changed(additions: u64) -> Value {
    json!([{ "file": "a.txt", "additions": additions, "deletions": 0, "status": "added", "patch": "" }])
}

fn known(list: &Value) -> Option<Diff> {
    Some(Diff::Known(serde_json::from_value::<Vec<ChangedFile>>(list.clone()).unwrap()))
}

#[test]
fn changes_that_can_not_be_read_are_unavailable_until_they_are_told_again_and_nothing_else_is_missing() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    assert_eq!(script.view("a").diff, None);
    script.event("session.diff", json!({ "sessionID": "ses_a", "diff": changed(1) }));
    assert_eq!((script.view("a").diff, script.view("b").diff), (known(&changed(1)), None));
    for (answer, expected) in [
        ((200, changed(2)), known(&changed(2))),
        ((500, json!({})), Some(Diff::Unavailable)),
        ((200, json!([{ "file": "a.txt" }])), Some(Diff::Unavailable)),
        ((200, json!([])), known(&json!([]))),
    ] {
        reconnect(&mut script);
        script.updates();
        script.reply(&at("GET /session/status"), 200, &json!({}));
        script.reply(&at("GET /session/ses_a/diff"), answer.0, &answer.1);
        let messages = server::messages(&[server::text_part("prt_2", "Hello, ", true)], true);
        script.reply(&at("GET /session/ses_a/message"), 200, &messages);
        for path in
            ["/session/ses_b/message", "/session/ses_a/todo", "/session/ses_b/todo", "/session/ses_b/diff"]
        {
            script.reply(&at(&format!("GET {path}")), 200, &json!([]));
        }
        for path in ["/permission", "/question", "/session"] {
            script.reply(&at(&format!("GET {path}")), 200, &json!([]));
        }
        assert_eq!(script.view("a").diff, expected);
        assert_eq!(script.texts("a"), ["Hello, "]);
        assert!(!script.updates().iter().any(|update| matches!(update, Update::Error { .. })));
    }
    script.event("session.diff", json!({ "sessionID": "ses_a", "diff": changed(3) }));
    assert_eq!(script.view("a").diff, known(&changed(3)));
}
