//! Goal: a replay says at each time what the recorded server would have said. Method: every recording is repeated
//! request by request, its reads are the oracle; small made-up recordings show what none of them has.

pub(in crate::replay) mod client;
pub(in crate::replay) mod made;
mod mixed;

use super::asks::Asks;
use super::course::{Cause, Course, What};
use super::told::{Answer, Told};
use super::{Pace, Replay, Unplayable};
use crate::performer::{Act, Performer};
use client::{Client, json_of, recording};
use fixtures::recording::{FileKind, Recording};
use fixtures::scenario::{UserAct, UserStep};
use fixtures::{ServerKind, catalog};
use mixed::mixed;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Recorded reads that no event tells, and why.
const NOT_TOLD: [(&str, &str); 1] = [("/doc", "the server's description of itself")];

/// Those in which a client does what clients do; where a person sends requests of its own, `truth` plays them again.
fn recordings() -> Vec<(String, Recording)> {
    let is_request = |step: &UserStep| matches!(step.act, UserAct::Request(_));
    let mut recordings = Vec::new();
    for server in ServerKind::ALL {
        let release = server.release();
        for name in catalog::recording_names(&release) {
            let recording = catalog::recording(&release, &name).unwrap();
            if !catalog::scenario(&recording.header.scenario).unwrap().user.steps.iter().any(is_request) {
                recordings.push((format!("{release}/{name}"), recording));
            }
        }
    }
    recordings
}

