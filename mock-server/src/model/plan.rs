//! A turn's steps, cut into the answers that the model gives to one request each.

use fixtures::scenario::{AgentStep, BreakOff, Fail, Finish, FinishReason, Usage};

/// What the model gives to one request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    /// Text, reasoning, calls and gates, in order.
    pub(super) steps: Vec<AgentStep>,
    /// How it ends.
    pub(super) end: SegmentEnd,
}

/// How an answer ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    /// With a reason, and what it cost.
    Finished(Finish),
    /// There is no answer: the request is refused.
    Refused(Fail),
    /// In the middle.
    BrokenOff(BreakOff),
}

impl Segment {
    /// Is the same request to be expected again, to be answered by the next segment?
    pub(super) fn is_failure(&self) -> bool {
        !matches!(self.end, SegmentEnd::Finished(_))
    }

    /// Does the conversation hold a message of the model after it? (After one that broke off, some servers say so
    /// and others don't.)
    fn leaves_a_message(&self) -> bool {
        !matches!(self.end, SegmentEnd::Refused(_))
    }
}

/// Cuts the steps of a turn.
///
/// Calls that follow each other are one answer; the server comes back with their results. After the last call there
/// is always one more answer, empty if the script says nothing more.
pub(super) fn segments(steps: &[AgentStep]) -> Vec<Segment> {
    let is_tool = |step: Option<&AgentStep>| matches!(step, Some(AgentStep::Tool { .. }));
    let mut segments = Vec::new();
    let mut open = Vec::new();
    let mut expects_more = true;
    for (at, step) in steps.iter().enumerate() {
        let next = steps.get(at + 1);
        let end = match step {
            AgentStep::Fail(fail) => Some(SegmentEnd::Refused(fail.clone())),
            AgentStep::BreakOff(how) => Some(SegmentEnd::BrokenOff(*how)),
            AgentStep::Finish(finish) => Some(SegmentEnd::Finished(*finish)),
            AgentStep::Tool { .. } => {
                open.push(step.clone());
                let goes_on =
                    is_tool(next) || matches!(next, Some(AgentStep::Finish(_) | AgentStep::BreakOff(_)));
                (!goes_on).then(|| usual_end(&open))
            }
            AgentStep::Say(_) | AgentStep::Think(_) | AgentStep::Gate(_) | AgentStep::Raw(_) => {
                open.push(step.clone());
                None
            }
        };
        if let Some(end) = end {
            expects_more = open.iter().any(|step| is_tool(Some(step)));
            segments.push(Segment { steps: std::mem::take(&mut open), end });
        }
    }
    if !open.is_empty() || expects_more {
        let end = usual_end(&open);
        segments.push(Segment { steps: open, end });
    }
    segments
}

/// Only the calls decide how an answer ends.
fn usual_end(steps: &[AgentStep]) -> SegmentEnd {
    let calls = steps.iter().any(|step| matches!(step, AgentStep::Tool { .. }));
    let reason = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
    SegmentEnd::Finished(Finish { reason, usage: Usage::default() })
}

/// The segment that comes after `said` messages of the model, counted from the segment at `from`.
pub(super) fn after(segments: &[Segment], from: usize, said: usize) -> usize {
    let mut left = said;
    let mut at = from;
    while left > 0 && at < segments.len() {
        if segments[at].leaves_a_message() {
            left -= 1;
        }
        at += 1;
    }
    at + left
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::scenario::Scenario;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn shapes(steps: &str) -> Vec<String> {
        let text = format!(
            "about = \"x\"\nagent = [{{ on = {{ prompt_contains = \"go\" }}, steps = [{steps}] }}]\n\
             user = {{ steps = [{{ prompt = \"go\" }}, {{ do = \"abort\" }}] }}"
        );
        let scenario = Scenario::parse(Path::new("s.toml"), &text).unwrap();
        let shape = |segment: &Segment| {
            let end = match &segment.end {
                SegmentEnd::Finished(finish) => finish.reason.word().to_owned(),
                SegmentEnd::Refused(fail) => fail.status.to_string(),
                SegmentEnd::BrokenOff(how) => how.word().to_owned(),
            };
            format!("{} {end}", segment.steps.len())
        };
        segments(&scenario.agent[0].steps).iter().map(shape).collect()
    }

    #[test]
    fn steps_are_cut_where_the_server_comes_back() {
        let tool = "{ tool = \"read\" }";
        assert_eq!(shapes("{ say = \"a\" }"), ["1 stop"]);
        assert_eq!(
            shapes(&format!("{{ say = \"a\" }}, {tool}, {tool}, {{ say = \"b\" }}")),
            ["3 tool_calls", "1 stop"]
        );
        assert_eq!(shapes(tool), ["1 tool_calls", "0 stop"], "the server always comes back after a call");
        assert_eq!(
            shapes(&format!("{tool}, {{ gate = \"g\" }}, {tool}")),
            ["1 tool_calls", "2 tool_calls", "0 stop"]
        );
        assert_eq!(shapes(&format!("{tool}, {{ finish = \"stop\" }}")), ["1 stop", "0 stop"]);
        assert_eq!(shapes("{ say = \"a\" }, { finish = \"length\" }"), ["1 length"]);
        assert_eq!(shapes("{ fail = 429 }, { say = \"a\" }"), ["0 429", "1 stop"]);
        assert_eq!(shapes("{ fail = 400 }"), ["0 400"]);
        assert_eq!(
            shapes("{ say = \"a\" }, { break_off = \"reset\" }, { say = \"b\" }"),
            ["1 reset", "1 stop"]
        );
        assert_eq!(
            shapes(&format!("{tool}, {{ break_off = \"clean\" }}, {{ say = \"b\" }}")),
            ["1 clean", "1 stop"]
        );
    }

    #[test]
    fn refusals_leave_no_message() {
        let step = |text: &str| AgentStep::Say(text.to_owned());
        let refused = Segment {
            steps: Vec::new(),
            end: SegmentEnd::Refused(Fail {
                status: 500,
                retry_after: None,
                message: String::new(),
                headers: BTreeMap::new(),
                body: None,
            }),
        };
        let said = Segment { steps: vec![step("a")], end: usual_end(&[]) };
        let all = [refused, said.clone(), said];
        assert_eq!([0, 1, 2, 3].map(|count| after(&all, 0, count)), [0, 2, 3, 4]);
        assert_eq!(after(&all, 1, 1), 2);
    }
}
