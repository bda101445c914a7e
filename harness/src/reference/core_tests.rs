//! The core against scripted inputs: no socket, no clock.

use super::core::Input;
use super::script::{Script, server};
use super::strategy::Strategies;
use crate::mutants;
use crate::protocol::{ConnectionState, Outcome, Request, TaskState, ToolState, Update};
use serde_json::{Value, json};

/// The beginning of a turn in task `a`: the prompt, and the answer up to the words "Hello, ".
fn half_a_turn(script: &mut Script) {
    script.prompt("a");
    script.event("message.updated", server::message("ses_a", "msg_1", "user"));
    let words = json!({ "id": "prt_0", "messageID": "msg_1", "type": "text", "text": "do it" });
    script.event("message.part.updated", json!({ "sessionID": "ses_a", "part": words }));
    script.event("session.status", server::status("ses_a", "busy"));
    script.event("message.updated", server::message("ses_a", "msg_2", "assistant"));
    let step = json!({ "id": "prt_1", "messageID": "msg_2", "type": "step-start" });
    script.event("message.part.updated", json!({ "sessionID": "ses_a", "part": step }));
    script.event("message.part.updated", server::text("ses_a", "prt_2", "", false));
    script.event("message.part.delta", server::delta("ses_a", "prt_2", "Hello, "));
}

fn end_of_turn(script: &mut Script) {
    for state in ["busy", "idle"] {
        script.event("session.status", server::status("ses_a", state));
    }
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
}

fn reconnect(script: &mut Script) {
    script.cut();
    script.timer();
    script.open();
}

fn timelines(updates: &[Update]) -> usize {
    updates.iter().filter(|update| matches!(update, Update::Timeline { .. })).count()
}

fn terminals(updates: &[Update]) -> Vec<Outcome> {
    let outcome = |update: &Update| match update {
        Update::Terminal { outcome, .. } => Some(*outcome),
        _ => None,
    };
    updates.iter().filter_map(outcome).collect()
}

fn asked(updates: &[Update]) -> usize {
    updates.iter().filter(|update| matches!(update, Update::PermissionRequest { .. })).count()
}

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
fn a_refresh_shows_what_rest_tells_and_doubles_nothing() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    reconnect(&mut script);
    assert_eq!(script.texts("a"), ["Hello, "], "nothing changes before all is here");
    // These wait; REST has seen the first two meanwhile.
    script.event("message.part.updated", server::text("ses_a", "prt_2", "Hello, world", true));
    script.event("message.part.updated", server::tool("ses_a", "prt_3", &json!({ "status": "pending" })));
    script.event("message.part.updated", server::text("ses_a", "prt_4", "", false));
    script.event("message.part.delta", server::delta("ses_a", "prt_4", "So"));
    script.updates();
    let mut done = server::tool("ses_a", "prt_3", &json!({ "status": "completed", "output": "ok" }));
    let parts = [server::text_part("prt_2", "Hello, world", true), done["part"].take()];
    script.refreshed(&server::messages(&parts, false), &json!({ "ses_a": { "type": "busy" } }), &json!([]));
    let updates = script.updates();
    assert_eq!(timelines(&updates), 2, "one for each task: {updates:?}");
    assert_eq!(updates.len(), 4, "two timelines, and prt_4 with its delta: {updates:?}");
    assert_eq!(script.texts("a"), ["Hello, world", "So"]);
    assert_eq!(
        script.view("a").items[1].state,
        Some(ToolState::Done),
        "a buffered event does not set it back"
    );
    assert_eq!(script.view("a").status, TaskState::Busy);
    end_of_turn(&mut script);
    assert_eq!(terminals(&script.updates()), [Outcome::Completed]);
    assert_eq!(script.telemetry["kilo.cli.sse.reconnect_count"], 1);
}

#[test]
fn a_text_whose_beginning_was_missed_waits_for_its_end() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    reconnect(&mut script);
    let running = server::messages(&[server::text_part("prt_2", "", false)], false);
    script.refreshed(&running, &json!({ "ses_a": { "type": "busy" } }), &json!([]));
    script.event("message.part.delta", server::delta("ses_a", "prt_2", "ld"));
    assert_eq!(script.texts("a"), [""], "`ld` alone would be wrong");
    script.event("message.part.updated", server::text("ses_a", "prt_2", "Hello, world", true));
    script.event("message.part.updated", server::text("ses_a", "prt_2", "", false));
    script.event("message.part.delta", server::delta("ses_a", "prt_2", "ld"));
    assert_eq!(script.texts("a"), ["Hello, world"], "finished text stays as it is");
}

#[test]
fn a_turn_that_ended_in_the_gap_gets_its_terminal() {
    for (error, expected) in
        [(Value::Null, Outcome::Completed), (json!({ "name": "APIError" }), Outcome::Error)]
    {
        let mut script = Script::with_two_tasks(Strategies::default());
        half_a_turn(&mut script);
        reconnect(&mut script);
        let mut messages = server::messages(&[server::text_part("prt_2", "Hello", true)], true);
        messages[1]["info"]["error"] = error;
        script.refreshed(&messages, &json!({}), &json!([]));
        assert_eq!(terminals(&script.updates()), [expected]);
        script.event("session.idle", json!({ "sessionID": "ses_a" }));
        assert_eq!(terminals(&script.updates()), [], "once for each prompt");
    }
}

