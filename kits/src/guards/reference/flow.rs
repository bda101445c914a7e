//! A task: the model is asked, its words are shown as they come, its calls are looked at and done, and it is told of them,
//! until it says that all is done. What was said is kept on the disk.

use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The last call of a task.
const END: &str = "attempt_completion";
/// The tools that the model is offered, and what they take.
const TOOLS: [(&str, &[&str]); 3] =
    [("read_file", &["path"]), ("write_file", &["path", "content"]), (END, &["result"])];

/// An answer of the model, as far as it has come.
#[derive(Default)]
struct Answer {
    says: String,
    /// By their places: id, tool, arguments.
    calls: BTreeMap<u64, (String, String, String)>,
    usage: (u64, u64),
}

impl Reference {
    pub(super) async fn task(&self, params: &Value, screen: &Screen) -> Value {
        let id = text(&params["task"]);
        let mut messages = self.conversation(id);
        let words = text(&params["text"]);
        let words =
            if self.is("cuts-the-words") { words.chars().take(1000).collect() } else { words.to_owned() };
        messages.push(json!({"role": "user", "content": words}));
        let (mut read, mut written) = (0, 0);
        loop {
            let Some(answer) = self.answer(text(&params["url"]), id, &messages, screen).await else {
                return json!({"ok": false, "error": {"message": "there was no answer"}});
            };
            if self.is("counts-last-usage") {
                (read, written) = (0, 0);
            }
            (read, written) = (read + answer.usage.0, written + answer.usage.1);
            messages.push(told(&answer));
            let is_over = answer.calls.is_empty() || answer.calls.values().any(|(_, tool, _)| tool == END);
            let mut before = None;
            for (nth, (call, tool, arguments)) in answer.calls.values().enumerate() {
                let done = self.perform(tool, arguments);
                let is_left_out = (done.is_err() && self.is("drops-failed-results"))
                    || (nth > 0 && self.is("tells-first-result"))
                    || (tool == END && self.is("end-without-result"));
                if !is_left_out {
                    let failed = |why| match self.is("tells-done-of-all") {
                        true => "written".to_owned(),
                        false => format!("Error: {why}"),
                    };
                    let said = done.unwrap_or_else(failed);
                    let most = if self.is("cuts-results") { 1000 } else { usize::MAX };
                    let said: String = said.chars().take(most).collect();
                    let said = if self.is("empty-results") { String::new() } else { said };
                    // A result with the id of the call before it, and that one's with this id.
                    let whose = before.replace(call).filter(|_| nth % 2 == 1 && self.is("swaps-results"));
                    let mut id = call.clone();
                    if let (Some(whose), Some(last)) = (whose, messages.last_mut()) {
                        last["tool_call_id"] = json!(std::mem::replace(&mut id, whose.clone()));
                    }
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": said}));
                }
            }
            if is_over || self.is("asks-once") {
                let tokens = json!({"input": read, "output": written});
                let done = json!({"kind": "done", "task": id, "text": answer.says});
                if self.is("saves-after-telling") {
                    screen.show(done);
                    stopped(params).await;
                    self.keep(id, &messages);
                } else {
                    self.keep(id, &messages);
                    if self.is("done-twice") {
                        screen.show(done.clone());
                    }
                    screen.show(done);
                    stopped(params).await;
                }
                return json!({"ok": true, "usage": tokens});
            }
            self.keep(id, &messages);
        }
    }

    /// Asks the model, and shows its words while they come.
    async fn answer(&self, url: &str, id: &str, messages: &[Value], screen: &Screen) -> Option<Answer> {
        let tools = TOOLS.iter().map(|(name, takes)| {
            let properties: BTreeMap<&str, Value> =
                takes.iter().map(|field| (*field, json!({"type": "string"}))).collect();
            let parameters = json!({"type": "object", "properties": properties, "required": takes});
            json!({"type": "function", "function": {"name": name, "parameters": parameters}})
        });
        let tools: Vec<Value> = tools.filter(|_| !self.is("offers-nothing")).collect();
        let options = json!({"include_usage": true});
        let asked = json!({"messages": messages, "tools": tools, "stream": true, "stream_options": options});
        let url = format!("{url}/chat/completions");
        let mut response = self.client.post(url).body(asked.to_string()).send().await.ok()?;
        let mut answer = Answer::default();
        let mut unread = Vec::new();
        let says = |words: &str| screen.show(json!({"kind": "says", "task": id, "text": words}));
        while let Some(bytes) = response.chunk().await.ok()? {
            if self.is("chunks-are-frames") {
                unread.clear();
            }
            unread.extend_from_slice(&bytes);
            // A frame may come in parts, and so may a letter.
            while let Some(end) = unread.windows(2).position(|two| two == b"\n\n") {
                let frame: Vec<u8> = unread.drain(..end + 2).collect();
                let words = answer.take(&String::from_utf8_lossy(&frame));
                if !words.is_empty() && !self.is("shows-whole-answers") {
                    says(&words);
                }
            }
        }
        if self.is("shows-whole-answers") {
            says(&answer.says);
        }
        Some(answer)
    }

