//! Goal: a test in any language can tell a stand-in over HTTP what breaks and ask it what happened. Method: plain
//! requests on loopback, made of the description alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod waits;

use mock_server::StandIn;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};

struct Control {
    stand_in: StandIn,
    client: Client,
}

impl Control {
    async fn over(scenario: &str) -> Self {
        let stand_in = StandIn::opencode().scenario(scenario).lane("phone").control("key").lenient();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { stand_in: stand_in.start().await.unwrap(), client }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/__standin__{path}", self.stand_in.url());
        let request = self.client.request(method, url).bearer_auth("key");
        let request = if body.is_null() { request } else { request.json(&body) };
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    async fn done(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, said) = self.ask(method, path, body).await;
        assert_eq!(status, 200, "{path}: {said}");
        said
    }

    async fn refused(&self, method: Method, path: &str, body: Value) -> (u16, String) {
        let (status, said) = self.ask(method, path, body).await;
        (status, said["error"].as_str().unwrap_or_else(|| panic!("{path}: {said}")).to_owned())
    }

    async fn server(&self, method: Method, path: &str, body: Value) -> Response {
        let request = self.client.request(method, format!("{}{path}", self.stand_in.url()));
        request.json(&body).send().await.unwrap()
    }

    async fn journal(&self, format: &str) -> String {
        let journal = format!("{}/__standin__/journal?format={format}", self.stand_in.url());
        self.client.get(journal).bearer_auth("key").send().await.unwrap().text().await.unwrap()
    }

    async fn sessions(&self) -> usize {
        let list: Value = self.server(Method::GET, "/session", Value::Null).await.json().await.unwrap();
        list.as_array().unwrap().len()
    }

    async fn prompt(&self, text: &str) -> String {
        let session: Value = self.server(Method::POST, "/session", json!({})).await.json().await.unwrap();
        let id = session["id"].as_str().unwrap().to_owned();
        let prompt = json!({"parts": [{"type": "text", "text": text}]});
        let sent = self.server(Method::POST, &format!("/session/{id}/prompt_async"), prompt).await;
        assert_eq!(sent.status(), 204);
        id
    }
}

#[tokio::test]
async fn faults_are_armed_listed_and_disarmed_while_the_server_runs() {
    let control = Control::over("text/plain").await;
    let armed = json!({
        "lines": ["503 at GET /path twice"],
        "faults": [{"when": {"request": "GET /agent"}, "do": {"status": 418}}],
        "toml": "[[fault]]\nwhen = { stream = \"event\" }\ndo = { drop = \"*\" }\n",
    });
    assert_eq!(control.done(Method::POST, "/faults", armed).await, json!({"armed": [1, 2, 3]}));
    assert_eq!(control.server(Method::GET, "/agent", Value::Null).await.status(), 418);
    assert_eq!(control.server(Method::GET, "/path", Value::Null).await.status(), 503);
    control.done(Method::DELETE, "/faults/2", Value::Null).await;
    assert_eq!(control.server(Method::GET, "/path", Value::Null).await.status(), 200);
    let list = control.done(Method::GET, "/faults", Value::Null).await;
    let stood: Vec<(Value, Value)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| (fault["state"].clone(), fault["fired"].clone()))
        .collect();
    assert_eq!(
        stood,
        [(json!("spent"), json!(1)), (json!("disarmed"), json!(1)), (json!("armed"), json!(0))]
    );
    assert_eq!(control.done(Method::POST, "/wait", json!({"fault": 1})).await, json!({"met": true}));
    let unmet = control.done(Method::GET, "/verify", Value::Null).await;
    assert_eq!((unmet["holds"].clone(), unmet["unfired"][0]["number"].clone()), (json!(false), json!(3)));
    control.done(Method::DELETE, "/faults", Value::Null).await;
    assert_eq!(control.done(Method::GET, "/verify", Value::Null).await["unfired"], json!([]));
}

