//! Goal: who reads docs/adapters.md and nothing else can write an adapter. Method: every method, kind of update and
//! capability of the code stands on the page with an example, and every example is read as strictly as a message.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use harness::protocol::rpc::{METHOD_NOT_FOUND, PARSE_ERROR, parse_line};
use harness::protocol::{
    Aside, Capability, CredentialsJudged, Done, Incoming, Initialized, Locale, Notification, Offered,
    PathJudged, PlatformFeatures, Request, TaskStarted, ToolServers, Update, View,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../docs/adapters.md");
const REQUESTS: &str = include_str!("../src/protocol/request.rs");
const NOTIFICATIONS: &str = include_str!("../src/protocol/update.rs");

/// The lines of the page's examples.
fn examples() -> Vec<&'static str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in PAGE.lines() {
        match line {
            "```json" => inside = true,
            "```" => inside = false,
            _ if inside => lines.push(line),
            _ => {}
        }
    }
    lines
}

/// The methods that the code has: the words to which its `fn method` leads.
fn methods(source: &str) -> BTreeSet<String> {
    let (_, rest) = source.split_once("pub fn method(&self)").unwrap();
    let (body, _) = rest.split_once("\n    }\n").unwrap();
    body.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// The kinds of update that the code has, as it lists them to whoever names another one.
fn kinds() -> BTreeSet<String> {
    let told = serde_json::from_value::<Update>(json!({"kind": "no such kind"})).unwrap_err().to_string();
    told.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_example_is_a_message_and_every_message_has_an_example() {
    let (mut asked, mut said, mut shown) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for line in examples() {
        match parse_line(line).unwrap_or_else(|bad| panic!("{line}: {bad}")) {
            Incoming::Request { method, params, .. } => {
                let request =
                    Request::from_call(&method, &params).unwrap_or_else(|bad| panic!("{line}: {bad}"));
                assert_eq!(request.params(), params, "{line}");
                asked.insert(method);
            }
            Incoming::Notification { method, params } => {
                let read =
                    Notification::from_call(&method, &params).unwrap_or_else(|bad| panic!("{line}: {bad}"));
                assert_eq!(read.params(), params, "{line}");
                if let Some(kind) = params["update"]["kind"].as_str() {
                    shown.insert(kind.to_owned());
                }
                said.insert(method);
            }
            Incoming::Response { outcome: Err(error), .. } => assert!(error.code < 0, "{line}"),
            Incoming::Response { outcome: Ok(result), .. } => assert!(is_result(&result), "{line}"),
        }
    }
    assert_eq!(asked, methods(REQUESTS));
    assert_eq!(said, methods(NOTIFICATIONS));
    assert_eq!(shown, kinds());
    assert!(asked.len() >= 13 && said.len() == 3 && shown.len() >= 13, "{asked:?} {said:?} {shown:?}");
}

fn is_result(result: &Value) -> bool {
    fn is<T: serde::de::DeserializeOwned>(result: &Value) -> bool {
        serde_json::from_value::<T>(result.clone()).is_ok()
    }
    is::<Done>(result)
        || is::<PathJudged>(result)
        || is::<Offered>(result)
        || is::<Locale>(result)
        || is::<CredentialsJudged>(result)
        || is::<Initialized>(result)
        || is::<TaskStarted>(result)
        || is::<View>(result)
        || is::<Aside>(result)
        || is::<ToolServers>(result)
        || is::<PlatformFeatures>(result)
}

#[test]
fn every_capability_and_every_code_has_a_row() {
    for capability in Capability::ALL {
        let row = format!("| `{}` | ", capability.word());
        assert_eq!(PAGE.matches(&row).count(), 1, "{row}");
    }
    let rows = PAGE.split("## What you can do").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_eq!(rows.matches("\n| `").count(), Capability::ALL.len(), "one that the code has not");
    for code in [PARSE_ERROR, METHOD_NOT_FOUND] {
        assert!(PAGE.contains(&format!("| {code} | ")), "{code}");
    }
}
