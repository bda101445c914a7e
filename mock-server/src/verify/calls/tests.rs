//! Goal: what is not as it is meant is told with what came in its place, and what is as it is meant is not. Method: a journal
//! of a few requests, and words about it.

use super::*;
use serde_json::json;

fn request(exchange: u64, lane: &str, line: &str, body: &Value) -> Line {
    let (method, path) = line.split_once(' ').unwrap();
    Line::Request(Request {
        at_us: exchange,
        exchange,
        lane: Some(lane.to_owned()),
        method: method.to_owned(),
        path: path.to_owned(),
        query: String::new(),
        headers: Vec::new(),
        // Whatever the spelling is.
        body: Body::from_bytes(serde_json::to_string_pretty(body).unwrap().as_bytes()),
    })
}

fn journal() -> Vec<Line> {
    vec![
        request(1, "main", "GET /event", &Value::Null),
        request(2, "main", "POST /session", &json!({"title": "a"})),
        request(3, "main", "GET /session/ses_1/message", &Value::Null),
        request(
            4,
            "phone",
            "POST /session/ses_1/prompt_async",
            &json!({"parts": [{"type": "text", "text": "hi"}]}),
        ),
        request(5, "main", "POST /permission/per_1/reply", &json!({"reply": "reject"})),
        request(6, ANOTHER_CLIENT, "POST /permission/per_1/reply", &json!({"reply": "once"})),
        request(7, "main", "GET /session/ses_1/mesage", &Value::Null),
        request(8, "main", "GET /session/ses_1/message", &Value::Null),
    ]
}

fn calls(words: Value) -> Calls {
    serde_json::from_value(words).unwrap()
}

#[test]
fn calls_that_are_as_they_are_meant_are_not_told() {
    for words in [
        json!({"expected": ["POST /session", "streams", "* /session/{id}/message"]}),
        json!({"expected": [{"request": "GET /session/{sessionID}/message", "count": 2}]}),
        json!({"expected": [{"request": "POST /session/{sessionID}/prompt_async", "lane": "phone", "body": {"parts.0.text": "hi"}}]}),
        json!({"expected": [{"request": "POST /session/{sessionID}/abort", "count": 0}]}),
        json!({"expected": [{"request": "POST /permission/{requestID}/reply", "lane": "another client"}]}),
        json!({"forbidden": ["POST /session/{sessionID}/abort", {"request": "POST /permission/{requestID}/reply", "body": {"reply": "once"}}]}),
        json!({"order": ["streams", "POST /session", "GET /session/{sessionID}/message", "POST /permission/{requestID}/reply", "GET /session/{sessionID}/message"]}),
    ] {
        assert_eq!(
            calls(words.clone()).check("kilo-7.7.7", &["main".into(), "phone".into()]),
            Ok(()),
            "{words}"
        );
        assert_eq!(calls(words.clone()).unmet(&journal()), [], "{words}");
    }
}

#[test]
fn calls_that_are_not_are_told_with_what_came_near() {
    let told = [
        json!({"expected": ["PUT /session/{sessionID}/message", "DELETE /session/{sessionID}", "POST /session/{sessionID}"]}),
        json!({"expected": [{"request": "GET /session/{sessionID}/message", "count": 3}, {"request": "POST /session", "count": 0}]}),
        json!({"expected": [{"request": "POST /session/{sessionID}/prompt_async", "lane": "main"}]}),
        json!({"expected": [{"request": "POST /permission/{requestID}/reply", "body": {"reply": "once"}}, {"request": "POST /session", "body": {"parentID": "ses_2"}}]}),
        json!({"forbidden": ["GET /session/{sessionID}/message", "rest"]}),
        json!({"order": ["GET /session/{sessionID}/message", "POST /session"]}),
        json!({"order": ["POST /session", "POST /session/{sessionID}/abort"]}),
        json!({"order": ["POST /session", "POST /session"]}),
    ]
    .map(|words| format!("{words}\n{}", UnmetCalls(calls(words.clone()).unmet(&journal()))));
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn words_that_mean_nothing_are_refused() {
    let lanes = ["main".to_owned()];
    let refused = [
        json!({}),
        json!({"expected": ["POST /sesion"]}),
        json!({"forbidden": ["session"]}),
        json!({"forbidden": [{"request": "POST /session", "count": 0}]}),
        json!({"order": [{"request": "POST /session", "lane": "fone"}]}),
        json!({"expected": [{"request": "POST /session", "lanes": "x"}]}),
        json!({"expected": [7]}),
        json!({"expects": []}),
    ]
    .map(|words| match serde_json::from_value::<Calls>(words.clone()) {
        Ok(calls) => format!("{words}\n  {}", calls.check("kilo-7.7.7", &lanes).unwrap_err()),
        Err(error) => format!("{words}\n  {error}"),
    });
    insta::assert_snapshot!(refused.join("\n"));
}
