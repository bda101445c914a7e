//! `question`: the person is asked something, and their answers are the result. Nobody has to allow it.

use super::{Completed, Plan};
use crate::world::run::CallState;
use crate::world::{ReplyBody, Ticket, World};
use serde_json::{Map, Value, json};

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) id: String,
    pub(crate) session: String,
    /// Where that is; it may be deleted before the answer comes.
    directory: String,
    call: usize,
    /// No call asks, but the server, when a plan is saved.
    pub(crate) is_about_plan: bool,
    /// As the event and the list have it.
    pub(crate) wire: Value,
}

/// What the person is asked, in the order of the call.
#[derive(Debug, Clone)]
pub(crate) struct QuestionPlan {
    questions: Vec<String>,
}

/// The fields of one question, in the order in which the servers tell them.
const FIELDS: &[&str] = &["question", "header", "options", "multiple"];

const DISMISSED: &str = "User dismissed the question.";

impl World {
    /// The person is asked before the call is told to run.
    pub(crate) fn ask_question(&mut self, session: &str, call: usize) {
        let now = self.now_ms;
        let Some(run) = self.run_mut(session) else { return };
        let Some(asking) = run.calls.get(call) else { return };
        let Some(asked) = asking.input.get("questions").and_then(Value::as_array) else { return };
        let questions =
            asked.iter().map(|one| one["question"].as_str().unwrap_or_default().to_owned()).collect();
        let told: Vec<Value> = asked.iter().map(|one| told_fields(one, FIELDS)).collect();
        let tool = json!({"messageID": run.message, "callID": asking.id});
        let id = self.ids.ascending("que", now);
        let wire = json!({"id": id, "sessionID": session, "questions": told, "tool": tool});
        self.set_plan(session, call, Plan::Ask(QuestionPlan { questions }));
        if self.profile.prompts_dismiss && self.has_follow_up(session) {
            return;
        }
        self.emit_session(session, "question.asked", wire.clone());
        self.questions.push(OpenQuestion {
            id,
            session: session.to_owned(),
            directory: self.directory_of_session(session),
            call,
            is_about_plan: false,
            wire,
        });
    }

    /// Has the person something else to say already?
    pub(in crate::world) fn has_follow_up(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|owner| {
            !owner.queue.is_empty() && owner.run.as_ref().is_some_and(|run| run.has_follow_up)
        })
    }

    /// A question that was asked waits; one that could not be asked fails its call.
    pub(super) fn start_question(&mut self, session: &str, call: usize) {
        let Some(starting) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return };
        if starting.state == CallState::Done {
            // The person was quick.
            return;
        }
        if !matches!(starting.plan, Some(Plan::Ask(_))) {
            self.fail_call(session, call, "standin: the question tool needs the list 'questions'");
        } else if !self.questions.iter().any(|open| open.session == session && open.call == call) {
            // The person has something else to say already.
            self.end_dismissed(session, call);
        }
    }

    /// The person answers: for each question the labels that they chose, or words of their own.
    pub(crate) fn answer_question(&mut self, ticket: Ticket, id: &str, answers: &[Vec<String>]) {
        let Some(open) = self.take_question(ticket, id) else { return };
        let properties = json!({"sessionID": open.session, "requestID": open.id, "answers": answers});
        self.emit_about(&open.session, &open.directory, "question.replied", properties);
        if open.is_about_plan {
            return self.plan_answered(&open.session, Some(answers));
        }
        if !self.is_open_call(&open) {
            return;
        }
        let OpenQuestion { session, call, .. } = open;
        let Some(Plan::Ask(QuestionPlan { questions })) =
            self.run_mut(&session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone())
        else {
            return;
        };
        let count = questions.len();
        let result = Completed {
            output: told_to_agent(&questions, answers),
            title: format!("Asked {count} question{}", if count > 1 { "s" } else { "" }),
            metadata: json!({"answers": answers, "truncated": false}),
            ..Completed::default()
        };
        self.end_question(&session, call, result);
    }

    /// The person dismisses the question: the turn ends with this step.
    pub(crate) fn dismiss_question(&mut self, ticket: Ticket, id: &str) {
        if let Some(open) = self.take_question(ticket, id) {
            self.dismiss(&open);
        }
    }

    /// A prompt dismisses what is open in its session.
    pub(crate) fn dismiss_questions(&mut self, session: &str) {
        while let Some(at) = self.questions.iter().position(|open| open.session == session) {
            let open = self.questions.remove(at);
            self.dismiss(&open);
        }
    }

    fn dismiss(&mut self, open: &OpenQuestion) {
        self.tell_rejected(open);
        if open.is_about_plan {
            self.plan_answered(&open.session, None);
        } else if self.is_open_call(open) {
            self.end_dismissed(&open.session, open.call);
        }
    }

    fn tell_rejected(&mut self, OpenQuestion { id, session, directory, .. }: &OpenQuestion) {
        let properties = json!({"sessionID": session, "requestID": id});
        self.emit_about(session, directory, "question.rejected", properties);
    }

    /// Nobody will answer what a session asks: its instance ends. The calls end with the turn.
    pub(crate) fn withdraw_questions(&mut self, session: &str) {
        while let Some(at) = self.questions.iter().position(|open| open.session == session) {
            let open = self.questions.remove(at);
            self.tell_rejected(&open);
        }
    }

    /// A turn is cut short: a call whose question was withdrawn ends as if the person had dismissed it.
    pub(crate) fn stop_question(&mut self, session: &str, call: usize) {
        let waits = self
            .run_mut(session)
            .and_then(|run| run.calls.get(call))
            .is_some_and(|call| call.state == CallState::Running && matches!(call.plan, Some(Plan::Ask(_))));
        if waits && !self.questions.iter().any(|open| open.session == session && open.call == call) {
            self.complete_call(session, call, dismissed());
        }
    }

    /// Does the call still wait that asked it? Its turn may be over.
    fn is_open_call(&mut self, open: &OpenQuestion) -> bool {
        let asked_in = &open.wire["tool"]["messageID"];
        self.run_mut(&open.session).is_some_and(|run| *asked_in == run.message)
    }

    fn end_dismissed(&mut self, session: &str, call: usize) {
        self.stop_after_no(session);
        if !self.profile.dismissal_completes {
            self.fail_call(session, call, "The user dismissed this question");
            return;
        }
        self.end_question(session, call, dismissed());
    }

    fn end_question(&mut self, session: &str, call: usize, result: Completed) {
        self.complete_told_call(session, call, result);
    }

    /// Closes an open question; answers 404 where there is none of this id.
    fn take_question(&mut self, ticket: Ticket, id: &str) -> Option<OpenQuestion> {
        let Some(at) = self.questions.iter().position(|open| open.id == id) else {
            let body = json!({
                "_tag": "QuestionNotFoundError", "requestID": id,
                "message": format!("Question request not found: {id}"),
            });
            self.reply(ticket, 404, ReplyBody::Json(body));
            return None;
        };
        self.reply_json(ticket, json!(true));
        Some(self.questions.remove(at))
    }
}

