//! Goal: Kilo's planner ends its planning, and what the person says then decides what comes next, as on Kilo 7.7.7 (a
//! walk of these steps with the real server was equal). Method: one session, each answer in turn.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use serde_json::{Value, json};
use std::path::Path;

const SCENARIO: &str = r#"
about = "A plan is saved and talked about."
[workspace]
files = { "plan.md" = "the plan\n" }
[[agent]]
on = { prompt_contains = "plan it" }
steps = [{ say = "This is it." }, { tool = "plan_exit", input = { path = "plan.md" } }, { finish = "tool_calls" }, { say = "Never asked." }]
[[agent]]
on = { prompt_contains = "Continue refining the plan" }
steps = [{ tool = "plan_exit", input = { path = "nowhere.md" } }, { finish = "tool_calls" }, { tool = "plan_exit", input = { path = "plan.md" } }]
[[agent]]
on = { prompt_contains = "add a test" }
steps = [{ tool = "plan_exit", input = { path = "plan.md" } }]
[[agent]]
on = { prompt_contains = "Implement the plan above." }
steps = [{ say = "Done." }]
[user]
steps = [{ prompt = "plan it" }, { answer_question = [["add a test"]] }]
"#;

/// The question that is open, when there is one.
async fn asked(stage: &Stage) -> Value {
    loop {
        if let Some(open) = stage.get("/question").await.get(0) {
            return open.clone();
        }
        tokio::task::yield_now().await;
    }
}

async fn planned() -> (Stage, String) {
    let scenario = Scenario::parse(Path::new("plans.toml"), SCENARIO).unwrap();
    let stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    let prompt = json!({"agent": "plan", "parts": [{"type": "text", "text": "plan it"}]});
    let path = format!("/session/{session}/prompt_async");
    assert_eq!(stage.post_text(&path, &prompt.to_string()).await.0, 204);
    (stage, session)
}

async fn prompts(stage: &Stage, session: &str) -> Vec<(String, String)> {
    let messages = stage.get(&format!("/session/{session}/message")).await;
    let all = messages.as_array().unwrap().iter().filter(|message| message["info"]["role"] == "user");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|message| (word(&message["info"]["agent"]), word(&message["parts"][0]["text"]))).collect()
}

#[tokio::test]
async fn what_the_person_says_of_a_plan_is_the_next_prompt() {
    let (mut stage, session) = planned().await;
    for answer in ["Keep refining", " add a test ", "Continue here"] {
        let open = asked(&stage).await;
        assert_eq!(open["questions"][0]["question"], "Ready to implement?");
        assert_eq!((&open["blocking"], &open["tool"]), (&Value::Null, &Value::Null));
        let reply = format!("/question/{}/reply", open["id"].as_str().unwrap());
        let body = json!({"answers": [[answer]]}).to_string();
        assert_eq!(stage.post_text(&reply, &body).await, (200, json!(true)));
    }
    stage.until_kind("session.idle").await;
    let wanted = [
        ("plan", "plan it"),
        ("plan", "Continue refining the plan. Do not implement yet."),
        ("plan", "add a test"),
        ("code", "Implement the plan above."),
    ];
    let wanted = wanted.map(|(agent, text)| (agent.to_owned(), text.to_owned()));
    assert_eq!(prompts(&stage, &session).await, wanted);
    assert!(stage.seen.iter().all(|event| event["type"] != "question.asked"), "no folder is told of it");
}

#[tokio::test]
async fn who_wants_nothing_more_ends_the_turn() {
    for ends in ["reject", "abort"] {
        let (mut stage, session) = planned().await;
        let id = asked(&stage).await["id"].as_str().unwrap().to_owned();
        let path = if ends == "reject" {
            format!("/question/{id}/reject")
        } else {
            format!("/session/{session}/abort")
        };
        assert_eq!(stage.post_text(&path, "").await.0, 200, "{ends}");
        let closed = stage.until_kind("session.turn.close").await;
        let reason = if ends == "reject" { "completed" } else { "interrupted" };
        assert_eq!(closed["properties"]["reason"], reason);
        assert_eq!(stage.get("/question").await, json!([]));
        assert_eq!(prompts(&stage, &session).await.len(), 1);
        assert!(stage.seen.iter().all(|event| event["type"] != "session.error"), "{ends}");
    }
}
