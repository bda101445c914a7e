//! The core against scripted inputs: no socket, no clock.

use super::io::Input;
use super::script::{Script, asked, end_of_turn, half_a_turn, reconnect, server, terminals, timelines};
use super::strategy::Strategies;
use crate::protocol::request::Settings;
use crate::protocol::{AutoApprove, ConnectionState, Outcome, Request, Update};
use serde_json::{Value, json};

#[test]
fn a_plain_turn_is_shown_delta_by_delta() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.event("message.part.delta", server::delta("ses_a", "prt_2", "wor"));
    // The last words come only with the full text.
    script.event("message.part.updated", server::text("ses_a", "prt_2", "Hello, world", true));
    end_of_turn(&mut script);
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
    let updates: Vec<Value> = script.updates().iter().map(|update| json!(update)).collect();
    insta::assert_snapshot!(lines(&updates));
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn what_waits_for_its_turn_is_shown_before_the_stream_is_said_to_be_lost() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    let _before = script.updates();
    script.step_ms = 0;
    for delta in ["wor", "ld"] {
        script.event("message.part.delta", server::delta("ses_a", "prt_2", delta));
    }
    script.cut();
    let updates = script.updates();
    let lost = updates
        .iter()
        .position(|update| *update == Update::Connection { state: ConnectionState::Disconnected })
        .unwrap();
    let words = |updates: &[Update]| -> String {
        let delta = |update: &Update| match update {
            Update::AssistantDelta { delta, .. } => Some(delta.clone()),
            _ => None,
        };
        updates.iter().filter_map(delta).collect()
    };
    assert_eq!(words(&updates[..lost]), "world");
    assert_eq!(words(&updates[lost..]), "");
}

#[test]
fn a_rule_gives_leave_inside_the_workspace_and_the_person_is_asked_about_the_rest() {
    let mut script = Script::with_two_tasks(Strategies::default());
    let rule = AutoApprove { kinds: vec!["edit".to_owned()], delay_ms: 0 };
    let _answer = script.ask(Request::Settings(Settings { auto_approve: Some(rule), ..Settings::default() }));
    let mut asks = |id: &str, path: &str| {
        let mut properties = server::asked("ses_a", id);
        properties["permission"] = json!("edit");
        properties["patterns"] = json!([path]);
        script.event("permission.asked", properties);
        let is_sent = script.waiting().iter().any(|path| path.contains(id));
        (asked(&script.updates()), is_sent)
    };
    assert_eq!(asks("per_1", "notes.txt"), (0, true));
    assert_eq!(asks("per_2", "../notes.txt"), (1, false), "a rule gives no leave to leave the workspace");
}

#[test]
fn a_permission_is_asked_once_and_goes_when_it_is_answered() {
    let mut script = Script::with_two_tasks(Strategies::default());
    script.event("permission.asked", server::asked("ses_a", "per_1"));
    script.event("permission.asked", server::asked("ses_a", "per_1"));
    assert_eq!(asked(&script.updates()), 1);
    assert_eq!(script.view("b").permissions, []);
    reconnect(&mut script);
    script.event("permission.asked", server::asked("ses_a", "per_2"));
    script
        .event("permission.replied", json!({ "sessionID": "ses_a", "requestID": "per_2", "reply": "once" }));
    script.refreshed(
        &json!([]),
        &json!({}),
        &json!([server::asked("ses_a", "per_1"), server::asked("ses_x", "per_9")]),
    );
    assert_eq!(asked(&script.updates()), 0, "per_1 is in the timeline, per_2 is over");
    assert_eq!(script.view("a").permissions.len(), 1);

    let id = script.allow("a", "per_1");
    script.reply("POST /permission/per_1/reply?directory=%2Fwork%20space", 200, &json!(true));
    assert_eq!(script.answer(id), Ok(json!({})));
    script
        .event("permission.replied", json!({ "sessionID": "ses_a", "requestID": "per_1", "reply": "once" }));
    script.event("permission.asked", server::asked("ses_a", "per_1"));
    assert_eq!(asked(&script.updates()), 0, "a late word about an answered one");
    assert_eq!(script.view("a").permissions, []);

    script.event("permission.asked", server::asked("ses_a", "per_3"));
    reconnect(&mut script);
    script.refreshed(&json!([]), &json!({}), &json!([]));
    assert_eq!(script.view("a").permissions, [], "what the server does not list any more is gone");
    assert_eq!(script.telemetry["kilo.cli.permissions.prompt_count"], 2);
}

#[test]
fn events_go_to_their_own_task_and_strangers_to_nobody() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.updates();
    script.event("message.part.delta", server::delta("ses_x", "prt_2", "not ours"));
    script.event("permission.asked", server::asked("ses_x", "per_1"));
    script.event("session.error", json!({ "error": { "name": "UnknownError" } }));
    script.raw(
        &json!({ "type": "sync", "syncEvent": { "type": "message.part.updated.1" }, "id": "evt_1" })
            .to_string(),
    );
    script.event("server.heartbeat", json!({}));
    assert_eq!(script.updates(), []);
    assert_eq!(script.telemetry.get("kilo.cli.adapter.unknown_event_type"), None);
    script.event("session.next.thing", json!({ "sessionID": "ses_a" }));
    script.event("session.next.thing", json!({ "sessionID": "ses_a" }));
    assert_eq!(script.updates(), []);
    assert_eq!(script.telemetry["kilo.cli.adapter.unknown_event_type"], 2);
}

