//! A conversation that is too long is sent without what is old, and never without what is needed.

use super::wanted;
use crate::kit::Check;
use crate::story::{Call, Exchange, Story};
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "window",
    about: "Above 75 % of the window old messages go and the last five stay; every request, also after a refusal, has system prompt, tools, environment, whole pairs and the last message.",
    examine,
};

/// So much of the window may be filled.
const FULL: f64 = 0.75;
/// As many of the last messages stay.
const LAST: usize = 5;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "context/send") {
        let requests = sent(story, call);
        let Some(first) = requests.first() else {
            examined.fact(false, || "the model was not asked".to_owned());
            continue;
        };
        for (nth, request) in requests.iter().enumerate() {
            stays(&mut examined, &format!("request {}", nth + 1), &parts(request), &call.params);
        }
        let parts = parts(first);
        let tokens = tokens(&call.params);
        let messages: Vec<&str> = ids(&call.params["messages"]);
        let has = |id: &str| parts.contains(&id);
        let sum: f64 = parts.iter().filter_map(|id| tokens.get(id)).sum::<f64>()
            + first.body["summaryTokens"].as_f64().unwrap_or_default();
        let limit = call.params["limit"].as_f64().unwrap_or_default();
        let missing = messages.iter().filter(|id| !has(id)).count();
        if wanted["compressed"] == false {
            examined.fact(missing == 0, || format!("{missing} messages are left out of one that fits"));
        } else {
            examined.fact(missing > 0, || "nothing is left out of one that is too long".to_owned());
            examined
                .fact(sum <= limit * FULL, || format!("{sum} tokens are sent, and the window takes {limit}"));
        }
        let last = &messages[messages.len().saturating_sub(LAST)..];
        let forced = wanted["forced"] == true;
        let lost: Vec<&str> = last.iter().copied().filter(|id| !has(id)).collect();
        if !forced {
            examined.fact(lost.is_empty(), || {
                format!("of the last {LAST} messages these are left out: {}", lost.join(", "))
            });
        }
        if wanted["compressed"] == true && !forced {
            let summary = first.body["summaryTokens"].as_f64().unwrap_or_default();
            examined.fact(summary > 0.0, || "what is left out has no summary".to_owned());
        }
        // Of a reduction 75 % are kept: what has room stays, and the other half of its pair with it.
        let pairs = pairs(&call.params["messages"]);
        let more = |id: &str| {
            let other = pairs.get(id).filter(|other| !has(other));
            [Some(&id), other].into_iter().flatten().filter_map(|id| tokens.get(id)).sum::<f64>()
        };
        let has_room = |id: &&&str| sum + more(id) <= limit * FULL;
        let needless: Vec<&str> = lost.iter().filter(has_room).copied().collect();
        examined.fact(!forced || needless.is_empty(), || {
            format!(
                "{sum} tokens are sent of {limit}, and these are left out that have room: {}",
                needless.join(", ")
            )
        });
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let of_call = |line: usize| call.at.line < line && line < end;
        let warnings = story.updates_of("notice").filter(|told| told.warns());
        let notices = warnings.filter(|told| of_call(told.at.line)).count();
        examined.fact(notices == usize::from(forced), || {
            let why = if forced { "more than old messages go" } else { "only old messages go" };
            format!(
                "{why}: the person has to be warned {} times, and is {notices} times",
                usize::from(forced)
            )
        });
    }
    examined
}

/// What has to hold of every request, however much is left out of it.
fn stays(examined: &mut Examined, which: &str, parts: &[&str], params: &Value) {
    let messages: Vec<&str> = ids(&params["messages"]);
    let has = |id: &str| parts.contains(&id);
    for needed in ["system", "tools", "environment"].into_iter().chain(messages.last().copied()) {
        examined.fact(has(needed), || format!("{which}: '{needed}' is not sent"));
    }
    let is_sorted = parts.iter().filter_map(|id| rank(id, &messages)).is_sorted();
    examined.fact(is_sorted, || {
        let order = "system, tools, history, environment, last message";
        format!("{which}: the parts don't stand in the order {order}: {}", parts.join(", "))
    });
    for message in params["messages"].as_array().into_iter().flatten() {
        let (id, call_of) = (message["id"].as_str().unwrap_or_default(), message["answers"].as_str());
        if let Some(call_of) = call_of {
            examined
                .fact(has(id) == has(call_of), || format!("{which}: {id} and its call {call_of} are parted"));
        }
    }
}