    /// Does what a call asks for, if it may be done; an error is told to the model.
    fn perform(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let (_, takes) =
            TOOLS.iter().find(|(name, _)| *name == tool).ok_or_else(|| format!("there is no tool {tool}"))?;
        let input: Value = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        if let Some(missing) = takes.iter().find(|field| !input[**field].is_string()) {
            return Err(format!("{tool} needs {missing}"));
        }
        if tool == END {
            return Ok("The task is over.".to_owned());
        }
        let op = if tool == "read_file" { "read" } else { "write" };
        let asked = json!({"path": input["path"], "op": op, "content": input["content"]});
        if self.is("does-any-call") && op == "write" {
            let roots = self.state().roots.clone();
            let target = super::lists::absolute(&roots, text(&input["path"])).unwrap_or_default();
            return fs::write(target, text(&input["content"]))
                .map_or_else(|error| Err(error.to_string()), |()| Ok("written".to_owned()));
        }
        if self.is("reads-anywhere") && op == "read" {
            let roots = self.state().roots.clone();
            let target = super::lists::absolute(&roots, text(&input["path"])).unwrap_or_default();
            return fs::read_to_string(target).map_err(|error| error.to_string());
        }
        let done = self.act(&asked).map_err(|error| error.message)?;
        match (done["done"] == true, done["content"].as_str()) {
            (true, content) => Ok(content.unwrap_or("written").to_owned()),
            (false, _) => Err("that is not allowed".to_owned()),
        }
    }

    fn kept_in(&self, id: &str) -> PathBuf {
        let id = if self.is("one-conversation") { "all" } else { id };
        self.state().state_folder.join("tasks").join(format!("{id}.json"))
    }

    fn conversation(&self, id: &str) -> Vec<Value> {
        let kept = fs::read_to_string(self.kept_in(id)).ok().filter(|_| !self.is("forgets-task"));
        let kept = kept.and_then(|kept| serde_json::from_str(&kept).ok());
        let begin = || format!("You work on a task. Servers of tools: {}", self.of_servers());
        kept.unwrap_or_else(|| vec![json!({"role": "system", "content": begin()})])
    }

    fn keep(&self, id: &str, messages: &[Value]) {
        let mut messages = messages.to_vec();
        if self.is("keeps-no-results") {
            let results = messages.iter_mut().filter(|message| message["role"] == "tool");
            results.for_each(|message| message["content"] = json!(""));
        }
        let file = self.kept_in(id);
        let made = file.parent().map(fs::create_dir_all);
        // What could not be kept is missing when the task goes on.
        let _kept = made.and_then(|_| fs::write(file, json!(messages).to_string()).ok());
    }
}

/// The harness wants it to stop for ever at the end of a task.
async fn stopped(params: &Value) {
    if params["holdAtDone"] == true {
        std::future::pending::<()>().await;
    }
}

/// An answer as a message of the conversation.
fn told(answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.says});
    if !answer.calls.is_empty() {
        let calls = answer.calls.values().map(|(id, tool, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    message
}

impl Answer {
    /// Takes a frame, and gives the words in it.
    fn take(&mut self, frame: &str) -> String {
        let data = frame.trim().strip_prefix("data: ").unwrap_or_default();
        let chunk: Value = serde_json::from_str(data).unwrap_or_default();
        let count = |name: &str| chunk["usage"][name].as_u64();
        if let (Some(read), Some(written)) = (count("prompt_tokens"), count("completion_tokens")) {
            self.usage = (read, written);
        }
        let delta = &chunk["choices"][0]["delta"];
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let known = self.calls.entry(call["index"].as_u64().unwrap_or_default()).or_default();
            known.0 += text(&call["id"]);
            known.1 += text(&call["function"]["name"]);
            known.2 += text(&call["function"]["arguments"]);
        }
        let words = text(&delta["content"]);
        self.says += words;
        words.to_owned()
    }
}
