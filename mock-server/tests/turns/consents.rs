//! Goal: what a person allows for always, or allows altogether, holds as long and as far as on the real servers. Method:
//! one turn that asks, again and again, in one folder and another. Seen on the real servers.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::{Options, StandIn};
use reqwest::Client;
use serde_json::{Value, json};
use std::path::Path;

const SCENARIO: &str = r#"
about = "x"
[workspace]
files = { "sub/a.txt" = "a\n" }
config = { permission = { edit = "ask" } }
[[agent]]
on = { prompt_contains = "bonjour" }
steps = [{ say = "Read." }]
[[agent]]
on = { prompt_contains = "write" }
steps = [{ tool = "write", input = { filePath = "${workspace}/sub/b.txt", content = "b\n" } }, { say = "Written." }]
[user]
steps = [{ prompt = "write" }, { prompt = "bonjour" }]
"#;

async fn stage(server: ServerKind) -> Stage {
    let scenario = Scenario::parse(Path::new("s.toml"), SCENARIO).unwrap();
    Stage::open(Options::scenario(server, scenario)).await
}

/// The same, for whom a password is wanted.
async fn guarded_stage() -> Stage {
    let scenario = Scenario::parse(Path::new("s.toml"), SCENARIO).unwrap();
    let (username, password) = (Some("me".to_owned()), Some("a word".to_owned()));
    Stage::open(Options { username, password, ..Options::scenario(ServerKind::Kilo, scenario) }).await
}

/// Is a turn in this folder asked for permission? If it is, this is the answer.
async fn is_asked(stage: &Stage, folder: &str, reply: &str) -> bool {
    let query = format!("?directory={folder}");
    let session = stage.post(&format!("/session{query}"), json!({})).await;
    let session = session["id"].as_str().unwrap();
    stage.begin(session, "write").await;
    for _ in 0..10_000 {
        let open = stage.get(&format!("/permission{query}")).await;
        if let Some(id) = open.pointer("/0/id").and_then(Value::as_str) {
            let answered =
                stage.post(&format!("/permission/{id}/reply{query}"), json!({"reply": reply})).await;
            assert_eq!(answered, json!(true));
            return true;
        }
        let messages = stage.get(&format!("/session/{session}/message")).await;
        let last = messages.as_array().and_then(|messages| messages.last());
        if last.is_some_and(|last| last.pointer("/parts/1/text") == Some(&json!("Written."))) {
            return false;
        }
    }
    panic!("the turn neither asks nor ends");
}

#[tokio::test]
async fn what_opencode_writes_down_nowhere_is_forgotten_with_its_instance_and_unknown_elsewhere() {
    let stage = stage(ServerKind::Opencode).await;
    let here = stage.get("/path").await["directory"].as_str().unwrap().to_owned();
    let below = format!("{here}/sub");
    for forget in ["/instance/dispose", "/global/dispose"] {
        assert!(is_asked(&stage, &here, "always").await);
        assert!(!is_asked(&stage, &here, "").await, "it is known");
        assert!(is_asked(&stage, &below, "once").await, "it was said elsewhere");
        assert_eq!(stage.post(forget, json!({})).await, json!(true));
        assert!(is_asked(&stage, &here, "reject").await, "{forget}");
    }
}

