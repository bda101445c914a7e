//! Edits, going back and copies against scripted inputs, where answers and events cross each other.

use super::script::{Script, end_of_turn, half_a_turn, reconnect, server, terminals};
use super::strategy::Strategies;
use crate::protocol::features::PermissionAll;
use crate::protocol::{Outcome, Reply, Request, TaskEdit, TaskFork};
use serde_json::{Value, json};

/// A path in the folder of the tests.
fn at(path: &str) -> String {
    format!("{path}?directory=%2Fwork%20space")
}

fn a_turn() -> Script {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    end_of_turn(&mut script);
    assert_eq!(terminals(&script.updates()), [Outcome::Completed]);
    script
}

/// The session of task `a`, which has gone back to before its first prompt.
fn gone_back() -> Value {
    json!({ "id": "ses_a", "revert": { "messageID": "msg_1" } })
}

#[test]
fn nothing_is_shown_that_was_gone_back_from_until_that_is_taken_back() {
    let mut script = a_turn();
    script.event("session.updated", json!({ "sessionID": "ses_a", "info": gone_back() }));
    assert_eq!(script.texts("a"), Vec::<String>::new());
    script.event("session.updated", json!({ "sessionID": "ses_a", "info": { "id": "ses_a" } }));
    assert_eq!(script.texts("a"), ["Hello, "]);
}

#[test]
fn a_list_of_sessions_that_is_older_than_the_messages_hides_none_of_them() {
    let mut script = a_turn();
    script.event("session.updated", json!({ "sessionID": "ses_a", "info": gone_back() }));
    reconnect(&mut script);
    // Another prompt was sent between the two answers: what was gone back from is removed, and its turn is over.
    let mut messages = server::messages(&[server::text_part("prt_2", "Anew", true)], true);
    for (message, id) in [(0, "msg_3"), (1, "msg_4")] {
        messages[message]["info"]["id"] = json!(id);
        messages[message]["parts"][0]["messageID"] = json!(id);
    }
    script.reply(&at("GET /session/status"), 200, &json!({}));
    script.reply(&at("GET /session"), 200, &json!([gone_back()]));
    script.reply(&at("GET /session/ses_a/message"), 200, &messages);
    for path in [
        "/session/ses_b/message",
        "/session/ses_a/todo",
        "/session/ses_b/todo",
        "/session/ses_a/diff",
        "/session/ses_b/diff",
        "/permission",
        "/question",
    ] {
        script.reply(&at(&format!("GET {path}")), 200, &json!([]));
    }
    assert_eq!(script.texts("a"), ["Anew"]);
}

#[test]
fn a_copy_is_a_task_when_what_stands_in_it_is_shown() {
    let mut script = a_turn();
    let fork =
        TaskFork { task_id: "a".to_owned(), message_id: "msg_3".to_owned(), new_task_id: "c".to_owned() };
    let id = script.ask(Request::TaskFork(fork));
    script.reply(&at("POST /session/ses_a/fork"), 200, &json!({ "id": "ses_c" }));
    let copied = server::messages(&[server::text_part("prt_2", "Hello", true)], true);
    script.reply(&at("GET /session/status"), 200, &json!({}));
    for path in ["/permission", "/question", "/session", "/session/ses_a/message", "/session/ses_b/message"] {
        script.reply(&at(&format!("GET {path}")), 200, &json!([]));
    }
    for session in ["ses_a", "ses_b", "ses_c"] {
        script.reply(&at(&format!("GET /session/{session}/todo")), 200, &json!([]));
        script.reply(&at(&format!("GET /session/{session}/diff")), 200, &json!([]));
    }
    assert!(!script.is_answered(&id), "an old answer would be taken for the one to the next prompt");
    script.reply(&at("GET /session/ses_c/message"), 200, &copied);
    assert_eq!(script.answer(id), Ok(json!({ "sessionId": "ses_c" })));
    assert_eq!(script.texts("c"), ["Hello"]);
}

#[test]
fn an_edit_goes_back_when_the_agent_rests_and_not_before() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    let edit = TaskEdit { task_id: "a".to_owned(), message_id: "msg_1".to_owned(), text: "no".to_owned() };
    let id = script.ask(Request::TaskEdit(edit));
    script.reply(&at("POST /session/ses_a/abort"), 200, &json!(true));
    assert_eq!(script.waiting(), Vec::<&str>::new(), "the agent is still at work");
    end_of_turn(&mut script);
    script.reply(&at("POST /session/ses_a/revert"), 200, &gone_back());
    script.reply_raw(&at("POST /session/ses_a/prompt_async"), 400, "no");
    assert!(!script.is_answered(&id), "going back is taken back first");
    script.reply(&at("POST /session/ses_a/unrevert"), 200, &json!({ "id": "ses_a" }));
    assert!(script.answer(id).unwrap_err().message.contains("as it was"));
}

#[test]
fn all_is_allowed_though_somebody_else_has_answered_one() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    for id in ["per_1", "per_2"] {
        script.event("permission.asked", server::asked("ses_a", id));
    }
    let all = PermissionAll { task_id: "a".to_owned(), reply: Reply::Once };
    let id = script.ask(Request::PermissionAll(all));
    script.reply(&at("POST /permission/per_1/reply"), 404, &json!({}));
    script.reply(&at("POST /permission/per_2/reply"), 200, &json!(true));
    assert_eq!(script.answer(id), Ok(json!({})));
    assert_eq!(script.view("a").permissions, []);
}
