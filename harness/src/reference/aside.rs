//! Something is asked beside a task: in a session of its own, which is gone when the answer is there.

use super::call::Call;
use super::core::Core;
use crate::protocol::{Aside as Said, Id, RpcError, TaskSend};
use serde_json::{Value, json};

/// What is asked, and how far it is.
#[derive(Debug)]
pub(super) struct Aside {
    id: Id,
    directory: String,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Open { text: String },
    Ask { session: String },
    Delete { answer: Result<String, String> },
}

impl Core {
    pub(super) fn task_aside(&mut self, id: Id, aside: TaskSend) {
        let Some((session, own)) = self.session_of_task(&id, &aside.task_id) else { return };
        let main = self.server.as_ref().map_or(own.as_str(), |server| server.directory.as_str());
        let directory = self.strategies.history.aside_directory(&own, main).to_owned();
        if !self.strategies.history.has_own_aside() {
            return self.ask_aside(id, directory, session, &aside.text);
        }
        let request = self.http(&directory, "POST", "/session", Some(json!({})));
        let step = Step::Open { text: aside.text };
        self.calls.insert(request, Call::Aside(Aside { id, directory, step }));
    }

    fn ask_aside(&mut self, id: Id, directory: String, session: String, text: &str) {
        let mut body = json!({ "parts": [{ "type": "text", "text": text }] });
        if self.strategies.history.disarms_aside() {
            body["tools"] = json!({ "*": false });
        }
        let request = self.http(&directory, "POST", &format!("/session/{session}/message"), Some(body));
        self.calls.insert(request, Call::Aside(Aside { id, directory, step: Step::Ask { session } }));
    }

    /// The server has answered a step.
    pub(super) fn aside_goes_on(&mut self, aside: Aside, body: Result<String, String>) {
        let Aside { id, directory, step } = aside;
        let read = |body: &str| serde_json::from_str::<Value>(body).unwrap_or_default();
        match (step, body) {
            (Step::Open { text }, Ok(body)) => match read(&body)["id"].as_str() {
                Some(session) => self.ask_aside(id, directory, session.to_owned(), &text),
                None => {
                    self.fail(id, RpcError::failed("no session: the server's answer has no text field `id`"))
                }
            },
            (Step::Open { .. }, Err(why)) => self.fail(id, RpcError::failed(format!("no session: {why}"))),
            (Step::Ask { session }, body) => {
                let answer = body.and_then(|body| words(&read(&body)));
                let history = &self.strategies.history;
                if !history.deletes_aside(answer.is_ok()) || !history.has_own_aside() {
                    return self.aside_told(id, answer);
                }
                let request = self.http(&directory, "DELETE", &format!("/session/{session}"), None);
                let step = Step::Delete { answer };
                self.calls.insert(request, Call::Aside(Aside { id, directory, step }));
            }
            (Step::Delete { answer }, _) => self.aside_told(id, answer),
        }
    }

    fn aside_told(&mut self, id: Id, answer: Result<String, String>) {
        match answer {
            Ok(text) => self.answer(id, Said { text }),
            Err(why) => self.fail(id, RpcError::failed(format!("nobody has answered: {why}"))),
        }
    }
}

/// What the agent says in a message. The server answers with one, too, when the agent has failed.
fn words(message: &Value) -> Result<String, String> {
    if let Some(error) = message["info"].get("error").filter(|error| !error.is_null()) {
        let why = error["data"]["message"].as_str().or(error["name"].as_str());
        return Err(format!("the agent has failed: {}", why.unwrap_or("the server does not say why")));
    }
    let parts = message["parts"].as_array().into_iter().flatten();
    let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
    Ok(texts.filter_map(|part| part["text"].as_str()).collect())
}