#[tokio::test]
async fn a_fault_that_is_armed_late_meets_streams_that_are_open() {
    let control = Control::over("text/plain").await;
    let mut stream = control.server(Method::GET, "/event", Value::Null).await;
    control.done(Method::POST, "/wait", json!({"streams": 1})).await;
    control.done(Method::POST, "/faults", json!({"lines": ["cut mid-frame 9 at session.created"]})).await;
    control.prompt("say hello").await;
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = stream.chunk().await {
        bytes.extend_from_slice(&chunk);
    }
    assert!(bytes.ends_with(b"\n\ndata: {\"i"), "{}", String::from_utf8_lossy(&bytes));
    control.done(Method::POST, "/wait", json!({"streams": 0})).await;
    let text = control.journal("text").await;
    for told in [
        "fault 1 is armed: it cuts after 9 bytes",
        "⚡ fault 1 cuts",
        "✕ the stream breaks in the middle of a frame",
        "POST /session",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[tokio::test]
async fn something_happens_at_once() {
    let control = Control::over("permission/write-rejected").await;
    control.prompt("please write it").await;
    control.done(Method::POST, "/wait", json!({"while": "permission-pending"})).await;
    control.done(Method::POST, "/now", json!({"do": {"reply": "reject"}})).await;
    control.done(Method::POST, "/wait", json!({"event": "permission.replied"})).await;
    control.done(Method::POST, "/now", json!({"do": {"restart": "killed", "state": "lost"}})).await;
    assert_eq!(control.sessions().await, 0);
    control.done(Method::POST, "/now", json!({"do": {"password": "pw"}})).await;
    assert_eq!(control.server(Method::GET, "/session", Value::Null).await.status(), 401);
    let (status, error) = control.refused(Method::POST, "/now", json!({"do": {"status": 500}})).await;
    assert!(status == 400 && error.contains("arm it"), "{error}");
}

#[tokio::test]
async fn a_stand_in_begins_anew_with_the_same_or_another_scenario() {
    let control = Control::over("text/plain").await;
    let id = control.prompt("say hello").await;
    control.done(Method::POST, "/wait", json!({"event": "session.idle"})).await;
    let file = std::path::Path::new(control.stand_in.workspace()).join("more.txt");
    std::fs::write(&file, "more").unwrap();
    control.done(Method::POST, "/reset", json!({"what": "all"})).await;
    assert_eq!((control.sessions().await, file.exists()), (0, false));
    let random = |id: &str| id[id.len() - 14..].to_owned();
    assert_eq!(random(&control.prompt("say hello").await), random(&id), "the same seed makes the same ids");
    control.done(Method::POST, "/wait", json!({"event": "session.idle"})).await;
    control.done(Method::POST, "/scenario", json!({"name": "permission/write-allowed-once"})).await;
    control.prompt("please write it").await;
    control.done(Method::POST, "/wait", json!({"while": "permission-pending"})).await;
    let (status, error) = control.refused(Method::POST, "/scenario", json!({"name": "text/plane"})).await;
    assert!(status == 400 && error.contains("did you mean 'text/plain'?"), "{error}");
}

#[tokio::test]
async fn calls_are_verified_with_what_came_near() {
    let control = Control::over("text/plain").await;
    control.prompt("say hello").await;
    let verified = |words: Value| control.done(Method::POST, "/verify", words);
    let good = json!({
        "expected": [{"request": "POST /session", "count": 1}],
        "forbidden": ["POST /session/{sessionID}/abort"],
        "order": ["POST /session", {"request": "POST /session/{sessionID}/prompt_async", "body": {"parts.0.text": "say hello"}}],
    });
    assert_eq!(verified(good).await, json!({"holds": true, "unmet": []}));
    let unmet = verified(json!({"expected": [{"request": "POST /session", "lane": "phone"}]})).await;
    assert_eq!(
        unmet["unmet"][0]["near"],
        json!(["POST /session (lane 'main', exchange 1): it is of lane 'main'"])
    );
    let (status, error) =
        control.refused(Method::POST, "/verify", json!({"forbidden": ["POST /sesion"]})).await;
    assert!(status == 400 && error.contains("did you mean 'POST /session'?"), "{error}");
}

#[tokio::test]
async fn who_has_no_token_gets_nothing_and_who_asks_nonsense_is_told() {
    let control = Control::over("text/plain").await;
    let url = format!("{}/__standin__/faults", control.stand_in.url());
    for token in ["", "another"] {
        let response = control.client.get(&url).bearer_auth(token).send().await.unwrap();
        assert_eq!(response.status(), 401);
    }
    let without = StandIn::opencode().scenario("text/plain").lenient().start().await.unwrap();
    let url = format!("{}/__standin__/faults", without.url());
    let page = control.client.get(url).send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html", "as the real server answers any path");
    let mut told = Vec::new();
    for (method, path, body) in [
        (Method::POST, "/faults", json!({})),
        (Method::POST, "/faults", json!({"lines": ["ct"]})),
        (Method::POST, "/faults", json!({"lines": ["cut after 5 events of desk"]})),
        (Method::POST, "/faults", json!({"lines": ["503 at GET /sesion"]})),
        (Method::POST, "/faults", json!({"lines": "cut"})),
        (Method::POST, "/faults", json!({"faults": [{"when": {"stream": "event"}, "do": {"cut": 5}}]})),
        (Method::POST, "/faults", json!([])),
        (Method::DELETE, "/faults/9", Value::Null),
        (Method::DELETE, "/faults/x", Value::Null),
        (Method::POST, "/events", json!({"event": {}})),
        (Method::POST, "/events", json!({"event": {"type": "x"}, "stream": "evnt"})),
        (Method::POST, "/wait", json!({})),
        (Method::POST, "/wait", json!({"event": "x", "fault": 1})),
        (Method::POST, "/wait", json!({"event": "x", "limit_ms": 9_999_999})),
        (Method::POST, "/reset", json!({"what": "everything"})),
        (Method::POST, "/scenario", json!({})),
        (Method::GET, "/journal?format=xml", Value::Null),
        (Method::GET, "/journal?from=x", Value::Null),
        (Method::GET, "/fault", Value::Null),
    ] {
        let (status, error) = control.refused(method.clone(), path, body.clone()).await;
        told.push(format!("{method} {path} {body}\n  {status} {error}"));
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[tokio::test]
async fn the_description_has_every_operation_and_no_other() {
    let control = Control::over("text/plain").await;
    let doc = control.done(Method::GET, "/openapi.json", Value::Null).await;
    assert_eq!(doc, *mock_server::control::description());
    for (method, path) in mock_server::control::operations() {
        let path = path.replace("{number}", "1").replace("{name}", "x");
        let (_, said) = control.ask(method.parse().unwrap(), &path, Value::Null).await;
        let error = said["error"].as_str().unwrap_or_default();
        assert!(!error.contains("there is no operation"), "{method} {path}: {error}");
    }
}

#[tokio::test]
async fn what_could_never_be_is_refused_at_once() {
    let control = Control::over("text/plain").await;
    let lines = json!({"faults": [{"when": {"request": "rest"}, "do": {"status": 500}}, {"when": {"stream": "event", "nth": {}}, "do": {"drop": "*"}}]});
    for (path, body, status, words) in [
        ("/faults", lines, 400, "faults[1]: "),
        (
            "/faults",
            json!({"toml": "[[acp]]\nwhen = { answer_to = \"initialize\" }\ndo = { hang = true }\n"}),
            400,
            "[[acp]]",
        ),
        ("/faults", json!({"lines": ["503 at POST /sesion/{sessionID}/message"]}), 400, "no operation"),
        (
            "/faults",
            json!({"faults": [{"when": {"request": "rest"}, "do": {"status": 204, "body": "x"}}]}),
            400,
            "no body",
        ),
        (
            "/faults",
            json!({"faults": [{"when": {"request": "rest"}, "do": {"status": 200, "headers": {"a b": "c"}}}]}),
            400,
            "no name of a header",
        ),
        (
            "/faults",
            json!({"faults": [{"when": {"request": "rest"}, "do": {"content_type": "a\r\nb: c"}}]}),
            400,
            "can't stand in a header",
        ),
        ("/now", json!({"do": {"reply": "once"}}), 409, "no permission is pending"),
        ("/now", json!({"do": {"refuse_ms": 1}, "lane": "fone"}), 400, "phone"),
        ("/now", json!({"do": {"restart": "killed", "down_ms": u64::MAX}}), 400, "too long"),
        ("/wait", json!({"fault": 9}), 404, "no fault 9"),
        ("/wait", json!({"request": "GET /sesion"}), 400, "no operation"),
    ] {
        let (answered, said) = control.refused(Method::POST, path, body.clone()).await;
        assert!(answered == status && said.contains(words), "{path} {body}: {answered} {said}");
    }
    let session = control.prompt("say hello").await;
    let one = format!("POST /session/{session}/prompt_async");
    let calls = json!({"expected": [{"request": one, "count": 1}]});
    assert_eq!(
        control.done(Method::POST, "/verify", calls).await["holds"],
        json!(true),
        "one session's call"
    );
}

#[tokio::test]
async fn what_is_done_over_http_stands_in_the_journal() {
    let control = Control::over("text/plain").await;
    control.done(Method::POST, "/faults", json!({"lines": ["503 at GET /path"]})).await;
    control.done(Method::DELETE, "/faults/1", Value::Null).await;
    control.done(Method::DELETE, "/faults", Value::Null).await;
    control.done(Method::POST, "/now", json!({"do": {"password": "hidden"}})).await;
    control.done(Method::POST, "/events", json!({"event": {"type": "x.y", "properties": {}}})).await;
    control.done(Method::POST, "/scenario", json!({"name": "text/plain"})).await;
    let text = control.journal("text").await;
    for told in [
        "fault 1 is disarmed",
        "all faults are disarmed",
        "at once it wants another password",
        "it is told to send the event x.y",
        "it is told to begin anew with the scenario text/plain",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert!(!text.contains("hidden"), "{text}");
}
