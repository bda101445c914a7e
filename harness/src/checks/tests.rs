//! Checks on histories of a few lines. That each of them bites on whole ones, the gate shows.

mod asking;
mod files;

use super::{Check, all};
use crate::course::Course;
use crate::protocol::rpc::notification_line;
use crate::protocol::{Capability, ConnectionState, Notification, Outcome, TaskState, Update, View};
use fixtures::recording::{AdapterLine, Body, Chunk, Line, Request, Response, Speaker};
use mock_server::standin::MAIN_LANE;
use parity_specs::case::ADAPTER_LANE;
use serde_json::{Value, json};

fn check(name: &str) -> Check {
    all().into_iter().find(|check| check.name == name).unwrap()
}

/// What is found by a check.
fn found(name: &str, lines: &[Line]) -> Vec<String> {
    (check(name).examine)(&Course::of(lines)).findings
}

fn said(from: Speaker, message: Value) -> Line {
    Line::Adapter(AdapterLine { at_us: 0, from, message })
}

fn shows(update: Update) -> Line {
    let line = notification_line(&Notification::Update(update));
    said(Speaker::Adapter, serde_json::from_str(&line).unwrap())
}

/// The same at a time.
fn at(at_us: u64, line: Line) -> Line {
    match line {
        Line::Adapter(line) => Line::Adapter(AdapterLine { at_us, ..line }),
        other => other,
    }
}

