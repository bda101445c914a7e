//! `suggest`: an agent shows the person what they could do next. The session is told to be idle meanwhile, though its turn waits;
//! who accepts sends the agent on with the words of what they chose, who dismisses ends the turn.

use crate::world::routes::body_of;
use crate::world::run::CallState;
use crate::world::template::with_arguments;
use crate::world::tools::{Completed, Plan, told_fields};
use crate::world::{ApiRequest, ReplyBody, World};
use serde_json::{Value, json};

/// The tool.
pub(in crate::world) const SUGGEST: &str = "suggest";

/// A suggestion that waits for the person.
#[derive(Debug)]
pub(in crate::world) struct OpenSuggestion {
    session: String,
    call: usize,
    /// As the event and the list have it.
    wire: Value,
}

/// What is told of an action, in order.
const FIELDS: &[&str] = &["label", "description", "prompt"];
const DISMISSED: &str = "User dismissed the suggestion.";

impl OpenSuggestion {
    fn id(&self) -> &str {
        self.wire["id"].as_str().unwrap_or_default()
    }
}

impl World {
    /// The person is shown it before the call is told to run.
    pub(in crate::world) fn show_suggestion(&mut self, session: &str, call: usize) {
        let now = self.now_ms;
        let has_follow_up = self.has_follow_up(session);
        let Some(run) = self.run_mut(session) else { return };
        let Some(showing) = run.calls.get(call) else { return };
        let (Some(text), Some(actions)) =
            (showing.input.get("suggest").cloned(), showing.input.get("actions").and_then(Value::as_array))
        else {
            return;
        };
        let actions: Vec<Value> = actions.iter().map(|action| told_fields(action, FIELDS)).collect();
        let tool = json!({"messageID": run.message, "callID": showing.id});
        self.set_plan(session, call, Plan::Suggest);
        if has_follow_up {
            // Its end is known before it is told to run.
            if self.tells_output(session) {
                self.put_state(session, call, |input, started| {
                    let metadata = json!({"output": DISMISSED});
                    json!({"status": "running", "input": input, "metadata": metadata, "time": {"start": started}})
                });
            }
        } else {
            let id = self.ids.ascending("sug", now);
            let wire = json!({
                "id": id, "sessionID": session, "text": text, "actions": actions, "blocking": false, "tool": tool,
            });
            self.emit_session(session, "suggestion.shown", wire.clone());
            let open = OpenSuggestion { session: session.to_owned(), call, wire };
            self.alongside.suggestions.push(open);
        }
        self.emit_idle(session);
    }

