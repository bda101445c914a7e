//! What a server sees of the model, over a real socket.

use super::*;
use fixtures::scenario::Scenario;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn start(scenario: Scenario, gates: Gates) -> (ModelServer, Arc<Mutex<Vec<String>>>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let on_call: OnCall = Arc::new(move |_, answer| seen.lock().unwrap().push(answer.answered.clone()));
    let options = ModelOptions { gates, on_call, ..ModelOptions::default() };
    (ModelServer::start(Script::new(scenario, "/w"), options).await.unwrap(), calls)
}

fn scenario(steps: &str) -> Scenario {
    let text = format!(
        "about = \"x\"\nagent = [{{ on = {{ prompt_contains = \"go\" }}, steps = [{steps}] }}]\n\
         user = {{ steps = [{{ prompt = \"go\" }}, {{ do = \"abort\" }}] }}"
    );
    Scenario::parse(std::path::Path::new("s.toml"), &text).unwrap()
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn ask(model: &ModelServer, stream: bool, prompt: &str) -> reqwest::Response {
    let body = json!({"messages": [{"role": "user", "content": prompt}], "stream": stream});
    client().post(format!("{}/v1/chat/completions", model.url())).json(&body).send().await.unwrap()
}

/// Everything that arrives for a request, and how it ended.
async fn raw(model: &ModelServer, stream: bool) -> (String, std::io::Result<()>) {
    let mut socket = TcpStream::connect(model.address).await.unwrap();
    let body = json!({"messages": [{"role": "user", "content": "go"}], "stream": stream}).to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        model.address,
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let ended = loop {
        match socket.read(&mut buffer).await {
            Ok(0) => break Ok(()),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) => break Err(error),
        }
    };
    (String::from_utf8(bytes).unwrap(), ended)
}

#[tokio::test]
async fn a_server_gets_the_turn_as_a_stream_and_in_one_piece() {
    let scenario = fixtures::catalog::scenario("permission/write-allowed-once").unwrap();
    let (model, calls) = start(scenario, Gates::default()).await;
    let text = ask(&model, true, "write").await.text().await.unwrap();
    assert!(text.ends_with("data: [DONE]\n\n"));
    let frames = fixtures::sse::parse(text.as_bytes());
    let whole: Value = ask(&model, false, "write").await.json().await.unwrap();
    let said: String = frames
        .iter()
        .filter_map(|frame| serde_json::from_str::<Value>(&frame.data).ok())
        .filter_map(|chunk| chunk.pointer("/choices/0/delta/content")?.as_str().map(str::to_owned))
        .collect();
    assert_eq!(said, "I will write the file.");
    assert_eq!(whole["choices"][0]["message"]["content"], said);
    assert_eq!(
        whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        r#"{"filePath":"/w/out.txt","content":"hello\n"}"#
    );
    let refused = ask(&model, true, "sing").await;
    assert_eq!(refused.status(), 400);
    assert!(refused.text().await.unwrap().contains("no turn answers the prompt \\\"sing\\\""));
    let calls = calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 3);
    assert!(calls[2].starts_with("nothing: no turn"));
    let report: Value =
        client().get(format!("{}/standin/report", model.url())).send().await.unwrap().json().await.unwrap();
    assert_eq!(report["unscripted"].as_array().unwrap().len(), 1);
    assert_eq!(report["unused"], json!(["turn 1 (on \"write\"), response 2 of 2"]));
    assert_eq!(json!(model.report().unused), report["unused"]);
}

