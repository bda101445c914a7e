//! When all is over, does the screen say what the server says?
//!
//! The server's part is what the harness read over REST at the end; the screen's part is the fold of all that the
//! adapter showed. Held against each other: text and reasoning word for word, tool calls with their state and
//! result, the order of them all, open questions for permission, and whether the agent is at work.

use super::{Check, Examined};
use crate::course::{Course, Started};
use crate::history;
use crate::protocol::{Capability, ConnectionState, Item, ItemKind, TaskState, ToolState, Update, View};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "convergence",
    about: "When the case has settled, the screen says what the server's session, messages and permissions say.",
    needs: &[],
    has_occasion: |course| !course.tasks.is_empty(),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let lines = course.lines;
    let mut examined = Examined::default();
    let read = |path: &str| history::last_read(lines, path);
    let (Some(permissions), Some(status)) = (read("/permission"), read("/session/status")) else {
        return examined;
    };
    let questions = read("/question").unwrap_or_default();
    let can = &course.can;
    let screen = history::screen(lines);
    let sessions = read("/session").unwrap_or_default();
    let is_open = |started: &&Started| !course.closed.contains_key(&started.task);
    for Started { task, session, .. } in course.tasks.iter().filter(is_open) {
        let Some(messages) = read(&format!("/session/{session}/message")) else { continue };
        if knows_better(course, task) {
            examined.facts += 1;
            continue;
        }
        let shown = screen.tasks.get(task).cloned().unwrap_or_default();
        // Who does not claim to show thoughts or calls is not asked for their rows.
        let has_row = |item: &Item| match item.kind {
            ItemKind::Text => true,
            ItemKind::Reasoning => can.contains(&Capability::Reasoning),
            ItemKind::Tool => can.contains(&Capability::Tools),
            // What no server has is for `special-content`.
            ItemKind::Unknown => false,
        };
        // How a command ended is for `commands`.
        let known = shown.items.iter().filter(|item| has_row(item));
        let plain = |item: &Item| Item { exit: None, process: None, ..item.clone() };
        let info = sessions.as_array().into_iter().flatten().find(|known| known["id"] == session.as_str());
        let mut server = server_rows(&messages);
        server.retain(|row| has_row(row) && !is_reverted(info, &row.message_id, &row.part_id));
        rows(&server, &known.map(plain).collect::<Vec<_>>(), &mut examined);
        if can.contains(&Capability::Permissions) {
            let live: Vec<&str> = shown.permissions.iter().map(|live| live.permission_id.as_str()).collect();
            asked(&asked_in(session, &permissions, &sessions), &live, &mut examined);
        }
        if can.contains(&Capability::Questions) {
            let live: Vec<&str> = shown.questions.iter().map(|live| live.question_id.as_str()).collect();
            asked(&asked_in(session, &questions, &sessions), &live, &mut examined);
        }
        let todos = read(&format!("/session/{session}/todo"));
        if let Some(todos) = todos.filter(|_| can.contains(&Capability::Todos)) {
            to_do(&todos, told_to_do(course, session), &shown, &mut examined);
        }
        let busy = status.get(session).is_some();
        examined.facts += 1;
        if busy != (shown.status != TaskState::Idle) {
            let at_work = |busy: bool| if busy { "at work" } else { "idle" };
            examined.findings.push(format!(
                "the server is {}, the screen of {task} says {}",
                at_work(busy),
                at_work(shown.status != TaskState::Idle)
            ));
        }
    }
    super::own_view::examine(course, &mut examined);
    examined
}

/// The person was told that what is shown can't be trusted, and it was not shown anew since.
pub(super) fn knows_better(course: &Course<'_>, task: &str) -> bool {
    course.shown().filter(|(_, update)| update.task_id().is_none_or(|of| of == task)).fold(
        false,
        |warned, (_, update)| match update {
            Update::Error { retry: true, .. } => true,
            Update::Timeline { .. } | Update::Connection { state: ConnectionState::Connected } => false,
            _ => warned,
        },
    )
}

