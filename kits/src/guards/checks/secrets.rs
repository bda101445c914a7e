//! A key stays where it belongs, and is gone when the person has logged out.

use super::super::key::stands_in;
use super::super::play::ELSEWHERE;
use super::wanted;
use crate::kit::Check;
use crate::story::Story;
use fixtures::recording::{Line, Speaker};
use harness::checks::Examined;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "secrets",
    about: "The key stands in no log, report, state, error, address or word to a program, nor does it in base64; it follows no redirect to others; it is used while it is there, also when the program starts again, and then it is gone for good.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let was_given = story.calls_of("secret/store").next().is_some();
    let has_errors = story.calls_of("error/handle").next().is_some();
    if !was_given && !has_errors {
        return examined;
    }
    // What it says is kept without secrets; whether there was one in it is seen before.
    for (index, line) in story.lines.iter().enumerate() {
        let Line::Adapter(said) = line else { continue };
        if said.from == Speaker::Adapter {
            examined.fact(!stands_in(&said.message.to_string()), || {
                format!("line {}: most of the key stands in what it says", index + 1)
            });
        }
    }
    examined.findings.extend(story.said_secrets().map(|(secret, place)| match place {
        "stderr" => format!("the {secret} stands on its stderr"),
        _ => format!("the {secret} stands in what it says"),
    }));
    for (index, line) in story.lines.iter().enumerate() {
        let Line::Request(request) = line else { continue };
        // Not every report is JSON.
        let body = String::from_utf8_lossy(&request.body.to_bytes()).into_owned();
        let told = format!("{} {} {:?} {body}", request.path, request.query, request.headers);
        examined.fact(!stands_in(&told), || {
            let lane = request.lane.as_deref().unwrap_or_default();
            format!("line {}: the key stands in a request to {lane}", index + 1)
        });
    }
    for seen in story.seen_of("key-in") {
        let files: Vec<&str> =
            seen.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        examined.fact(files.is_empty(), || format!("the key stands in {}", files.join(", ")));
    }
    for seen in story.seen_of("key-left") {
        let files: Vec<&str> =
            seen.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        examined.fact(files.is_empty(), || {
            format!("after the person has logged out the key still stands in {}", files.join(", "))
        });
    }
    for seen in story.seen_of("key-told-to") {
        let programs: Vec<&str> =
            seen.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        examined.fact(programs.is_empty(), || {
            format!("the key is among the words that a program is started with: {}", programs.join(", "))
        });
    }
    // Of a bearer the time line has no letters, so it is not found above.
    for exchange in story.exchanges.iter().filter(|one| one.lane.as_deref() == Some(ELSEWHERE)) {
        let has_bearer = exchange.headers.iter().any(|(name, _)| name == "authorization");
        examined.fact(!has_bearer, || {
            format!("line {}: the key follows a redirect to somebody else", exchange.at.line + 1)
        });
    }
    let mut used: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for (call, wanted) in wanted(story, "secret/use") {
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let asked = story.exchanges.iter().filter(|exchange| {
            exchange.lane.as_deref() == Some("provider")
                && call.at.line < exchange.at.line
                && exchange.at.line < end
        });
        let of_each =
            asked.flat_map(|exchange| exchange.headers.iter().filter(|(name, _)| name == "authorization"));
        let keys: Vec<&str> = of_each.map(|(_, key)| key.as_str()).collect();
        let (with_key, expected) = (keys.len(), wanted["with_key"] == true);
        used.entry(wanted["given"].as_u64().unwrap_or_default()).or_default().extend(keys);
        examined.fact((with_key > 0) == expected, || match expected {
            true => "the key was given, and is not used".to_owned(),
            false => format!("{with_key} requests have a key after the person has logged out"),
        });
    }
    // In the time line each key has a name of its own in the place of its letters.
    for (given, keys) in &used {
        for (_, before) in used.range(..given) {
            examined.fact(keys.is_disjoint(before), || {
                "the person has given another key, and the one of before is used".to_owned()
            });
        }
    }
    examined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::key::in_base64;
    use fixtures::failures::KEY;
    use fixtures::recording::{AdapterLine, Body, Request};
    use serde_json::json;

    fn findings(path: &str, query: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<String> {
        let given = json!({"jsonrpc": "2.0", "id": 1, "method": "secret/store", "params": {}});
        let request = Request {
            at_us: 2,
            exchange: 1,
            lane: Some("monitor".to_owned()),
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: Body::from_bytes(body),
        };
        let lines = [
            Line::Adapter(AdapterLine { at_us: 1, from: Speaker::Harness, message: given }),
            Line::Request(request),
        ];
        examine(&Story::of(&lines)).findings
    }

    #[test]
    fn a_key_is_found_wherever_a_request_has_it() {
        assert_eq!(findings("/monitor", "", &[], b"all is well"), Vec::<String>::new());
        let found = ["line 2: the key stands in a request to monitor"];
        let binary = [b"\xff".as_slice(), KEY.as_bytes()].concat();
        for body in [json!({"why": KEY}).to_string().as_bytes(), format!("why={KEY}").as_bytes(), &binary] {
            assert_eq!(findings("/monitor", "", &[], body), found, "{}", String::from_utf8_lossy(body));
        }
        assert_eq!(findings(&format!("/monitor/{KEY}"), "", &[], b""), found);
        assert_eq!(findings("/monitor", &format!("key={KEY}"), &[], b""), found);
        assert_eq!(findings("/monitor", "", &[("x-key", KEY)], b""), found);
        for form in in_base64(KEY) {
            assert_eq!(findings("/monitor", "", &[], form.as_bytes()), found, "{form}");
        }
    }
}
