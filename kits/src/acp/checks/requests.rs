//! Every other request of an agent is answered, under its id as it was: with an error where the client does not offer it.
//! Who is silent hangs the agent.

use super::{Check, Examined};
use crate::acp::heard::requests;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "requests", about: "What the agent asks and is not offered is refused.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for request in requests(story, false) {
        let method = request.asked.method().unwrap_or_default();
        if method == "session/request_permission" {
            continue;
        }
        let id = &request.asked.value["id"];
        let refused = request.answer.map(|answer| answer.value["error"]["code"] == -32601);
        examined.fact(refused == Some(true), || match request.answer {
            None => format!("{method} with the id {id} is never answered"),
            Some(answer) => format!("{method} is not offered, and is answered with {}", answer.value),
        });
    }
    examined
}
