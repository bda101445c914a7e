//! What happens to a request before anybody looks at what it wants: it may be refused, and an instance may boot.

use super::folders::CREATES;
use super::instance::is_of_instance;
use super::routes::body_of;
use super::{ApiRequest, ReplyBody, World};
use crate::doc::{Asked, Complaint};
use crate::profile::BootTiming;
use serde_json::json;

/// Where an instance boots when it is first needed, a prompt is not all that needs it.
const BOOTING: &[&str] = &[
    "file.list",
    "find.files",
    "kilocode.providerUsage.get",
    "pty.connect",
    "pty.create",
    "pty.get",
    "pty.list",
    "pty.remove",
    "pty.update",
];
/// The routes of the next generation have an instance of their own, which tells of the same and of no project. Lists for
/// which files are read begin it themselves.
const BOOTING_NEXT: &[&str] = &[
    "v2.credential.remove",
    "v2.credential.update",
    "v2.fs.find",
    "v2.fs.list",
    "v2.fs.read",
    "v2.integration.attempt.cancel",
    "v2.integration.attempt.complete",
    "v2.integration.attempt.status",
    "v2.integration.connect.key",
    "v2.integration.connect.oauth",
    "v2.integration.get",
    "v2.integration.list",
    "v2.location.get",
    "v2.model.list",
    "v2.permission.request.list",
    "v2.provider.get",
    "v2.provider.list",
    "v2.pty.list",
    "v2.question.request.list",
    "v2.reference.list",
];

impl World {
    /// Is a request refused?
    pub(super) fn turns_away(
        &mut self,
        request: &ApiRequest,
        operation: Option<&str>,
        segments: &[&str],
    ) -> bool {
        let ticket = request.ticket;
        if operation.is_some_and(is_of_instance) && self.turns_away_from_workspace(request) {
            return true;
        }
        let is_next = operation.is_some_and(|id| id.starts_with("v2."));
        let complaint = self.complaint(request);
        if complaint != Some(Complaint::Unexpected)
            && operation.is_some_and(is_of_instance)
            && self.fails_to_begin(request)
        {
            return true;
        }
        if complaint != Some(Complaint::Lost)
            && operation.is_some_and(|id| self.misses_session_next(request, id).is_some())
        {
            return true;
        }
        if complaint.is_some() && operation.is_some_and(|id| id.ends_with("pty.connect")) {
            // What can't become a socket is refused without words; only the id is looked at.
            let id = if is_next { segments.get(2) } else { segments.get(1) };
            let is_one = id.is_some_and(|id| id.starts_with("pty"));
            if is_one || !is_next {
                self.reply(ticket, if is_one { 404 } else { 400 }, ReplyBody::Empty);
                return true;
            }
        }
        if operation == Some("global.upgrade") && !self.profile.upgrades_to_versions {
            // It reads its body by itself, and needs none.
            let is_wrong =
                complaint.is_some() || body_of(request)["target"].is_null() && names_target(request);
            if is_wrong && !request.body.is_empty() && is_json(request) {
                let body = json!({"success": false, "error": "Invalid request body"});
                self.reply(ticket, 400, ReplyBody::Json(body));
                return true;
            }
            return false;
        }
        if let Some(complaint) = complaint {
            self.refuse(ticket, complaint, is_next);
            return true;
        }
        if is_next && names_no_workspace(request) {
            self.unknown_error(ticket);
            return true;
        }
        false
    }

    /// A workspace that a request names is not the folder of that name: the servers can keep others, of which there
    /// are none.
    fn turns_away_from_workspace(&mut self, request: &ApiRequest) -> bool {
        let named = request.query.iter().find(|(name, _)| name == "workspace").map(|(_, id)| id.clone());
        match named.filter(|id| !id.is_empty()) {
            None => return false,
            Some(id) if id.starts_with("wrk") => {
                let words = format!("Workspace not found: {id}");
                let kind = "text/plain; charset=utf-8".to_owned();
                self.reply(request.ticket, 500, ReplyBody::Bytes(kind, words.into_bytes()));
            }
            Some(_) => self.unknown_error(request.ticket),
        }
        true
    }

    /// A request may be the first that needs its instance.
    pub(super) fn boot_for(&mut self, request: &ApiRequest, operation: Option<&str>, segments: &[&str]) {
        let is_next = operation.is_some_and(|id| id.starts_with("v2."));
        if operation.is_some_and(|id| BOOTING.contains(&id)) {
            let directory = self.directory_of(request);
            self.need_instance(&directory);
        }
        let creates = self.profile.next_creates_in_instance && operation == Some(CREATES);
        if creates || operation.is_some_and(|id| BOOTING_NEXT.contains(&id)) {
            let directory = self.directory_of(request);
            self.boot_next(&directory);
        }
        if is_next && let Some(session) = self.sessions.get(segments.get(2).copied().unwrap_or_default()) {
            let directory = session.directory.clone();
            self.boot_next(&directory);
        }
    }

    /// Something is wanted that only a whole instance has. Where it has booted at the first connection, this is what the
    /// next generation tells of.
    pub(super) fn need_instance(&mut self, directory: &str) {
        if !self.is_known_folder(directory) {
            return;
        }
        match self.profile.boot {
            BootTiming::AtPrompt => self.boot(directory, BootTiming::AtPrompt),
            BootTiming::AtConnect => self.boot_again(directory),
        }
    }

    /// What is wrong with a request before anybody looks at what it wants.
    fn complaint(&self, request: &ApiRequest) -> Option<Complaint> {
        let operation = self.operations.find(&request.method, &request.path)?;
        let asked = Asked {
            path: &request.path,
            query: &request.query,
            content_type: request.content_type.as_deref(),
            body: &request.body,
        };
        self.operations.complaint(operation, &asked)
    }

    fn refuse(&mut self, ticket: u64, complaint: Complaint, is_next: bool) {
        match complaint {
            Complaint::Unexpected => self.unknown_error(ticket),
            Complaint::Lost => self.reply(ticket, 404, ReplyBody::Empty),
            Complaint::Named => {
                self.reply(ticket, 400, ReplyBody::Json(json!({"name": "BadRequest", "data": {}})));
            }
            Complaint::Tagged => self.reply(ticket, 400, ReplyBody::Json(json!({"_tag": "BadRequest"}))),
            Complaint::Bad { message, kind } if is_next => {
                let body = json!({"_tag": "InvalidRequestError", "message": message, "kind": kind});
                self.reply(ticket, 400, ReplyBody::Json(body));
            }
            Complaint::Bad { message, kind } => {
                let body = json!({"name": "BadRequest", "data": {"message": message, "kind": kind}});
                self.reply(ticket, 400, ReplyBody::Json(body));
            }
            Complaint::ContentType(kind) => {
                self.reply(ticket, 415, ReplyBody::Text(format!("Unsupported content-type: {kind}")));
            }
        }
    }
}

/// The next generation fails at a workspace that can't be one.
fn names_no_workspace(request: &ApiRequest) -> bool {
    let named =
        request.query.iter().find(|(key, _)| key == "location[workspace]").map(|(_, value)| value.as_str());
    let is_of_session = request.path.starts_with("/api/session");
    !is_of_session && named.is_some_and(|named| !named.is_empty() && !named.starts_with("wrk"))
}

fn names_target(request: &ApiRequest) -> bool {
    body_of(request).get("target").is_some()
}

fn is_json(request: &ApiRequest) -> bool {
    request.content_type.as_deref().is_none_or(|kind| kind.starts_with("application/json"))
}
