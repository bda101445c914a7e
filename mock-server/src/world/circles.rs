//! The agent makes the same call for the third time in one step: the person is asked whether it goes in circles.
//!
//! Until they answer, the rest of the model's answer waits, and no call ends; what calls tell meanwhile is told.

use super::World;
use super::permission::{Verdict, Wish};
use super::refusal::Told;
use super::tools::Completed;
use crate::model::Delta;
use serde_json::json;

/// What waits for the person's answer.
#[derive(Debug, Default)]
pub(crate) struct Suspicion {
    deltas: Vec<Delta>,
    ends: Vec<(usize, Result<Completed, String>)>,
}

/// How often a call is made before the person is asked.
const PATIENCE: usize = 3;

impl World {
    /// A call runs: is it the same as those before it?
    pub(crate) fn suspect_loop(&mut self, session: &str, call: usize) {
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        let Some(this) = run.calls.get(call) else { return };
        let parts = owner.message(&run.message).map(|message| message.parts.as_slice()).unwrap_or_default();
        let Some(last) = parts.len().checked_sub(PATIENCE).and_then(|at| parts.get(at..)) else { return };
        let is_same = last.iter().all(|part| {
            part["type"] == "tool"
                && part["tool"] == this.tool
                && part["state"]["status"] != "pending"
                && part["state"]["input"] == this.input
        });
        if !is_same {
            return;
        }
        let (tool, message) = (this.tool.clone(), run.message.clone());
        let metadata = json!({"tool": tool, "input": this.input});
        let wish =
            Wish { permission: "doom_loop", patterns: vec![tool.clone()], metadata, always: vec![tool] };
        match self.judge(session, &wish) {
            Verdict::Allowed => {}
            Verdict::Denied(why) => self.end_circles(session, &why),
            Verdict::Asked => {
                if let Some(run) = self.run_mut(session) {
                    run.suspicion = Some(Suspicion::default());
                }
                self.ask_about_circles(session, &message, &wish);
            }
        }
    }

    /// The person has answered.
    pub(crate) fn answer_suspicion(&mut self, session: &str, refusal: Option<&str>) {
        let Some(suspicion) = self.run_mut(session).and_then(|run| run.suspicion.take()) else { return };
        if let Some(why) = refusal {
            return self.end_circles(session, why);
        }
        for delta in suspicion.deltas {
            self.answer_delta(session, &delta);
        }
        // The person may be asked again by now: the model has said it all before the first call was over.
        for (call, end) in suspicion.ends {
            match end {
                Ok(result) => self.complete_call(session, call, result),
                Err(why) => self.fail_call(session, call, &why),
            }
        }
    }

    fn end_circles(&mut self, session: &str, why: &str) {
        let told = Told::unknown(self.profile, why);
        self.fail_turn(session, told.error);
    }

    pub(super) fn withhold_delta(&mut self, session: &str, delta: &Delta) -> bool {
        let Some(suspicion) = self.run_mut(session).and_then(|run| run.suspicion.as_mut()) else {
            return false;
        };
        suspicion.deltas.push(delta.clone());
        true
    }

    pub(super) fn withhold_result(&mut self, session: &str, call: usize, result: &Completed) -> bool {
        self.withhold_end(session, call, || Ok(result.clone()))
    }

    pub(super) fn withhold_failure(&mut self, session: &str, call: usize, message: &str) -> bool {
        self.withhold_end(session, call, || Err(message.to_owned()))
    }

    fn withhold_end(
        &mut self,
        session: &str,
        call: usize,
        end: impl FnOnce() -> Result<Completed, String>,
    ) -> bool {
        let Some(suspicion) = self.run_mut(session).and_then(|run| run.suspicion.as_mut()) else {
            return false;
        };
        suspicion.ends.push((call, end()));
        true
    }
}
