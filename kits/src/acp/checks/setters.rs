//! A mode, a model, a command is said to be set when an agent has said so, and not otherwise. What an agent answers to a
//! command is shown.

use super::{Check, Examined};
use crate::acp::heard::{expected, requests, sessions_of};
use crate::story::Story;
use serde_json::json;

pub(super) const CHECK: Check =
    Check { name: "setters", about: "What is said to be set has been set by the agent.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let requests = requests(story, true);
    for call in &story.calls {
        let methods: &[&str] = match call.method.as_str() {
            "chat/setMode" => &["session/set_mode", "session/set_config_option"],
            "chat/setModel" => &["session/set_model", "session/set_config_option"],
            "chat/command" => &["_kiro.dev/commands/execute"],
            _ => continue,
        };
        // Agents and clients report on lines of their own, so a request is known by what it is about.
        let wanted = ["mode", "model", "command"].into_iter().find_map(|name| call.params[name].as_str());
        let word =
            wanted.unwrap_or_default().split(' ').next_back().unwrap_or_default().trim_start_matches('/');
        let sessions = sessions_of(story, call.params["chatId"].as_str().unwrap_or_default());
        let is_done = requests.iter().any(|asked| {
            let is_ok = asked.answer.is_some_and(|answer| answer.value.get("result").is_some());
            let is_it = methods.contains(&asked.asked.method().unwrap_or_default());
            let params = &asked.asked.value["params"];
            let is_here = params["sessionId"].as_str().is_none_or(|session| sessions.contains(&session));
            is_ok && is_it && is_here && asked.asked.value["params"].to_string().contains(word)
        });
        let is_said = call.result().is_some();
        examined.fact(is_said == is_done, || {
            let (method, params) = (&call.method, &call.params);
            format!("{method} {params}: done is {is_done}, and the client says {is_said}")
        });
    }
    for (at, says) in expected(story, "says") {
        let call = story.calls_of("chat/command").find(|call| call.at.line > at.line);
        let shown = call.and_then(|call| call.result()).map(|result| result["text"].clone());
        examined.fact(shown.as_ref() == Some(says), || {
            format!("the agent says {says}, and shown is {}", json!(shown))
        });
    }
    examined
}
