//! What is asked of servers of tools and what follows from their answers: they are started, say who they are and which
//! tools they have, are called, and leave.

use super::ProgramNews;
use super::link::{
    Asked, Heard, Link, Question, ServedTool, heard, hello, request_of, tools_of, wrong_hello,
};
use super::shape::misshapen;
use crate::world::{Effect, EffectId, Output, Purpose, World};
use serde_json::{Value, json};

/// How long a server may take to say who it is, or which tools it has.
const PATIENCE_MS: u64 = 30_000;
/// How long a call may take.
const CALL_PATIENCE_MS: u64 = 60_000;
const ABORTED: &str = "AbortError: The operation was aborted.";
const CLOSED: &str = "MCP error -32000: Connection closed";
const TIMED_OUT: &str = "MCP error -32001: Request timed out";
const NO_TOOLS: &str = "Failed to get tools";

impl World {
    /// Starts the program of a server, and asks who it is.
    pub(super) fn start_server(&mut self, directory: &str, name: &str, config: &Value) -> EffectId {
        let link = self.named_effect(Purpose::ToolServer, Effect::Start(self.tool_server(directory, config)));
        let patience_ms = config["timeout"].as_u64();
        self.links.insert(link, Link::new(directory.to_owned(), name.to_owned(), patience_ms));
        let hello = hello(self.profile.server.word(), self.profile.version);
        self.ask_server(link, Asked::Hello, "initialize", hello, patience_ms.unwrap_or(PATIENCE_MS));
        link
    }

    /// Nobody wants anything of a server any more.
    pub(super) fn end_server(&mut self, link: EffectId) {
        self.waiting.remove(&link);
        self.outputs.push(Output::Drop(link));
        let Some(mut ended) = self.links.remove(&link) else { return };
        for question in ended.take_all() {
            self.unanswered(question, CLOSED);
        }
    }

    fn tell_server(&mut self, link: EffectId, message: &Value) {
        self.outputs.push(Output::Tell(link, message.to_string()));
    }

    fn ask_server(&mut self, link: EffectId, asked: Asked, method: &str, params: Value, patience_ms: u64) {
        let Some(open) = self.links.get_mut(&link) else { return };
        let request = open.next_request();
        let until_ms = self.now_ms + patience_ms;
        let mut message = json!({"method": method});
        if params != json!({}) {
            message["params"] = params;
        }
        if matches!(asked, Asked::Call { .. }) {
            message["params"]["_meta"] = json!({"progressToken": request});
        }
        message["jsonrpc"] = json!("2.0");
        message["id"] = json!(request);
        self.tell_server(link, &message);
        let patience = self.named_effect(Purpose::ToolPatience(link, request), Effect::Wait { until_ms });
        if let Some(open) = self.links.get_mut(&link) {
            open.put(request, Question { asked, patience, patience_ms });
        }
    }

    fn ask_for_tools(&mut self, link: EffectId, so_far: Vec<ServedTool>, cursors: Vec<String>) {
        let params = cursors.last().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let patience_ms = self.links.get(&link).and_then(|link| link.patience_ms).unwrap_or(PATIENCE_MS);
        self.ask_server(link, Asked::Tools { so_far, cursors }, "tools/list", params, patience_ms);
    }

    /// Has a server perform a call. Says whether it is there.
    pub(in crate::world) fn ask_for_call(
        &mut self,
        link: EffectId,
        tool: &str,
        arguments: &Value,
        (session, call): (&str, usize),
    ) -> bool {
        let Some(patience_ms) = self.links.get(&link).map(|link| link.patience_ms) else { return false };
        let settings = &self.customs(self.folder_of(session)).settings;
        let told = settings.get("experimental").and_then(|settings| settings["mcp_timeout"].as_u64());
        let patience_ms = patience_ms.or(told).unwrap_or(CALL_PATIENCE_MS);
        let params = json!({"name": tool, "arguments": arguments});
        let (session, shape) = (session.to_owned(), self.shape_of(link, tool));
        let asked = Asked::Call { session, call, tool: tool.to_owned(), shape };
        self.ask_server(link, asked, "tools/call", params, patience_ms);
        true
    }

    /// Nobody waits for the calls of a session any more.
    pub(in crate::world) fn cancel_calls(&mut self, session: &str) {
        let asked: Vec<(EffectId, u64)> = self
            .links
            .iter()
            .flat_map(|(id, link)| link.asked_for(session).into_iter().map(|request| (*id, request)))
            .collect();
        for (link, request) in asked {
            self.taken_back(link, request);
            if let Some(open) = self.links.get_mut(&link) {
                open.answered.push((session.to_owned(), request));
            }
        }
        self.step_of_calls_ends(session);
    }

    fn cancel(&mut self, link: EffectId, request: u64, reason: &str) {
        let params = json!({"requestId": request, "reason": reason});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.tell_server(link, &message);
    }

    /// A question is nobody's any more, nor is the patience for its answer.
    fn taken_back(&mut self, link: EffectId, request: u64) -> Option<Question> {
        let question = self.links.get_mut(&link)?.take(request)?;
        self.waiting.remove(&question.patience);
        self.outputs.push(Output::Drop(question.patience));
        Some(question)
    }

    /// The program of a server tells something.
    pub(in crate::world) fn program_told(&mut self, link: EffectId, news: ProgramNews) {
        match news {
            ProgramNews::Failed(error) => self.server_settled(link, Err(error)),
            ProgramNews::Ended => self.server_left(link),
            ProgramNews::Refused { line, why } => {
                if let Some(request) = request_of(&line) {
                    self.answer_came(link, request, Err(why));
                }
            }
            ProgramNews::Line(line) => match heard(&line) {
                Heard::Answer(request, answer) => self.answer_came(link, request, answer),
                Heard::Wish(id, method) => self.answer_server(link, &id, &method),
                Heard::ToolsChanged if self.links.get(&link).is_some_and(|link| link.is_open) => {
                    self.ask_for_tools(link, Vec::new(), Vec::new());
                }
                Heard::ToolsChanged | Heard::Nothing => {}
            },
        }
    }

