//! What a model was told of a task: read from its requests.

use super::text;
use crate::story::{Exchange, Story};
use serde_json::Value;

/// The requests of a lane, in order.
pub(super) fn requests<'s>(story: &'s Story<'_>, lane: &'s Value) -> Vec<&'s Exchange> {
    story.exchanges.iter().filter(|exchange| exchange.lane.as_deref() == lane.as_str()).collect()
}

/// The messages of a request.
pub(super) fn messages(exchange: &Exchange) -> &[Value] {
    exchange.body["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// Has a message of a role these words in it, however they are wrapped? Spaces around them may go.
pub(super) fn says(messages: &[Value], role: &str, words: &str) -> bool {
    let in_json = Value::from(words.trim()).to_string();
    let words = in_json.trim_matches('"');
    let of_role = messages.iter().filter(|message| message["role"] == role);
    of_role.map(|message| message["content"].to_string()).any(|content| content.contains(words))
}

/// How often a call stands in messages, and how many results of it come after it.
pub(super) fn call_and_results(messages: &[Value], id: &str) -> (usize, usize) {
    let calls = |message: &Value| {
        message["tool_calls"].as_array().is_some_and(|calls| calls.iter().any(|call| call["id"] == id))
    };
    let called = messages.iter().position(calls).unwrap_or(messages.len());
    let results = messages[called..].iter().filter(|message| message["tool_call_id"] == id).count();
    (messages.iter().filter(|message| calls(message)).count(), results)
}

/// Has the result of a call these words in it, however it is wrapped?
pub(super) fn result_says(messages: &[Value], id: &str, words: &str) -> bool {
    let mut of_call = messages.iter().filter(|message| message["tool_call_id"] == id);
    of_call.any(|message| message["content"].to_string().contains(words))
}

/// The result of a call, as it was told.
pub(super) fn result_of(messages: &[Value], id: &str) -> Option<String> {
    let result = messages.iter().find(|message| message["tool_call_id"] == id)?;
    Some(result["content"].to_string())
}

/// What messages lack of what was said to a task and came of it.
pub(super) fn lacks(messages: &[Value], wanted: &Value) -> Vec<String> {
    let mut lacks = Vec::new();
    if !says(messages, "user", text(&wanted["text"])) {
        lacks.push(format!("the person's words “{}”", text(&wanted["text"])));
    }
    for answer in wanted["answers"].as_array().into_iter().flatten() {
        let words = text(&answer["says"]).trim();
        if !words.is_empty() && !says(messages, "assistant", words) {
            lacks.push(format!("the model's words “{words}”"));
        }
        for call in answer["calls"].as_array().into_iter().flatten() {
            let id = text(&call["id"]);
            let tells = text(&call["tells"]);
            match call_and_results(messages, id) {
                (1, 1) if result_says(messages, id, tells) => {}
                (1, 1) => lacks.push(format!("“{tells}” in the result of the call {id}")),
                (0, _) => lacks.push(format!("the call {id}")),
                (calls, results) => {
                    lacks.push(format!("the call {id} once with one result ({calls}, {results})"))
                }
            }
        }
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spaces_around_words_may_go_and_words_may_not() {
        let messages = |said: &str| vec![json!({"role": "assistant", "content": said})];
        for said in ["I look. ", "I look.", "\n I look.\n"] {
            assert!(says(&messages(said), "assistant", "I look. "), "{said:?}");
        }
        assert!(!says(&messages("I look"), "assistant", "I look. "));
        assert!(!says(&messages("I look. "), "user", "I look. "));
        let wanted = json!({"text": "", "answers": [{"says": "I look. "}]});
        let told =
            vec![json!({"role": "user", "content": ""}), json!({"role": "assistant", "content": "I look."})];
        assert_eq!(lacks(&told, &wanted), Vec::<String>::new());
    }

    #[test]
    fn a_result_says_what_it_has_to() {
        let messages = vec![
            json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "1: one"}]}),
        ];
        assert!(result_says(&messages, "a", "one"));
        assert!(!result_says(&messages, "a", "two"));
        assert!(!result_says(&messages, "b", "one"));
    }
}
