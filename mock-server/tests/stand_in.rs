//! Goal: the stand-in behaves on a real socket as its parts do in memory. Method: a plain client on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::fault_plan::FaultPlan;
use fixtures::recording::{HowEnded, Line};
use fixtures::{ServerKind, catalog, sse};
use mock_server::{Options, StandIn};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use std::path::Path;

const SCENARIO: &str = "permission/write-allowed-once";

fn options(server: ServerKind) -> Options {
    Options::scenario(server, catalog::scenario(SCENARIO).unwrap())
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// Reads events until one fits.
struct Events {
    response: Response,
    parser: sse::Parser,
    seen: Vec<Value>,
}

impl Events {
    async fn open(client: &Client, url: &str) -> Self {
        let response = client.get(format!("{url}/event")).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, parser: sse::Parser::new(), seen: Vec::new() }
    }

    async fn until(&mut self, kind: &str) -> Value {
        loop {
            let chunk = self.response.chunk().await.unwrap().expect("the stream ended too early");
            let events =
                self.parser.feed(&chunk).into_iter().map(|frame| serde_json::from_str(&frame.data).unwrap());
            self.seen.extend(events.collect::<Vec<Value>>());
            if let Some(event) = self.seen.iter().rfind(|event| event["type"] == kind) {
                return event.clone();
            }
        }
    }
}

async fn post(client: &Client, url: &str, body: Value) -> Value {
    client.post(url).json(&body).send().await.unwrap().json().await.unwrap()
}

async fn play(server: ServerKind) -> (StandIn, Vec<Value>, Value) {
    let stand_in = StandIn::start(options(server)).await.unwrap();
    let (client, url) = (client(), stand_in.url());
    let mut events = Events::open(&client, &url).await;
    let session =
        post(&client, &format!("{url}/session"), json!({})).await["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "please write it"}]});
    let sent =
        client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
    assert_eq!(sent.status(), 204);
    let asked = events.until("permission.asked").await;
    let target = format!("{}/out.txt", stand_in.workspace());
    assert!(!Path::new(&target).exists(), "nothing is written before the answer");
    let id = asked["properties"]["id"].as_str().unwrap();
    let reply =
        post(&client, &format!("{url}/session/{session}/permissions/{id}"), json!({"response": "once"}))
            .await;
    assert_eq!(reply, true);
    events.until("session.idle").await;
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "hello\n");
    let messages =
        client.get(format!("{url}/session/{session}/message")).send().await.unwrap().json().await.unwrap();
    (stand_in, events.seen, messages)
}

#[tokio::test]
async fn the_scenario_is_performed_by_both_profiles() {
    for server in ServerKind::ALL {
        let (_stand_in, events, messages) = play(server).await;
        let texts: Vec<&str> = messages
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["parts"].as_array().unwrap())
            .filter_map(|part| part["text"].as_str())
            .collect();
        assert_eq!(texts, ["please write it", "I will write the file.", "Done."], "{server}");
        let deltas: String =
            events.iter().filter_map(|event| event["properties"]["delta"].as_str()).collect();
        assert_eq!(deltas, "I will write the file.Done.");
    }
}

#[tokio::test]
async fn a_cut_in_mid_frame_arrives_as_planned_and_is_in_the_journal() {
    let plan = "[[fault]]\nwhen = { lane = \"main\", stream = \"event\", after_event = \"message.part.delta\", nth = 2 }\ndo = { cut = \"mid-frame\", bytes = 17 }\n";
    let mut options = options(ServerKind::Opencode);
    options.faults = FaultPlan::parse(Path::new("plan"), plan).unwrap();
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (client(), stand_in.url());
    let mut stream = client.get(format!("{url}/event")).send().await.unwrap();
    let session =
        post(&client, &format!("{url}/session"), json!({})).await["id"].as_str().unwrap().to_owned();
    assert_eq!(stand_in.unfired_faults().len(), 1);
    let prompt = json!({"parts": [{"type": "text", "text": "please write it"}]});
    client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
    let mut bytes = Vec::new();
    let error = loop {
        match stream.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => panic!("a cut must not look like a clean end"),
            Err(error) => break error,
        }
    };
    assert!(error.is_body() || error.is_decode(), "{error:?}");
    let text = String::from_utf8(bytes).unwrap();
    let (whole, rest) = text.rsplit_once("\n\n").unwrap();
    assert_eq!(whole.matches("message.part.delta").count(), 2);
    assert_eq!(rest.len(), 17);
    assert_eq!(stand_in.unfired_faults(), []);
    stand_in.journal().wait_until(|lines| lines.iter().any(|line| matches!(line, Line::End(_)))).await;
    let lines = stand_in.journal().lines();
    assert!(
        lines
            .iter()
            .any(|line| matches!(line, Line::Fault(fault) if fault.lane == "main" && fault.fault == 1))
    );
    assert!(lines.iter().any(|line| matches!(line, Line::End(end) if end.how == HowEnded::Broken)));
    // The fault is used up: the next connection is whole.
    let mut again = Events::open(&client, &url).await;
    again.until("server.connected").await;
}

