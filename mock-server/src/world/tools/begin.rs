//! How a call begins: what some servers do and ask before they tell that it runs.

use crate::world::World;
use crate::world::alongside::{BACKGROUND, SUGGEST};
use crate::world::run::CallState;
use crate::world::structured::STRUCTURED;
use serde_json::json;

impl World {
    /// The arguments are whole: what some tools tell before the call is told to run. Says whether the call has begun
    /// with that, and will be told.
    pub(crate) fn before_call_runs(&mut self, session: &str, call: usize) -> bool {
        let tool = self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone());
        match tool.as_deref() {
            Some(STRUCTURED) => {
                self.tell_running(session, call);
                self.start_call(session, call);
                return true;
            }
            Some("todowrite") if self.asks_first(session, call, "todowrite") => {
                self.start_call(session, call);
                self.tell_running(session, call);
                return true;
            }
            Some("question") => self.ask_question(session, call),
            Some(SUGGEST) => self.show_suggestion(session, call),
            Some(BACKGROUND) => self.begin_process_call(session, call),
            Some("todowrite") => self.tell_todos_early(session, call),
            Some("bash") => return self.start_shell_early(session, call),
            Some("task") => return self.start_task_early(session, call),
            Some(tool) if self.asks_first(session, call, tool) => {
                self.start_call(session, call);
                self.tell_running(session, call);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Where servers are quick to ask: does a call ask the person before it does anything else?
    fn asks_first(&self, session: &str, call: usize, tool: &str) -> bool {
        let text = |name| self.text_argument(session, call, name);
        let wanted = match tool {
            "glob" => text("pattern").map(|pattern| ("glob", pattern)),
            "grep" => text("pattern").filter(|pattern| !pattern.is_empty()).map(|pattern| ("grep", pattern)),
            "webfetch" => text("url").filter(|url| url.starts_with("http")).map(|url| ("webfetch", url)),
            "todowrite" => self.argument(session, call, "todos").map(|_| ("todowrite", "*".to_owned())),
            "apply_patch" => self.added_by_patch(session, call).map(|path| ("edit", path)),
            "skill" => text("name").filter(|name| self.has_skill(session, name)).map(|name| ("skill", name)),
            "edit" | "write" => {
                self.folder_to_leave_for(session, call).map(|folder| ("external_directory", folder))
            }
            tool => self.server_of(session, tool).map(|_| (tool, "*".to_owned())),
        };
        let who = self.who(session);
        self.profile.quick_shell
            && wanted.is_some_and(|(permission, pattern)| self.permissions.asks(&who, permission, &pattern))
    }

    fn folder_to_leave_for(&self, session: &str, call: usize) -> Option<String> {
        let place = self.place_argument(session, call)?;
        let directory = &self.sessions.get(session)?.directory;
        let folder = place.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        (!self.is_inside(directory, &place.path)).then(|| format!("{folder}/*"))
    }

    /// Tells that a call runs, once. What is known of it already stays.
    pub(crate) fn tell_running(&mut self, session: &str, call: usize) {
        let Some(told) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        if std::mem::replace(&mut told.is_told, true) || told.state != CallState::Running {
            return;
        }
        let known = self.call_part(session, call).and_then(|(message, part)| {
            self.part_mut(session, &message, part).map(|part| part["state"].clone())
        });
        self.set_state(session, call, |input, started| {
            let mut state = json!({"status": "running", "input": input, "time": {"start": started}});
            for key in ["title", "metadata"] {
                if let Some(value) = known.as_ref().and_then(|known| known.get(key)) {
                    state[key] = value.clone();
                }
            }
            state
        });
    }
}
