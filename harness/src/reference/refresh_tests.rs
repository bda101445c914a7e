//! Decision 7 against scripted inputs: gaps in the stream, in every phase of a turn.

use super::io::{Input, Timer};
use super::script::{Script, end_of_turn, half_a_turn, reconnect, server, terminals, timelines};
use super::strategy::Strategies;
use crate::mutants;
use crate::protocol::{Outcome, Request, TaskState, ToolState, Update};
use serde_json::{Value, json};

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
    script.fire(Timer::Publish("a".to_owned()));
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
        script.reply("GET /session/status?directory=%2Fwork%20space", 200, &json!({}));
        script.reply_raw("GET /session/ses_a/message?directory=%2Fwork%20space", status, body);
        script.reply("GET /session/ses_b/message?directory=%2Fwork%20space", 200, &json!([]));
        script.reply("GET /permission?directory=%2Fwork%20space", 200, &json!([]));
        script.reply_rest();
        script.event("message.part.delta", server::delta("ses_a", "prt_2", "lost"));
        let updates = script.updates();
        assert!(
            matches!(&updates[..], [Update::Error { retry: true, .. }, Update::Timeline { .. }]),
            "one error, and the other task is shown: {updates:?}"
        );
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
fn an_old_answer_is_not_the_answer_to_a_new_prompt() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    end_of_turn(&mut script);
    script.prompt("a");
    script.updates();
    reconnect(&mut script);
    let old = server::messages(&[server::text_part("prt_2", "Hello", true)], true);
    script.refreshed(&old, &json!({}), &json!([]));
    assert_eq!(terminals(&script.updates()), [], "the server has not begun with the new prompt");
}

#[test]
fn a_turn_that_died_with_its_server_is_aborted() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    reconnect(&mut script);
    let torn = server::messages(&[server::text_part("prt_2", "", false)], false);
    script.refreshed(&torn, &json!({}), &json!([]));
    assert_eq!(terminals(&script.updates()), [Outcome::Aborted]);
}

#[test]
fn a_task_that_has_stopped_is_left_alone_when_another_ones_turn_is_in_doubt() {
    let mut script = Script::with_two_tasks(Strategies::default());
    script.prompt("a");
    script.event("permission.asked", server::asked("ses_b", "per_1"));
    script.event("session.weather.changed", json!({ "sessionID": "ses_b" }));
    let stops =
        |update: &Update| matches!(update, Update::Error { task_id: Some(of), retry: true, .. } if of == "b");
    assert!(script.updates().iter().any(stops));
    script.later(60_000);
    script.fire(Timer::Turn("a".to_owned()));
    script.reply(
        "GET /session/status?directory=%2Fwork%20space",
        200,
        &json!({ "ses_a": { "type": "busy" } }),
    );
    let waiting = script.waiting();
    assert!(waiting.iter().any(|path| path.contains("/session/ses_a/message")), "{waiting:?}");
    assert!(!waiting.iter().any(|path| path.contains("ses_b")), "it waits for Retry: {waiting:?}");
}

#[test]
fn a_doubt_about_one_task_holds_no_other_one_up() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
    assert!(script.waiting().iter().any(|path| path.contains("/status")), "is it over?");
    script.prompt("b");
    script.event("message.updated", server::message("ses_b", "msg_9", "assistant"));
    let mut part = server::text("ses_b", "prt_9", "Here.", true);
    part["part"]["messageID"] = json!("msg_9");
    script.event("message.part.updated", part);
    assert_eq!(script.texts("b"), ["Here."]);
    // The other one is in doubt, too, and is looked at next.
    script.event("session.status", server::status("ses_b", "busy"));
    script.event("session.idle", json!({ "sessionID": "ses_b" }));
    script.looked_at(&server::messages(&[server::text_part("prt_2", "Hello", true)], true), &json!({}));
    assert_eq!(terminals(&script.updates()), [Outcome::Completed]);
    assert_eq!(script.waiting(), ["GET /session/status?directory=%2Fwork%20space"]);
}

#[test]
fn a_prompt_that_is_sent_while_the_end_of_another_one_is_looked_for_has_an_end_of_its_own() {
    for (error, expected) in
        [(Value::Null, Outcome::Completed), (json!({ "name": "MessageAbortedError" }), Outcome::Aborted)]
    {
        let mut script = Script::with_two_tasks(Strategies::default());
        half_a_turn(&mut script);
        script.event("session.idle", json!({ "sessionID": "ses_a" }));
        script.prompt("a");
        let mut messages = server::messages(&[server::text_part("prt_2", "Hello", true)], true);
        messages[1]["info"]["error"] = error;
        script.looked_at(&messages, &json!({}));
        assert_eq!(terminals(&script.updates()), [expected]);
        script.event("message.updated", server::message("ses_a", "msg_3", "user"));
        script.event("session.status", server::status("ses_a", "busy"));
        let mut answer = server::message("ses_a", "msg_4", "assistant");
        answer["info"]["parentID"] = json!("msg_3");
        answer["info"]["time"]["completed"] = json!(9);
        answer["info"]["finish"] = json!("stop");
        script.event("message.updated", answer);
        script.event("session.idle", json!({ "sessionID": "ses_a" }));
        assert_eq!(terminals(&script.updates()), [Outcome::Completed], "the second one's");
    }
}

#[test]
fn of_an_answer_that_was_cut_the_last_word_is_looked_for() {
    let mut script = Script::with_two_tasks(Strategies::default());
    half_a_turn(&mut script);
    let mut message = server::message("ses_a", "msg_2", "assistant");
    message["info"]["time"]["completed"] = json!(2);
    message["info"]["finish"] = json!("length");
    script.event("message.updated", message.clone());
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
    assert_eq!(terminals(&script.updates()), [], "the server may have said that it was too long");
    let parts = [server::text_part("prt_2", "Hello, ", true), server::text_part("prt_3", "Too long.", true)];
    let mut messages = server::messages(&parts, true);
    messages[1]["info"] = message["info"].clone();
    script.looked_at(&messages, &json!({}));
    assert_eq!(terminals(&script.updates()), [Outcome::Completed]);
    assert_eq!(script.texts("a"), ["Hello, ", "Too long."]);
}