/// The requests that came of a call.
pub(super) fn sent<'s>(story: &'s Story<'_>, call: &Call) -> Vec<&'s Exchange> {
    let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
    let is_of = |exchange: &&Exchange| {
        exchange.lane.as_deref() == Some("model") && call.at.line < exchange.at.line && exchange.at.line < end
    };
    story.exchanges.iter().filter(is_of).collect()
}

/// What a request has, in its order.
pub(super) fn parts(exchange: &Exchange) -> Vec<&str> {
    exchange.body["parts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn ids(messages: &Value) -> Vec<&str> {
    messages.as_array().into_iter().flatten().filter_map(|message| message["id"].as_str()).collect()
}

/// The other half of each call and each result.
fn pairs(messages: &Value) -> BTreeMap<&str, &str> {
    let all = messages.as_array().into_iter().flatten();
    all.filter_map(|message| {
        let other = message["calls"].as_str().or(message["answers"].as_str())?;
        Some((message["id"].as_str()?, other))
    })
    .collect()
}

/// The tokens of each part.
pub(super) fn tokens(params: &Value) -> BTreeMap<&str, f64> {
    let fixed = ["system", "tools", "environment"].iter().map(|name| &params[*name]);
    let all = fixed.chain(params["messages"].as_array().into_iter().flatten());
    all.filter_map(|part| Some((part["id"].as_str()?, part["tokens"].as_f64()?))).collect()
}

/// Where a part belongs: system, tools, history, environment, and the person's last words.
fn rank(id: &str, messages: &[&str]) -> Option<usize> {
    match id {
        "system" => Some(0),
        "tools" => Some(1),
        "environment" => Some(2 + messages.len()),
        _ => {
            let at = messages.iter().position(|message| *message == id)?;
            Some(if at + 1 == messages.len() { 3 + messages.len() } else { 2 + at })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::play::WANTED;
    use fixtures::recording::{AdapterLine, Body, Line, Note, Request, Speaker};
    use serde_json::json;

    /// What is found where late messages have to go, the model is told these, and the person at these levels.
    fn findings(parts: &[&str], levels: &[&str]) -> Vec<String> {
        let said = |from: Speaker, message: Value| Line::Adapter(AdapterLine { at_us: 0, from, message });
        let messages: Vec<Value> =
            (1..=6).map(|nth| json!({"id": format!("m{nth}"), "tokens": 200})).collect();
        let fixed = |id: &str| json!({"id": id, "tokens": 50});
        let params = json!({
            "limit": 1000, "system": fixed("system"), "tools": fixed("tools"),
            "environment": fixed("environment"), "messages": messages,
        });
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "context/send", "params": params});
        let mut lines = vec![said(Speaker::Harness, asked)];
        for level in levels {
            let update = json!({"kind": "notice", "level": level, "text": "words"});
            let told = json!({"jsonrpc": "2.0", "method": "update", "params": {"update": update}});
            lines.push(said(Speaker::Adapter, told));
        }
        lines.push(Line::Request(Request {
            at_us: 0,
            exchange: 1,
            lane: Some("model".to_owned()),
            method: "POST".to_owned(),
            path: "/model".to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Body::from_bytes(json!({"parts": parts}).to_string().as_bytes()),
        }));
        lines.push(said(Speaker::Adapter, json!({"jsonrpc": "2.0", "id": 1, "result": {"ok": true}})));
        let wanted = json!({"method": "context/send", "nth": 0, "compressed": true, "forced": true});
        lines.push(Line::Note(Note { at_us: 0, text: format!("witness {WANTED} {wanted}") }));
        examine(&Story::of(&lines)).findings
    }

    #[test]
    fn what_is_only_mentioned_is_no_warning() {
        let whole = ["system", "tools", "m4", "m5", "environment", "m6"];
        assert_eq!(findings(&whole, &["warning"]), Vec::<String>::new());
        assert_eq!(findings(&whole, &["info", "error", "info"]), Vec::<String>::new());
        let twice = ["more than old messages go: the person has to be warned 1 times, and is 2 times"];
        assert_eq!(findings(&whole, &["warning", "error"]), twice);
        let never = ["more than old messages go: the person has to be warned 1 times, and is 0 times"];
        assert_eq!(findings(&whole, &["info"]), never);
    }

    #[test]
    fn the_last_message_stays_however_much_goes() {
        assert_eq!(
            findings(&["system", "tools", "m3", "m4", "m5", "environment"], &["warning"]),
            ["request 1: 'm6' is not sent"]
        );
    }

    #[test]
    fn what_has_room_within_75_percent_stays() {
        let room = ["550 tokens are sent of 1000, and these are left out that have room: m2, m3, m4"];
        assert_eq!(findings(&["system", "tools", "m5", "environment", "m6"], &["warning"]), room);
    }
}
