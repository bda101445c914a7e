//! What came of a turn for a goal. Nobody looks at the work itself: it counts which calls went well and which did not.

use super::words::{BLOCKED, FAILED, NOTHING_DONE, REPORTED};
use crate::world::World;
use crate::world::session::Message;
use serde_json::Value;

/// Tools whose success moves nothing.
const IDLE: [&str; 6] = ["question", "suggest", "todowrite", "board_post", "board_read", "goal_report"];

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Went {
    Well,
    Badly,
    /// Somebody or something does not let it go on.
    Nowhere,
    /// It counts for nothing.
    Idle,
}

/// All calls of a turn.
#[derive(Debug, Default)]
struct Tally {
    is_blocked: bool,
    /// Something went badly, and nothing well behind it.
    has_failed: bool,
    has_done: bool,
    has_error: bool,
}

impl World {
    /// The status of the goal and the reason; nothing when the agent is to go on.
    pub(super) fn goal_outcome(&self, session: &str) -> Option<(String, String)> {
        let owner = self.sessions.get(session)?;
        let goal = owner.goal.as_ref()?;
        let answers: Vec<&Message> = owner
            .messages
            .iter()
            .filter(|message| message.info["parentID"] == goal.prompt.as_str())
            .collect();
        let mut tally = Tally::default();
        self.tally(&answers, &mut tally);
        let told = |status: &str, reason: &str| Some((status.to_owned(), reason.to_owned()));
        let last = answers.last();
        let finished = last.is_some_and(|last| last.info["finish"] == "stop");
        if goal.is_blocked || tally.is_blocked {
            return told("blocked", BLOCKED);
        }
        if tally.has_failed || tally.has_error || last.is_none() {
            return told("paused", FAILED);
        }
        if goal.is_superseded {
            return None;
        }
        match &goal.report {
            Some((status, reason)) if finished => told(status, &format!("{REPORTED}{reason}")),
            _ if tally.has_done && finished => None,
            _ => told("paused", NOTHING_DONE),
        }
    }

    fn tally(&self, answers: &[&Message], tally: &mut Tally) {
        for answer in answers.iter().filter(|answer| answer.info["summary"] != true) {
            tally.has_error |= answer.info.get("error").is_some();
            let calls = answer.parts.iter().filter(|part| part["type"] == "tool");
            let mut of_step = Vec::new();
            for call in calls {
                of_step.push(went(call));
                let child = call["state"]["metadata"]["sessionId"].as_str();
                if let Some(child) = child.and_then(|child| self.sessions.get(child)) {
                    let mut below = Tally::default();
                    self.tally(
                        &child.messages.iter().filter(|m| m.role() == "assistant").collect::<Vec<_>>(),
                        &mut below,
                    );
                    // The call began before what went wrong below it: it does not make up for that.
                    of_step.extend(below.has_failed.then_some(Went::Badly));
                    tally.is_blocked |= below.is_blocked;
                    tally.has_error |= below.has_error;
                }
            }
            tally.is_blocked |= of_step.contains(&Went::Nowhere);
            // Calls of one step begin before any of them is over.
            if of_step.contains(&Went::Badly) {
                (tally.has_failed, tally.has_done) = (true, false);
            } else if of_step.contains(&Went::Well) {
                (tally.has_failed, tally.has_done) = (false, true);
            }
        }
    }
}

fn went(call: &Value) -> Went {
    let (tool, state) = (call["tool"].as_str().unwrap_or_default(), &call["state"]);
    let told = &state["metadata"];
    if told["dismissed"] == true
        || told["interrupted"] == true
        || told["approval"]["rule"]["action"] == "deny"
        || tool == "plan_exit"
    {
        return Went::Nowhere;
    }
    match state["status"].as_str() {
        Some("error") => Went::Badly,
        Some("completed") if tool == "bash" && told["exit"] != 0 || told["error"] == true => Went::Badly,
        Some("completed") if IDLE.contains(&tool) || tool == "task" && told["background"] == true => {
            Went::Idle
        }
        Some("completed") => Went::Well,
        _ => Went::Idle,
    }
}
