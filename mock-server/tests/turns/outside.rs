//! Goal: a stand-in leaves the folders that it made itself only with leave of who starts it, whatever a person allows.
//! Method: calls that lead outside, allowed.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use serde_json::{Value, json};
use std::path::Path;

/// One call, and the person allows what is asked; the last state of the call, and what was asked.
async fn allowed(server: ServerKind, tool: &str, path: &Path, allow_outside: bool) -> (Value, Value) {
    let text = format!(
        r#"
about = "x"
[[agent]]
on = {{ prompt_contains = "go" }}
steps = [{{ tool = "{tool}", input = {{ filePath = "{}", content = "new" }} }}]
[user]
steps = [{{ prompt = "go" }}]
"#,
        path.display()
    );
    let scenario = Scenario::parse(Path::new("s.toml"), &text).unwrap();
    let options = Options { allow_outside, ..Options::scenario(server, scenario) };
    let mut stage = Stage::open(options).await;
    let session = stage.session().await;
    stage.begin(&session, "go").await;
    let asked = stage.until_kind("permission.asked").await["properties"].clone();
    let route = format!("/permission/{}/reply", asked["id"].as_str().unwrap());
    assert_eq!(stage.post(&route, json!({"reply": "once"})).await, true);
    stage.until_kind("session.idle").await;
    let questions = stage.seen.iter().filter(|event| event["type"] == "permission.asked").count();
    assert_eq!(questions, 1, "nothing more is asked");
    let mut parts = stage.seen.iter().rev().map(|event| &event["properties"]["part"]);
    let last = parts.find(|part| part["type"] == "tool").unwrap();
    (last["state"].clone(), asked)
}

#[tokio::test]
async fn what_is_outside_is_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private.txt");
    std::fs::write(&path, "private").unwrap();
    for server in ServerKind::ALL {
        for tool in ["read", "write"] {
            let (state, asked) = allowed(server, tool, &path, false).await;
            assert_eq!(asked["permission"], "external_directory", "{server} {tool}");
            assert_eq!(asked["patterns"], json!([format!("{}/*", folder.path().display())]));
            assert_eq!(state["status"], "error", "{server} {tool}");
            assert!(
                state["error"].as_str().unwrap().ends_with("--allow-outside lets it go there"),
                "{state}"
            );
            assert!(!state.to_string().contains("private\""), "{state}");
        }
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "private");
}

#[tokio::test]
async fn what_is_outside_is_read_and_written_with_leave() {
    for server in ServerKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private.txt");
        std::fs::write(&path, "private").unwrap();
        let (state, _) = allowed(server, "read", &path, true).await;
        assert!(state["output"].as_str().unwrap().contains("1: private\n"), "{server} {state}");
        let (state, _) = allowed(server, "write", &path, true).await;
        assert_eq!(state["status"], "completed", "{server} {state}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new", "{server}");
    }
}
