//! `goal_report`: the agent says that a goal is reached, or that it can't be. It is offered in turns for a goal alone, in
//! which nobody may be asked anything.

use super::words::{NOT_RECORDED, RECORDED};
use crate::world::World;
use crate::world::permission::Wish;
use crate::world::tools::{Completed, Plan};
use serde_json::json;

/// The tool.
pub(crate) const REPORT: &str = "goal_report";

/// A report that may be made.
#[derive(Debug, Clone)]
pub(crate) struct ReportPlan {
    status: String,
    reason: String,
}

impl World {
    /// Does the turn of this session work toward its own goal?
    pub(crate) fn reports_goal(&self, session: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let base = owner.run.as_ref().and_then(|run| run.base.as_ref());
        owner.goal.as_ref().is_some_and(|goal| base == Some(&goal.prompt))
    }

    /// Is anybody asked? Not while a goal stands, nor by those who work for one.
    pub(crate) fn may_ask_person(&self, session: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return true };
        let giver = owner.run.as_ref().and_then(|run| run.for_call.as_ref());
        owner.goal.is_none()
            && giver.is_none_or(|(giver, _)| !self.reports_goal(giver) && self.may_ask_person(giver))
    }

    pub(crate) fn start_goal_report(&mut self, session: &str, call: usize) {
        let text = |name| self.text_argument(session, call, name).unwrap_or_default();
        let (status, reason) = (text("status"), text("reason").trim().to_owned());
        if reason.is_empty() || !self.reports_goal(session) {
            return self.fail_call(session, call, NOT_RECORDED);
        }
        let metadata = json!({"status": status, "reason": reason});
        let patterns = vec![status.clone()];
        self.set_plan(session, call, Plan::Report(Box::new(ReportPlan { status, reason })));
        let wish = Wish { permission: REPORT, patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(crate) fn report_goal(&mut self, session: &str, call: usize, plan: &ReportPlan) {
        let ReportPlan { status, reason } = plan;
        if !self.reports_goal(session) {
            return self.fail_call(session, call, NOT_RECORDED);
        }
        if let Some(goal) = self.sessions.get_mut(session).and_then(|owner| owner.goal.as_mut()) {
            goal.report = Some((status.clone(), reason.clone()));
        }
        let result = Completed {
            output: RECORDED.to_owned(),
            title: format!("Goal reported {status}"),
            metadata: json!({"status": status, "reason": reason, "truncated": false}),
            ..Completed::default()
        };
        self.complete_told_call(session, call, result);
    }

    /// The person has said no to what somebody wants who works for a goal.
    pub(crate) fn block_goal(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let base = owner.run.as_ref().and_then(|run| run.base.clone());
        let giver = owner.run.as_ref().and_then(|run| run.for_call.clone());
        if let Some(goal) = owner.goal.as_mut().filter(|goal| Some(&goal.prompt) == base.as_ref()) {
            goal.is_blocked = true;
        } else if let Some((giver, _)) = giver {
            self.block_goal(&giver);
        }
    }
}
