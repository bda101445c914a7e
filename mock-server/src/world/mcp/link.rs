//! The talk with one server of tools: JSON-RPC in lines. What is said and heard has its form here; what follows from it
//! is for `talk`.

use crate::javascript::kind_of;
use crate::world::{EffectId, merge};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The versions of the protocol that the real servers speak. They ask for the newest.
const VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/// A program that serves tools, or is about to; it is named by the effect that started it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) directory: String,
    /// The server's name.
    pub(super) name: String,
    /// How long it may take for an answer, where its settings say so.
    pub(super) patience_ms: Option<u64>,
    /// It has told its tools, and is used.
    pub(super) is_open: bool,
    next_request: u64,
    /// What it has been asked, by number.
    asked: BTreeMap<u64, Question>,
    /// The calls of a session's current step for which nobody waits any more.
    pub(super) answered: Vec<(String, u64)>,
}

/// A question to a server, and the end of the patience for its answer.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) asked: Asked,
    pub(super) patience: EffectId,
    pub(super) patience_ms: u64,
}

/// What a server is asked.
#[derive(Debug)]
pub(super) enum Asked {
    /// Who it is.
    Hello,
    /// Which tools it has: those of the pages so far, and how the pages before were asked for.
    Tools { so_far: Vec<ServedTool>, cursors: Vec<String> },
    /// To perform a call of this session.
    Call {
        session: String,
        call: usize,
        tool: String,
        /// What the tool's answers have to look like, where that is told.
        shape: Option<Value>,
    },
}

/// A tool that a server has.
#[derive(Debug)]
pub(super) struct ServedTool {
    /// Its name there.
    pub(super) name: String,
    /// What a model is told of it.
    pub(super) definition: Value,
    /// The schema of its answers.
    pub(super) shape: Option<Value>,
}

/// What a server says.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// The answer to a question, or why there is none.
    Answer(u64, Result<Value, String>),
    /// It wants something itself, under this id.
    Wish(Value, String),
    /// It has other tools now.
    ToolsChanged,
    /// Nothing that anybody understands, or wants to know.
    Nothing,
}

impl ServedTool {
    fn told(tool: &Value) -> Option<Self> {
        let name = tool["name"].as_str()?.to_owned();
        let said =
            tool["inputSchema"].as_object().filter(|said| said.get("type") == Some(&json!("object")))?;
        // The real servers let a model say nothing that a tool does not know, whatever it says itself.
        let mut parameters = json!({"type": "object", "properties": {}});
        merge(parameters.as_object_mut()?, &Value::Object(said.clone()));
        parameters["additionalProperties"] = json!(false);
        let description = tool["description"].as_str().unwrap_or_default();
        let definition = json!({"description": description, "parameters": parameters});
        Some(Self { name, definition, shape: tool.get("outputSchema").cloned() })
    }
}

impl Link {
    pub(super) fn new(directory: String, name: String, patience_ms: Option<u64>) -> Self {
        let (asked, answered) = (BTreeMap::new(), Vec::new());
        Self { directory, name, patience_ms, is_open: false, next_request: 0, asked, answered }
    }

    /// A number for the next question.
    pub(super) fn next_request(&mut self) -> u64 {
        let request = self.next_request;
        self.next_request += 1;
        request
    }

    pub(super) fn put(&mut self, request: u64, question: Question) {
        self.asked.insert(request, question);
    }

    pub(super) fn take(&mut self, request: u64) -> Option<Question> {
        self.asked.remove(&request)
    }

    pub(super) fn take_all(&mut self) -> Vec<Question> {
        std::mem::take(&mut self.asked).into_values().collect()
    }

    /// The questions that are asked for a session.
    pub(super) fn asked_for(&self, session: &str) -> Vec<u64> {
        let is_for =
            |question: &Question| matches!(&question.asked, Asked::Call { session: of, .. } if of == session);
        self.asked.iter().filter(|(_, question)| is_for(question)).map(|(request, _)| *request).collect()
    }
}

/// The number of the question in a line that was to be said.
pub(super) fn request_of(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line).ok()?["id"].as_u64()
}

/// Takes a line apart.
pub(super) fn heard(line: &str) -> Heard {
    let Ok(told) = serde_json::from_str::<Value>(line) else { return Heard::Nothing };
    if told["jsonrpc"] != "2.0" {
        return Heard::Nothing;
    }
    match (told["method"].as_str(), told.get("id")) {
        (Some("notifications/tools/list_changed"), None) => Heard::ToolsChanged,
        (Some(_), None) | (None, None) => Heard::Nothing,
        (Some(method), Some(id)) => Heard::Wish(id.clone(), method.to_owned()),
        (None, Some(id)) => {
            let Some(request) = id.as_u64() else { return Heard::Nothing };
            match (told.get("result"), told.get("error")) {
                (Some(result), None) if result.is_object() => Heard::Answer(request, Ok(result.clone())),
                (None, Some(error)) => match (error["code"].as_i64(), error["message"].as_str()) {
                    (Some(code), Some(message)) => {
                        Heard::Answer(request, Err(format!("MCP error {code}: {message}")))
                    }
                    _ => Heard::Nothing,
                },
                _ => Heard::Nothing,
            }
        }
    }
}

