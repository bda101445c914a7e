//! Goal: a client can list, answer and dismiss the agent's questions, and is told what is wrong with its answer in the
//! real servers' words. Method: one question on a real socket, for each server.

use crate::stage::Stage;
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::{Value, json};

/// A turn whose agent has asked, and waits.
struct Asked {
    stage: Stage,
    session: String,
    question: String,
}

impl Asked {
    async fn by(server: ServerKind) -> Self {
        let scenario = catalog::scenario("question/rejected").unwrap();
        let mut stage = Stage::open(Options::scenario(server, scenario)).await;
        let session = stage.session().await;
        stage.begin(&session, "please paint it").await;
        let event = stage.until_kind("question.asked").await;
        let question = event["properties"]["id"].as_str().unwrap().to_owned();
        let mut open = stage.get("/question").await;
        let blocking = open[0].as_object_mut().and_then(|listed| listed.shift_remove("blocking"));
        assert_eq!(blocking, (server == ServerKind::Kilo).then_some(Value::Null));
        assert_eq!(open, json!([event["properties"]]), "else the list has what the event has");
        Self { stage, session, question }
    }

    async fn tool_state(&self) -> Value {
        let messages = self.stage.get(&format!("/session/{}/message", self.session)).await;
        messages.pointer("/1/parts/1/state").unwrap().clone()
    }
}

#[tokio::test]
async fn a_wrong_answer_is_named_and_the_question_stays_open() {
    for server in ServerKind::ALL {
        let mut asked = Asked::by(server).await;
        let reply = format!("/question/{}/reply", asked.question);
        let rows = [
            ("", "Expected object, got undefined"),
            ("[]", "Expected object, got []"),
            ("{}", "Missing key\n  at [\"answers\"]"),
            (r#"{"answers":"a"}"#, "Expected array, got \"a\"\n  at [\"answers\"]"),
            (r#"{"answers":["a"]}"#, "Expected QuestionAnswer, got \"a\"\n  at [\"answers\"][0]"),
            (r#"{"answers":[["a",3]]}"#, "Expected string, got 3\n  at [\"answers\"][0][1]"),
        ];
        for (body, message) in rows {
            let told = json!({"name": "BadRequest", "data": {"message": message, "kind": "Payload"}});
            assert_eq!(asked.stage.post_text(&reply, body).await, (400, told), "{server}: {body}");
        }
        assert_eq!(asked.stage.post_text(&reply, "x").await.0, 500);
        assert_eq!(asked.stage.get("/question").await.as_array().unwrap().len(), 1);
        let right = r#"{"answers":[["Red","a \"dark\" one"]]}"#;
        assert_eq!(asked.stage.post_text(&reply, right).await, (200, json!(true)));
        asked.stage.until_kind("session.idle").await;
        let output = asked.tool_state().await["output"].clone();
        let start = r#"User has answered your questions: "Which colour?"="Red, a "dark" one". You"#;
        assert!(output.as_str().unwrap().starts_with(start), "{output}");
        assert_eq!(asked.stage.get("/question").await, json!([]));
    }
}

#[tokio::test]
async fn a_dismissed_question_ends_the_turn_and_is_answered_once() {
    for (server, status) in [(ServerKind::Kilo, "completed"), (ServerKind::Opencode, "error")] {
        let mut asked = Asked::by(server).await;
        let reject = format!("/question/{}/reject", asked.question);
        assert_eq!(asked.stage.post_text(&reject, "").await, (200, json!(true)));
        asked.stage.until_kind("session.idle").await;
        assert_eq!(asked.tool_state().await["status"], status);
        let messages = asked.stage.get(&format!("/session/{}/message", asked.session)).await;
        assert_eq!(messages.as_array().unwrap().len(), 2, "no step follows");
        let message = format!("Question request not found: {}", asked.question);
        let gone = json!({"_tag": "QuestionNotFoundError", "requestID": asked.question, "message": message});
        assert_eq!(asked.stage.post_text(&reject, "").await, (404, gone.clone()));
        let reply = format!("/question/{}/reply", asked.question);
        assert_eq!(asked.stage.post_text(&reply, r#"{"answers":[["Red"]]}"#).await, (404, gone));
    }
}

#[tokio::test]
async fn an_id_that_is_none_is_told_so() {
    for server in ServerKind::ALL {
        let asked = Asked::by(server).await;
        let message = "Expected a string starting with \"que\", got \"abc\"\n  at [\"requestID\"]";
        let told = json!({"name": "BadRequest", "data": {"message": message, "kind": "Params"}});
        assert_eq!(asked.stage.post_text("/question/abc/reject", "").await, (400, told.clone()));
        assert_eq!(asked.stage.post_text("/question/abc/reply", r#"{"answers":[]}"#).await, (400, told));
    }
}
