//! Updates in the words of who looks at the screen.

use crate::protocol::{Attachment, ChangedFile, Diff, Update};

fn attached(files: &[Attachment]) -> String {
    let name = |file: &Attachment| file.name.clone().unwrap_or_else(|| file.mime.clone());
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// What the agent has changed, in the words of who looks at the screen.
#[must_use]
pub fn changed(diff: &Diff) -> String {
    let counted = |file: &ChangedFile| format!("{} +{} -{}", file.file, file.additions, file.deletions);
    match diff {
        Diff::Unavailable => "what is changed can't be shown".to_owned(),
        Diff::Known(files) if files.is_empty() => "nothing is changed".to_owned(),
        Diff::Known(files) => {
            format!("changed: {}", files.iter().map(counted).collect::<Vec<_>>().join(", "))
        }
    }
}

/// An update in the words of who looks at the screen.
#[must_use]
pub fn seen(update: &Update) -> String {
    match update {
        Update::AssistantDelta { delta, .. } => format!("text {delta:?}"),
        Update::ReasoningDelta { delta, .. } => format!("reasoning {delta:?}"),
        Update::ToolState { tool, state, .. } => format!("tool {tool}: {state:?}").to_lowercase(),
        Update::UnknownPart { .. } => "something unknown".to_owned(),
        Update::Attachments { attachments, .. } => format!("attached: {}", attached(attachments)),
        Update::Diff { diff, .. } => changed(diff),
        Update::PermissionRequest { permission, patterns, .. } => {
            format!("asks: {permission} {}?", patterns.join(", "))
        }
        Update::PermissionResolved { .. } => "the question is gone".to_owned(),
        Update::Question { questions, .. } => {
            let asked: Vec<&str> = questions.iter().map(|asked| asked.question.as_str()).collect();
            format!("asks: {}", asked.join(" "))
        }
        Update::QuestionResolved { .. } => "the question is gone".to_owned(),
        Update::Todo { todos, .. } => {
            let todos: Vec<String> =
                todos.iter().map(|todo| format!("{} ({})", todo.content, todo.status)).collect();
            format!("to do: {}", todos.join(", "))
        }
        Update::Status { state, .. } => format!("status {state:?}").to_lowercase(),
        Update::Connection { state } => format!("{state:?}").to_lowercase(),
        Update::Server { state, reason, message } => {
            let reason = reason.map(|reason| format!(" ({reason:?})")).unwrap_or_default();
            let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            format!("server {state:?}{reason}").to_lowercase() + &message
        }
        Update::Warning { message } => format!("warning: {message}"),
        Update::Terminal { outcome, .. } => format!("the turn is over: {outcome:?}").to_lowercase(),
        Update::Error { message, retry, .. } => {
            let offer = if *retry { " [Retry]" } else { "" };
            format!("error: {message}{offer}")
        }
        Update::Timeline { view, .. } => {
            let rows: Vec<String> = view
                .items
                .iter()
                .map(|item| {
                    let state =
                        item.state.map(|state| format!(" {state:?}").to_lowercase()).unwrap_or_default();
                    let tool = item.tool.as_ref().map(|tool| format!("[{tool}{state}]"));
                    item.text.as_ref().map(|text| format!("{text:?}")).or(tool).unwrap_or_default()
                })
                .collect();
            let asked = view
                .permissions
                .iter()
                .map(|asked| format!("asks: {} {}?", asked.permission, asked.patterns.join(", ")));
            let files = view.attachments.values().map(|files| format!("attached: {}", attached(files)));
            let rows: Vec<String> = files.chain(rows).chain(asked).collect();
            format!("shown anew: {}", rows.join(" · "))
        }
    }
}
