//! A history as a time line for people: who did what, and what the person saw.

use crate::history;
use crate::protocol::{Attachment, ChangedFile, Diff, Update};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{HowEnded, Line, ModelPurpose, Recording, Speaker};
use fixtures::sse;
use mock_server::standin::MAIN_LANE;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the run began.
    pub at_ms: f64,
    /// Who did it.
    pub who: Who,
    /// What, in few words.
    pub what: String,
}

/// Who does things. Each is a column of a time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The person of the scenario.
    Person,
    /// What the person sees.
    Screen,
    /// The adapter's requests to the server.
    Rest,
    /// The server's events to the adapter.
    Stream,
    /// The server's questions to its model.
    Model,
    /// What was broken on purpose.
    Fault,
    /// What went wrong with the run itself.
    Trouble,
}

/// The time line of a history. The harness's own reads are left out.
#[must_use]
pub fn of(history: &Recording) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut open: BTreeMap<u64, Exchange> = BTreeMap::new();
    for line in &history.lines {
        let mut push = |at_us: u64, who, what| {
            #[expect(clippy::cast_precision_loss, reason = "a run takes seconds, not centuries")]
            let at_ms = at_us as f64 / 1000.0;
            entries.push(Entry { at_ms, who, what });
        };
        match line {
            Line::User(line) => push(line.at_us, Who::Person, line.does.clone()),
            Line::Adapter(line) if line.from == Speaker::Adapter => {
                let update = history::update_of(&Line::Adapter(line.clone()));
                if let Some(update) = update {
                    push(line.at_us, Who::Screen, seen(&update));
                }
            }
            Line::Request(request) if request.lane.as_deref() != Some(MAIN_LANE) => {
                let what = format!("{} {}", request.method, short(&request.path));
                let stream = StreamName::from_path(&request.path).map(|_| sse::Parser::new());
                if stream.is_some() {
                    push(request.at_us, Who::Stream, format!("{} is asked for", request.path));
                }
                open.insert(request.exchange, Exchange { what, stream });
            }
            Line::Response(response) => {
                if let Some(exchange) =
                    open.get(&response.exchange).filter(|exchange| exchange.stream.is_none())
                {
                    push(response.at_us, Who::Rest, format!("{} → {}", exchange.what, response.status));
                }
            }
            Line::Chunk(chunk) => {
                if let Some(parser) =
                    open.get_mut(&chunk.exchange).and_then(|exchange| exchange.stream.as_mut())
                {
                    // A twin says what the event before it said.
                    let frames = parser.feed(&chunk.bytes()).into_iter().map(|frame| event(&frame.data));
                    for what in frames.filter(|what| !what.starts_with("sync ")) {
                        push(chunk.at_us, Who::Stream, what);
                    }
                    if parser.is_mid_frame() {
                        push(chunk.at_us, Who::Stream, format!("{} bytes of a frame", chunk.bytes().len()));
                    }
                }
            }
            Line::End(end) if open.contains_key(&end.exchange) => {
                push(end.at_us, Who::Stream, ended(end.how).to_owned());
            }
            Line::Model(call) => {
                let purpose = match call.purpose {
                    ModelPurpose::Title => "a title",
                    ModelPurpose::Summary => "a summary",
                    ModelPurpose::Turn => "the agent's part",
                };
                push(call.at_us, Who::Model, format!("asked for {purpose}: {}", call.answered));
            }
            Line::Fault(fault) => {
                push(fault.at_us, Who::Fault, format!("fault {} {}", fault.fault, fault.did))
            }
            Line::Trouble(trouble) => push(trouble.at_us, Who::Trouble, trouble.what.clone()),
            _ => {}
        }
    }
    entries
}

struct Exchange {
    what: String,
    /// It is an event stream.
    stream: Option<sse::Parser>,
}

fn ended(how: HowEnded) -> &'static str {
    match how {
        HowEnded::ClosedByClient => "the adapter leaves",
        HowEnded::ClosedByServer => "the server ends it",
        HowEnded::Cut => "it is cut off",
        HowEnded::Reset => "it is reset",
        HowEnded::Broken => "it breaks",
    }
}

/// A path whose ids show their kind and their end only.
fn short(path: &str) -> String {
    let segment = |segment: &str| match segment.split_once('_') {
        Some((kind, id)) if id.len() > 8 && id.is_ascii() => format!("{kind}_…{}", &id[id.len() - 4..]),
        _ => segment.to_owned(),
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn event(data: &str) -> String {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    let event = event.get("payload").unwrap_or(&event);
    let kind = event["type"].as_str().unwrap_or("?").to_owned();
    let properties = &event["properties"];
    let detail = ["/status/type", "/delta", "/part/state/status", "/part/type", "/info/role", "/reply"]
        .into_iter()
        .find_map(|pointer| properties.pointer(pointer).and_then(Value::as_str));
    match (kind.as_str(), detail) {
        ("sync", _) => format!("sync {}", event["syncEvent"]["type"].as_str().unwrap_or_default()),
        (_, Some(detail)) => format!("{kind}: {detail}"),
        (_, None) => kind,
    }
}

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
