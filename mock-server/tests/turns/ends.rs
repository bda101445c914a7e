//! Goal: turns end well that do not end by themselves, and one answer to a question for permission answers no more
//! than it may, where no recording shows the whole of it. Method: a plain client on loopback, scenarios written for
//! the purpose, logical time.

use crate::stage::Stage;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options};
use serde_json::{Value, json};
use std::path::Path;

/// On a stage where time leaps.
async fn open(server: ServerKind, scenario: Scenario) -> Stage {
    let mut options = Options::scenario(server, scenario);
    options.clock = ClockKind::Logical;
    Stage::open(options).await
}

/// A scenario of turns, each with the prompt that it answers.
fn scenario(turns: &[(&str, &str)]) -> Scenario {
    let agent = turns
        .iter()
        .map(|(prompt, steps)| format!("{{ on = {{ prompt_contains = \"{prompt}\" }}, steps = [{steps}] }}"));
    let user = turns.iter().map(|(prompt, _)| format!("{{ prompt = \"{prompt}\" }}, {{ do = \"abort\" }}"));
    let [agent, user] = [agent.collect::<Vec<_>>(), user.collect()].map(|list| list.join(", "));
    let text = format!("about = \"x\"\nagent = [{agent}]\nuser = {{ steps = [{user}] }}\n");
    Scenario::parse(Path::new("s.toml"), &text).unwrap()
}

#[tokio::test]
async fn logical_time_leaps_over_the_wait_for_a_further_try() {
    let turns = [("go", "{ fail = 429, retry_after = 3600 }, { fail = 503 }, { say = \"Done.\" }")];
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario(&turns)).await;
        let session = stage.session().await;
        let answer = stage.prompt(&session, "go").await;
        assert_eq!(answer["parts"][1]["text"], "Done.");
        let second = stage.until(|event| event["properties"]["status"]["attempt"] == 2).await;
        let next = second["properties"]["status"]["next"].as_u64().unwrap();
        let [created, completed] =
            ["created", "completed"].map(|key| answer["info"]["time"][key].as_u64().unwrap());
        assert!(next >= created + 3_604_000, "an hour, and twice two seconds: {next}");
        assert!(completed >= next, "nothing happens before its time");
    }
}

#[tokio::test]
async fn a_refusal_ends_the_turn_and_kilo_forgets_it_at_the_next_prompt() {
    let turns = [("go", "{ fail = 401, message = \"No.\" }"), ("again", "{ say = \"Yes.\" }")];
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario(&turns)).await;
        let session = stage.session().await;
        let answer = stage.prompt(&session, "go").await;
        let error = &answer["info"]["error"];
        assert_eq!((&error["name"], &error["data"]["statusCode"]), (&json!("APIError"), &json!(401)));
        assert_eq!(stage.until_kind("session.error").await["properties"]["error"], *error);
        let again = stage.prompt(&session, "again").await;
        assert_eq!(again["parts"][1]["text"], "Yes.");
        stage.until(|event| event["properties"]["info"]["id"] == again["info"]["id"]).await;
        let removed = stage.seen.iter().any(|event| event["type"] == "message.removed");
        assert_eq!(removed, server == ServerKind::Kilo, "{server}");
    }
}

#[tokio::test]
async fn a_late_yes_still_writes_and_is_no_answer_to_the_next_question() {
    let scenario = catalog::scenario("permission/write-allowed-once").unwrap();
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario.clone()).await;
        let session = stage.session().await;
        stage.begin(&session, "please write it").await;
        let asked = stage.until_kind("permission.asked").await;
        assert_eq!(stage.post(&format!("/session/{session}/abort"), json!({})).await, true);
        let cut = stage.until(|event| event["properties"]["part"]["state"]["status"] == "error").await;
        assert_eq!(cut["properties"]["part"]["state"]["error"], "Tool execution aborted");
        // A question of the same place is open in the next turn; the late answer is not meant for it.
        stage.begin(&session, "please write it").await;
        let id = asked["properties"]["id"].clone();
        let new = move |event: &Value| event["type"] == "permission.asked" && event["properties"]["id"] != id;
        let open = stage.until(new).await;
        let id = asked["properties"]["id"].as_str().unwrap();
        let reply = stage.post(&format!("/permission/{id}/reply"), json!({"reply": "once"})).await;
        assert_eq!(reply, true);
        stage.until_kind("file.edited").await;
        let file = Path::new(stage.stand_in.workspace()).join("out.txt");
        assert!(file.exists(), "its turn is over, and it writes all the same");
        std::fs::remove_file(&file).unwrap();
        let id = open["properties"]["id"].as_str().unwrap();
        assert_eq!(stage.post(&format!("/permission/{id}/reply"), json!({"reply": "once"})).await, true);
        stage.until(|event| event["properties"]["part"]["state"]["status"] == "completed").await;
        assert!(file.exists(), "the question of the next turn was still open");
    }
}

#[tokio::test]
async fn an_abort_of_nothing_is_true_and_tells_idle() {
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario(&[("go", "{ say = \"x\" }")])).await;
        assert_eq!(stage.post("/session/ses_unknown/abort", json!({})).await, true);
        assert_eq!(stage.until_kind("session.idle").await["properties"]["sessionID"], "ses_unknown");
    }
}