#[tokio::test]
async fn credentials_are_asked_for_everywhere() {
    let mut options = options(ServerKind::Kilo);
    options.password = Some("secret-password".to_owned());
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (client(), stand_in.url());
    for path in ["/event", "/session", "/nowhere", "/global/health"] {
        let refused = client.get(format!("{url}{path}")).send().await.unwrap();
        assert_eq!(refused.status(), 401, "{path}");
        assert_eq!(refused.headers()["www-authenticate"], "Basic realm=\"Secure Area\"");
        assert_eq!(refused.text().await.unwrap(), "");
    }
    let health = client.get(format!("{url}/global/health")).basic_auth("kilo", Some("secret-password"));
    assert_eq!(health.send().await.unwrap().json::<Value>().await.unwrap()["version"], "7.7.7");
    let journal = format!("{:?}", stand_in.journal().lines());
    assert!(!journal.contains("secret-password") && !journal.to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn the_seed_and_the_logical_clock_decide_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let run = async |seed| {
        let mut options = options(ServerKind::Kilo);
        options.clock = mock_server::ClockKind::Logical;
        options.seed = seed;
        options.workspace = Some(folder.path().to_path_buf());
        let stand_in = StandIn::start(options).await.unwrap();
        let (client, url) = (client(), stand_in.url());
        let mut events = Events::open(&client, &url).await;
        let session =
            post(&client, &format!("{url}/session"), json!({})).await["id"].as_str().unwrap().to_owned();
        let prompt = json!({"parts": [{"type": "text", "text": "please write it"}]});
        client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
        events.until("permission.asked").await;
        events.seen
    };
    let first = run(7).await;
    assert_eq!(first, run(7).await);
    assert_ne!(first, run(8).await);
}

/// Two calls in one turn: both ask, and the person answers one of them.
async fn two_questions(answer: &str) -> (StandIn, Vec<Value>, u16) {
    let scenario = r#"
about = "two writes at once"
workspace = { config = { permission = { edit = "ask" } } }
agent = [{ on = { prompt_contains = "write" }, steps = [
  { tool = "write", input = { filePath = "a.txt", content = "a" } },
  { tool = "write", input = { filePath = "b.txt", content = "b" } },
  { say = "Done." } ] }]
user = { steps = [{ prompt = "write" }] }
"#;
    let scenario = fixtures::scenario::Scenario::parse(Path::new("two.toml"), scenario).unwrap();
    let stand_in = StandIn::start(Options::scenario(ServerKind::Opencode, scenario)).await.unwrap();
    let (client, url) = (client(), stand_in.url());
    let mut events = Events::open(&client, &url).await;
    let session =
        post(&client, &format!("{url}/session"), json!({})).await["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "write"}]});
    client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
    events.until("permission.asked").await;
    let asked = client.get(format!("{url}/permission")).send().await.unwrap().json::<Value>().await.unwrap();
    let ids: Vec<&str> =
        asked.as_array().unwrap().iter().map(|asked| asked["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "both ask at once");
    let route = |id: &str| format!("{url}/session/{session}/permissions/{id}");
    post(&client, &route(ids[0]), json!({"response": answer})).await;
    events.until("session.idle").await;
    let late =
        client.post(route(ids[1])).json(&json!({"response": "once"})).send().await.unwrap().status().as_u16();
    (stand_in, events.seen, late)
}

fn replies(events: &[Value]) -> Vec<&str> {
    let replied = events.iter().filter(|event| event["type"] == "permission.replied");
    replied.map(|event| event["properties"]["reply"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn one_no_is_a_no_to_all_that_the_session_asks() {
    let (stand_in, events, late) = two_questions("reject").await;
    assert_eq!(replies(&events), ["reject", "reject"]);
    assert_eq!(late, 404, "the second question is answered already");
    for file in ["a.txt", "b.txt"] {
        assert!(!Path::new(stand_in.workspace()).join(file).exists(), "{file}");
    }
}

#[tokio::test]
async fn always_answers_what_the_session_asks_at_this_time() {
    let (stand_in, events, late) = two_questions("always").await;
    assert_eq!(replies(&events), ["always", "always"]);
    assert_eq!(late, 404);
    for file in ["a.txt", "b.txt"] {
        assert!(Path::new(stand_in.workspace()).join(file).exists(), "{file}");
    }
}

#[tokio::test]
async fn kilo_has_no_agents_for_a_folder_that_its_repository_lacks() {
    for (server, lacks) in [(ServerKind::Kilo, 500), (ServerKind::Opencode, 200)] {
        let stand_in = StandIn::start(options(server)).await.unwrap();
        let workspace = Path::new(stand_in.workspace());
        std::fs::create_dir(workspace.join("there")).unwrap();
        let status = async |folder: &str| {
            let asked = client().get(format!("{}/agent", stand_in.url())).query(&[("directory", folder)]);
            asked.send().await.unwrap().status().as_u16()
        };
        let (there, lacking) = (workspace.join("there"), workspace.join("lacking/deep"));
        assert_eq!(status(there.to_str().unwrap()).await, 200, "{server}");
        assert_eq!(status("there").await, 200, "{server}");
        assert_eq!(status(lacking.to_str().unwrap()).await, lacks, "{server}");
        assert_eq!(status("lacking").await, lacks, "{server}");
        // What is in no repository is no matter.
        assert_eq!(status("/no/such").await, 200, "{server}");
    }
}

#[tokio::test]
async fn a_folder_that_is_somebodys_own_is_not_read_before_anybody_asks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    let mut options = options(ServerKind::Opencode);
    options.workspace = Some(folder.path().to_path_buf());
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (client(), format!("{}/vcs/diff?mode=git", stand_in.url()));
    let changed = async || client.get(&url).send().await.unwrap().json::<Value>().await.unwrap();
    std::fs::write(folder.path().join("late.txt"), "late").unwrap();
    // Without a commit that can be read, the folder begins with what stands there at the first look.
    assert_eq!(changed().await, json!([]));
    std::fs::write(folder.path().join("later.txt"), "later").unwrap();
    assert_eq!(changed().await[0]["file"], "later.txt");
}
