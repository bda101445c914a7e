//! What Kilo says of goals, to the person and to its agent, as the recordings `prompt/goal` and `prompt/goal-stopped` have
//! it.

pub(super) const ACTIVE: &str = "Goal active. The working model reports completion or blockers with goal_report; completion is not independently verified. No progress or errors pause the goal. Use Stop or /goal pause to pause.";
pub(super) const PAUSED: &str = "Goal paused. Use /goal resume to continue.";
pub(super) const CLEARED: &str = "Goal cleared.";
pub(super) const HELP: &str = "Use /goal <objective> to keep working toward a goal in this session. Complete means reported by the working model, not independently verified. The model uses goal_report to report completion or a blocker with a reason. No progress without an explicit report, or errors, pause the goal. /goal pause stops, /goal resume continues (or restarts a complete goal), and /goal clear explicitly removes the saved objective and reason. Stop or /goal pause stops active work; a new message is handled first, then the goal continues. Active goals become paused after a backend restart; complete goals stay complete.";

pub(super) const BLOCKED: &str =
    "A request was rejected or execution was blocked. Resolve the blocker before resuming.";
pub(super) const FAILED: &str = "Work failed. Review the conversation before resuming.";
pub(super) const NOTHING_DONE: &str =
    "No successful action or explicit completion report. Review the conversation before resuming.";
/// Before what the agent has reported.
pub(super) const REPORTED: &str = "Reported by the working model, not independently verified: ";

/// What the tool says that reports.
pub(super) const RECORDED: &str = "Report recorded for this turn. Give your final response now. The Goal state is saved only if this execution remains current and finishes without an error or rejected request.";
pub(super) const NOT_RECORDED: &str = "Goal report rejected: no active root Goal execution.";

/// What the agent is prompted with.
pub(super) fn wish(text: &str) -> String {
    format!(
        "Continue working toward this session goal:\n\n{text}\n\nUse the existing conversation and take the next useful \
         step. Proceed autonomously with safe, reversible decisions instead of asking clarification questions. The \
         question tool is unavailable during active goal execution, including delegated work. Do not repeat completed \
         work or status-only reports. If the goal is met, call goal_report with status complete and a concrete reason, \
         then give your final response. If a genuine blocker prevents safe progress, call goal_report with status \
         blocked and the blocker reason, then stop instead of asking the user. Only the root Goal worker can call \
         goal_report; delegated workers must return their findings to the root. Completion is your report, not \
         independent verification. Keep all existing permission and scope limits."
    )
}
