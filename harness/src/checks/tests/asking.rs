//! What is asked, what goes, and what is answered in the person's place.

use super::*;

#[test]
fn who_shows_what_began_after_an_answer_has_read_of_the_answer() {
    let replied =
        json!({ "type": "permission.replied", "properties": { "sessionID": "ses_1", "requestID": "per_1" } });
    let words = |part: &str| {
        let (task_id, message_id, part_id) = ("t".into(), "msg_1".into(), part.into());
        shows(Update::AssistantDelta { task_id, message_id, part_id, delta: "Done.".into() })
    };
    let gone = || shows(Update::PermissionResolved { task_id: "t".into(), permission_id: "per_1".into() });
    for (shown, lingers) in [
        (vec![words("prt_2")], true),
        // Its own answer is over when its own request is: that may be later than the event.
        (vec![posts("/permission/per_1/reply", "once"), words("prt_2"), gone()], false),
        (vec![gone(), words("prt_2")], false),
        (vec![words("prt_1"), gone(), words("prt_2")], false),
        (vec![words("prt_1")], false),
    ] {
        let mut lines = vec![pops_up()];
        lines.push(request(2, 0, "GET", "/event", Value::Null));
        lines.extend([part("prt_1"), replied.clone(), part("prt_2")].iter().map(|event| told(2, event)));
        lines.extend(shown);
        let told = found("questions", &lines)
            .iter()
            .any(|finding| finding.contains("is still asked when prt_2 is shown"));
        assert_eq!(told, lingers, "{lines:?}");
    }
}

#[test]
fn what_is_drawn_together_comes_in_some_order() {
    let replied =
        json!({ "type": "permission.replied", "properties": { "sessionID": "ses_1", "requestID": "per_1" } });
    let words = || {
        let (task_id, message_id, part_id) = ("t".into(), "msg_1".into(), "prt_2".into());
        shows(Update::AssistantDelta { task_id, message_id, part_id, delta: "Done.".into() })
    };
    let gone = |task: &str| {
        shows(Update::PermissionResolved { task_id: task.into(), permission_id: "per_1".into() })
    };
    let anew = |task: &str| shows(Update::Timeline { task_id: task.into(), view: View::default() });
    for (behind, lingers) in [
        (at(1_100_000, gone("t")), false),
        (at(1_100_001, gone("t")), true),
        (at(1_100_000, anew("t")), false),
        // Another task's screen takes nothing away.
        (at(1_100_000, anew("other")), true),
    ] {
        let mut lines = vec![pops_up(), request(2, 0, "GET", "/event", Value::Null)];
        lines.extend([part("prt_1"), replied.clone(), part("prt_2")].iter().map(|event| told(2, event)));
        lines.extend([at(1_000_000, words()), behind.clone()]);
        let told = found("questions", &lines);
        let told = told.iter().any(|finding| finding.contains("is still asked when prt_2 is shown"));
        assert_eq!(told, lingers, "{behind:?}");
    }
}

/// A task that has said that it can't go on: what it is asked waits for the person.
#[test]
fn a_task_that_cannot_go_on_answers_nothing_by_itself() {
    let asked = json!({ "type": "permission.asked", "properties": { "id": "per_1", "sessionID": "ses_1", "permission": "edit" } });
    let strange = json!({ "type": "session.weather.changed", "properties": { "sessionID": "ses_1" } });
    let closed = || shows(Update::Error { task_id: Some("t".into()), message: "no".into(), retry: true });
    let retry = || asks(9, "task/retry", json!({ "taskId": "t" }));
    let answer = || request(3, 0, "POST", "/permission/per_1/reply", json!({ "reply": "once" }));
    let by_itself = "t said that it can't go on, and answers per_1 in the person's place";
    for (then, expected) in [
        (vec![answer()], vec![by_itself]),
        (vec![person_answers(), answer()], vec![]),
        (vec![retry(), answer()], vec![]),
    ] {
        let mut lines = started();
        lines.extend([eyes(1), request(2, 0, "GET", "/event", Value::Null)]);
        for event in [&asked, &strange] {
            lines.push(told(1, &json!({ "directory": "/w", "payload": event })));
            lines.push(told(2, event));
        }
        lines.push(closed());
        lines.extend(then);
        assert_eq!(found("fail-closed", &lines), expected);
    }
}

#[test]
fn history_is_changed_in_the_folder_of_its_task() {
    let message = "msg_1";
    for (method, path, params) in [
        ("task/revert", "/session/ses_1/revert", json!({ "taskId": "t", "messageId": message })),
        (
            "task/fork",
            "/session/ses_1/fork",
            json!({ "taskId": "t", "messageId": message, "newTaskId": "u" }),
        ),
    ] {
        for (folder, is_right) in [("/w/below", true), ("/w/below/", true), ("/w", false)] {
            let connect = json!({ "url": "http://127.0.0.1:4096", "username": "u", "password": "p", "directory": "/w" });
            let mut lines = vec![asks(1, "connect", connect), answers(1, json!({}))];
            lines.push(asks(2, "task/start", json!({ "taskId": "t", "directory": "/w/below" })));
            lines.push(answers(2, json!({ "sessionId": "ses_1" })));
            lines.push(asks(3, method, params.clone()));
            lines.push(match request(4, 0, "POST", path, json!({ "messageID": message })) {
                Line::Request(asked) => {
                    Line::Request(Request { query: format!("directory={folder}"), ..asked })
                }
                other => other,
            });
            lines.push(response(4, 0, 500, &[]));
            let elsewhere = format!("t works in /w/below, and POST {path} was asked in /w");
            let told = found("checkpoints", &lines).contains(&elsewhere);
            assert_eq!(told, !is_right, "{method} {folder}: {:?}", found("checkpoints", &lines));
        }
    }
}
