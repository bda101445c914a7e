//! What a client tells the server so that other clients hear it, or nobody: the terminal's commands, logs, telemetry.

use super::routes::body_of;
use super::{ApiRequest, ReplyBody, World};
use serde_json::{Value, json};

/// What the terminal's routes are about, and the command that they send.
const COMMANDS: &[(&str, &str)] = &[
    ("tui.openHelp", "help.show"),
    ("tui.openSessions", "session.list"),
    // The real servers show the sessions here, too.
    ("tui.openThemes", "session.list"),
    ("tui.openModels", "model.list"),
    ("tui.submitPrompt", "prompt.submit"),
    ("tui.clearPrompt", "prompt.clear"),
];
/// The old names of the terminal's commands.
const RENAMED: &[(&str, &str)] = &[
    ("session_new", "session.new"),
    ("session_share", "session.share"),
    ("session_interrupt", "session.interrupt"),
    ("session_compact", "session.compact"),
    ("messages_page_up", "session.page.up"),
    ("messages_page_down", "session.page.down"),
    ("messages_line_up", "session.line.up"),
    ("messages_line_down", "session.line.down"),
    ("messages_half_page_up", "session.half.page.up"),
    ("messages_half_page_down", "session.half.page.down"),
    ("messages_first", "session.first"),
    ("messages_last", "session.last"),
    ("agent_cycle", "agent.cycle"),
];
/// How long a notice is shown when nobody says.
const NOTICE_MS: u64 = 5000;

impl World {
    /// The terminal is told something. `None` when the operation is not one of the terminal's.
    pub(super) fn tell_terminal(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let body = body_of(request);
        let command = COMMANDS.iter().find(|(id, _)| *id == operation).map(|(_, command)| *command);
        let (kind, properties) = match operation {
            _ if command.is_some() => ("tui.command.execute", json!({"command": command})),
            "tui.appendPrompt" => ("tui.prompt.append", json!({"text": body["text"]})),
            "tui.executeCommand" => {
                let named = RENAMED.iter().find(|(old, _)| body["command"] == *old).map(|(_, new)| *new);
                if named.is_none() && !self.profile.unknown_commands_pass {
                    self.unknown_error(request.ticket);
                    return Some(());
                }
                ("tui.command.execute", named.map_or(json!({}), |command| json!({"command": command})))
            }
            "tui.showToast" => ("tui.toast.show", notice(&body)),
            "tui.publish" => {
                let kind = TOLD.iter().find(|kind| body["type"] == **kind)?;
                let properties = match *kind {
                    "tui.toast.show" => notice(&body["properties"]),
                    _ => body["properties"].clone(),
                };
                (*kind, properties)
            }
            "tui.selectSession" => {
                let session = body["sessionID"].as_str().unwrap_or_default();
                if !self.sessions.contains_key(session) {
                    let message = format!("Session not found: {session}");
                    let body = json!({"name": "NotFoundError", "data": {"message": message}});
                    self.reply(request.ticket, 404, ReplyBody::Json(body));
                    return Some(());
                }
                ("tui.session.select", json!({"sessionID": session}))
            }
            _ => return None,
        };
        let directory = self.directory_of(request);
        self.reply_json(request.ticket, json!(true));
        self.emit(&directory, kind, properties);
        Some(())
    }
}

/// What `/tui/publish` tells.
const TOLD: &[&str] = &["tui.prompt.append", "tui.command.execute", "tui.toast.show", "tui.session.select"];

fn notice(body: &Value) -> Value {
    let mut notice = json!({});
    for key in ["title", "message", "variant"] {
        if let Some(value) = body.get(key) {
            notice[key] = value.clone();
        }
    }
    notice["duration"] = body.get("duration").cloned().unwrap_or(json!(NOTICE_MS));
    notice
}
