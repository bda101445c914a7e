//! Is each question asked once, and answered once?
//!
//! A question that comes back in a timeline is not a second one: what stands on the screen in the end is for
//! `convergence`. Here it is about what pops up, and about what is sent.

use super::{Check, Examined};
use crate::history;
use crate::protocol::Update;
use fixtures::recording::{Line, Speaker};
use parity_specs::case::ADAPTER_LANE;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "questions",
    about: "A question pops up once and never after its answer, and one answer to it goes to the server.",
    has_occasion: |lines| {
        history::server_events(lines)
            .iter()
            .any(|event| event["type"] == "permission.asked")
    },
    examine,
};

fn examine(lines: &[Line]) -> Examined {
    let mut examined = Examined::default();
    let mut live = BTreeSet::new();
    let mut answered = BTreeSet::new();
    let mut sent: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        if let Some(id) = answer_of_person(line) {
            answered.insert(id.to_owned());
        }
        if let Some(id) = answer_sent(line) {
            *sent.entry(id).or_default() += 1;
        }
        match history::update_of(line) {
            Some(Update::PermissionRequest { permission_id: id, .. }) => {
                examined.facts += 1;
                if answered.contains(&id) {
                    examined.findings.push(format!("{id} is asked again after the person has answered it"));
                } else if live.contains(&id) {
                    examined.findings.push(format!("{id} is asked twice"));
                }
                live.insert(id);
            }
            Some(Update::PermissionResolved { permission_id: id, .. }) => {
                live.remove(&id);
            }
            // It replaces all that was asked.
            Some(Update::Timeline { .. }) => live.clear(),
            _ => {}
        }
    }
    for (id, count) in sent {
        examined.facts += 1;
        if count > 1 {
            examined.findings.push(format!("{count} answers to {id} were sent to the server"));
        }
    }
    examined
}

/// The question that the person answers.
fn answer_of_person(line: &Line) -> Option<&str> {
    let Line::Adapter(line) = line else { return None };
    let is_answer = line.from == Speaker::Harness && line.message["method"] == "permission/reply";
    line.message["params"]["permissionId"].as_str().filter(|_| is_answer)
}

/// The question that the adapter answers to the server, by either of the two routes.
fn answer_sent(line: &Line) -> Option<&str> {
    let Line::Request(request) = line else { return None };
    if request.method != "POST" || request.lane.as_deref() != Some(ADAPTER_LANE) {
        return None;
    }
    let words: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match words[..] {
        ["session", _, "permissions", id] | ["permission", id, "reply"] => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mock_server::standin::MAIN_LANE;
    use crate::protocol::rpc::notification_line;
    use crate::protocol::{Notification, View};
    use fixtures::recording::{AdapterLine, Body, Request};
    use serde_json::{Value, json};

    fn line(from: Speaker, message: Value) -> Line {
        Line::Adapter(AdapterLine { at_us: 0, from, message })
    }

    fn shows(update: Update) -> Line {
        let said = notification_line(&Notification::Update(update));
        line(Speaker::Adapter, serde_json::from_str(&said).unwrap())
    }

    fn asks() -> Line {
        let asked = Update::PermissionRequest {
            task_id: "t".into(),
            permission_id: "per_1".into(),
            permission: "edit".into(),
            patterns: Vec::new(),
        };
        shows(asked)
    }

    #[test]
    fn a_question_pops_up_once_until_a_timeline_replaces_it_and_never_after_its_answer() {
        let answers = || {
            let params = json!({ "taskId": "t", "permissionId": "per_1", "reply": "once" });
            line(Speaker::Harness, json!({ "method": "permission/reply", "params": params }))
        };
        let anew = || shows(Update::Timeline { task_id: "t".into(), view: View::default() });
        for (lines, facts, expected) in [
            (vec![asks(), answers()], 1, None),
            (vec![asks(), anew(), asks(), answers()], 2, None),
            (vec![asks(), asks()], 2, Some("per_1 is asked twice")),
            (
                vec![asks(), answers(), asks()],
                2,
                Some("per_1 is asked again after the person has answered it"),
            ),
            (vec![answers()], 0, None),
        ] {
            let examined = examine(&lines);
            assert_eq!((examined.facts, examined.findings.first().map(String::as_str)), (facts, expected));
        }
        assert!(!(CHECK.has_occasion)(&[asks()]), "the server has asked nothing");
    }

    #[test]
    fn one_answer_to_a_question_goes_to_the_server_by_whichever_route() {
        let posts = |lane: &str, path: &str| {
            Line::Request(Request {
                at_us: 0,
                exchange: 1,
                lane: Some(lane.to_owned()),
                method: "POST".to_owned(),
                path: path.to_owned(),
                query: String::new(),
                headers: Vec::new(),
                body: Body::Empty,
            })
        };
        let (new, old) = ("/permission/per_1/reply", "/session/ses_1/permissions/per_1");
        let other = "/permission/per_2/reply";
        for (lines, facts, expected) in [
            (vec![posts(ADAPTER_LANE, new), posts(ADAPTER_LANE, other), posts(MAIN_LANE, new)], 2, None),
            (
                vec![posts(ADAPTER_LANE, new), posts(ADAPTER_LANE, old)],
                1,
                Some("2 answers to per_1 were sent to the server"),
            ),
        ] {
            let examined = examine(&lines);
            assert_eq!((examined.facts, examined.findings.first().map(String::as_str)), (facts, expected));
        }
    }
}