    /// A suggestion that was shown waits; where the person has something else to say already, that is their answer.
    pub(in crate::world) fn start_suggestion(&mut self, session: &str, call: usize) {
        let Some(starting) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return };
        if starting.state == CallState::Done {
            // The person was quick.
            return;
        }
        if !matches!(starting.plan, Some(Plan::Suggest)) {
            self.fail_call(session, call, "standin: the suggest tool needs the list 'actions'");
        } else if !self.is_shown(session, call) {
            self.stop_after_no(session);
            self.complete_call(session, call, dismissed());
        }
    }

    fn is_shown(&self, session: &str, call: usize) -> bool {
        self.alongside.suggestions.iter().any(|open| open.session == session && open.call == call)
    }

    /// Answers a request about suggestions. `None` when it is about something else, or there is none of that name.
    pub(in crate::world) fn about_suggestions(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let at = |world: &Self| {
            let id = segments.get(1).copied().unwrap_or_default();
            world.alongside.suggestions.iter().position(|open| open.id() == id)
        };
        match (operation, at(self)) {
            ("suggestion.list", _) => {
                let list = self.alongside.suggestions.iter().map(|open| open.wire.clone()).collect();
                self.reply_json(request.ticket, list);
            }
            ("suggestion.accept", Some(at)) => {
                let open = self.alongside.suggestions.remove(at);
                let index = body_of(request)["index"].as_u64().and_then(|index| usize::try_from(index).ok());
                self.accept_suggestion(request, &open, index.unwrap_or_default());
            }
            ("suggestion.dismiss", Some(at)) => {
                let open = self.alongside.suggestions.remove(at);
                self.reply_json(request.ticket, json!(true));
                self.dismiss_suggestion(&open);
            }
            ("suggestion.accept" | "suggestion.dismiss", None) => self.knows_no_suggestion(request),
            _ => return None,
        }
        Some(())
    }

    fn knows_no_suggestion(&mut self, request: &ApiRequest) {
        self.reply(request.ticket, 404, ReplyBody::Json(json!({"_tag": "NotFound"})));
    }

    fn accept_suggestion(&mut self, request: &ApiRequest, open: &OpenSuggestion, index: usize) {
        let OpenSuggestion { session, call, wire } = open;
        let waits = self.waits_for(open);
        let Some(action) = wire["actions"].get(index).cloned() else {
            self.knows_no_suggestion(request);
            if waits {
                self.fail_call(session, *call, &format!("Invalid action index: {index}"));
            }
            return;
        };
        self.reply_json(request.ticket, json!(true));
        let told = json!({"sessionID": session, "requestID": wire["id"], "index": index, "action": action});
        self.emit_session(session, "suggestion.accepted", told);
        if !waits {
            return;
        }
        self.emit_status(session, "busy");
        let words = self.words_of_action(session, action["prompt"].as_str().unwrap_or_default());
        let label = action["label"].as_str().unwrap_or_default();
        let result = Completed {
            output: format!(
                "User accepted the suggestion \"{label}\". Carry out the following request now:\n\n{words}"
            ),
            title: format!("User accepted: {label}"),
            metadata: json!({"accepted": action, "dismissed": false, "truncated": false}),
            ..Completed::default()
        };
        self.complete_told_call(session, *call, result);
    }

    /// An action may name a command: its words are meant then.
    fn words_of_action(&self, session: &str, prompt: &str) -> String {
        let template = prompt.strip_prefix('/').and_then(|line| {
            let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let template = self.template_of(session, name)?;
            Some((template, arguments.trim().to_owned()))
        });
        match template {
            None => prompt.to_owned(),
            Some((template, arguments)) if template.contains("$ARGUMENTS") => {
                with_arguments(&template, &arguments)
            }
            Some((template, arguments)) if arguments.is_empty() => template,
            Some((template, arguments)) => format!("{template}\n\n{arguments}"),
        }
    }

    fn template_of(&self, session: &str, name: &str) -> Option<String> {
        let directory = &self.sessions.get(session)?.directory;
        let commands = self.commands(directory);
        let (_, told) = commands.iter().find(|(known, _)| known == name)?;
        told["template"].as_str().map(str::to_owned)
    }

    /// A prompt dismisses what its session is shown.
    pub(in crate::world) fn dismiss_suggestions(&mut self, session: &str) {
        while let Some(at) = self.alongside.suggestions.iter().position(|open| open.session == session) {
            let open = self.alongside.suggestions.remove(at);
            self.dismiss_suggestion(&open);
        }
    }

    /// A turn is cut short. The server then looks for what its call has shown, by the call's id alone: that may be another
    /// session's. Who ends a turn is not told of it; who ends its instance is.
    pub(in crate::world) fn stop_suggestion(&mut self, session: &str, call: usize) {
        let stopped = self.run_mut(session).and_then(|run| run.calls.get(call));
        let waits = stopped
            .filter(|call| call.state == CallState::Running && matches!(call.plan, Some(Plan::Suggest)));
        let Some(id) = waits.map(|call| call.id.clone()) else { return };
        let shown = |open: &OpenSuggestion| open.wire["tool"]["callID"] == id.as_str();
        let Some(at) = self.alongside.suggestions.iter().position(shown) else { return };
        let open = self.alongside.suggestions.remove(at);
        if self.disposes {
            self.tell_dismissed(&open);
        }
    }

    fn dismiss_suggestion(&mut self, open: &OpenSuggestion) {
        self.tell_dismissed(open);
        if self.waits_for(open) {
            self.stop_after_no(&open.session);
            self.complete_told_call(&open.session, open.call, dismissed());
        }
    }

    fn tell_dismissed(&mut self, open: &OpenSuggestion) {
        let told = json!({"sessionID": open.session, "requestID": open.wire["id"]});
        self.emit_session(&open.session, "suggestion.dismissed", told);
    }

    /// Does the call still wait that has shown it? Its turn may be over, and another one at work.
    fn waits_for(&mut self, open: &OpenSuggestion) -> bool {
        let shown_in = &open.wire["tool"]["messageID"];
        self.run_mut(&open.session).is_some_and(|run| *shown_in == run.message)
    }
}

fn dismissed() -> Completed {
    Completed {
        output: DISMISSED.to_owned(),
        title: "Suggestion dismissed".to_owned(),
        metadata: json!({"dismissed": true, "truncated": false}),
        ..Completed::default()
    }
}
