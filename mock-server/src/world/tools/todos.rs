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
        if !self.profile.todos_before_running || !self.permissions.allows(&self.who(session), "todowrite") {
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
        let mut metadata = json!({"todos": todos});
        if self.profile.shows_todo_changes {
            metadata["view"] = view(&before, todos);
        }
        metadata["truncated"] = json!(false);
        let open = todos.iter().filter(|todo| todo["status"] != "completed").count();
        let result = Completed { output, title: format!("{open} todos"), metadata, ..Completed::default() };
        self.complete_told_call(session, call, result);
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

/// The changed items and one more at each side. The whole list is shown where nothing changed, where nothing is left to
/// do, and where its items are not what they were.
fn view(before: &[Value], now: &[Value]) -> Value {
    let changed: Vec<usize> = (0..now.len()).filter(|&at| before.get(at) != Some(&now[at])).collect();
    let are_the_same = before.len() == now.len()
        && before.iter().zip(now).all(|(before, now)| before["content"] == now["content"]);
    let is_over = now.iter().all(|todo| todo["status"] == "completed" || todo["status"] == "cancelled");
    let (from, to) = match (changed.first(), changed.last()) {
        (Some(first), Some(last)) if are_the_same && !is_over => {
            (first.saturating_sub(1), (last + 2).min(now.len()))
        }
        _ => (0, now.len()),
    };
    let is_full = to - from == now.len();
    let shown = (from..to).map(|at| {
        let mut item = now[at].clone();
        if !is_full {
            item["changed"] = json!(changed.contains(&at));
        }
        item
    });
    json!({
        "mode": if is_full { "full" } else { "compact" }, "todos": shown.collect::<Vec<Value>>(),
        "hiddenBefore": from, "hiddenAfter": now.len() - to, "changed": changed.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::view;
    use serde_json::{Value, json};

    /// A list whose items are told by the first letters of their status.
    fn list(letters: &str) -> Vec<Value> {
        let item = |(at, letter): (usize, char)| {
            let status = match letter {
                'p' => "pending",
                'i' => "in_progress",
                'c' => "completed",
                _ => "cancelled",
            };
            json!({"content": format!("item {at}"), "status": status, "priority": "high"})
        };
        letters.chars().enumerate().map(item).collect()
    }

    #[test]
    fn the_changes_are_shown_as_kilo_shows_them() {
        // Each row is what Kilo CLI 7.7.7 said: before, now, hidden before, hidden after, changed.
        let rows = [
            ("", "pppp", 0, 0, 4),
            ("pppp", "ippp", 0, 2, 1),
            ("icpp", "ippppppppppp", 0, 0, 9),
            ("ippppppppppp", "cipppppppppp", 0, 9, 2),
            ("cccccipppppp", "ccccccippppp", 4, 4, 2),
            ("ccccccippppp", "ccccccippppp", 0, 0, 0),
            ("ccccccippppp", "cccccccccccc", 0, 0, 6),
            ("ippppppppppp", "cppppppppppi", 0, 0, 2),
            ("cccccciiiiii", "xxxxxxiiiiii", 0, 5, 6),
            ("cccccx", "ccccci", 4, 0, 1),
            ("cccccp", "cccccx", 0, 0, 1),
            ("xxxxxx", "cxxxxx", 0, 0, 1),
            ("xxxxxxxxxxiiiiiiiixx", "xxxxxxxxxxiiiiiiii", 0, 0, 0),
            ("cccccccccccc", "", 0, 0, 0),
        ];
        for (before, now, hidden_before, hidden_after, changed) in rows {
            let (before, now) = (list(before), list(now));
            let shown = view(&before, &now);
            let told = json!([shown["hiddenBefore"], shown["hiddenAfter"], shown["changed"]]);
            assert_eq!(told, json!([hidden_before, hidden_after, changed]), "{before:?} {now:?}");
            let mode = if hidden_before + hidden_after == 0 { "full" } else { "compact" };
            assert_eq!(shown["mode"], mode);
            let mut items = now[hidden_before..now.len() - hidden_after].to_vec();
            if mode == "compact" {
                for (item, before) in items.iter_mut().zip(&before[hidden_before..]) {
                    item["changed"] = json!(item != before);
                }
            }
            assert_eq!(shown["todos"], json!(items));
        }
    }

    #[test]
    fn an_item_with_other_words_shows_the_whole_list_and_another_priority_does_not() {
        let before = list("pppppppp");
        let mut now = before.clone();
        now[3]["priority"] = json!("low");
        assert_eq!(view(&before, &now)["mode"], "compact");
        now[3]["content"] = json!("something else");
        assert_eq!(view(&before, &now)["mode"], "full");
        assert_eq!(view(&before, &now)["changed"], 1);
    }
}
