//! Goal: a client can list, answer and dismiss the agent's questions, and is told what is wrong with its answer in the
//! real servers' words. Method: one question on a real socket, for each server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog, sse};
use mock_server::{Options, StandIn};
use reqwest::{Client, Response};
use serde_json::{Value, json};

/// A turn whose agent has asked, and waits.
struct Asked {
    stand_in: StandIn,
    client: Client,
    stream: Response,
    parser: sse::Parser,
    seen: Vec<Value>,
    session: String,
    question: String,
}

impl Asked {
    async fn by(server: ServerKind) -> Self {
        let scenario = catalog::scenario("question/rejected").unwrap();
        let stand_in = StandIn::start(Options::scenario(server, scenario)).await.unwrap();
        let client = Client::builder().no_proxy().build().unwrap();
        let url = stand_in.url();
        let stream = client.get(format!("{url}/event")).send().await.unwrap();
        let created = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
        let session = created.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        let (parser, seen, question) = (sse::Parser::new(), Vec::new(), String::new());
        let mut asked = Self { stand_in, client, stream, parser, seen, session, question };
        let prompt = json!({"parts": [{"type": "text", "text": "please paint it"}]});
        let sent = asked.post(&format!("/session/{}/prompt_async", asked.session), &prompt.to_string()).await;
        assert_eq!(sent.0, 204);
        let event = asked.until("question.asked").await;
        asked.question = event["properties"]["id"].as_str().unwrap().to_owned();
        let open = asked.get("/question").await;
        assert_eq!(open, json!([event["properties"]]), "the list has what the event has");
        asked
    }

    async fn until(&mut self, kind: &str) -> Value {
        loop {
            if let Some(event) = self.seen.iter().rfind(|event| event["type"] == kind) {
                return event.clone();
            }
            let chunk = self.stream.chunk().await.unwrap().expect("the stream ended too early");
            let frames = self.parser.feed(&chunk).into_iter();
            self.seen.extend(frames.map(|frame| serde_json::from_str::<Value>(&frame.data).unwrap()));
        }
    }

    async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.stand_in.url());
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    async fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}{path}", self.stand_in.url());
        let response = self.client.post(url).body(body.to_owned()).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default())
    }

    async fn tool_state(&self) -> Value {
        let messages = self.get(&format!("/session/{}/message", self.session)).await;
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
            assert_eq!(asked.post(&reply, body).await, (400, told), "{server}: {body}");
        }
        assert_eq!(asked.post(&reply, "x").await.0, 500);
        assert_eq!(asked.get("/question").await.as_array().unwrap().len(), 1);
        let right = r#"{"answers":[["Red","a \"dark\" one"]]}"#;
        assert_eq!(asked.post(&reply, right).await, (200, json!(true)));
        asked.until("session.idle").await;
        let output = asked.tool_state().await["output"].clone();
        let start = r#"User has answered your questions: "Which colour?"="Red, a "dark" one". You"#;
        assert!(output.as_str().unwrap().starts_with(start), "{output}");
        assert_eq!(asked.get("/question").await, json!([]));
    }
}

#[tokio::test]
async fn a_dismissed_question_ends_the_turn_and_is_answered_once() {
    for (server, status) in [(ServerKind::Kilo, "completed"), (ServerKind::Opencode, "error")] {
        let mut asked = Asked::by(server).await;
        let reject = format!("/question/{}/reject", asked.question);
        assert_eq!(asked.post(&reject, "").await, (200, json!(true)));
        asked.until("session.idle").await;
        assert_eq!(asked.tool_state().await["status"], status);
        let messages = asked.get(&format!("/session/{}/message", asked.session)).await;
        assert_eq!(messages.as_array().unwrap().len(), 2, "no step follows");
        let message = format!("Question request not found: {}", asked.question);
        let gone = json!({"_tag": "QuestionNotFoundError", "requestID": asked.question, "message": message});
        assert_eq!(asked.post(&reject, "").await, (404, gone.clone()));
        let reply = format!("/question/{}/reply", asked.question);
        assert_eq!(asked.post(&reply, r#"{"answers":[["Red"]]}"#).await, (404, gone));
    }
}

#[tokio::test]
async fn an_id_that_is_none_is_told_so() {
    for server in ServerKind::ALL {
        let asked = Asked::by(server).await;
        let message = "Expected a string starting with \"que\", got \"abc\"\n  at [\"requestID\"]";
        let told = json!({"name": "BadRequest", "data": {"message": message, "kind": "Params"}});
        assert_eq!(asked.post("/question/abc/reject", "").await, (400, told.clone()));
        assert_eq!(asked.post("/question/abc/reply", r#"{"answers":[]}"#).await, (400, told));
    }
}
