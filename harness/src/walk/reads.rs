//! The steps of a walk that change nothing: reads, and requests that are wrong.

use super::person::Person;
use serde_json::{Value, json};

const OF_A_SESSION: &[&str] =
    &["", "/message", "/message?limit=1", "/message?limit=3", "/children", "/todo", "/diff"];

const OF_THE_SERVER: &[&str] = &[
    "/session",
    "/session?limit=2",
    "/session?roots=true",
    "/session?search=walk",
    "/session?directory=${workspace}",
    "/session?scope=project&path=src",
    "/session/status",
    "/permission",
    "/question",
    "/project",
    "/project/current",
    "/path",
    "/vcs",
    "/global/health",
    "/agent",
    "/command",
    "/config",
    "/config/providers",
    "/provider/auth",
    "/mcp",
    "/lsp",
    "/formatter",
    "/experimental/session?roots=true",
    "/experimental/tool/ids",
    "/file?path=.",
    "/file?path=src",
    "/file/status",
    "/file/content?path=README.md",
    "/file/content?path=note.txt",
    "/file/content?path=asked/kept.txt",
    "/find/file?query=one",
    "/find/file?query=t&limit=3",
    "/vcs/diff?mode=git",
    "/vcs/status",
    "/api/session/active",
    "/api/permission/request",
    "/api/question/request",
    "/api/location",
];

const OF_A_SESSION_NEXT: &[&str] = &["", "/message", "/context", "/history", "/permission", "/question"];

impl Person {
    pub(super) fn reads_a_session(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        if self.rarely(15) {
            let message = self.message_of(session).unwrap_or_else(|| "msg_nosuch0000".to_owned());
            let what = self.pick(&["message/", "diff?messageID="]).unwrap_or_default();
            return self.request(&format!("GET /session/{name}/{what}{message}"), None, &[]);
        }
        let (root, of) =
            if self.rarely(15) { ("/api/session", OF_A_SESSION_NEXT) } else { ("/session", OF_A_SESSION) };
        let target = self.pick(of).unwrap_or_default();
        self.request(&format!("GET {root}/{name}{target}"), None, &[]);
    }

    pub(super) fn reads_the_server(&mut self) {
        let target = self.pick(OF_THE_SERVER).unwrap_or_default();
        self.request(&format!("GET {target}"), None, &[]);
    }

    pub(super) fn is_wrong(&mut self) {
        let session = self.alive();
        let name = self.name(session);
        let gone = self.gone.clone();
        if self.rarely(30)
            && let Some(gone) = self.pick(&gone)
        {
            return self.asks_a_gone_one(&format!("${{{gone}}}"));
        }
        let wrong: [(String, Option<Value>); 14] = [
            ("GET /session/ses_nosuch0000".into(), None),
            ("GET /session/abc".into(), None),
            ("DELETE /session/ses_nosuch0000".into(), None),
            (format!("GET /session/{name}/message?limit=x"), None),
            (format!("GET /session/{name}/message/msg_nosuch0000"), None),
            (format!("POST /session/{name}/message"), Some(json!({"parts": "x"}))),
            (format!("POST /session/{name}/revert"), Some(json!({}))),
            (format!("POST /session/{name}/revert"), Some(json!({"messageID": "msg_nosuch0000"}))),
            (format!("POST /session/{name}/fork"), Some(json!({"messageID": "msg_nosuch0000"}))),
            (format!("PATCH /session/{name}"), Some(json!({"title": 1}))),
            (format!("POST /session/{name}/permissions/per_nosuch0000"), Some(json!({"response": "once"}))),
            ("POST /permission/per_nosuch0000/reply".into(), Some(json!({"reply": "once"}))),
            ("POST /question/que_nosuch0000/reject".into(), None),
            ("GET /nowhere".into(), None),
        ];
        if let Some((line, json)) = self.pick(&wrong) {
            self.request(&line, json.as_ref(), &[]);
        }
    }

    /// Wants something of a session that is deleted.
    fn asks_a_gone_one(&mut self, name: &str) {
        let parts = json!({"parts": [{"type": "text", "text": "still there?"}]});
        let line = json!({"agent": "general", "command": "true"});
        let model = json!({"providerID": "fake", "modelID": "fake"});
        let command = json!({"command": "hail", "arguments": ""});
        let wishes: [(&str, &str, Option<Value>); 14] = [
            ("POST", "/message", Some(parts)),
            ("POST", "/shell", Some(line)),
            ("POST", "/summarize", Some(model)),
            ("POST", "/command", Some(command)),
            ("POST", "/fork", Some(json!({}))),
            ("POST", "/abort", None),
            ("POST", "/revert", Some(json!({"messageID": "msg_nosuch0000"}))),
            ("POST", "/unrevert", None),
            ("PATCH", "", Some(json!({"title": "Late"}))),
            ("DELETE", "", None),
            ("GET", "/message", None),
            ("GET", "/children", None),
            ("GET", "/todo", None),
            ("GET", "/diff", None),
        ];
        if let Some((method, what, json)) = self.pick(&wishes) {
            if what == "/command" {
                self.needs("greet");
            }
            self.request(&format!("{method} /session/{name}{what}"), json.as_ref(), &[]);
        }
    }
}
