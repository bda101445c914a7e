//! `read`: a text file, its lines numbered. Nobody is asked.

use super::{Completed, Plan};
use crate::world::{Effect, Purpose, World};
use serde_json::json;

/// A read that may happen.
#[derive(Debug, Clone)]
pub(crate) struct ReadPlan {
    /// Absolute.
    path: String,
    /// Relative to the session's directory.
    relative: String,
}

impl World {
    pub(super) fn start_read(&mut self, session: &str, call: usize) {
        let Some((path, relative)) = self.path_argument(session, call) else { return };
        self.set_plan(session, call, Plan::Read(ReadPlan { path, relative }));
        match self.permissions.approval_of("read") {
            Some(approval) => self.allow_call(session, call, approval),
            None => self.fail_call(session, call, "standin does not ask before it reads yet"),
        }
    }

    pub(super) fn read(&mut self, session: &str, call: usize, plan: &ReadPlan) {
        let path = plan.path.clone();
        self.effect(Purpose::CallRead(session.to_owned(), call), Effect::Read { path });
    }

    pub(super) fn file_read(&mut self, session: &str, call: usize, plan: &ReadPlan, content: Option<String>) {
        let ReadPlan { path, relative } = plan;
        let Some(content) = content else {
            self.fail_call(session, call, &format!("standin can't read {path}: there is no such file"));
            return;
        };
        let lines: Vec<&str> = content.lines().collect();
        let count = lines.len();
        let numbered: Vec<String> =
            lines.iter().enumerate().map(|(at, line)| format!("{}: {line}", at + 1)).collect();
        let output = format!(
            "<path>{path}</path>\n<type>file</type>\n<content>\n{}\n\n(End of file - total {count} lines)\n</content>",
            numbered.join("\n")
        );
        if self.profile.tool_progress {
            self.progress(session, call, json!({"output": output}));
        }
        let text = lines.join("\n");
        let display = json!({
            "type": "file", "path": path, "text": text, "lineStart": 1, "lineEnd": count, "totalLines": count,
            "truncated": false,
        });
        let metadata = json!({"preview": text, "truncated": false, "loaded": [], "display": display});
        let result = Completed { output, title: relative.clone(), metadata, only_told: json!({}) };
        self.complete_call(session, call, &result);
    }
}