#[test]
fn what_events_tell_is_what_the_real_servers_answered() {
    let mut compared = 0;
    let mut wrong: Vec<String> = Vec::new();
    let mut not_told = BTreeSet::new();
    for (name, recording) in recordings() {
        let course = Course::of(&recording);
        let mut told = Told::by(recording.header.server);
        for moment in &course.moments {
            match &moment.what {
                What::Cause(_) | What::Closed(_) | What::Gone { .. } | What::Opened(_) => {}
                What::Answer(index) => {
                    course.causes[*index].made().iter().for_each(|made| told.made(made));
                }
                What::Sent(sent) => {
                    told.take(&sent.event);
                }
                What::Read(index) => {
                    let read = &course.reads[*index];
                    let Some(resource) = &read.resource else {
                        not_told.insert(read.path.clone());
                        continue;
                    };
                    let now = told.answer(resource);
                    assert_eq!(read.reply.status, 200, "{name} {}", read.path);
                    let real = Answer::Is(json_of(&read.reply));
                    if now != real {
                        wrong.push(format!("{name} {}:\n  told {now:?}\n  real {real:?}", read.path));
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(not_told, NOT_TOLD.map(|(path, _)| path.to_owned()).into());
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_client_that_repeats_a_recording_is_told_all_of_it_and_reads_it_at_each_place() {
    for (name, recording) in recordings() {
        let course = Course::of(&recording);
        let mut client = Client::of(&recording);
        client.sends("GET", "/event", b"");
        client.sends("GET", "/global/event", b"");
        let mut tickets = vec![0; course.causes.len()];
        for moment in &course.moments {
            match &moment.what {
                What::Cause(index) => {
                    let cause = &course.causes[*index];
                    tickets[*index] = client.sends(&cause.method, &cause.path, &cause.body);
                }
                What::Answer(index) => {
                    assert_eq!(
                        client.answer(tickets[*index]),
                        course.causes[*index].answer.as_ref(),
                        "{name}"
                    );
                }
                What::Read(index) if course.reads[*index].resource.is_some() => {
                    // The body is the recorded one, byte for byte: nothing has come since.
                    let read = &course.reads[*index];
                    let ticket = client.sends("GET", &read.path, b"");
                    assert_eq!(client.answer(ticket), Some(&read.reply), "{name} {}", read.path);
                }
                _ => {}
            }
        }
        for stream in ["/event", "/global/event"] {
            let sent = course.moments.iter().filter_map(|moment| moment.what.sent());
            let recorded = sent.filter(|sent| sent.audience.stream.path() == stream);
            let recorded: Vec<&str> = recorded.map(|sent| sent.kind()).collect();
            assert_eq!(client.heard(stream), recorded, "{name} {stream}");
        }
    }
}

fn settles_a_question(cause: &Cause) -> bool {
    cause.asks.question().is_some() && cause.answer.as_ref().is_some_and(|answer| answer.status == 200)
}

#[test]
fn each_stream_tells_a_question_before_its_answer_is_awaited() {
    for (name, recording) in recordings() {
        let course = Course::of(&recording);
        let mut asked = [0, 0];
        let mut answered = 0;
        for moment in &course.moments {
            match &moment.what {
                What::Sent(sent) if sent.kind().ends_with(".asked") => {
                    asked[usize::from(sent.audience.stream.path() == "/event")] += 1;
                }
                What::Cause(index) if settles_a_question(&course.causes[*index]) => {
                    answered += 1;
                    assert!(asked.iter().all(|asked| *asked >= answered), "{name}: {asked:?} < {answered}");
                }
                _ => {}
            }
        }
    }
}

/// A client of `write-allowed-once` at its question: the session, the question, the client.
fn at_the_question() -> (String, String, Client) {
    let mut client = Client::of(&recording("permission/write-allowed-once"));
    assert_eq!(client.get("/session"), json!([]));
    let (status, session) = client.post("/session", &json!({"title": "Mine"}));
    assert_eq!(status, 200);
    let session = session["id"].as_str().unwrap().to_owned();
    // A client that waits to be told of its session before it goes on.
    assert!(client.heard("/event").contains(&"session.created".to_owned()));
    let prompt = json!({"parts": [{"type": "text", "text": "please write it"}]});
    assert_eq!(client.post(&format!("/session/{session}/prompt_async"), &prompt), (204, Value::Null));
    let question = client.get("/permission")[0]["id"].as_str().unwrap().to_owned();
    (session, question, client)
}

#[test]
fn reads_follow_the_cursor() {
    let (session, question, mut client) = at_the_question();
    assert_eq!(client.get("/session/status"), json!({&session: {"type": "busy"}}));
    let messages = client.get(&format!("/session/{session}/message?directory=/anywhere"));
    let states: Vec<&str> = messages[1]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|part| part["state"]["status"].as_str())
        .collect();
    assert_eq!((messages.as_array().unwrap().len(), states), (2, vec!["running"]));
    assert_eq!(client.get(&format!("/session/{session}/message?limit=1"))[0], messages[1]);
    assert_eq!(client.get(&format!("/session/{session}/diff")), json!([]));
    assert_eq!(client.get("/session?limit=0"), json!([]));
    let message = messages[0]["info"]["id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/session/{session}/message/{message}")), messages[0]);
    let reply = json!({"reply": "once"});
    assert_eq!(client.post(&format!("/permission/{question}/reply"), &reply), (200, json!(true)));
    assert_eq!(client.get("/permission"), json!([]));
    assert_eq!(client.get("/session/status"), json!({}));
    assert_eq!(client.get(&format!("/session/{session}/diff"))[0]["file"], "out.txt");
}

#[test]
fn what_does_not_come_next_or_means_something_else_is_told_apart() {
    let (session, question, mut client) = at_the_question();
    let mut said = Vec::new();
    let mut say = |(status, body): (u16, Value)| {
        let body = body.to_string().replace(&session, "<session>").replace(&question, "<question>");
        said.push(format!("{status} {body}"));
    };
    say(client.post(&format!("/permission/{question}/reply"), &json!({"reply": "reject", "message": "no"})));
    say(client.post(&format!("/session/{session}/message"), &json!({"parts": []})));
    say(client.post("/permission/per_other/reply", &json!({"reply": "once"})));
    say(client.post(&format!("/session/x/permissions/{question}"), &json!({"response": "once"})));
    // Again, as after a lost answer.
    say(client.post(&format!("/permission/{question}/reply"), &json!({"reply": "once"})));
    say(client.post(&format!("/session/{session}/abort"), &json!({})));
    for path in ["/config", "/session/ses_other", "/session?search=x", "/session/x/message/msg_1"] {
        let ticket = client.sends("GET", path, b"");
        let reply = client.answer(ticket).unwrap();
        say((reply.status, json_of(reply)));
    }
    insta::assert_snapshot!(said.join("\n"));
}

/// The same, had the recorded client sent its prompts with `prompt_async`.
fn with_prompts_sent_at_once(recording: &Recording) -> Recording {
    let mut prompts = BTreeSet::new();
    let mut lines = Vec::new();
    for line in recording.render().unwrap().lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let (method, path) =
            (&line["request"]["method"], line["request"]["path"].as_str().unwrap_or_default());
        if method == "POST" && path.ends_with("/message") {
            let (at_us, exchange) = (line["request"]["at_us"].clone(), line["request"]["exchange"].clone());
            prompts.insert(exchange.to_string());
            line["request"]["path"] = json!(path.replace("/message", "/prompt_async"));
            lines.push(line.to_string());
            lines
                .push(json!({"response": {"at_us": at_us, "exchange": exchange, "status": 204}}).to_string());
        } else if !prompts.contains(&line["response"]["exchange"].to_string()) {
            lines.push(line.to_string());
        }
    }
    Recording::parse(Path::new("at-once.jsonl"), &(lines.join("\n") + "\n")).unwrap()
}

/// An answer without what no event tells: when a step began that was aborted.
fn known(mut answer: Value) -> Value {
    if let Some(parts) = answer.get_mut("parts").and_then(Value::as_array_mut)
        && !parts.iter().any(|part| part["type"] == "step-finish")
    {
        let steps = parts.iter_mut().filter(|part| part["type"] == "step-start");
        steps.filter_map(Value::as_object_mut).for_each(|step| drop(step.remove("time")));
    }
    answer
}

#[test]
fn a_prompt_that_was_not_waited_for_can_be_waited_for() {
    let mut compared = 0;
    for (name, recording) in recordings() {
        let waited_for = Course::of(&recording);
        let mut client = Client::of(&with_prompts_sent_at_once(&recording));
        let mut tickets = Vec::new();
        for cause in &waited_for.causes {
            tickets.push(client.sends(&cause.method, &cause.path, &cause.body));
        }
        for (cause, ticket) in waited_for.causes.iter().zip(tickets) {
            let (recorded, got) = (cause.answer.as_ref().unwrap(), client.answer(ticket).unwrap());
            assert_eq!(known(json_of(got)), known(json_of(recorded)), "{name} {}", cause.path);
            assert_eq!(got.status, recorded.status, "{name} {}", cause.path);
            compared += usize::from(matches!(cause.asks, Asks::Turn(_)));
        }
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
fn sessions_wait_only_for_their_own_causes() {
    let turn = json!({"parts": []});
    let none = json!({});
    let mut client = Client::of(&mixed());
    client.post("/session", &none);
    client.post("/session", &none);
    client.acts.clear();
    // The other session first: its turn and what goes with it come to their end.
    assert_eq!(client.post("/session/ses_b/prompt_async", &turn).0, 200);
    assert_eq!(client.heard("/event"), ["turn.b", "file.b", "end.b"]);
    assert_eq!(client.post("/session/ses_a/abort", &none).0, 501, "nothing to abort yet");
    assert_eq!(client.post("/instance/dispose", &none).0, 501, "what holds for all waits for all");
    client.acts.clear();
    assert_eq!(client.post("/session/ses_a/prompt_async", &turn).0, 200);
    assert_eq!(client.heard("/event"), ["turn.a", "session.created", "turn.c"]);
    client.acts.clear();
    assert_eq!(client.post("/session/ses_a/abort", &none), (200, json!(true)));
    assert_eq!(client.heard("/event"), ["end.a", "end.c"]);
    client.acts.clear();
    assert_eq!(client.post("/instance/dispose", &none), (200, json!(true)));
    assert_eq!(client.heard("/event"), ["disposed"]);
    assert_eq!(client.get("/session/ses_a/children")[0]["id"], "ses_c");
    assert_eq!(client.get("/session?roots=true").as_array().unwrap().len(), 2);
}

/// Asks for both sessions of `mixed` and prompts in the first.
fn prompted_in_a() -> Client {
    let mut client = Client::of(&mixed());
    client.post("/session", &json!({}));
    assert_eq!(
        client.heard("/event"),
        ["session.created"],
        "a session is told before anything else is asked"
    );
    assert_eq!(client.get("/session"), json!([{"id": "ses_a", "time": {"updated": 1}}]));
    client.post("/session", &json!({}));
    client.acts.clear();
    client.sends("POST", "/session/ses_a/prompt_async", br#"{"parts":[]}"#);
    assert_eq!(client.heard("/event"), [""; 0], "the other session's prompt was recorded here");
    client
}

#[test]
fn who_follows_the_recorded_order_gets_sessions_as_mixed_as_recorded() {
    let mut client = prompted_in_a();
    client.post("/session/ses_b/prompt_async", &json!({"parts": []}));
    assert_eq!(client.heard("/event"), ["turn.a", "turn.b", "file.b", "session.created", "turn.c"]);
}

#[test]
fn a_session_does_not_wait_for_ever_for_another_ones_cause() {
    let mut client = prompted_in_a();
    let wake = client.acts.iter().find_map(|act| match act {
        Act::WakeAfter(_, number) => Some(*number),
        _ => None,
    });
    let number = wake.unwrap();
    assert!(client.replay.wake(number - 1).is_empty(), "something was asked since");
    let acts = client.replay.wake(number);
    client.acts.extend(acts);
    assert_eq!(client.heard("/event"), ["turn.a", "session.created", "turn.c"]);
    client.acts.clear();
    client.post("/session/ses_b/prompt_async", &json!({"parts": []}));
    assert_eq!(client.heard("/event"), ["turn.b", "file.b", "end.b"]);
}

#[test]
fn what_is_no_whole_recording_is_refused() {
    let whole = recording("text/plain");
    let mut history = whole.clone();
    history.header.kind = FileKind::History;
    let torn = Recording { torn: true, ..whole };
    assert_eq!(Replay::new(&history, None, Pace::Causal).unwrap_err(), Unplayable::NotARecording("history"));
    assert_eq!(Replay::new(&torn, None, Pace::Causal).unwrap_err(), Unplayable::Torn);
}