/// The first words to a server.
pub(super) fn hello(name: &str, version: &str) -> Value {
    json!({
        "protocolVersion": VERSIONS[0], "capabilities": {"roots": {}},
        "clientInfo": {"name": name, "version": version},
    })
}

/// What is wrong with a server's first words, if anything.
pub(super) fn wrong_hello(answer: &Value) -> Option<String> {
    let mut wrong = Vec::new();
    let mut check = |path: &[&str], is_right: fn(&Value) -> bool, expected: &str| {
        let pointer: String = path.iter().map(|key| format!("/{key}")).collect();
        let found = answer.pointer(&pointer);
        if found.is_none_or(|found| !is_right(found)) {
            let received = kind_of(found);
            wrong.push(json!({
                "expected": expected, "code": "invalid_type", "path": path,
                "message": format!("Invalid input: expected {expected}, received {received}"),
            }));
        }
    };
    check(&["protocolVersion"], Value::is_string, "string");
    check(&["capabilities"], Value::is_object, "object");
    check(&["serverInfo"], Value::is_object, "object");
    if answer["serverInfo"].is_object() {
        check(&["serverInfo", "version"], Value::is_string, "string");
        check(&["serverInfo", "name"], Value::is_string, "string");
    }
    if !wrong.is_empty() {
        return serde_json::to_string_pretty(&wrong).ok();
    }
    let version = answer["protocolVersion"].as_str().unwrap_or_default();
    (!VERSIONS.contains(&version)).then(|| format!("Server's protocol version is not supported: {version}"))
}

/// The tools on a page, if it is one.
pub(super) fn tools_of(page: &Value) -> Option<Vec<ServedTool>> {
    page["tools"].as_array()?.iter().map(ServedTool::told).collect()
}

/// A name as the model may call it.
pub(super) fn spelled(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    // The servers count letters as JavaScript does: one beyond the basic plane is two.
    name.chars()
        .flat_map(|letter| {
            let (letter, count) = if is_plain(letter) { (letter, 1) } else { ('_', letter.len_utf16()) };
            std::iter::repeat_n(letter, count)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        assert_eq!(heard("Hello."), Heard::Nothing);
        assert_eq!(heard(r#"{"id":1,"result":{}}"#), Heard::Nothing);
        assert_eq!(heard(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Heard::Answer(1, Ok(json!({}))));
        let refused = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#;
        assert_eq!(heard(refused), Heard::Answer(1, Err("MCP error -1: no".to_owned())));
        assert_eq!(
            heard(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Heard::Wish(json!("a"), "ping".to_owned())
        );
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert_eq!(heard(changed), Heard::ToolsChanged);
    }

    #[test]
    fn wrong_first_words_are_told_one_by_one() {
        let info = json!({"name": "x", "version": "1"});
        let right = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info});
        assert_eq!(wrong_hello(&right), None);
        let mut old = right.clone();
        old["protocolVersion"] = json!("1999-01-01");
        assert!(wrong_hello(&old).unwrap().ends_with("not supported: 1999-01-01"));
        let wrong = wrong_hello(&json!({"capabilities": [], "serverInfo": {"name": 1}})).unwrap();
        for words in
            ["expected string, received undefined", "expected object, received array", "received number"]
        {
            assert!(wrong.contains(words), "{wrong}");
        }
    }

    #[test]
    fn a_tool_takes_nothing_that_it_does_not_name() {
        let page = json!({"tools": [
            {"name": "a", "description": "A.", "inputSchema": {"type": "object", "additionalProperties": true}},
            {"name": "b", "inputSchema": {"type": "object", "properties": {"x": {}}, "required": ["x"]}},
        ]});
        let told: Vec<Value> = tools_of(&page).unwrap().into_iter().map(|tool| tool.definition).collect();
        let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(told[0], json!({"description": "A.", "parameters": none}));
        assert_eq!(told[1]["parameters"]["required"], json!(["x"]));
        assert_eq!(told[1]["parameters"]["additionalProperties"], false);
        assert!(tools_of(&json!({"tools": [{"name": "c", "inputSchema": {"type": "string"}}]})).is_none());
    }

    #[test]
    fn names_are_spelled_for_the_model() {
        assert_eq!(spelled("odd name!"), "odd_name_");
        assert_eq!(spelled("a.b-c_\u{1f600}"), "a_b-c___");
    }
}
