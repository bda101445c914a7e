//! `todowrite`: the agent's list of what is to be done, written anew as a whole.

use super::{Completed, Plan};
use crate::world::World;
use crate::world::permission::Wish;
use serde_json::{Value, json};

/// A list that may be written.
#[derive(Debug, Clone)]
pub(crate) struct TodoPlan {
    todos: Vec<Value>,
    /// The list has been told already.
    is_told: bool,
}

impl World {
    /// Where the list is told before the call is told to run; but not before the person has been asked.
    pub(crate) fn tell_todos_early(&mut self, session: &str, call: usize) {
        if !self.profile.todos_before_running || self.permissions.approval_of("todowrite").is_none() {
            return;
        }
        let Some(todos) = self.todos_argument(session, call) else { return };
        self.keep_todos(session, &todos);
        self.set_plan(session, call, Plan::Todos(TodoPlan { todos, is_told: true }));
    }

    pub(super) fn start_todos(&mut self, session: &str, call: usize) {
        let Some(todos) = self.todos_argument(session, call) else {
            self.fail_call(session, call, "standin: the todowrite tool needs the list 'todos'");
            return;
        };
        let is_told = self
            .run_mut(session)
            .and_then(|run| run.calls.get(call))
            .is_some_and(|call| matches!(&call.plan, Some(Plan::Todos(plan)) if plan.is_told));
        self.set_plan(session, call, Plan::Todos(TodoPlan { todos, is_told }));
        let all = vec!["*".to_owned()];
        let wish = Wish { permission: "todowrite", patterns: all.clone(), metadata: json!({}), always: all };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn write_todos(&mut self, session: &str, call: usize, plan: &TodoPlan) {
        let todos = &plan.todos;
        let before = self.sessions.get(session).map(|owner| owner.todos.clone()).unwrap_or_default();
        if !plan.is_told {
            self.keep_todos(session, todos);
        }
        let output = serde_json::to_string_pretty(todos).unwrap_or_default();
        if self.profile.tool_progress {
            self.progress(session, call, json!({"output": output}));
        }
        let mut metadata = json!({"todos": todos});
        if self.profile.shows_todo_changes {
            metadata["view"] = view(&before, todos);
        }
        metadata["truncated"] = json!(false);
        let open = todos.iter().filter(|todo| todo["status"] != "completed").count();
        let result = Completed { output, title: format!("{open} todos"), metadata, only_told: json!({}) };
        self.complete_call(session, call, &result);
    }

    fn keep_todos(&mut self, session: &str, todos: &[Value]) {
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.todos = todos.to_vec();
        }
        self.emit_session(session, "todo.updated", json!({"sessionID": session, "todos": todos}));
    }

    fn todos_argument(&mut self, session: &str, call: usize) -> Option<Vec<Value>> {
        let todos = self.run_mut(session)?.calls.get(call)?.input.get("todos")?.as_array()?;
        let as_told = |todo: &Value| json!({"content": todo["content"], "status": todo["status"], "priority": todo["priority"]});
        Some(todos.iter().map(as_told).collect())
    }
}

/// The changed items and one more at each side. The whole list is shown where nothing changed, where all is done, and
/// where its items are not what they were.
fn view(before: &[Value], now: &[Value]) -> Value {
    let changed: Vec<usize> = (0..now.len()).filter(|&at| before.get(at) != Some(&now[at])).collect();
    let are_the_same = before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| before["content"] == now["content"]);
    let is_done = now.iter().all(|todo| todo["status"] == "completed");
    let (from, to) = match (changed.first(), changed.last()) {
        (Some(first), Some(last)) if are_the_same && !is_done => {
            (first.saturating_sub(1), (last + 2).min(now.len()))
        }
        _ => (0, now.len()),
    };
    json!({
        "mode": if to - from == now.len() { "full" } else { "compact" }, "todos": now[from..to],
        "hiddenBefore": from, "hiddenAfter": now.len() - to, "changed": changed.len(),
    })
}