#[tokio::test]
async fn kilo_ends_a_helper_that_has_asked_for_leave_after_its_giver() {
    let steps = "{ tool = \"task\", input = { description = \"Mark\", prompt = \"please mark\", subagent_type = \"general\" } }, { say = \"Done.\" }";
    let marks =
        "{ tool = \"write\", input = { filePath = \"out.txt\", content = \"x\" } }, { say = \"Marked.\" }";
    let mut scenario = scenario(&[("delegate", steps), ("mark", marks)]);
    scenario.workspace.config.insert("permission".to_owned(), json!({"edit": "ask"}));
    let mut stage = open(ServerKind::Kilo, scenario).await;
    let session = stage.session().await;
    stage.begin(&session, "delegate").await;
    stage.until_kind("permission.asked").await;
    stage.post(&format!("/session/{session}/abort"), json!({})).await;
    let ended = |event: &Value| event["type"] == "session.turn.close";
    let first = stage.until(ended).await;
    assert_eq!(first["properties"]["sessionID"], session.as_str(), "{first}");
    let second =
        stage.until(|event| ended(event) && event["properties"]["sessionID"] != session.as_str()).await;
    assert_eq!(second["properties"]["parentID"], session.as_str());
}

#[tokio::test]
async fn an_abort_drops_what_the_model_would_say_at_its_gate() {
    let turns = [
        ("go", "{ say = \"One \" }, { gate = \"mid\" }, { say = \"two\" }"),
        ("again", "{ say = \"Three\" }"),
    ];
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario(&turns)).await;
        let session = stage.session().await;
        stage.begin(&session, "go").await;
        stage.until_kind("message.part.delta").await;
        stage.post(&format!("/session/{session}/abort"), json!({})).await;
        stage.stand_in.open_gate("mid");
        let answer = stage.prompt(&session, "again").await;
        assert_eq!(answer["parts"][1]["text"], "Three");
        stage.until(|event| event["properties"]["part"]["text"] == "Three").await;
        assert!(stage.seen.iter().all(|event| event["properties"]["delta"] != "two"));
    }
}

#[tokio::test]
async fn one_answer_answers_what_the_same_session_asks_and_one_server_s_always_all() {
    // In one folder: that is what the person is asked about.
    let files = ["/usr/standin-absent-a", "/usr/standin-absent-b"];
    let reads = files.map(|file| format!("{{ tool = \"read\", input = {{ filePath = \"{file}\" }} }}"));
    let steps = reads.join(", ") + ", { say = \"Done.\" }";
    for (server, answer) in
        ServerKind::ALL.into_iter().flat_map(|s| [(s, "reject"), (s, "always"), (s, "once")])
    {
        let mut stage = open(server, scenario(&[("go", &steps)])).await;
        let sessions = [stage.session().await, stage.session().await];
        let mut asked = Vec::new();
        for session in &sessions {
            stage.begin(session, "go").await;
            for _ in files {
                let is_new = |event: &Value| {
                    event["type"] == "permission.asked"
                        && event["properties"]["sessionID"] == session.as_str()
                        && !asked.contains(&event["properties"]["id"])
                };
                let id = stage.until(is_new).await["properties"]["id"].clone();
                asked.push(id);
            }
        }
        let route = format!("/permission/{}/reply", asked[0].as_str().unwrap());
        assert_eq!(stage.post(&route, json!({"reply": answer})).await, true);
        let open = stage.get("/permission").await;
        let open: Vec<&str> =
            open.as_array().unwrap().iter().map(|asked| asked["sessionID"].as_str().unwrap()).collect();
        let [ours, other] = sessions.each_ref().map(String::as_str);
        let expected = match (server, answer) {
            (_, "once") => vec![ours, other, other],
            (ServerKind::Kilo, "always") => Vec::new(),
            _ => vec![other, other],
        };
        assert_eq!(open, expected, "{server} {answer}");
    }
}

#[tokio::test]
async fn a_list_that_the_person_is_asked_about_is_not_told_before() {
    let todos = "[{ content = \"look\", status = \"pending\", priority = \"high\" }]";
    let steps = format!("{{ tool = \"todowrite\", input = {{ todos = {todos} }} }}, {{ say = \"Done.\" }}");
    let mut scenario = scenario(&[("go", &steps)]);
    scenario.workspace.config.insert("permission".to_owned(), json!({"todowrite": "ask"}));
    for server in ServerKind::ALL {
        let mut stage = open(server, scenario.clone()).await;
        let session = stage.session().await;
        stage.begin(&session, "go").await;
        let asked = stage.until_kind("permission.asked").await;
        let told = |stage: &Stage| stage.seen.iter().filter(|event| event["type"] == "todo.updated").count();
        assert_eq!(told(&stage), 0, "{server}");
        let route = format!("/permission/{}/reply", asked["properties"]["id"].as_str().unwrap());
        stage.post(&route, json!({"reply": "once"})).await;
        stage.until_kind("session.idle").await;
        assert_eq!(told(&stage), 1, "{server}");
    }
}
