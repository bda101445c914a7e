//! Is each question asked once, and answered once?
//!
//! A question that comes back in a timeline is not a second one: what stands on the screen in the end is for
//! `convergence`. Here it is about what pops up, and about what is sent.

use super::{Check, Examined};
use crate::history;
use crate::protocol::Update;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Line, Speaker};
use mock_server::standin::MAIN_LANE;
use parity_specs::case::ADAPTER_LANE;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const CHECK: Check = Check {
    name: "questions",
    about: "A question pops up once and never after its answer, and one answer to it goes to the server.",
    has_occasion: |lines| {
        history::events(lines, MAIN_LANE, StreamName::Event)
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
