//! Kilo does not ask a model again that it can't reach: it takes itself for offline, and waits until somebody says that
//! the network is back, or that it is not worth the wait.

use super::refusal::{CLOSED, CUT_OFF, Told, UNREACHABLE};
use super::{ApiRequest, ModelFailure, Ticket, World};
use crate::profile::Profile;
use fixtures::ServerKind;
use serde_json::{Value, json};

/// A turn that waits for the network. It stays in the list when its turn is ended otherwise.
#[derive(Debug)]
pub(super) struct NetworkWait {
    id: String,
    session: String,
    /// As the event and the list have it.
    wire: Value,
    /// What the turn fails with when nobody wants to wait.
    error: Value,
}

/// Words of an error that mean that no connection holds.
const OUT_OF_REACH: [&str; 10] = [
    "load failed",
    "failed to fetch",
    "fetch failed",
    "network connection was lost",
    "network is unreachable",
    "socket connection",
    "socket hang up",
    "connection timed out",
    "connection terminated",
    "connect timeout",
];

/// A connection that is lost, as the server that goes offline knows it: by its cause, or by any words of the error.
#[derive(Debug)]
pub(super) struct Lost {
    /// What it is called.
    message: String,
    /// As the error tells it itself.
    own: String,
    code: &'static str,
}

impl Lost {
    pub(super) fn of(profile: &Profile, failure: &ModelFailure) -> Option<Self> {
        if profile.server != ServerKind::Kilo {
            return None;
        }
        let reset = |own: String, code| Self { message: CUT_OFF.to_owned(), own, code };
        let no_answer = |why: &str| format!("Cannot connect to API: {why}");
        let own = match failure {
            ModelFailure::CutOff => return Some(reset(CLOSED.to_owned(), "ECONNRESET")),
            ModelFailure::NoAnswer(_) => return Some(reset(no_answer(CLOSED), "")),
            ModelFailure::Unreachable(_) => no_answer(UNREACHABLE),
            ModelFailure::Refused(refusal) => {
                Told::of_refusal(profile, refusal).error["data"]["message"].as_str()?.to_owned()
            }
            ModelFailure::Told(error) => error["message"].as_str()?.to_owned(),
            ModelFailure::Unfinished(_) | ModelFailure::Nameless(_) | ModelFailure::Garbled(_) => {
                return None;
            }
        };
        Self::in_words(own)
    }

    fn in_words(own: String) -> Option<Self> {
        let small = own.to_lowercase();
        let says = |words: &str| small.contains(words);
        let message = if says("unable to connect") && says("access the url") {
            own.clone()
        } else if !OUT_OF_REACH.into_iter().any(says) {
            return None;
        } else if says("failed to fetch") || says("fetch failed") {
            "Network request failed".to_owned()
        } else {
            "Network connection failed".to_owned()
        };
        Some(Self { message, own, code: "" })
    }

    /// What the turn fails with, where it does.
    fn error(&self) -> Value {
        let metadata = json!({"code": self.code, "syscall": "", "message": self.own});
        json!({"name": "APIError", "data": {
            "message": self.message, "isRetryable": true, "metadata": metadata,
        }})
    }
}

impl World {
    /// What has said something already fails; anything else waits.
    pub(super) fn connection_lost(&mut self, session: &str, lost: &Lost) {
        if self.may_ask_again(session) {
            self.wait_for_network(session, lost);
        } else {
            self.fail_turn(session, lost.error());
        }
    }

    /// The session waits, under a request of its own.
    fn wait_for_network(&mut self, session: &str, lost: &Lost) {
        let (message, error) = (&lost.message, lost.error());
        let now = self.now_ms;
        self.forget_turn(session);
        let id = self.ids.ascending("que", now);
        let wire = json!({
            "id": id, "sessionID": session, "message": message, "restored": false, "time": {"created": now},
        });
        self.emit_session(session, "session.network.asked", wire.clone());
        let status = json!({"type": "offline", "requestID": id, "message": message});
        if let Some(run) = self.run_mut(session) {
            run.retry = Some(status.clone());
        }
        self.emit_session(session, "session.status", json!({"sessionID": session, "status": status}));
        self.network_waits.push(NetworkWait { id, session: session.to_owned(), wire, error });
    }

    /// `GET /network`: what waits for the network in an instance.
    pub(super) fn list_network(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let here = self.network_waits.iter().filter(|wait| self.is_in(&wait.session, &directory));
        let list = here.map(|wait| wait.wire.clone()).collect();
        self.reply_json(request.ticket, Value::Array(list));
    }

    /// `POST /network/{id}/reply` and `…/reject`. Who is late is told the same.
    pub(super) fn answer_network(&mut self, ticket: Ticket, id: &str, said: &str) {
        let is_back = said == "reply";
        self.reply_json(ticket, json!(true));
        let Some(at) = self.network_waits.iter().position(|wait| wait.id == id) else { return };
        let NetworkWait { id, session, error, .. } = self.network_waits.remove(at);
        let answered = if is_back { "session.network.replied" } else { "session.network.rejected" };
        self.emit_session(&session, answered, json!({"sessionID": session, "requestID": id}));
        let waits = |status: &Value| status["requestID"] == *id;
        let Some(run) = self.run_mut(&session).filter(|run| run.retry.as_ref().is_some_and(waits)) else {
            return;
        };
        if !is_back {
            run.retry = None;
            return self.fail_turn(&session, error);
        }
        let status = json!({"type": "retry", "attempt": 0, "message": "Reconnected", "next": self.now_ms});
        self.emit_session(&session, "session.status", json!({"sessionID": session, "status": status}));
        self.retry(&session);
    }

    /// Nobody can answer any more what a session waits for: its instance has ended.
    pub(super) fn forget_network(&mut self, session: &str) {
        self.network_waits.retain(|wait| wait.session != session);
    }
}
