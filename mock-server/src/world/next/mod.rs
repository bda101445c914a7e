//! The routes of the next generation (`/api/…`) that are about sessions. They share their sessions with the older
//! routes, and keep messages, questions for permission and a history of their own beside them.

mod consent;
mod lists;
mod notes;
mod prompt;
mod reading;
mod revert;
mod sessions;
mod stream;

pub(crate) use consent::{Consents, Saved};
pub(crate) use notes::Notes;

use super::{ApiRequest, ReplyBody, World};
use serde_json::json;

impl World {
    /// A session is looked for before anything else of a request is read. `None` when it is there, or none is meant.
    pub(super) fn misses_session_next(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let id = session_of(request).filter(|_| operation.starts_with("v2.session."))?;
        if !id.starts_with("ses") {
            let body =
                json!({"_tag": "InvalidRequestError", "message": "Invalid session ID", "field": "sessionID"});
            self.reply(request.ticket, 400, ReplyBody::Json(body));
            return Some(());
        }
        if self.knows_session(id) {
            return None;
        }
        let message = format!("Session not found: {id}");
        let body = json!({"_tag": "SessionNotFoundError", "sessionID": id, "message": message});
        self.reply(request.ticket, 404, ReplyBody::Json(body));
        Some(())
    }

    /// Answers a request of the next generation about sessions. `None` when it is none of these.
    pub(super) fn answer_next(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let ticket = request.ticket;
        let session = session_of(request).unwrap_or_default();
        let last = segments.last().copied().unwrap_or_default();
        match operation {
            "v2.event.subscribe" => self.subscribe_next(ticket),
            "v2.session.events" => self.subscribe_to_session(request, session),
            "v2.agent.list" | "v2.command.list" | "v2.skill.list" => self.list_next(request),
            "v2.session.list" => self.list_sessions_next(request),
            "v2.session.create" => self.new_session_next(request),
            "v2.session.get" => {
                let info = self.session_info_next(session);
                self.reply_json(ticket, json!({"data": info}));
            }
            "v2.session.switchAgent" => self.switch_agent(request, session),
            "v2.session.switchModel" => self.switch_model(request, session),
            "v2.session.prompt" => self.prompt_next(request, session),
            "v2.session.compact" => self.not_available(ticket, "compact"),
            "v2.session.wait" => self.not_available(ticket, "wait"),
            // Nothing that these routes begin lasts.
            "v2.session.interrupt" => self.no_content(ticket),
            "v2.session.revert.stage" => self.stage_revert(request, session),
            "v2.session.revert.clear" => self.unstage_revert(ticket, session),
            "v2.session.revert.commit" => self.commit_revert(ticket, session),
            "v2.session.context" => self.context_next(ticket, session),
            "v2.session.history" => self.history_next(request, session),
            "v2.session.message" => self.one_message_next(ticket, session, last),
            "v2.session.messages" => self.list_messages_next(request, session),
            _ => return self.answer_consent_next(request, operation, session, segments),
        }
        Some(())
    }

    fn not_available(&mut self, ticket: u64, what: &str) {
        let message = format!("Session {what} is not available yet");
        let service = format!("session.{what}");
        let body = json!({"_tag": "ServiceUnavailableError", "message": message, "service": service});
        self.reply(ticket, 503, ReplyBody::Json(body));
    }

    pub(super) fn no_content(&mut self, ticket: u64) {
        self.reply(ticket, 204, ReplyBody::Empty);
    }
}

/// The session that a path of the next generation names.
fn session_of(request: &ApiRequest) -> Option<&str> {
    let (session, _) =
        request.path.strip_prefix("/api/session/").map(|rest| rest.split_once('/').unwrap_or((rest, "")))?;
    (session != "active").then_some(session)
}

/// A value of the query.
fn query<'r>(request: &'r ApiRequest, name: &str) -> Option<&'r str> {
    request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
