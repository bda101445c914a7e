//! Operations about what a stand-in never has: a network, accounts, other workspaces, waiting requests of other
//! programs. Their answers are those of a real server that has none of it, either.

use super::routes::body_of;
use super::session::iso_time;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, ReplyBody, Ticket, World};
use serde_json::{Value, json};

/// Operation, status, body.
type Fixed = (&'static str, u16, &'static str);

const NOT_FOUND: &str = r#"{"_tag":"NotFound"}"#;
const UNAUTHORIZED: &str = r#"{"_tag":"Unauthorized"}"#;
const BAD_REQUEST: &str = r#"{"_tag":"BadRequest"}"#;
const NOT_INSTALLED: &str =
    r#"{"type":"not-installed","downloadURL":"https://www.anaconda.com/products/desktop"}"#;
const INDEXING_OFF: &str =
    r#"{"state":"Disabled","message":"Indexing disabled.","processedFiles":0,"totalFiles":0,"percent":0}"#;

/// Those whose answer is the same whatever is asked.
const FIXED: &[Fixed] = &[
    (
        "anacondaDesktop.open",
        409,
        r#"{"code":"not-installed","message":"Anaconda Desktop is not installed."}"#,
    ),
    ("anacondaDesktop.status", 200, NOT_INSTALLED),
    ("backgroundProcess.get", 404, NOT_FOUND),
    ("backgroundProcess.logs", 404, NOT_FOUND),
    ("backgroundProcess.restart", 404, NOT_FOUND),
    ("backgroundProcess.stop", 404, NOT_FOUND),
    ("experimental.console.switchOrg", 400, BAD_REQUEST),
    ("experimental.workspace.remove", 200, "null"),
    ("global.upgrade", 400, r#"{"success":false,"error":"Unknown installation method"}"#),
    ("indexing.consent", 200, INDEXING_OFF),
    ("kilo.audio.transcriptions", 401, UNAUTHORIZED),
    ("kilo.cloud.session.get", 401, UNAUTHORIZED),
    ("kilo.cloud.session.import", 401, UNAUTHORIZED),
    ("kilo.edit", 401, UNAUTHORIZED),
    ("kilo.fim", 401, UNAUTHORIZED),
    ("kilo.models.images", 401, UNAUTHORIZED),
    ("kilo.models.transcriptions", 401, UNAUTHORIZED),
    ("kilo.organization.set", 401, UNAUTHORIZED),
    ("kilocode.agentManager.reject", 404, NOT_FOUND),
    ("kilocode.agentManager.reply", 404, NOT_FOUND),
    ("kilocode.backgroundJob.cancel", 404, NOT_FOUND),
    ("kilocode.backgroundJob.promote", 404, NOT_FOUND),
    ("kilocode.backgroundJobs", 200, "[]"),
    ("kilocode.migrate.discover", 200, r#"{"sessions":[],"dropped":[]}"#),
    ("kilocode.migrate.sessions", 200, r#"{"sessions":[],"migrated":0,"skipped":0,"dropped":[]}"#),
    ("kilocode.notebook.reject", 404, NOT_FOUND),
    ("kilocode.notebook.reply", 404, NOT_FOUND),
    ("kilocode.removeCommand", 400, BAD_REQUEST),
    ("kilocode.removeSkill", 400, BAD_REQUEST),
    ("kilocode.removeSnapshot", 400, BAD_REQUEST),
    ("kilocode.retention.run", 200, r#"{"policy":{"enabled":false,"maxAgeDays":30}}"#),
    ("kilocode.teardownWorktree", 400, BAD_REQUEST),
    ("mcp.callTool", 404, NOT_FOUND),
    ("mcp.readResource", 404, NOT_FOUND),
    ("pty.connect", 404, ""),
    ("remote.disable", 200, r#"{"enabled":false,"connected":false}"#),
    ("remote.enable", 401, UNAUTHORIZED),
    ("sync.steal", 400, BAD_REQUEST),
    ("v2.credential.remove", 204, ""),
    ("v2.credential.update", 204, ""),
    ("v2.integration.attempt.cancel", 204, ""),
    ("v2.projectCopy.refresh", 204, ""),
    ("v2.pty.connect", 404, ""),
];

/// Those that fail, as if the server had; some of them look for what is not there.
const FAILING: &[&str] = &[
    "provider.oauth.authorize",
    "v2.integration.attempt.complete",
    "v2.integration.attempt.status",
    "v2.integration.connect.key",
    "v2.integration.connect.oauth",
];

/// What a picture of the memory holds: nothing, as it is nobody's.
const EMPTY_HEAP: &str =
    r#"{"snapshot":{"meta":{},"node_count":0,"edge_count":0},"nodes":[],"edges":[],"strings":[]}"#;
/// The server's own number, as it is told.
const NO_PROCESS: u64 = 4_000_001;

impl World {
    /// `POST /kilocode/heap/snapshot`: where the picture lies that has just been taken.
    fn keep_heap(&mut self, ticket: Ticket) {
        let time = iso_time(self.now_ms).replace([':', '.'], "");
        let file =
            format!(".local/share/{}/log/heap-{NO_PROCESS}-{time}.heapsnapshot", self.profile.server.word());
        self.reply_json(ticket, json!(format!("{}/{file}", self.config.home)));
        self.ask_place(PlaceAsk::Nobody, PlaceWish::Keep { path: file, content: EMPTY_HEAP.to_owned() });
    }

    /// Answers as a server does that is alone. `None` when there is more to it.
    pub(super) fn answer_alone(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let ticket = request.ticket;
        if operation == "global.upgrade" && self.profile.upgrades_to_versions && !names_version(request) {
            let message = "Expected a semantic version\n  at [\"target\"]";
            let body = json!({"name": "BadRequest", "data": {"message": message, "kind": "Payload"}});
            self.reply(ticket, 400, ReplyBody::Json(body));
            return Some(());
        }
        if let Ok(at) = FIXED.binary_search_by_key(&operation, |(id, ..)| id) {
            let (_, status, text) = FIXED[at];
            self.tell_alone(request, operation);
            let body = match serde_json::from_str::<Value>(text) {
                Ok(value) => ReplyBody::Json(value),
                Err(_) => ReplyBody::Empty,
            };
            self.reply(ticket, status, body);
            return Some(());
        }
        // Nobody ever tells the terminal what to do, so whoever waits for it waits.
        if operation == "tui.control.next" {
            return Some(());
        }
        if operation == "pty.shells" {
            self.ask_place(PlaceAsk::Shells(ticket), PlaceWish::Shells);
            return Some(());
        }
        if operation == "kilocode.heap.snapshot" {
            self.keep_heap(ticket);
            return Some(());
        }
        if FAILING.contains(&operation) {
            self.unknown_error(ticket);
            return Some(());
        }
        let (status, body) = self.refusal_alone(request, operation, segments)?;
        self.reply(ticket, status, ReplyBody::Json(body));
        Some(())
    }

    /// Some of it is told to who listens.
    fn tell_alone(&mut self, request: &ApiRequest, operation: &str) {
        let directory = self.directory_of(request);
        match operation {
            "remote.enable" => {
                for is_on in [true, false] {
                    let status = json!({"enabled": is_on, "connected": false});
                    self.emit(&directory, "kilo-sessions.remote-status-changed", status);
                }
            }
            "v2.credential.remove" | "v2.credential.update" => {
                self.emit_outside_project(&directory, "integration.updated", json!({}));
            }
            _ => {}
        }
    }

    /// `GET /pty/shells`: some are not for the agent.
    pub(super) fn list_shells(&mut self, ticket: Ticket, paths: &[String]) {
        const DENIED: &[&str] = &["fish", "nu"];
        let shell = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or_default();
            json!({"path": path, "name": name, "acceptable": !DENIED.contains(&name)})
        };
        let list = paths.iter().map(shell).collect();
        self.reply_json(ticket, Value::Array(list));
    }

    /// What names what it does not find, or depends on little.
    fn refusal_alone(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<(u16, Value)> {
        let body = body_of(request);
        let word = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let named = |name: &str, message: String| json!({"name": name, "data": {"message": message}});
        let copy = |message: String| {
            (400, json!({"name": "ProjectCopyError", "data": {"message": message, "forceRequired": null}}))
        };
        Some(match operation {
            "anacondaDesktop.sync" => {
                let status: Value = serde_json::from_str(NOT_INSTALLED).unwrap_or_default();
                let message = "Anaconda Desktop does not have a healthy text-generation server ready.";
                (409, json!({"code": "not-ready", "message": message, "status": status}))
            }
            "experimental.controlPlane.moveSession" if !self.knows_session(&word("sessionID")) => {
                (400, named("MoveSessionError", format!("Session not found: {}", word("sessionID"))))
            }
            "experimental.projectCopy.generateName" => (200, json!({"name": self.ids.slug()})),
            "experimental.workspace.create" => {
                (400, named("WorkspaceCreateError", format!("Unknown workspace adapter: {}", word("type"))))
            }
            "experimental.workspace.warp" if body["id"].is_string() => {
                (404, named("NotFoundError", format!("Workspace not found: {}", word("id"))))
            }
            "experimental.workspace.warp" if !self.knows_session(&word("sessionID")) => {
                (500, self.unknown_error_body())
            }
            "kilocode.providerUsage.refresh" => {
                (200, json!({"items": [], "generatedAt": super::session::iso_time(self.now_ms)}))
            }
            "kilocode.sessionImport.project" => {
                let directory = self.directory_of(request);
                (200, json!({"ok": true, "id": self.project_of(&directory)}))
            }
            "kilocode.snapshot.prepare" => (200, json!({"prepared": false, "durationMs": 1})),
            "sync.replay" if is_of_unknown_events(&body) => (500, self.unknown_error_body()),
            "provider.oauth.callback" => {
                let provider = segments.get(1).map(|id| id.replace("%2F", "/")).unwrap_or_default();
                (400, json!({"name": "ProviderAuthOauthMissing", "data": {"providerID": provider}}))
            }
            "v2.projectCopy.create" if !word("strategy").starts_with("git") => {
                copy(format!("Project copy strategy unavailable: {}", word("strategy")))
            }
            "v2.projectCopy.remove" => {
                copy(format!("Project copy directory unavailable: {}", word("directory")))
            }
            // No line of it begins as lines of a patch do.
            "vcs.apply"
                if !word("patch").lines().any(|line| line.starts_with("@@") || line.starts_with("diff ")) =>
            {
                let data = json!({"message": "Patch can't be applied", "reason": "not-clean"});
                (400, json!({"name": "VcsApplyError", "data": data}))
            }
            _ => return self.client_alone(request, operation, segments),
        })
    }

    /// What a client has of its own: terminals, what it looks at, what it likes.
    fn client_alone(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<(u16, Value)> {
        let body = body_of(request);
        Some(match operation {
            "session.viewed" => (200, json!(true)),
            "config.modelStateUpdate" | "config.modelState" => {
                if let Some(favorites) = body.get("favorite").filter(|given| !given.is_null()) {
                    self.favorites = favorites.clone();
                }
                (200, json!({"model": {}, "recent": [], "favorite": self.favorites, "variant": {}}))
            }
            "pty.get" | "pty.update" | "pty.remove" | "v2.pty.get" | "v2.pty.update" | "v2.pty.remove" => {
                let id = segments.last().copied().unwrap_or_default();
                let message = format!("PTY session not found: {id}");
                (404, json!({"_tag": "PtyNotFoundError", "ptyID": id, "message": message}))
            }
            _ => return self.session_alone(request, operation, segments),
        })
    }

    /// The same, where a session is meant that is there.
    fn session_alone(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<(u16, Value)> {
        let at = usize::from(segments.first() == Some(&"kilocode"));
        if !segments.contains(&"session") {
            return None;
        }
        let session = segments.get(at + 1).copied()?.to_owned();
        if !self.knows_session(&session) {
            if operation == "kilocode.sessionModelUsage" {
                return Some((404, json!({"_tag": "NotFound"})));
            }
            let message = format!("Session not found: {session}");
            let body = json!({"name": "NotFoundError", "data": {"message": message}});
            return (at == 1 && segments.get(1) == Some(&"session")).then_some((404, body));
        }
        Some(match operation {
            "kilocode.drainSession" => {
                let drained = json!({"sessionID": session, "token": body_of(request)["token"]});
                self.emit_session(&session, "session.drained", drained);
                (200, json!(true))
            }
            "kilocode.resumeSession" => {
                let message = "This session cannot be resumed in its current state.";
                (400, json!({"_tag": "InvalidRequestError", "message": message}))
            }
            "kilocode.resetSessionBoard" if body_of(request)["revision"] == 0 => {
                (200, json!({"ownerSessionID": session, "revision": 0, "messages": [], "hasMore": false}))
            }
            "kilocode.resetSessionBoard" => {
                let message = "The board changed. Refresh it before clearing messages.";
                (409, json!({"_tag": "ConflictError", "message": message}))
            }
            "kilocode.sessionModelUsage" => (200, self.model_usage(&session)),
            // Links can't be made without a network; the settings of a recording forbid them.
            "session.share" => {
                let may =
                    matches!(self.settings_for(&session).get("share"), Some(word) if word != "disabled");
                (500, if may { json!({"_tag": "InternalServerError"}) } else { self.unknown_error_body() })
            }
            "session.unshare" if self.profile.unshares_nothing => {
                self.emit_session_updated(&session);
                (200, self.session_info(&session))
            }
            "session.unshare" => (500, json!({"_tag": "InternalServerError"})),
            "sandbox.toggle" => (200, self.toggle_sandbox(&session)),
            "sandbox.status" => (200, self.sandbox_status(&session)),
            _ => return None,
        })
    }
}

/// Three numbers with dots between, and maybe more behind a dash or a plus. Who names nothing means the latest.
fn names_version(request: &ApiRequest) -> bool {
    let body = body_of(request);
    let Some(target) = body["target"].as_str() else { return true };
    let numbers: Vec<&str> = target.split(['-', '+']).next().unwrap_or_default().split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.len() == 3 && numbers.iter().all(is_number)
}

/// Events of no kind that a server keeps can't be played again.
fn is_of_unknown_events(body: &Value) -> bool {
    let mut events = body["events"].as_array().into_iter().flatten();
    let is_known = |kind: &str| kind.starts_with("session.") || kind.starts_with("message.");
    events.any(|event| !event["type"].as_str().is_some_and(is_known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_is_json() {
        assert!(FIXED.is_sorted_by_key(|(id, ..)| *id));
        for (id, status, text) in FIXED {
            assert_eq!(text.is_empty(), *status == 204 || id.ends_with("pty.connect"), "{id}");
            assert!(text.is_empty() || serde_json::from_str::<Value>(text).is_ok(), "{id}");
        }
    }
}
