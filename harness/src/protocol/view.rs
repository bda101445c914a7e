//! What the person sees after any number of updates: a pure fold, so that a saved history can be judged again.
//!
//! The fold shows what the adapter said and mends nothing: a tool that goes back from done to running goes back on
//! this screen too, and a check can see it.

use super::{Attachment, ConnectionState, Diff, TaskState, ToolState, Update};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One task on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct View {
    /// What the assistant said, thought and did, in the server's order.
    pub items: Vec<Item>,
    /// What the person is asked for right now.
    pub permissions: Vec<Permission>,
    /// What the agent asks the person right now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// What the agent has set out to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<TodoItem>,
    /// Message of the person → what is attached to it, in order.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attachments: BTreeMap<String, Vec<Attachment>>,
    /// What the agent has changed, once that is known or known to be unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Diff>,
    /// What the agent does.
    pub status: TaskState,
}

/// One row of a task: a part of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Item {
    /// The server's part.
    pub part_id: String,
    /// The server's message.
    pub message_id: String,
    /// What it is.
    pub kind: ItemKind,
    /// What is shown of a text or a reasoning part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How far the tool call is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ToolState>,
    /// What the tool said, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Of a command: the status with which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// Of a command: the number of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
}

/// The number of a command's process, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Process {
    /// Nobody has told it, and the row says so.
    Unknown,
    /// This one.
    #[serde(untagged)]
    Number(u64),
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ItemKind {
    /// Words for the person.
    Text,
    /// The agent's thoughts.
    Reasoning,
    /// A tool call.
    Tool,
    /// A part of a kind that nobody here knows: a row that says so.
    Unknown,
}

/// Leave that the person is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Permission {
    /// The server's name of the request.
    pub permission_id: String,
    /// What kind of leave, e.g. `edit`.
    pub permission: String,
    /// What it is about, e.g. paths.
    pub patterns: Vec<String>,
}

/// What the agent asks the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// The server's name of the request.
    pub question_id: String,
    /// What is asked; often one question, sometimes several at once.
    pub questions: Vec<Asked>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Asked {
    /// The question's words.
    pub question: String,
    /// The labels that can be chosen.
    pub options: Vec<String>,
}

/// One thing that the agent has set out to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TodoItem {
    /// What.
    pub content: String,
    /// How far it is, in the server's word.
    pub status: String,
}

impl Item {
    /// A row of which no more is known than whose it is.
    #[must_use]
    pub fn blank(part_id: String, message_id: String, kind: ItemKind) -> Self {
        Self {
            part_id,
            message_id,
            kind,
            text: None,
            tool: None,
            state: None,
            output: None,
            exit: None,
            process: None,
        }
    }
}

impl View {
    /// Takes in an update of this task. What changes no row (`terminal`, `error`, `connection`) changes nothing.
    pub fn apply(&mut self, update: &Update) {
        match update {
            Update::AssistantDelta { message_id, part_id, delta, .. } => {
                self.add_text(message_id, part_id, ItemKind::Text, delta);
            }
            Update::ReasoningDelta { message_id, part_id, delta, .. } => {
                self.add_text(message_id, part_id, ItemKind::Reasoning, delta);
            }
            Update::ToolState { message_id, tool_id, tool, state, output, exit, process, .. } => {
                let item = self.item(message_id, tool_id, ItemKind::Tool);
                item.tool = Some(tool.clone());
                item.state = Some(*state);
                item.output.clone_from(output);
                (item.exit, item.process) = (*exit, *process);
            }
            Update::UnknownPart { message_id, part_id, .. } => {
                self.item(message_id, part_id, ItemKind::Unknown);
            }
            Update::Attachments { message_id, attachments, .. } => match attachments.is_empty() {
                true => drop(self.attachments.remove(message_id)),
                false => drop(self.attachments.insert(message_id.clone(), attachments.clone())),
            },
            Update::Diff { diff, .. } => self.diff = Some(diff.clone()),
            Update::PermissionRequest { permission_id, permission, patterns, .. } => {
                self.permissions.retain(|live| live.permission_id != *permission_id);
                self.permissions.push(Permission {
                    permission_id: permission_id.clone(),
                    permission: permission.clone(),
                    patterns: patterns.clone(),
                });
            }
            Update::PermissionResolved { permission_id, .. } => {
                self.permissions.retain(|live| live.permission_id != *permission_id);
            }
            Update::Question { question_id, questions, .. } => {
                self.questions.retain(|live| live.question_id != *question_id);
                self.questions
                    .push(Question { question_id: question_id.clone(), questions: questions.clone() });
            }
            Update::QuestionResolved { question_id, .. } => {
                self.questions.retain(|live| live.question_id != *question_id);
            }
            Update::Todo { todos, .. } => self.todos.clone_from(todos),
            Update::Status { state, .. } => self.status = *state,
            Update::Timeline { view, .. } => self.clone_from(view),
            Update::Connection { .. }
            | Update::Server { .. }
            | Update::Warning { .. }
            | Update::Terminal { .. }
            | Update::Error { .. } => {}
        }
    }

    fn add_text(&mut self, message_id: &str, part_id: &str, kind: ItemKind, delta: &str) {
        self.item(message_id, part_id, kind).text.get_or_insert_default().push_str(delta);
    }

    /// The row of a part; a new one at the end if there is none.
    fn item(&mut self, message_id: &str, part_id: &str, kind: ItemKind) -> &mut Item {
        let at = self.items.iter().position(|item| item.part_id == part_id).unwrap_or_else(|| {
            self.items.push(Item::blank(part_id.to_owned(), message_id.to_owned(), kind));
            self.items.len() - 1
        });
        &mut self.items[at]
    }
}

/// All tasks of an adapter, and its connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screen {
    /// Task → what is seen of it.
    pub tasks: BTreeMap<String, View>,
    /// The event stream.
    pub connection: ConnectionState,
}

impl Screen {
    /// Takes in an update of any task.
    pub fn apply(&mut self, update: &Update) {
        if let Update::Connection { state } = update {
            self.connection = *state;
        }
        if let Some(task_id) = update.task_id() {
            self.tasks.entry(task_id.to_owned()).or_default().apply(update);
        }
    }
}