fn asks(id: u64, method: &str, params: Value) -> Line {
    said(Speaker::Harness, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn answers(id: u64, result: Value) -> Line {
    said(Speaker::Adapter, json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A task `t` of the session `ses_1`.
fn started() -> Vec<Line> {
    vec![asks(1, "task/start", json!({ "taskId": "t" })), answers(1, json!({ "sessionId": "ses_1" }))]
}

fn request(exchange: u64, at_us: u64, method: &str, path: &str, body: Value) -> Line {
    Line::Request(Request {
        at_us,
        exchange,
        lane: Some(ADAPTER_LANE.to_owned()),
        method: method.to_owned(),
        path: path.to_owned(),
        query: String::new(),
        headers: Vec::new(),
        body: Body::Json(body),
    })
}

fn response(exchange: u64, at_us: u64, status: u16, headers: &[(&str, &str)]) -> Line {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Line::Response(Response { at_us, exchange, status, headers, body: Body::Empty })
}

fn pops_up() -> Line {
    let (task_id, permission_id, permission) = ("t".into(), "per_1".into(), "edit".into());
    shows(Update::PermissionRequest { task_id, permission_id, permission, patterns: Vec::new() })
}

fn person_answers() -> Line {
    asks(7, "permission/reply", json!({ "taskId": "t", "permissionId": "per_1", "reply": "once" }))
}

fn posts(path: &str, reply: &str) -> Line {
    request(1, 0, "POST", path, json!({ "reply": reply }))
}

#[test]
fn a_question_pops_up_once_until_a_timeline_replaces_it_and_never_after_its_answer() {
    let anew = || shows(Update::Timeline { task_id: "t".into(), view: View::default() });
    let sent = || posts("/permission/per_1/reply", "once");
    for (lines, expected) in [
        (vec![pops_up(), person_answers(), sent()], None),
        (vec![pops_up(), anew(), pops_up(), person_answers(), sent()], None),
        (vec![pops_up(), pops_up()], Some("per_1 is asked twice")),
        (
            vec![pops_up(), person_answers(), sent(), pops_up()],
            Some("per_1 is asked again after the person has answered it"),
        ),
    ] {
        assert_eq!(found("questions", &lines).first().map(String::as_str), expected);
    }
}

#[test]
fn one_answer_goes_to_the_server_by_whichever_route_and_it_is_the_persons() {
    for (sent, expected) in [
        (vec![posts("/session/ses_1/permissions/per_1", "once")], None),
        (vec![], Some("the person's answer to per_1 was sent to nobody")),
        (
            vec![posts("/permission/per_1/reply", "reject")],
            Some("the person answers \"once\" to per_1, and \"reject\" was sent"),
        ),
        (
            vec![posts("/permission/per_1/reply", "once"); 2],
            Some("2 answers to per_1 were sent to the server, and the person gave 1"),
        ),
    ] {
        let lines: Vec<Line> = [pops_up(), person_answers()].into_iter().chain(sent).collect();
        assert_eq!(found("questions", &lines).first().map(String::as_str), expected);
    }
    let unasked = [posts("/permission/per_2/reply", "once")];
    assert_eq!(found("questions", &unasked), ["an answer to per_2 was sent that nobody gave"]);
}

#[test]
fn with_tools_off_a_no_may_be_sent_in_the_persons_place_and_nothing_else() {
    let settings = |tools: bool| asks(3, "settings", json!({ "tools": tools }));
    let nobodys = Some("an answer to per_1 was sent that nobody gave");
    for (tools, reply, expected) in [
        (Some(false), "reject", None),
        (Some(false), "once", nobodys),
        (Some(true), "reject", nobodys),
        (None, "reject", nobodys),
    ] {
        let mut lines: Vec<Line> = tools.map(settings).into_iter().collect();
        lines.push(posts("/permission/per_1/reply", reply));
        assert_eq!(found("questions", &lines).first().map(String::as_str), expected, "{tools:?} {reply}");
    }
}

fn told(exchange: u64, event: &Value) -> Line {
    told_at(0, exchange, event)
}

fn told_at(at_us: u64, exchange: u64, event: &Value) -> Line {
    Line::Chunk(Chunk::new(at_us, exchange, format!("data: {event}\n\n").as_bytes()))
}

/// A request for a stream by the harness's own eyes.
fn eyes(exchange: u64) -> Line {
    match request(exchange, 0, "GET", "/global/event", Value::Null) {
        Line::Request(asked) => Line::Request(Request { lane: Some(MAIN_LANE.to_owned()), ..asked }),
        other => other,
    }
}

fn part(id: &str) -> Value {
    let part =
        json!({ "id": id, "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Done." });
    json!({ "type": "message.part.updated", "properties": { "sessionID": "ses_1", "part": part } })
}

#[test]
fn what_was_said_before_the_loss_was_told_is_no_matter_of_the_new_stream() {
    let begun = part("prt_1");
    let words = || {
        let (task_id, message_id, part_id) = ("t".into(), "msg_1".into(), "prt_1".into());
        shows(Update::AssistantDelta { task_id, message_id, part_id, delta: "Done.".into() })
    };
    let is = |state| shows(Update::Connection { state });
    let lost = || is(ConnectionState::Reconnecting);
    for (before, within, expected) in [
        (vec![], vec![words()], 1),
        (vec![], vec![words(), lost()], 0),
        (vec![], vec![words(), lost(), words()], 1),
        // It knew.
        (vec![lost()], vec![words(), lost()], 1),
        (vec![], vec![is(ConnectionState::Connected), words(), lost()], 1),
    ] {
        let mut lines = started();
        lines.extend([request(2, 0, "GET", "/event", Value::Null), told(2, &begun)]);
        lines.extend(before);
        lines.extend([request(3, 0, "GET", "/event", Value::Null), told(3, &begun)]);
        lines.extend(within);
        let early = found("refresh", &lines);
        let early = early.iter().filter(|finding| finding.contains("before it was loaded again"));
        assert_eq!(early.count(), expected, "{lines:?}");
    }
}

#[test]
fn the_persons_words_are_not_the_agents() {
    let message = |role: &str| {
        let info = json!({ "id": "msg_1", "sessionID": "ses_1", "role": role });
        json!({ "type": "message.updated", "properties": { "sessionID": "ses_1", "info": info } })
    };
    for (role, expected) in [("user", 1), ("assistant", 0)] {
        let (task_id, message_id, part_id) = ("t".into(), "msg_1".into(), "prt_1".into());
        let events =
            [message(role), part("prt_1")].map(|event| json!({ "directory": "/w", "payload": event }));
        let mut lines = started();
        lines.push(eyes(1));
        lines.extend(events.iter().map(|event| told(1, event)));
        lines.push(shows(Update::AssistantDelta { task_id, message_id, part_id, delta: "Done.".into() }));
        assert_eq!(found("parts", &lines).len(), expected, "{role}");
    }
}

#[test]
fn a_rule_is_early_only_if_it_answers_before_anybody_was_told_of_the_question() {
    let asked = json!({ "type": "permission.asked", "properties": { "id": "per_1", "sessionID": "ses_1", "permission": "edit" } });
    let settings = json!({ "tools": true, "autoApprove": { "kinds": ["edit"], "delayMs": 0 } });
    for (answered_us, findings) in
        [(40_000, vec![]), (5_000, vec!["the rule has answered per_1 5 ms too early"])]
    {
        let mut lines = vec![asks(0, "settings", settings.clone())];
        lines.extend(started());
        lines.extend([eyes(1), request(2, 0, "GET", "/event", Value::Null)]);
        lines.push(told_at(10_000, 2, &asked));
        lines.push(request(3, answered_us, "POST", "/permission/per_1/reply", json!({ "reply": "once" })));
        lines.push(told_at(70_000, 1, &json!({ "directory": "/w", "payload": asked })));
        assert_eq!(found("approvals", &lines), findings);
    }
}

#[test]
fn without_tools_a_rule_gives_leave_for_nothing_and_a_no_is_in_order() {
    let asked = json!({ "type": "permission.asked", "properties": { "id": "per_1", "sessionID": "ses_1", "permission": "edit" } });
    let event = json!({ "directory": "/w", "payload": asked });
    let settings = json!({ "tools": false, "autoApprove": { "kinds": ["edit"], "delayMs": 0 } });
    for (reply, findings) in [(None, 0), (Some("reject"), 0), (Some("once"), 1)] {
        let mut lines = vec![asks(0, "settings", settings.clone())];
        lines.extend(started());
        lines.push(eyes(1));
        lines.push(told(1, &event));
        lines.extend(reply.map(|reply| posts("/permission/per_1/reply", reply)));
        assert_eq!(found("approvals", &lines).len(), findings, "{reply:?}");
    }
}

#[test]
fn a_stream_is_not_asked_for_before_the_server_allows_it() {
    let stream = |exchange, at_us| request(exchange, at_us, "GET", "/event", Value::Null);
    for (again_us, findings) in [(1_990_000, 0), (1_000_000, 1)] {
        let lines = [stream(1, 0), response(1, 0, 503, &[("retry-after", "2")]), stream(2, again_us)];
        assert_eq!(found("effort", &lines).len(), findings);
        let (now, later) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:40 GMT");
        let by_date = response(1, 0, 503, &[("date", now), ("retry-after", later)]);
        let lines = [stream(1, 0), by_date, stream(2, again_us)];
        assert_eq!(found("effort", &lines).len(), findings, "a date may be a second less");
    }
}

#[test]
fn refused_credentials_are_told_and_not_tried_again_and_again() {
    let refused =
        |exchange| [request(exchange, 0, "GET", "/event", Value::Null), response(exchange, 0, 401, &[])];
    let once: Vec<Line> = refused(1).into();
    let silent = "the server refused the credentials, and within 6 s the person was not told";
    assert_eq!(found("effort", &once), [silent]);
    let told = || shows(Update::Error { task_id: None, message: "no".into(), retry: true });
    let often: Vec<Line> = (1..5).flat_map(refused).chain([told()]).collect();
    assert_eq!(
        found("effort", &often),
        ["3 streams were asked for after the server had refused the credentials"]
    );
    for (at_us, findings) in [(6_000_000, vec![]), (6_000_001, vec![silent])] {
        let lines: Vec<Line> = refused(1).into_iter().chain([at(at_us, told())]).collect();
        assert_eq!(found("effort", &lines), findings, "{at_us}");
    }
}

#[test]
fn an_end_without_a_prompt_is_one_too_many() {
    let over = || shows(Update::Terminal { task_id: "t".into(), outcome: Outcome::Aborted });
    let mut lines = started();
    lines.push(over());
    assert_eq!(found("termination", &lines), ["t tells an end, and no prompt is open"]);
    let mut lines = started();
    lines.extend([asks(2, "task/send", json!({ "taskId": "t", "text": "go" })), answers(2, json!({}))]);
    assert_eq!(found("termination", &lines), ["t never learns the end of its prompt \"go\""]);
}

#[test]
fn a_check_says_what_an_adapter_must_be_able_to_do_for_it() {
    assert_eq!(check("abort").needs, [Capability::Abort]);
    assert!(all().iter().all(|check| check.about.ends_with('.')));
}

#[test]
fn a_log_line_names_the_folder_of_its_task_or_one_in_which_the_person_works() {
    let line = |task: &Value, directory: &str| {
        let mut params = json!({ "level": "info", "text": "so", "directory": directory, "port": 4096 });
        if let Some(session) = task.as_str() {
            params["taskId"] = "t".into();
            params["sessionId"] = session.into();
        }
        said(Speaker::Adapter, json!({ "jsonrpc": "2.0", "method": "log", "params": params }))
    };
    let (none, own) = (Value::Null, json!("ses_1"));
    for (task, directory, is_right) in [
        (&none, "/w", true),
        (&none, "/w/", true),
        (&none, "/w/below", true),
        (&none, "/", false),
        (&own, "/w/below", true),
        (&own, "/w", false),
    ] {
        let connect =
            json!({ "url": "http://127.0.0.1:4096", "username": "u", "password": "p", "directory": "/w" });
        let lines = [
            asks(1, "connect", connect),
            answers(1, json!({})),
            asks(2, "task/start", json!({ "taskId": "t", "directory": "/w/below" })),
            answers(2, json!({ "sessionId": "ses_1" })),
            line(task, directory),
        ];
        assert_eq!(found("logs", &lines).is_empty(), is_right, "{directory} {:?}", found("logs", &lines));
    }
}

#[test]
fn an_end_is_not_too_early_when_the_adapter_was_told_of_it_long_before_the_harness_was() {
    let over = shows(Update::Terminal { task_id: "t".into(), outcome: Outcome::Completed });
    let end = at(20, over);
    let idle = |id: &str| json!({ "id": id, "type": "session.idle", "properties": { "sessionID": "ses_1" } });
    for (heard, findings) in [("evt_1", 0), ("evt_2", 1)] {
        let mut lines = started();
        lines.push(asks(2, "task/send", json!({ "taskId": "t", "text": "go" })));
        lines.push(answers(2, json!({})));
        lines.extend([eyes(1), request(2, 0, "GET", "/event", Value::Null)]);
        lines.push(told_at(10, 2, &idle(heard)));
        lines.push(end.clone());
        lines.push(told_at(900_000, 1, &json!({ "directory": "/w", "payload": idle("evt_1") })));
        assert_eq!(found("termination", &lines).len(), findings, "{heard}");
    }
}

/// A slow adapter shows both words of the server for the rest when the next turn has begun.
#[test]
fn a_rest_that_is_shown_twice_is_the_same_rest() {
    let event = |kind: &str, status: &str| json!({"type": kind, "properties": {"sessionID": "ses_1", "status": {"type": status}}});
    let shows_at =
        |at_us: u64, state: TaskState| at(at_us, shows(Update::Status { task_id: "t".into(), state }));
    let history = |between: Option<TaskState>| {
        let mut lines = started();
        lines.extend([
            request(5, 0, "GET", "/event", Value::Null),
            response(5, 1, 200, &[]),
            told_at(2, 5, &event("session.status", "busy")),
            shows_at(3, TaskState::Busy),
            told_at(4, 5, &event("session.status", "idle")),
            told_at(5, 5, &event("session.idle", "")),
            shows_at(6, TaskState::Idle),
            told_at(7, 5, &event("session.status", "busy")),
        ]);
        lines.extend(between.map(|state| shows_at(8, state)));
        lines.push(shows_at(9, TaskState::Idle));
        lines
    };
    let late = "t is shown as resting, and its session was said to be at work";
    assert!(!found("isolation", &history(None)).iter().any(|found| found == late));
    assert!(found("isolation", &history(Some(TaskState::Busy))).iter().any(|found| found == late));
}
