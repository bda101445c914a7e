//! Every other request of an agent is answered, under its id as it was: with an error where the client does not offer it, and
//! with no such error where it does. Who is silent hangs the agent.

use super::{Check, Examined};
use crate::acp::heard::{Asked, Message, is_late, messages, requests};
use crate::story::Story;
use serde_json::Value;

/// What an answer says to who asks for something that nobody knows.
const UNKNOWN_METHOD: i64 = -32601;

pub(super) const CHECK: Check =
    Check { name: "requests", about: "What the agent asks and is not offered is refused.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for request in requests(story, false) {
        let method = request.asked.method().unwrap_or_default();
        if method == "session/request_permission" {
            continue;
        }
        if request.answer.is_none() && is_at_its_end(story, &request.asked) {
            continue;
        }
        let id = &request.asked.value["id"];
        let refused = request.answer.map(|answer| answer.value["error"]["code"] == UNKNOWN_METHOD);
        let is_offered = offers(story, request.asked.agent, method);
        examined.fact(refused == Some(!is_offered), || match request.answer {
            None => format!("{method} with the id {id} is never answered"),
            Some(_) if is_offered => format!("{method} is offered, and is refused as what nobody knows"),
            Some(answer) => format!("{method} is not offered, and is answered with {}", answer.value),
        });
    }
    examined
}

/// A client that starts its agent for each prompt ends it with the turn: what it has not answered by then is nobody's.
fn is_at_its_end(story: &Story<'_>, asked: &Message<'_>) -> bool {
    let is_over = |turn: &Asked<'_>| {
        turn.asked.agent == asked.agent
            && turn.asked.method() == Some("session/prompt")
            && turn.answer.is_some_and(|answer| answer.at.line > asked.at.line)
    };
    is_late(story) && requests(story, true).iter().any(is_over)
}

/// Did the client say that it does this for the agent?
fn offers(story: &Story<'_>, agent: u64, method: &str) -> bool {
    let is_first = |message: &Message<'_>| {
        message.is_clients && message.agent == agent && message.method() == Some("initialize")
    };
    let offered = messages(story).find(is_first).map(|first| &first.value["params"]["clientCapabilities"]);
    offered.is_some_and(|offered| is_among(offered, method))
}

fn is_among(offered: &Value, method: &str) -> bool {
    match method {
        "fs/read_text_file" => offered["fs"]["readTextFile"] == true,
        "fs/write_text_file" => offered["fs"]["writeTextFile"] == true,
        _ => method.starts_with("terminal/") && offered["terminal"] == true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_offered_is_said_word_by_word() {
        let reads = json!({"fs": {"readTextFile": true, "writeTextFile": false}});
        let all = json!({"fs": {"readTextFile": true, "writeTextFile": true}, "terminal": true});
        for (method, of_reads, of_all) in [
            ("fs/read_text_file", true, true),
            ("fs/write_text_file", false, true),
            ("terminal/create", false, true),
            ("_vendor/ask", false, false),
        ] {
            assert_eq!((is_among(&reads, method), is_among(&all, method)), (of_reads, of_all), "{method}");
            assert!(!is_among(&Value::Null, method));
        }
    }
}