/// The open questions of a session and of the sessions that its agent has created.
fn asked_in<'a>(session: &str, permissions: &'a Value, sessions: &Value) -> Vec<&'a str> {
    let parent = |id: &str| {
        let known = sessions.as_array().into_iter().flatten().find(|known| known["id"] == id)?;
        known["parentID"].as_str().map(str::to_owned)
    };
    let is_ours = |asked: &&Value| {
        let mut at = asked["sessionID"].as_str().map(str::to_owned);
        while let Some(id) = at {
            if id == session {
                return true;
            }
            at = parent(&id);
        }
        false
    };
    let asked = permissions.as_array().into_iter().flatten().filter(is_ours);
    asked.filter_map(|asked| asked["id"].as_str()).collect()
}

fn rows(server: &[Item], shown: &[Item], examined: &mut Examined) {
    examined.facts += server.len().max(shown.len());
    for (at, row) in server.iter().enumerate() {
        match shown.iter().position(|item| item.part_id == row.part_id) {
            None => examined.findings.push(format!("not on the screen: {}", told(row))),
            Some(place) => {
                let item = &shown[place];
                if item != row {
                    examined.findings.push(format!(
                        "the server has {}, the screen {}",
                        told(row),
                        told(item)
                    ));
                } else if place != at {
                    let finding = format!(
                        "{} is number {} on the server, {} on the screen",
                        told(row),
                        at + 1,
                        place + 1
                    );
                    examined.findings.push(finding);
                }
            }
        }
    }
    for (place, item) in shown.iter().enumerate() {
        if shown[..place].iter().any(|before| before.part_id == item.part_id) {
            examined.findings.push(format!("once more on the screen: {}", told(item)));
        } else if !server.iter().any(|row| row.part_id == item.part_id) {
            examined.findings.push(format!("only on the screen: {}", told(item)));
        }
    }
}

fn asked(asked: &[&str], shown: &[&str], examined: &mut Examined) {
    // One more fact: that there are no others.
    examined.facts += asked.len() + 1;
    for id in asked.iter().filter(|id| !shown.contains(id)) {
        examined
            .findings
            .push(format!("the server waits for an answer to {id}, and the screen does not ask"));
    }
    for (place, id) in shown.iter().enumerate() {
        if shown[..place].contains(id) {
            examined.findings.push(format!("the screen asks {id} once more"));
        }
    }
    for id in shown.iter().filter(|id| !asked.contains(id)) {
        examined.findings.push(format!("the screen asks {id}, and the server does not wait for an answer"));
    }
}

/// The list that the adapter was told of last, by a stream that goes on to this day. If a newer one was lost there,
/// nobody can know of it: nothing else says what is on the list, and there was no gap after which to ask.
fn told_to_do<'a>(course: &'a Course<'_>, session: &str) -> Option<&'a Value> {
    let live = course.streams().filter(|stream| stream.end.is_none_or(|(line, _)| line > course.shutdown()));
    let told = live.flat_map(|stream| &stream.events).filter(|sent| sent.session() == Some(session));
    told.filter(|sent| sent.kind() == "todo.updated").last().map(|sent| &sent.event["properties"]["todos"])
}

fn to_do(server: &Value, told: Option<&Value>, shown: &View, examined: &mut Examined) {
    let line = |content: &str, status: &str| format!("{content} ({status})");
    let lines = |list: &Value| -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        let word = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
        items.map(|item| line(&word(item, "content"), &word(item, "status"))).collect()
    };
    let server = lines(server);
    let shown: Vec<String> = shown.todos.iter().map(|item| line(&item.content, &item.status)).collect();
    examined.facts += 1;
    if server != shown && told.map(lines).as_ref() != Some(&shown) {
        examined
            .findings
            .push(format!("the list of things to do is {server:?} on the server, {shown:?} on the screen"));
    }
}

