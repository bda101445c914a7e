//! Goal: a client that listens only after it has prompted, or leaves with the answer, hears the turn all the same.
//! Method: a model that thinks, and the journal's times, on the machine's clock; on a logical one nothing waits.

use crate::stage::Stage;
use fixtures::recording::Line;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options};
use std::time::Duration;

fn options(server: ServerKind, pause: Duration, clock: ClockKind) -> Options {
    let mut options = Options::scenario(server, catalog::scenario("text/plain").unwrap());
    (options.model_pause, options.clock) = (pause, clock);
    options
}

#[tokio::test]
async fn a_model_that_thinks_is_waited_for() {
    let pause = Duration::from_millis(200);
    for server in ServerKind::ALL {
        let mut stage = Stage::open(options(server, pause, ClockKind::Real)).await;
        let session = stage.session().await;
        let answer = stage.prompt(&session, "say hello").await;
        let times = &answer["info"]["time"];
        let took = times["completed"].as_u64().unwrap() - times["created"].as_u64().unwrap();
        assert!(u128::from(took) >= pause.as_millis(), "{took} ms");
        stage.until_kind("session.idle").await;
    }
}

#[tokio::test]
async fn the_answer_comes_a_moment_after_the_turn() {
    for server in ServerKind::ALL {
        let stage = Stage::open(options(server, Duration::ZERO, ClockKind::Real)).await;
        let session = stage.session().await;
        stage.prompt(&session, "say hello").await;
        let lines = stage.stand_in.journal().lines();
        let asked = lines.iter().find_map(|line| match line {
            Line::Request(request) if request.path.ends_with("/message") => Some(request),
            _ => None,
        });
        let asked = asked.unwrap();
        let answered = lines.iter().find_map(|line| match line {
            Line::Response(response) if response.exchange == asked.exchange => Some(response.at_us),
            _ => None,
        });
        let took = answered.unwrap() - asked.at_us;
        assert!(took >= 30_000, "{took} us");
    }
}

#[tokio::test]
async fn who_asked_in_vain_is_told_before_the_others() {
    for server in ServerKind::ALL {
        let mut stage = Stage::open(options(server, Duration::ZERO, ClockKind::Real)).await;
        let session = stage.session().await;
        let body = r#"{"command": "nosuch", "arguments": ""}"#;
        let (status, _) = stage.post_text(&format!("/session/{session}/command"), body).await;
        assert_eq!(status, 500);
        stage.until_kind("session.error").await;
        let lines = stage.stand_in.journal().lines();
        let answered = lines.iter().find_map(|line| match line {
            Line::Response(response) if response.status == 500 => Some(response.at_us),
            _ => None,
        });
        let told = lines.iter().find_map(|line| match line {
            Line::Chunk(chunk) if chunk.text.as_deref().unwrap_or_default().contains("session.error") => {
                Some(chunk.at_us)
            }
            _ => None,
        });
        let (answered, told) = (answered.unwrap(), told.unwrap());
        assert!(told >= answered + 30_000, "answered at {answered} us, told at {told} us");
    }
}