#[tokio::test]
async fn a_gate_holds_the_stream_until_it_is_opened() {
    let (model, _) =
        start(scenario(r#"{ say = "before" }, { gate = "mid" }, { say = "after" }"#), Gates::default()).await;
    let mut response = ask(&model, true, "go").await;
    let mut seen = String::new();
    while !seen.contains("before") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(!model.gates().is_open("mid"));
    let clock = Clock::new(ClockKind::Real);
    tokio::select! {
        chunk = response.chunk() => panic!("the gate is closed, and more came: {chunk:?}"),
        () = clock.wait(Duration::from_millis(100)) => {}
    }
    let gates = format!("{}/standin/gates", model.url());
    let typo = client().post(format!("{gates}/middle")).send().await.unwrap();
    assert_eq!(typo.status(), 404);
    assert!(typo.text().await.unwrap().contains("there is no gate 'middle'"));
    let opened = client().post(format!("{}/standin/gates/mid", model.url())).send().await.unwrap();
    assert_eq!(opened.status(), 204);
    assert!(response.text().await.unwrap().contains("after"));
    let text = ask(&model, true, "go").await.text().await.unwrap();
    assert!(text.contains("after"), "it stays open");
}

#[tokio::test]
async fn a_refusal_has_its_status_and_its_delay() {
    let steps = r#"{ fail = 429, retry_after = 3, message = "slow down" }, { fail = 503 }, { say = "well" }, { finish = "length", reasoning_tokens = 2, cached_tokens = 4 }"#;
    let (model, calls) = start(scenario(steps), Gates::default()).await;
    let first = ask(&model, true, "go").await;
    assert_eq!(first.status(), 429);
    assert_eq!(first.headers()["retry-after"], "3");
    let body: Value = first.json().await.unwrap();
    assert_eq!(body["error"]["message"], "slow down");
    assert_eq!(body["error"]["type"], "rate_limit_error");
    let second = ask(&model, true, "go").await;
    assert_eq!(second.status(), 503);
    assert!(second.headers().get("retry-after").is_none());
    let third: Value = ask(&model, false, "go").await.json().await.unwrap();
    assert_eq!(third["choices"][0]["finish_reason"], "length");
    assert_eq!(third["usage"]["completion_tokens_details"]["reasoning_tokens"], 2);
    assert_eq!(third["usage"]["prompt_tokens_details"]["cached_tokens"], 4);
    assert_eq!(calls.lock().unwrap()[1], "turn 1, response 2 of 3: status 503");
}

#[tokio::test]
async fn a_model_that_thinks_first_hears_which_session_asks() {
    let sessions = Arc::new(Mutex::new(Vec::new()));
    let seen = sessions.clone();
    let on_call: OnCall = Arc::new(move |request, _| seen.lock().unwrap().push(request.session.clone()));
    let pause = Duration::from_millis(30);
    let options = ModelOptions { pause, on_call, ..ModelOptions::default() };
    let script = Script::new(scenario("{ say = \"well\" }"), "/w");
    let model = ModelServer::start(script, options).await.unwrap();
    let clock = Clock::new(ClockKind::Real);
    let url = format!("{}/v1/chat/completions", model.url());
    for header in ["x-session-id", "x-session-affinity", "x-opencode-session", "x-other"] {
        let began = clock.elapsed_us();
        let body = json!({"messages": [{"role": "user", "content": "go"}]});
        let asked = client().post(&url).header(header, format!("ses of {header}")).json(&body);
        assert_eq!(asked.send().await.unwrap().status(), 200);
        assert!(Duration::from_micros(clock.elapsed_us() - began) >= pause, "{header}");
    }
    let told = ["ses of x-session-id", "ses of x-session-affinity", "ses of x-opencode-session"];
    let expected: Vec<_> = told.into_iter().map(|session| Some(session.to_owned())).chain([None]).collect();
    assert_eq!(*sessions.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_answer_breaks_off_as_the_script_says() {
    for (how, as_stream) in
        ["clean", "truncated", "reset"].into_iter().flat_map(|how| [(how, true), (how, false)])
    {
        let steps = format!("{{ say = \"half\" }}, {{ break_off = \"{how}\" }}");
        let (model, _) = start(scenario(&steps), Gates::default()).await;
        let (text, ended) = raw(&model, as_stream).await;
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{how}: {text}");
        assert!(!text.contains("[DONE]"), "{how}: {text}");
        assert_eq!(text.ends_with("\r\n0\r\n\r\n"), how == "clean", "{how}: {text}");
        assert_eq!(ended.is_err(), how == "reset", "{how}: {ended:?}");
        if as_stream {
            assert!(text.contains("half"), "{how}: {text}");
        }
    }
}

#[tokio::test]
async fn a_stalled_answer_neither_goes_on_nor_ends() {
    let (model, _) = start(scenario(r#"{ say = "half" }, { break_off = "stall" }"#), Gates::default()).await;
    let mut response = ask(&model, true, "go").await;
    let mut seen = String::new();
    while !seen.contains("half") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    let next = crate::clock::Clock::new(ClockKind::Real);
    tokio::select! {
        chunk = response.chunk() => panic!("more came: {chunk:?}"),
        () = next.wait(Duration::from_millis(100)) => {}
    }
}