    fn answer_came(&mut self, link: EffectId, request: u64, answer: Result<Value, String>) {
        let Some(question) = self.taken_back(link, request) else { return };
        if let Asked::Call { session, .. } = &question.asked
            && let Some(open) = self.links.get_mut(&link)
        {
            open.answered.push((session.clone(), request));
        }
        self.server_answered(link, question.asked, answer);
    }

    /// The step is over that calls were made in, or it was cut short. The real servers take back all that they have asked
    /// in it, answered or not.
    pub(in crate::world) fn step_of_calls_ends(&mut self, session: &str) {
        let over = self.links.iter_mut().flat_map(|(id, link)| {
            let over = link.answered.extract_if(.., |(of, _)| of == session);
            over.map(|(_, request)| (*id, request)).collect::<Vec<_>>()
        });
        for (link, request) in over.collect::<Vec<_>>() {
            self.cancel(link, request, ABORTED);
        }
    }

    /// The patience for an answer is over.
    pub(in crate::world) fn patience_over(&mut self, link: EffectId, request: u64) {
        let Some(question) = self.taken_back(link, request) else { return };
        let error = match question.asked {
            Asked::Hello => format!("Operation timed out after {}ms", question.patience_ms),
            Asked::Tools { .. } | Asked::Call { .. } => TIMED_OUT.to_owned(),
        };
        self.cancel(link, request, &format!("McpError: {TIMED_OUT}"));
        self.server_answered(link, question.asked, Err(error));
    }

    fn server_answered(&mut self, link: EffectId, asked: Asked, answer: Result<Value, String>) {
        match (asked, answer) {
            (Asked::Hello, Ok(answer)) => match wrong_hello(&answer) {
                Some(error) => self.server_settled(link, Err(error)),
                None => self.server_said_hello(link, &answer),
            },
            (Asked::Hello, Err(error)) => self.server_settled(link, Err(error)),
            (Asked::Tools { so_far, cursors }, Ok(page)) => self.take_tools(link, so_far, cursors, &page),
            (Asked::Tools { .. }, Err(_)) => self.no_tools(link),
            (Asked::Call { session, call, tool, shape }, answer) => {
                let fitting = answer.and_then(|answer| match shape {
                    Some(shape) => misshapen(&tool, &shape, &answer).map_or(Ok(answer), Err),
                    None => Ok(answer),
                });
                self.call_served(&session, call, fitting);
            }
        }
    }

    fn server_said_hello(&mut self, link: EffectId, answer: &Value) {
        self.tell_server(link, &json!({"method": "notifications/initialized", "jsonrpc": "2.0"}));
        if answer["capabilities"]["tools"].is_object() {
            self.ask_for_tools(link, Vec::new(), Vec::new());
        } else {
            self.server_settled(link, Ok(Vec::new()));
        }
    }

    fn take_tools(
        &mut self,
        link: EffectId,
        mut so_far: Vec<ServedTool>,
        mut cursors: Vec<String>,
        page: &Value,
    ) {
        let Some(tools) = tools_of(page) else { return self.no_tools(link) };
        so_far.extend(tools);
        match page["nextCursor"].as_str() {
            Some(cursor) if cursors.iter().any(|asked| asked == cursor) => self.no_tools(link),
            Some(cursor) => {
                cursors.push(cursor.to_owned());
                self.ask_for_tools(link, so_far, cursors);
            }
            None => self.server_settled(link, Ok(so_far)),
        }
    }

    /// A server that does not tell its tools can't be used; one that is in use keeps those that it had.
    fn no_tools(&mut self, link: EffectId) {
        if self.links.get(&link).is_some_and(|link| !link.is_open) {
            self.server_settled(link, Err(NO_TOOLS.to_owned()));
        }
    }

    /// A server's program is gone, or hears nothing any more.
    fn server_left(&mut self, link: EffectId) {
        let Some(left) = self.links.get_mut(&link) else { return };
        let (directory, name, is_open) = (left.directory.clone(), left.name.clone(), left.is_open);
        let questions = left.take_all();
        let is_greeted = questions.iter().any(|question| matches!(question.asked, Asked::Tools { .. }));
        if is_open && self.client_left(link, &directory, &name) {
            self.emit(&directory, "mcp.tools.changed", json!({"server": name}));
        }
        for question in questions {
            self.unanswered(question, CLOSED);
        }
        if !is_open {
            let error = if is_greeted { NO_TOOLS } else { CLOSED };
            self.server_settled(link, Err(error.to_owned()));
        }
        self.end_server(link);
    }

    /// Only calls are anybody's loss.
    fn unanswered(&mut self, question: Question, error: &str) {
        self.waiting.remove(&question.patience);
        self.outputs.push(Output::Drop(question.patience));
        if let Asked::Call { session, call, .. } = question.asked {
            self.call_served(&session, call, Err(error.to_owned()));
        }
    }

    /// A server wants to know something itself.
    fn answer_server(&mut self, link: EffectId, id: &Value, method: &str) {
        let directory = self.links.get(&link).map(|link| link.directory.clone()).unwrap_or_default();
        let answer = match method {
            "ping" => json!({"result": {}}),
            "roots/list" => json!({"result": {"roots": [{"uri": format!("file://{directory}")}]}}),
            _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
        };
        let mut message = answer;
        message["jsonrpc"] = json!("2.0");
        message["id"] = id.clone();
        self.tell_server(link, &message);
    }
}