impl OpenQuestion {
    /// The server asks what comes after a plan.
    pub(crate) fn about_plan(id: String, session: &str, directory: String, wire: Value) -> Self {
        Self { id, session: session.to_owned(), directory, call: usize::MAX, is_about_plan: true, wire }
    }

    /// As the list has it.
    pub(crate) fn listed(&self, tells_blocking: bool) -> Value {
        let mut listed = self.wire.clone();
        if let Some(map) = listed.as_object_mut().filter(|_| tells_blocking) {
            let tool = map.remove("tool").unwrap_or_default();
            map.insert("blocking".to_owned(), Value::Null);
            map.insert("tool".to_owned(), tool);
        }
        listed
    }
}

fn dismissed() -> Completed {
    Completed {
        output: DISMISSED.to_owned(),
        title: "Question dismissed".to_owned(),
        metadata: json!({"answers": [], "dismissed": true, "truncated": false}),
        ..Completed::default()
    }
}

/// What is asked or shown, as events tell it: known fields only.
pub(in crate::world) fn told_fields(told: &Value, fields: &[&str]) -> Value {
    let known = fields.iter().filter_map(|&field| Some((field.to_owned(), told.get(field)?.clone())));
    Value::Object(known.collect::<Map<_, _>>())
}

/// What the agent is told. Quotes in the person's words stay as they are.
fn told_to_agent(questions: &[String], answers: &[Vec<String>]) -> String {
    let told: Vec<String> = questions
        .iter()
        .enumerate()
        .map(|(at, question)| {
            let chosen = answers.get(at).filter(|chosen| !chosen.is_empty());
            let chosen = chosen.map_or_else(|| "Unanswered".to_owned(), |chosen| chosen.join(", "));
            format!("\"{question}\"=\"{chosen}\"")
        })
        .collect();
    let told = told.join(", ");
    format!("User has answered your questions: {told}. You can now continue with the user's answers in mind.")
}

#[cfg(test)]
mod tests {
    use super::told_to_agent;

    #[test]
    fn what_is_left_open_is_told_as_unanswered() {
        let questions = ["Which?", "When?", "Who?"].map(str::to_owned);
        let answers = [vec!["Red".to_owned(), "a \"dark\" one".to_owned()], Vec::new()];
        assert_eq!(
            told_to_agent(&questions, &answers),
            "User has answered your questions: \"Which?\"=\"Red, a \"dark\" one\", \"When?\"=\"Unanswered\", \
             \"Who?\"=\"Unanswered\". You can now continue with the user's answers in mind."
        );
    }
}
