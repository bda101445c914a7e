//! How much of a tool's output the model gets. The whole is kept in a file, which the output names.

use super::Completed;
use crate::world::{Effect, Purpose, World};
use serde_json::json;

/// How much that is, unless the settings say otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) lines: usize,
    pub(super) bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lines: 2000, bytes: 50 * 1024 }
    }
}

/// Tools that bound their output themselves.
const OWN_BOUNDS: &[&str] = &["bash", "glob", "grep", "read"];

impl World {
    /// Is the output of a call told before the call is over? It is where the agents have a board to write on.
    pub(crate) fn tells_output(&self, session: &str) -> bool {
        self.profile.tool_progress && self.reads_board(session)
    }

    /// Tells the output of a call that is about to be over.
    pub(in crate::world) fn tell_output(&mut self, session: &str, call: usize, output: &str) {
        self.work_late(session, call);
        if self.tells_output(session) {
            self.progress(session, call, json!({"output": output}));
        }
    }

    /// Ends a call well whose output is told before that, where it is told.
    pub(in crate::world) fn complete_told_call(&mut self, session: &str, call: usize, mut result: Completed) {
        self.bounded(session, call, &mut result);
        if !self.is_subtask(session) {
            self.tell_output(session, call, &result.output);
        }
        self.complete_call(session, call, result);
    }

    /// What the model gets of a call's good end; that of a bounded one is what it is.
    pub(super) fn bounded(&mut self, session: &str, call: usize, result: &mut Completed) {
        if result.metadata["truncated"] == true {
            return;
        }
        let tool = self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone());
        if tool.is_none_or(|tool| OWN_BOUNDS.contains(&tool.as_str())) {
            return;
        }
        let Some((shown, left_out)) = beginning(&result.output, self.bounds(session)) else { return };
        let kept = self.keep_whole(result.output.clone());
        let hint = if self.may_give_tasks(session) {
            "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT \
             read the full file yourself - delegate to save context."
        } else {
            "Use Grep to search the full content or Read with offset/limit to view specific sections."
        };
        result.output = format!(
            "{shown}\n\n...{left_out} truncated...\n\nThe tool call succeeded but the output was truncated. Full output \
             saved to: {kept}\n{hint}"
        );
        result.metadata["truncated"] = json!(true);
        result.metadata["outputPath"] = json!(kept);
    }

    /// As the settings have them.
    pub(super) fn bounds(&self, session: &str) -> Bounds {
        let settings = self.settings_for(session);
        let said = |name: &str| usize::try_from(settings.get("tool_output")?.get(name)?.as_u64()?).ok();
        let usual = Bounds::default();
        Bounds {
            lines: said("max_lines").unwrap_or(usual.lines),
            bytes: said("max_bytes").unwrap_or(usual.bytes),
        }
    }

    /// Keeps an output as a file of the server's own.
    pub(super) fn keep_whole(&mut self, content: String) -> String {
        let id = self.ids.ascending("tool", self.now_ms);
        let path =
            format!("{}/.local/share/{}/tool-output/{id}", self.config.home, self.profile.server.word());
        self.effect(Purpose::OutputKept, Effect::Write { path: path.clone(), content: Some(content) });
        path
    }

    /// Whether the agent's own rules let it give work to others.
    fn may_give_tasks(&self, session: &str) -> bool {
        self.agents_for(session).may(self.agent_at_work(session), "task")
    }
}

/// The first lines of a text that is too long, and how much is left out.
fn beginning(text: &str, bounds: Bounds) -> Option<(String, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() <= bounds.lines && text.len() <= bounds.bytes {
        return None;
    }
    let mut shown = 0;
    let mut bytes = 0;
    for line in lines.iter().take(bounds.lines) {
        let size = line.len() + usize::from(shown > 0);
        if bytes + size > bounds.bytes {
            let left_out = format!("{} bytes", text.len() - bytes);
            return Some((lines[..shown].join("\n"), left_out));
        }
        shown += 1;
        bytes += size;
    }
    Some((lines[..shown].join("\n"), format!("{} lines", lines.len() - shown)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_are_given_up_to_two_bounds() {
        let beginning = |text: &str| beginning(text, Bounds::default());
        assert_eq!(beginning("a\nb"), None);
        let (shown, left_out) = beginning(&"x\n".repeat(2500)).unwrap();
        assert_eq!((shown.len(), left_out.as_str()), (3999, "501 lines"));
        let (shown, left_out) = beginning(&format!("short\n{}", "x".repeat(60_000))).unwrap();
        assert_eq!((shown.as_str(), left_out.as_str()), ("short", "60001 bytes"));
    }
}
