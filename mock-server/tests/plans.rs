//! Goal: every plan that Standin carries breaks what it says, on both servers. Method: a client that prompts, answers,
//! aborts and comes back whatever happens, in front of each plan; then every fault of it has acted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::fault_plan::{FaultPlan, Performed, Place};
use fixtures::scenario::{MAIN_SESSION, Scenario, UserAct};
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options, StandIn};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a client comes back to a stream.
const RECONNECTIONS: usize = 6;

fn client() -> Client {
    // Whoever never gets an answer goes on without.
    Client::builder().no_proxy().read_timeout(Duration::from_millis(1500)).build().unwrap()
}

async fn ask(method: Method, url: String, body: Value) -> Option<Value> {
    let request = client().request(method, url).json(&body);
    request.send().await.ok()?.json().await.ok()
}

/// Reads a stream as long as it is there, and comes back a few times.
async fn listen(url: String) {
    for _ in 0..RECONNECTIONS {
        if let Ok(mut response) = client().get(&url).send().await {
            while let Ok(Some(_)) = response.chunk().await {}
        }
    }
}

/// The first of a list that the server waits for.
async fn first(url: &str, list: &str) -> Option<String> {
    for _ in 0..200 {
        let list = ask(Method::GET, format!("{url}/{list}"), Value::Null).await?;
        if let Some(id) = list[0]["id"].as_str() {
            return Some(id.to_owned());
        }
        tokio::task::yield_now().await;
    }
    None
}

/// Does what the person of the scenario does, as far as that is possible.
async fn act(url: &str, scenario: &Scenario) {
    let mut sessions = BTreeMap::new();
    for step in &scenario.user.steps {
        let name = step.session.clone().unwrap_or_else(|| MAIN_SESSION.to_owned());
        if !sessions.contains_key(&name) {
            let created = ask(Method::POST, format!("{url}/session"), json!({})).await.unwrap_or_default();
            sessions.insert(name.clone(), created["id"].as_str().unwrap_or("ses_none").to_owned());
        }
        let id = &sessions[&name];
        match &step.act {
            UserAct::Prompt { text, .. } => {
                let prompt = json!({"parts": [{"type": "text", "text": text}]});
                ask(Method::GET, format!("{url}/session/{id}/message"), Value::Null).await;
                ask(Method::POST, format!("{url}/session/{id}/prompt_async"), prompt.clone()).await;
                ask(Method::GET, format!("{url}/session/{id}/message"), Value::Null).await;
                tokio::spawn(ask(Method::POST, format!("{url}/session/{id}/message"), prompt));
            }
            UserAct::AnswerPermission { .. } => {
                if let Some(permission) = first(url, "permission").await {
                    let body = json!({"reply": "once"});
                    ask(Method::POST, format!("{url}/permission/{permission}/reply"), body).await;
                }
            }
            UserAct::AnswerQuestion(_) => {
                if let Some(question) = first(url, "question").await {
                    let body = json!({"answers": [["Yes"]]});
                    ask(Method::POST, format!("{url}/question/{question}/reply"), body).await;
                }
            }
            UserAct::Abort => {
                ask(Method::POST, format!("{url}/session/{id}/abort"), Value::Null).await;
            }
            _ => {}
        }
    }
}

/// The faults of a plan that have not acted in front of a client that does all it can.
async fn left(server: ServerKind, plan: &FaultPlan) -> Vec<String> {
    let scenario = catalog::scenario(plan.scenario.as_deref().unwrap()).unwrap();
    let mut options = Options::scenario(server, scenario.clone());
    options.faults = plan.clone();
    // Heartbeats come in a few milliseconds.
    options.clock = ClockKind::Scaled { by: 200 };
    let stand_in = StandIn::start(options).await.unwrap();
    let url = stand_in.url();
    let streams = ["/event", "/global/event"].map(|path| tokio::spawn(listen(format!("{url}{path}"))));
    // The streams are there, or what keeps them from being there has acted.
    for _ in 0..3 {
        ask(Method::GET, format!("{url}/global/health"), Value::Null).await;
    }
    stand_in.open_all_gates();
    act(&url, &scenario).await;
    let unfired = || stand_in.unfired_faults();
    stand_in.journal().wait_until(|lines| unfired().is_empty() || lines.len() > 100_000).await;
    streams.iter().for_each(tokio::task::JoinHandle::abort);
    unfired().into_iter().map(|(number, fault)| format!("fault {number}: it {fault}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_every_plan_acts() {
    for name in catalog::fault_plan_names() {
        let (file, text) = catalog::fault_plan_text(&name).unwrap();
        for server in ServerKind::ALL {
            let releases = [server.release()];
            let performed = &[Performed::Library, Performed::Process];
            let place = Place { lanes: &["main"], more_lanes: "", releases: &releases, performed };
            let plan = FaultPlan::parse_for(&file, &text, &place).unwrap_or_else(|error| panic!("{error}"));
            assert!(!plan.about.is_empty() && !plan.reproduces.is_empty(), "{name} says what it is for");
            if plan.faults.is_empty() {
                continue;
            }
            // Whoever looks at a test that does not end sees where it is.
            println!("{name} on {server}");
            assert_eq!(left(server, &plan).await, Vec::<String>::new(), "{name} on {server}");
        }
    }
}
