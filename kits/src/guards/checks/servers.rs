//! Servers of tools are used as they should be, and their keys are theirs.

use super::super::play::CANARY;
use super::{text, wanted};
use crate::kit::Check;
use crate::story::{Story, quoted};
use fixtures::recording::Line;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "servers",
    about: "A server of tools is greeted, has its own environment alone, and is heard; its key stands nowhere else.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for method in ["mcp/call", "mcp/read"] {
        for (call, wanted) in wanted(story, method) {
            let what = text(&call.params[if method == "mcp/call" { "tool" } else { "uri" }]);
            let said = call.result().filter(|said| said["ok"] == true).map(|said| text(&said["text"]));
            match wanted["says"].as_str() {
                Some(words) => examined.fact(said.is_some_and(|said| said.contains(words)), || {
                    format!("{what}: the server says {words:?}, and it tells {}", quoted(said))
                }),
                None => {
                    examined.fact(said.is_none(), || format!("{what} fails, and it tells {}", quoted(said)))
                }
            }
        }
    }
    for seen in story.seen_of("server") {
        let name = text(&seen.value["server"]);
        examined.fact(seen.value["has_own"] == true, || {
            format!("the server {name} has no key in its environment")
        });
        let others = &seen.value["others"];
        examined.fact(others.as_array().is_some_and(Vec::is_empty), || {
            format!("the server {name} has {others} of other servers in its environment")
        });
        // Whoever can list what runs on a machine reads what it was started with.
        examined.fact(seen.value["key_among_its_words"] != true, || {
            format!("the key of the server {name} is among the words that it is started with")
        });
        let asked = seen.value["asked"].as_array().into_iter().flatten().map(|asked| text(&asked["method"]));
        let asked: Vec<&str> = asked.collect();
        let greeted =
            asked.first() == Some(&"initialize") && asked.get(1) == Some(&"notifications/initialized");
        examined.fact(greeted, || {
            format!("the server {name} is to be greeted first, and was asked {}", asked.join(", "))
        });
    }
    let mut places: Vec<String> = Vec::new();
    for (secret, place) in story.said_secrets().filter(|(secret, _)| *secret == "server's key") {
        places.push(format!(
            "the {secret} stands on {}",
            if place == "stderr" { "its stderr" } else { "its line" }
        ));
    }
    for line in story.lines {
        let Line::Request(request) = line else { continue };
        if String::from_utf8_lossy(&request.body.to_bytes()).contains(CANARY) {
            let lane = request.lane.as_deref().unwrap_or_default();
            places.push(format!("the server's key stands in a request to {lane}"));
        }
    }
    let files = story.seen_of("server-key-in").flat_map(|seen| seen.value.as_array().into_iter().flatten());
    places.extend(files.filter_map(Value::as_str).map(|file| format!("the server's key stands in {file}")));
    places.dedup();
    examined.findings.extend(places);
    examined
}
