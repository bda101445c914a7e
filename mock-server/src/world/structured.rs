//! An answer in a form that the prompt wants: a tool takes it, and the turn is over as soon as it is called. What the
//! servers keep of the form can't be read again: a message that has one is told as a bad request, but on a page that has
//! an older one.

use super::World;
use super::run::TurnEnd;
use super::session::{Message, merge};
use serde_json::{Value, json};

/// The tool that takes the answer.
pub(crate) const STRUCTURED: &str = "StructuredOutput";
/// How often the servers say that they would ask again.
const RETRIES: u64 = 2;

/// The form as it is kept.
pub(crate) fn kept_format(format: &Value) -> Value {
    if format["type"] != "json_schema" {
        return json!({"type": format["type"]});
    }
    let retries = format.get("retryCount").cloned().unwrap_or_else(|| json!(RETRIES));
    json!({"type": "json_schema", "schema": format["schema"], "retryCount": retries})
}

/// What is said of a message that can't be read; `place` is where it stands in the answer.
pub(crate) fn unreadable(message: &Message, place: &str) -> Option<Value> {
    let format = message.info.get("format")?;
    let form = if format["type"] == "json_schema" { "OutputFormatJsonSchema" } else { "OutputFormatText" };
    let message = format!("Expected {form}, got {format}\n  at {place}[\"info\"][\"format\"]");
    Some(json!({"name": "BadRequest", "data": {"message": message, "kind": "Body"}}))
}

impl World {
    /// Does the prompt that is answered want a form?
    pub(crate) fn wants_form(&self, session: &str) -> bool {
        self.form_of(session).is_some()
    }

    /// The form that the prompt that is answered wants.
    pub(crate) fn form_of(&self, session: &str) -> Option<&Value> {
        let owner = self.sessions.get(session)?;
        let prompt = owner.message(&owner.run.as_ref()?.prompt)?;
        prompt.info.get("format").filter(|format| format["type"] == "json_schema")
    }

    /// The answer has come in its form.
    pub(crate) fn take_structured(&mut self, session: &str, call: usize) {
        let result = super::tools::Completed {
            output: "Structured output captured successfully.".to_owned(),
            title: "Structured Output".to_owned(),
            metadata: json!({"valid": true}),
            ..super::tools::Completed::default()
        };
        self.complete_call(session, call, result);
    }

    /// What the model has said in the form, if it has.
    pub(crate) fn structured(&mut self, session: &str) -> Option<Value> {
        if !self.wants_form(session) || !self.may_use(session, STRUCTURED) {
            return None;
        }
        let run = self.run_mut(session)?;
        run.calls.iter().rfind(|call| call.tool == STRUCTURED).map(|call| call.input.clone())
    }

    /// A step without the form ends a turn that wants it.
    pub(crate) fn lacks_form() -> Value {
        let message = "Model did not produce structured output";
        json!({"name": "StructuredOutputError", "data": {"message": message, "retries": 0}})
    }

    /// The turn is over with the answer in its form, or in vain.
    pub(crate) fn end_in_form(&mut self, session: &str, message: &str, told: Value) {
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(message)) {
            merge(&mut message.info, told);
        }
        self.emit_message(session, message);
        self.end_turn(session, TurnEnd::Completed);
    }
}

/// What is answered to a read of these messages where one of them can't be read.
pub(crate) fn refusal<'a>(messages: impl Iterator<Item = &'a Message>) -> Option<Value> {
    messages.enumerate().find_map(|(at, message)| unreadable(message, &format!("[{at}]")))
}
