//! A whole performance against a server of a few lines, and each way in which one can fail.

use super::*;
use crate::capture::Credentials;
use crate::tape::Tape;
use crate::testing::fake_server::{Asked, Out, chunk, serve, stream_head, whole};
use crate::testing::scenario;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Nobody is behind these performances.
struct Nobody;

impl Backstage for Nobody {
    fn open_gate(&self, _: &str) {}

    fn restart(&self, _: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async { Err("nobody can".to_owned()) })
    }
}

/// How the server behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Good,
    NeverConnects,
    NeverSettles,
    RefusesPrompts,
    NeverAsks,
    LosesStreams,
    RefusesAnswers,
    NeverEndsItsTurn,
}

/// The connections that are open.
#[derive(Default)]
struct Open {
    events: Vec<Out>,
    global_events: Vec<Out>,
    prompt: Option<Out>,
}

impl Open {
    /// Whether the client still listens does not matter to a server.
    fn emit(&self, event: &Value) {
        for out in &self.events {
            drop(out.send(chunk(&format!("data: {event}\n\n"))));
        }
        for out in &self.global_events {
            drop(out.send(chunk(&format!("data: {}\n\n", json!({ "directory": "/w", "payload": event })))));
        }
    }
}

fn event(kind: &str, properties: &Value) -> Value {
    json!({ "id": "evt_1", "type": kind, "properties": properties })
}

fn answer(server: Server, open: &Mutex<Open>, asked: &Asked, out: Out) {
    let mut open = open.lock().unwrap();
    let say = |out: &Out, status, body: &str| drop(out.send(whole(status, body)));
    match asked.line.as_str() {
        "GET /event" | "GET /global/event" => {
            out.send(stream_head()).unwrap();
            if server != Server::NeverConnects {
                let connected = event("server.connected", &json!({}));
                out.send(chunk(&format!("data: {}\n\n", json!({ "payload": connected })))).unwrap();
            }
            if server == Server::NeverSettles {
                let out = out.clone();
                tokio::spawn(async move {
                    while out.send(chunk("data: {\"type\":\"noise\"}\n\n")).is_ok() {
                        tokio::task::yield_now().await;
                    }
                });
            }
            if asked.line == "GET /event" { open.events.push(out) } else { open.global_events.push(out) }
        }
        "POST /session" => {
            open.emit(&event("session.created", &json!({ "sessionID": "ses_1" })));
            say(&out, 200, r#"{"id":"ses_1"}"#);
        }
        "POST /session/ses_1/message" if server == Server::RefusesPrompts => {
            say(&out, 400, r#"{"name":"BadRequest"}"#)
        }
        "POST /session/ses_1/message" => {
            // One that was settled by itself comes first; it must not be answered.
            open.emit(&event("permission.asked", &json!({ "id": "per_0", "sessionID": "ses_1" })));
            open.emit(&event("permission.replied", &json!({ "requestID": "per_0", "sessionID": "ses_1" })));
            if server == Server::LosesStreams {
                open.events.clear();
            } else if server != Server::NeverAsks {
                open.emit(&event("permission.asked", &json!({ "id": "per_1", "sessionID": "ses_child" })));
            }
            open.prompt = Some(out);
        }
        "POST /session/ses_child/permissions/per_1" if server == Server::RefusesAnswers => {
            say(&out, 404, r#"{"_tag":"PermissionNotFoundError"}"#);
        }
        "POST /session/ses_child/permissions/per_1" => {
            assert_eq!(asked.body, r#"{"response":"once"}"#);
            say(&out, 200, "true");
            open.emit(&event("session.idle", &json!({ "sessionID": "ses_child" })));
            if server == Server::Good {
                open.emit(&event("session.idle", &json!({ "sessionID": "ses_1" })));
                say(&open.prompt.take().unwrap(), 200, r#"{"info":{}}"#);
            }
        }
        "GET /doc" => say(&out, 200, r#"{"openapi":"3.1.0"}"#),
        line if line.starts_with("GET /") => say(&out, 200, "[]"),
        other => panic!("{other}"),
    }
}

/// Long enough for a loopback, and short enough to wait for in vain.
fn limits() -> Limits {
    let quiet = Duration::from_millis(50);
    let vain = Duration::from_millis(500);
    Limits {
        boot_quiet: quiet,
        quiet,
        boot: vain,
        permission: vain,
        idle: vain,
        settle: vain,
        ..Limits::default()
    }
}

async fn performed(server: Server) -> (Result<Performed, DriveError>, Vec<Line>) {
    let open = Arc::new(Mutex::new(Open::default()));
    let url = serve(move |asked, out| answer(server, &open, &asked, out)).await;
    let tape = Tape::new();
    let credentials = Credentials { user: "kilo".into(), password: "a-password-of-the-tests".into() };
    let client = Client::new(&url, credentials, tape.clone()).unwrap();
    let limits = match server {
        Server::Good => Limits {
            boot: Duration::from_secs(20),
            permission: Duration::from_secs(20),
            idle: Duration::from_secs(20),
            settle: Duration::from_secs(20),
            ..limits()
        },
        // Its noise has gaps on a busy machine; a quiet of this length is none of them.
        Server::NeverSettles => Limits { boot_quiet: Duration::from_millis(400), ..limits() },
        Server::NeverConnects => Limits { exchange: Duration::from_millis(500), ..limits() },
        _ => limits(),
    };
    (perform(&scenario(), "/tmp/w", &client, &limits, &Nobody).await, tape.lines())
}

/// What was done, in order; the chunks of the streams are left out, since two connections race.
fn told(lines: &[Line]) -> String {
    let told = lines.iter().filter_map(|line| match line {
        Line::User(line) => Some(format!("{}. {}", line.step, line.does)),
        Line::Request(line) => Some(format!("#{} {} {}", line.exchange, line.method, line.path)),
        Line::End(line) => Some(format!("#{} {:?}", line.exchange, line.how)),
        _ => None,
    });
    told.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_person_comes_prompts_answers_waits_and_leaves() {
    let (performed, lines) = performed(Server::Good).await;
    let performed = performed.unwrap();
    assert_eq!((performed.session.as_str(), &performed.doc[..]), ("ses_1", &br#"{"openapi":"3.1.0"}"#[..]));
    // The prompt is sent in the background, so its request may stand behind the next step.
    let (prompts, rest): (Vec<_>, Vec<_>) = told(&lines)
        .lines()
        .map(str::to_owned)
        .partition(|line| line.contains("/message") && line.contains("POST"));
    assert_eq!(prompts, ["#5 POST /session/ses_1/message"]);
    insta::assert_snapshot!(rest.join("\n"));
}

#[tokio::test]
async fn a_failure_names_the_step_and_what_was_waited_for() {
    let mut told = Vec::new();
    for server in [
        Server::NeverConnects,
        Server::NeverSettles,
        Server::RefusesPrompts,
        Server::NeverAsks,
        Server::LosesStreams,
        Server::RefusesAnswers,
        Server::NeverEndsItsTurn,
    ] {
        let (performed, lines) = performed(server).await;
        told.push(performed.unwrap_err().to_string());
        let ends = lines.iter().filter(|line| matches!(line, Line::End(_))).count();
        assert_eq!(ends, 2, "both streams have their end on the tape");
    }
    insta::assert_snapshot!(told.join("\n"));
}