#[tokio::test]
async fn kilo_allows_nothing_to_everybody_where_no_password_is_wanted() {
    let open = stage(ServerKind::Kilo).await;
    for path in ["/permission/allow-everything", "/kilocode/snapshot/remove", "/kilocode/worktree/teardown"] {
        assert_eq!(
            open.post_text(path, r#"{"enable": true, "worktree": "x"}"#).await,
            (401, Value::Null),
            "{path}"
        );
    }
    assert_eq!(
        guarded_stage().await.post_text("/kilocode/snapshot/remove", r#"{"worktree": "x"}"#).await.0,
        400
    );
}

#[tokio::test]
async fn kilo_writes_down_that_everything_is_allowed() {
    let mut stage = guarded_stage().await;
    let session = stage.session().await;
    for (enable, left) in [(true, json!({"*": "allow"})), (false, json!({})), (false, json!({}))] {
        stage.seen.clear();
        let allowed = stage.post("/permission/allow-everything", json!({"enable": enable})).await;
        assert_eq!(allowed, json!(true));
        assert_eq!(stage.get("/global/config").await["permission"]["*"], left);
        assert_eq!(stage.get("/config").await["permission"]["*"], left);
        let here = stage.get("/path").await["directory"].as_str().unwrap().to_owned();
        assert_eq!(is_asked(&stage, &here, "reject").await, !enable);
    }
    let everything = json!([{"permission": "*", "pattern": "*", "action": "allow"}]);
    for (enable, left) in [(true, everything), (false, json!([]))] {
        let body = json!({"enable": enable, "sessionID": session});
        assert_eq!(stage.post("/permission/allow-everything", body).await, json!(true));
        assert_eq!(stage.get(&format!("/session/{session}")).await["permission"], left);
        let is_told = |event: &Value| event.pointer("/properties/info/permission") == Some(&left);
        stage.until(|event| event["type"] == "session.updated" && is_told(event)).await;
    }
}

#[tokio::test]
async fn kilos_next_generation_knows_what_was_allowed_when_its_instance_began() {
    for (files_first, told) in [(true, 0), (false, 1)] {
        let stage = guarded_stage().await;
        if files_first {
            stage.get("/file?path=.").await;
        }
        assert_eq!(stage.post("/permission/allow-everything", json!({"enable": true})).await, json!(true));
        let agents = stage.get("/api/agent").await;
        let rules = agents["data"][0]["permissions"].as_array().unwrap();
        let everything = json!({"action": "*", "resource": "*", "effect": "allow"});
        // The agent's own rules begin with the same words.
        let added = rules.iter().filter(|rule| **rule == everything).count() - 1;
        assert_eq!(added, told, "the files were looked at first: {files_first}");
    }
}

/// Nobody listens here: a skill is long, and so is what is told of it.
#[tokio::test]
async fn kilo_calls_a_skill_by_its_kind_and_takes_over_nothing() {
    let scenario = Scenario::parse(Path::new("s.toml"), SCENARIO).unwrap();
    let stand_in = StandIn::start(Options::scenario(ServerKind::Kilo, scenario)).await.unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let post = async |path: String, body: Value| {
        let sent = client.post(format!("{}{path}", stand_in.url())).json(&body).send().await.unwrap();
        (sent.status().as_u16(), sent.json::<Value>().await.unwrap())
    };
    let session = post("/session".into(), json!({})).await.1["id"].as_str().unwrap().to_owned();
    let call = async |name: &str| {
        post(format!("/session/{session}/command"), json!({"command": name, "arguments": "bonjour"})).await
    };
    for name in ["resume-claude", "resume-codex"] {
        assert_eq!(call(name).await, (400, json!({"_tag": "BadRequest"})));
    }
    for (name, status) in [("kilo-config:skill", 200), ("kilo-config:command", 500), ("init:skill", 500)] {
        assert_eq!(call(name).await.0, status, "{name}");
    }
    let said = client.get(format!("{}/session/{session}/message", stand_in.url())).send().await.unwrap();
    let said = said.json::<Value>().await.unwrap()[0]["parts"][0].clone();
    // It has places for arguments.
    assert!(said["text"].as_str().unwrap().contains("bonjour"), "{said}");
    assert_eq!(said.pointer("/metadata/kilo/injected/title"), Some(&json!("/kilo-config:skill bonjour")));
}

#[tokio::test]
async fn what_stands_for_no_session_is_no_session_to_kilo() {
    let stage = stage(ServerKind::Kilo).await;
    let message = "Expected a string starting with \"ses\", got \"viewed\"\n  at [\"sessionID\"]";
    let told = json!({"name": "BadRequest", "data": {"message": message, "kind": "Params"}});
    assert_eq!(stage.get("/session/viewed").await, told);
    assert_eq!(stage.get("/session/abc").await["name"], "UnknownError");
}