#[test]
fn a_prompt_that_the_server_has_not_begun_is_not_over() {
    let mut script = Script::with_two_tasks(Strategies::default());
    script.prompt("a");
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
    reconnect(&mut script);
    script.refreshed(&json!([]), &json!({}), &json!([]));
    assert_eq!(terminals(&script.updates()), [], "the idle belongs to what was before");
}

#[test]
fn the_mutant_passes_without_a_fault_and_loses_what_was_missed_with_one() {
    let mutant = mutants::find("resume_without_refresh").unwrap();
    for (strategies, heals) in [(Strategies::default(), true), ((mutant.strategies)(), false)] {
        let mut script = Script::with_two_tasks(strategies);
        half_a_turn(&mut script);
        script.event("message.part.updated", server::text("ses_a", "prt_2", "Hello, world", true));
        end_of_turn(&mut script);
        assert_eq!(terminals(&script.updates()), [Outcome::Completed], "no fault, no difference");

        script.prompt("a");
        script.event("session.status", server::status("ses_a", "busy"));
        reconnect(&mut script);
        if heals {
            let parts =
                [server::text_part("prt_2", "Hello, world", true), server::text_part("prt_9", "Bye", true)];
            let mut messages = server::messages(&parts, true);
            messages[1]["info"]["id"] = json!("msg_2");
            script.refreshed(&messages, &json!({}), &json!([]));
        }
        assert_eq!(script.waiting(), Vec::<&str>::new(), "the mutant never asks REST");
        assert_eq!(script.texts("a").len(), if heals { 2 } else { 1 });
        assert_eq!(terminals(&script.updates()).len(), usize::from(heals), "the mutant waits for ever");
    }
}

#[test]
fn a_failed_refresh_is_one_error_and_no_timeline() {
    for (status, body) in [(500, "{}"), (200, "[{"), (200, "[{\"info\":{}}]")] {
        let mut script = Script::with_two_tasks(Strategies::default());
        half_a_turn(&mut script);
        reconnect(&mut script);
        script.updates();
        script.reply_raw("GET /session/ses_a/message?directory=%2Fwork%20space", status, body);
        script.reply_raw("GET /permission?directory=%2Fwork%20space", 500, "");
        script.event("message.part.delta", server::delta("ses_a", "prt_2", "lost"));
        let updates = script.updates();
        assert!(matches!(&updates[..], [Update::Error { retry: true, .. }]), "{updates:?}");
        reconnect(&mut script);
        script.refreshed(&json!([]), &json!({ "ses_a": { "type": "busy" } }), &json!([]));
        assert_eq!(timelines(&script.updates()), 2, "the next connection heals it");
    }
}

#[test]
fn a_new_connection_restarts_the_refresh_and_a_fence_waits_for_it() {
    let mut script = Script::with_two_tasks(Strategies::default());
    reconnect(&mut script);
    let dropped = script.ask(Request::Fence);
    assert!(!script.is_answered(&dropped));
    reconnect(&mut script);
    assert_eq!(script.answer(dropped), Ok(json!({})), "that refresh is over");
    let fence = script.ask(Request::Fence);
    script.updates();
    // A late answer to the first refresh: it was request 3 to 6.
    script.step(Input::HttpDone { request: 3, answer: Ok((500, String::new())) });
    assert!(!script.is_answered(&fence));
    script.refreshed(&json!([]), &json!({}), &json!([]));
    assert_eq!(script.answer(fence), Ok(json!({})));
    assert_eq!(timelines(&script.updates()), 2);
}

#[test]
fn an_unreadable_event_is_a_gap() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.raw("{\"type\":\"message.part.del");
    let parts = [server::text_part("prt_2", "", false)];
    script.refreshed(&server::messages(&parts, false), &json!({ "ses_a": { "type": "busy" } }), &json!([]));
    assert_eq!(script.texts("a"), [""]);
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
    script.reply("POST /session/ses_a/permissions/per_1?directory=%2Fwork%20space", 200, &json!(true));
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
        end_of_turn(&mut script);
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
    assert_eq!(script.timers, [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000]);
    let updates = script.updates();
    assert_eq!(
        updates.iter().filter(|update| matches!(update, Update::Error { retry: true, .. })).count(),
        1
    );
    let gone = Update::Connection { state: ConnectionState::Disconnected };
    assert_eq!(updates.iter().filter(|update| **update == gone).count(), 1);
    script.open();
    script.cut();
    assert_eq!(script.timers.last(), Some(&50), "an open stream resets the wait");
}

#[test]
fn a_first_connect_that_finds_nobody_fails() {
    let mut script = Script::new(Strategies::default());
    let id = script.connect();
    for _ in 0..7 {
        script.cut();
        script.timer();
    }
    script.refuse(503);
    assert!(script.answer(id).unwrap_err().message.contains("the server answered 503"));
    assert_eq!(script.timers.len(), 7, "no further attempt");
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