/// Has the session gone back from this part of a message?
pub(super) fn is_reverted(session: Option<&Value>, of: &str, id: &str) -> bool {
    let revert = session.map(|session| &session["revert"]);
    let Some(message) = revert.and_then(|revert| revert["messageID"].as_str()) else { return false };
    let part = revert.and_then(|revert| revert["partID"].as_str());
    match part {
        Some(part) if of == message => id >= part,
        Some(_) => of > message,
        None => of >= message,
    }
}

/// The server's messages as rows of the screen.
fn server_rows(messages: &Value) -> Vec<Item> {
    let assistant =
        messages.as_array().into_iter().flatten().filter(|message| message["info"]["role"] == "assistant");
    let parts = assistant.flat_map(|message| message["parts"].as_array().into_iter().flatten());
    parts.filter_map(row).collect()
}

fn row(part: &Value) -> Option<Item> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = match part["type"].as_str()? {
        "text" if part["synthetic"] != true => ItemKind::Text,
        "reasoning" => ItemKind::Reasoning,
        "tool" => ItemKind::Tool,
        _ => return None,
    };
    let state = &part["state"];
    let is_tool = kind == ItemKind::Tool;
    Some(Item {
        part_id: text(&part["id"])?,
        message_id: text(&part["messageID"])?,
        kind,
        text: if is_tool { None } else { text(&part["text"]) },
        tool: text(&part["tool"]).filter(|_| is_tool),
        state: match state["status"].as_str().filter(|_| is_tool) {
            Some("pending") => Some(ToolState::Pending),
            Some("running") => Some(ToolState::Running),
            Some("completed") => Some(ToolState::Done),
            Some(_) => Some(ToolState::Error),
            None => None,
        },
        output: text(&state["output"]).or_else(|| text(&state["error"])).filter(|_| is_tool),
        exit: None,
        process: None,
    })
}

fn told(item: &Item) -> String {
    match item.kind {
        ItemKind::Text => format!("the text {:?}", item.text.as_deref().unwrap_or_default()),
        ItemKind::Reasoning => format!("the reasoning {:?}", item.text.as_deref().unwrap_or_default()),
        ItemKind::Unknown => "something unknown".to_owned(),
        ItemKind::Tool => {
            let output = item.output.as_deref().map(|output| format!(" with {output:?}")).unwrap_or_default();
            let state = item.state.map(|state| format!("{state:?}").to_lowercase()).unwrap_or_default();
            format!("the call of {} {state}{output}", item.tool.as_deref().unwrap_or("a tool"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(id: &str, text: &str) -> Item {
        let part = json!({"id": id, "messageID": "msg_1", "type": "text", "text": text});
        row(&part).unwrap()
    }

    #[test]
    fn words_and_order_of_the_rows_count() {
        let found = |server: &[Item], shown: &[Item]| {
            let mut examined = Examined::default();
            rows(server, shown, &mut examined);
            (examined.facts, examined.findings.len())
        };
        let (a, b) = (text("prt_1", "a"), text("prt_2", "b"));
        let both = [a.clone(), b.clone()];
        assert_eq!(found(&both, &both), (2, 0));
        assert_eq!(found(&both, &[b.clone(), a.clone()]), (2, 2), "both stand at the wrong place");
        assert_eq!(found(&both, &[a.clone(), text("prt_2", "c")]), (2, 1));
        assert_eq!(found(&both, std::slice::from_ref(&a)), (2, 1));
        assert_eq!(found(std::slice::from_ref(&a), &both), (2, 1));
        assert_eq!(found(&both, &[a.clone(), b.clone(), a.clone(), b.clone()]), (4, 2), "all of it twice");
    }

    #[test]
    fn a_child_asks_in_the_name_of_its_parent() {
        let sessions = json!([{"id": "ses_a"}, {"id": "ses_c", "parentID": "ses_a"}, {"id": "ses_b"}]);
        let permissions =
            json!([{"id": "per_1", "sessionID": "ses_c"}, {"id": "per_2", "sessionID": "ses_b"}]);
        assert_eq!(asked_in("ses_a", &permissions, &sessions), ["per_1"]);
        assert_eq!(asked_in("ses_b", &permissions, &sessions), ["per_2"]);
    }
}
