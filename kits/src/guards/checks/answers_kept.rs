//! An answer is kept for five minutes, and a failure is not.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "answers-kept",
    about: "An answer younger than five minutes is given again, and no other; an older one is asked for, and a failure is never kept.",
    examine,
};

/// So long an answer is kept.
const KEPT_MS: f64 = 300_000.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // What the host has last said, by its lanes: each key has its own.
    let mut last: BTreeMap<&str, &str> = BTreeMap::new();
    for (call, wanted) in wanted(story, "cache/get") {
        let fetched = wanted["fetched"].as_u64().unwrap_or_default();
        let (lane, about) = (text(&wanted["lane"]), text(&wanted["about"]));
        let is_failure = fetched > 0 && wanted["status"].as_u64() >= Some(300);
        if fetched > 0 && !is_failure {
            last.insert(lane, text(&wanted["says"]));
        }
        if let Some(says) = last.get(lane).filter(|_| !is_failure) {
            let given = call.result().map(Value::to_string).unwrap_or_default();
            examined.fact(given.contains(says), || {
                format!("{about}: the host's last words are {says:?}, and the answer is {given:?}")
            });
        }
        let Some(fetches) = fetches(story, call, wanted) else { continue };
        examined.fact((fetched > 0) == fetches, || {
            let instead = match fetches {
                true => "and has to be: a failure is not kept, nor what is five minutes old",
                false => "though the answer is kept",
            };
            format!("{about}: the host is asked {fetched} times, {instead}")
        });
    }
    examined
}

/// Has the host to be asked? For a clock of the machine that is told by the times at which the host was; nothing is told
/// where five minutes are over just then.
fn fetches(story: &Story<'_>, call: &Call, wanted: &Value) -> Option<bool> {
    if story.clock == AdapterClock::Virtual {
        return Some(wanted["fetches"] == true);
    }
    let before =
        story.exchanges.iter().filter(|exchange| exchange.lane.as_deref() == wanted["lane"].as_str());
    let before = before.filter(|exchange| exchange.at.line < call.at.line);
    // Whoever keeps an answer may count from when it was asked for, before the host has heard of it.
    let called = |line: usize| {
        let calls = story.calls_of("cache/get").filter(|call| call.at.line < line);
        calls.last().map_or(0.0, |call| call.at.ms)
    };
    let mut answers = before.filter_map(|exchange| Some((exchange.at.line, exchange.answer?)));
    let Some((asked, (said, _))) = answers.rfind(|(_, (_, status))| *status < 300) else {
        return Some(true);
    };
    let end = call.answer.as_ref().map_or(f64::INFINITY, |(at, _)| at.ms);
    let (youngest, oldest) = (call.at.ms - said.ms, end - called(asked));
    (oldest < KEPT_MS || youngest >= KEPT_MS).then_some(youngest >= KEPT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::{AdapterLine, Body, Line, Note, Request, Response, Speaker};
    use serde_json::json;

    fn said(at_us: u64, from: Speaker, message: Value) -> Line {
        Line::Adapter(AdapterLine { at_us, from, message })
    }

    /// Two calls, the second so many milliseconds of the machine after the first; is the host asked again?
    fn findings(apart_ms: u64, asked_again: bool) -> Vec<String> {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"timeScale": 0.01}});
        let told = json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": [], "clock": "scaled"}});
        let mut lines = vec![said(0, Speaker::Harness, hello), said(0, Speaker::Adapter, told)];
        for (nth, begun) in [(0, 0), (1, apart_ms * 1000)] {
            let id = nth + 1;
            let asked = json!({"jsonrpc": "2.0", "id": id, "method": "cache/get", "params": {}});
            lines.push(said(begun, Speaker::Harness, asked));
            if nth == 0 || asked_again {
                let (method, path, query) = ("GET".to_owned(), "/kept".to_owned(), String::new());
                let (lane, headers, body) = (Some("kept".to_owned()), Vec::new(), Body::from_bytes(b""));
                let exchange = id;
                lines.push(Line::Request(Request {
                    at_us: begun + 1000,
                    exchange,
                    lane,
                    method,
                    path,
                    query,
                    headers,
                    body,
                }));
                let (headers, body) = (Vec::new(), Body::from_bytes(b"{}"));
                lines.push(Line::Response(Response {
                    at_us: begun + 2000,
                    exchange,
                    status: 200,
                    headers,
                    body,
                }));
            }
            let fetched = u64::from(nth == 0 || asked_again);
            let wanted = json!({"method": "cache/get", "nth": nth, "fetches": true, "fetched": fetched, "about": "it", "lane": "kept"});
            lines.push(said(
                begun + 3000,
                Speaker::Adapter,
                json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            ));
            lines.push(Line::Note(Note { at_us: begun + 3000, text: format!("witness wanted {wanted}") }));
        }
        examine(&Story::of(&lines)).findings
    }

    #[test]
    fn on_a_clock_of_the_machine_the_times_at_the_host_decide() {
        assert_eq!(findings(2900, false), Vec::<String>::new(), "after 290 s it is kept");
        assert_eq!(findings(2900, true), ["it: the host is asked 1 times, though the answer is kept"]);
        assert_eq!(findings(3100, true), Vec::<String>::new(), "after 310 s it is asked for");
        assert_eq!(
            findings(3100, false),
            [
                "it: the host is asked 0 times, and has to be: a failure is not kept, nor what is five minutes old"
            ]
        );
        for asked_again in [true, false] {
            assert_eq!(
                findings(2997, asked_again),
                Vec::<String>::new(),
                "they are over since it was called"
            );
            assert_eq!(findings(3001, asked_again), Vec::<String>::new(), "five minutes are over just then");
        }
    }
}