#[test]
fn progress_is_not_shown_and_removed_parts_vanish() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.updates();
    let mut progress = server::text("ses_a", "prt_9", "⠋ Initializing snapshot…", false);
    progress["part"]["synthetic"] = json!(true);
    progress["part"]["metadata"] = json!({ "kilocode.lifecycle": "transient" });
    script.event("message.part.updated", progress);
    script.event("message.part.delta", server::delta("ses_a", "prt_9", "."));
    script.event(
        "message.part.removed",
        json!({ "sessionID": "ses_a", "messageID": "msg_2", "partID": "prt_9" }),
    );
    assert_eq!(script.updates(), []);
    script.event(
        "message.part.removed",
        json!({ "sessionID": "ses_a", "messageID": "msg_2", "partID": "prt_2" }),
    );
    assert_eq!(timelines(&script.updates()), 1);
    assert_eq!(script.view("a").items, []);
}

#[test]
fn a_failed_turn_tells_why_and_ends_once() {
    for (name, told, expected) in
        [("APIError", 1, Outcome::Error), ("MessageAbortedError", 0, Outcome::Aborted)]
    {
        let mut script = Script::with_two_tasks(Strategies::default());
        half_a_turn(&mut script);
        script.event(
            "session.error",
            json!({ "sessionID": "ses_a", "error": { "name": name, "data": { "message": "no" } } }),
        );
        script.event("session.idle", json!({ "sessionID": "ses_a" }));
        assert_eq!(terminals(&script.updates()), [], "whose error it was, the server knows");
        let mut messages = server::messages(&[], false);
        messages[1]["info"]["error"] = json!({ "name": name, "data": { "message": "no" } });
        script.looked_at(&messages, &json!({}));
        let updates = script.updates();
        assert_eq!(terminals(&updates), [expected]);
        assert_eq!(updates.iter().filter(|update| matches!(update, Update::Error { .. })).count(), told);
    }
}

#[test]
fn wrong_credentials_end_it() {
    for status in [401, 403] {
        let mut script = Script::new(Strategies::default());
        let id = script.connect();
        script.refuse(status);
        let error = script.answer(id).unwrap_err();
        assert!(error.code == -32000 && error.message.contains("credentials"), "{error}");
        let updates = script.updates();
        let errors = updates.iter().filter(|update| matches!(update, Update::Error { .. })).count();
        assert_eq!((errors, script.timers.len()), (1, 0), "one clear error, no further attempt: {updates:?}");
    }
}

#[test]
fn a_lost_server_is_tried_with_growing_waits_and_told_once() {
    let mut script = Script::with_two_tasks(Strategies::default());
    for _ in 0..10 {
        script.cut();
        script.timer();
    }
    let least = [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000];
    for (wait, least) in script.timers.iter().zip(least) {
        assert!((least..=least + least / 4).contains(wait), "{:?}", script.timers);
    }
    let updates = script.updates();
    assert_eq!(
        updates.iter().filter(|update| matches!(update, Update::Error { retry: true, .. })).count(),
        1
    );
    let gone = Update::Connection { state: ConnectionState::Disconnected };
    assert_eq!(updates.iter().filter(|update| **update == gone).count(), 1);
    script.open();
    script.cut();
    assert!(script.timers.last() >= Some(&5000), "a stream that ends at once proves nothing");
    script.timer();
    script.open();
    script.later(2000);
    script.cut();
    assert!(script.timers.last() < Some(&200), "one that was there for a while does");
}

#[test]
fn a_first_connect_that_finds_nobody_fails() {
    let mut script = Script::new(Strategies::default());
    let id = script.connect();
    for _ in 0..5 {
        script.cut();
        script.timer();
    }
    script.refuse(503);
    assert!(script.answer(id).unwrap_err().message.contains("the server answered 503"));
    assert_eq!(script.timers.len(), 5, "no further attempt");
}

#[test]
fn a_refused_prompt_is_an_error_and_no_turn() {
    let mut script = Script::with_two_tasks(Strategies::default());
    let id = script.send("a");
    script.reply(
        "POST /session/ses_a/prompt_async?directory=%2Fwork%20space",
        404,
        &json!({ "name": "NotFoundError" }),
    );
    let error = script.answer(id).unwrap_err();
    assert_eq!((error.code, error.message.contains("404")), (-32000, true));
    let id = script.send("c");
    let error = script.answer(id).unwrap_err();
    assert_eq!((error.code, error.message.contains("`taskId`")), (-32602, true));
    end_of_turn(&mut script);
    assert_eq!(terminals(&script.updates()), []);
}

#[test]
fn news_of_a_stream_that_was_left_is_not_heard() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.connect();
    script.updates();
    // The first stream of the script was number 1.
    let data =
        json!({ "id": "evt_1", "type": "session.idle", "properties": { "sessionID": "ses_a" } }).to_string();
    script.step(Input::StreamEvent { stream: 1, data });
    script.step(Input::StreamEnded { stream: 1, reason: "late".to_owned() });
    assert_eq!(script.updates(), []);
    assert_eq!(script.timers, Vec::<u64>::new());
}
