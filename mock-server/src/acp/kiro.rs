//! What `kiro-cli acp` has beside the standard: commands, what is told of a session, and the files that it keeps.
//!
//! Nothing here was recorded: Kiro's agent needs a login. `kiro-seed` is a public design for a bot, to the letter.
//! `kiro` follows second-hand captures; each message says in [`PROVENANCE`] which versions it was seen with.

use super::agent::{Inner, Refusal};
use super::dialect::Dialect;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What shows each of Kiro's messages.
pub const PROVENANCE: &[(&str, &str)] = &[
    (
        "_kiro.dev/commands/execute",
        "captures of 1.29 and 2.14: `command` is an object; a text is never answered",
    ),
    ("_kiro.dev/commands/options", "captures of 1.29"),
    ("_kiro.dev/commands/available", "captures of 1.29: behind session/new"),
    ("_kiro.dev/metadata", "captures of 1.29: behind session/new and behind a turn"),
    ("_kiro.dev/compaction/status", "captures of 1.29: `status` is an object; flat before"),
    ("_kiro.dev/mcp/server_initialized", "documented by name; `serverName` seen in captures"),
    ("_kiro.dev/mcp/oauth_request", "documented by name; its payload is nobody's but the design's"),
    ("_kiro.dev/agent/switched", "captures of 1.29"),
    ("turn_end", "seen with some versions, before and behind the answer"),
    ("session/load", "captures: says its session's id again"),
];

const EXECUTE: &str = "_kiro.dev/commands/execute";
const OPTIONS: &str = "_kiro.dev/commands/options";

/// Is it one of Kiro's own?
pub(super) fn has_method(method: &str) -> bool {
    matches!(method, EXECUTE | OPTIONS)
}

impl Inner {
    /// The answer to one of Kiro's own requests; `None` where none ever comes.
    pub(super) async fn perform_kiros(&self, method: &str, params: &Value) -> Option<Result<Value, Refusal>> {
        let id = params["sessionId"].as_str().unwrap_or_default();
        if method == OPTIONS {
            let modes = self.modes_of(id).await;
            let option =
                |mode: &String| json!({"value": mode, "label": mode, "description": "", "group": "agents"});
            let options: Vec<Value> = modes.iter().map(option).collect();
            return Some(Ok(json!({"options": options, "hasMore": false})));
        }
        let is_seed = self.dialect == Dialect::KiroSeed;
        let line = match (is_seed, &params["command"]) {
            (true, Value::String(line)) => line.trim_start_matches('/').to_owned(),
            (false, Value::Object(command)) => {
                let args = command.get("args").and_then(Value::as_object).into_iter().flatten();
                let args: Vec<&str> = args.filter_map(|(_, value)| value.as_str()).collect();
                let name = command.get("command").and_then(Value::as_str).unwrap_or_default();
                format!("{name} {}", args.join(" ")).trim().to_owned()
            }
            (false, _) => {
                self.complain("failed to parse a command: it is an object");
                return None;
            }
            (true, other) => {
                let data = json!({"command": other});
                return Some(Err(Refusal(-32602, "Invalid params".to_owned(), Some(data))));
            }
        };
        let said = self.run_command(id, &line);
        Some(Ok(if is_seed { json!({"output": said}) } else { json!({"success": true, "message": said}) }))
    }

    async fn modes_of(&self, id: &str) -> Vec<String> {
        let Some(session) = self.session(id) else { return Vec::new() };
        let Ok(directory) = self.directory(&session.folder).await else { return Vec::new() };
        directory.modes.iter().filter_map(|mode| mode["id"].as_str().map(str::to_owned)).collect()
    }

    fn run_command(&self, id: &str, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["agent", "swap", name] | ["agent", name] => {
                let before = self.session(id).and_then(|session| session.mode);
                self.switch_mode(id, name);
                if self.dialect == Dialect::Kiro {
                    let told = json!({"sessionId": id, "agentName": name, "previousAgentName": before});
                    self.note("_kiro.dev/agent/switched", told);
                }
                format!("Switched to agent: {name}")
            }
            ["compact", ..] => {
                let status = |word: &str| match self.dialect {
                    Dialect::KiroSeed => json!({"sessionId": id, "status": "compacting", "progress": 0.5}),
                    _ => json!({"sessionId": id, "status": {"type": word}}),
                };
                self.note("_kiro.dev/compaction/status", status("started"));
                if self.dialect == Dialect::Kiro {
                    self.note("_kiro.dev/compaction/status", status("completed"));
                }
                "Compacted the conversation".to_owned()
            }
            ["clear", ..] => {
                self.note("_kiro.dev/clear/status", json!({"sessionId": id, "message": "cleared"}));
                "Cleared the conversation".to_owned()
            }
            _ => format!("Unknown command: /{line}"),
        }
    }

    /// What is told behind the answer to a request.
    pub(super) fn tell_kiros(&self, method: &str, params: &Value, session: &str) {
        match method {
            "session/new" | "session/load" => {
                self.keep_session(session);
                self.note("_kiro.dev/commands/available", self.commands_available(session));
                if self.dialect == Dialect::Kiro {
                    self.note(
                        "_kiro.dev/metadata",
                        json!({"sessionId": session, "contextUsagePercentage": 0.0}),
                    );
                }
                for server in params["mcpServers"].as_array().into_iter().flatten() {
                    self.tell_server(session, server);
                }
            }
            "session/prompt" => {
                self.keep_line(
                    session,
                    &json!({"version": "v1", "kind": "Prompt", "data": {"content": params["prompt"]}}),
                );
                if self.dialect == Dialect::Kiro {
                    let usage = json!([{"value": 0.01, "unit": "credit", "unitPlural": "credits"}]);
                    let told = json!({"sessionId": session, "meteringUsage": usage, "turnDurationMs": 1000});
                    self.note("_kiro.dev/metadata", told);
                }
            }
            _ => {}
        }
    }

    fn commands_available(&self, session: &str) -> Value {
        let commands = match self.dialect {
            Dialect::KiroSeed => json!([
                {"name": "/agent", "description": "Manage agents", "subcommands": ["list", "swap", "create", "delete"]},
                {"name": "/context", "description": "Manage context", "subcommands": ["add", "remove", "list"]},
            ]),
            _ => json!([
                {"name": "/agent", "description": "Select or list available agents", "meta": {
                    "optionsMethod": OPTIONS, "inputType": "selection", "hint": "",
                }},
                {"name": "/compact", "description": "Compact conversation history"},
                {"name": "/clear", "description": "Clear conversation history"},
            ]),
        };
        match self.dialect {
            Dialect::KiroSeed => json!({"sessionId": session, "commands": commands}),
            _ => {
                json!({"sessionId": session, "commands": commands, "prompts": [], "tools": [], "mcpServers": []})
            }
        }
    }

    /// One at an address wants a login; the tools of the others are those of the design's example.
    fn tell_server(&self, session: &str, server: &Value) {
        let name = &server["name"];
        match server["url"].as_str() {
            Some(url) => {
                let url = format!("{}/login/oauth/authorize", url.trim_end_matches('/'));
                let told = json!({"sessionId": session, "serverName": name, "authUrl": url});
                self.note("_kiro.dev/mcp/oauth_request", told);
            }
            None => {
                let tools = json!(["search_repos", "create_issue"]);
                let told = json!({"sessionId": session, "serverName": name, "tools": tools});
                self.note("_kiro.dev/mcp/server_initialized", told);
            }
        }
    }

    /// `<id>.json`, `<id>.jsonl` and `<id>.lock`, where a home is given.
    fn keep_session(&self, id: &str) {
        let Some(folder) = self.kept_in(id) else { return };
        let session = self.session(id);
        let cwd = session.map(|session| session.folder).unwrap_or_default();
        let name = self.shown(id);
        let mut info = json!({"session_id": name, "cwd": cwd, "session_state": {"version": "v1"}});
        if name != id {
            // The next agent with this home has to find it.
            info["server_session"] = json!(id);
        }
        let lock = json!({"pid": std::process::id(), "started_at": crate::world::iso_time(self.now_ms())});
        let kept = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join(format!("{name}.json")), info.to_string()))
            .and_then(|()| fs::write(folder.join(format!("{name}.lock")), lock.to_string()))
            .and_then(|()| open(&folder.join(format!("{name}.jsonl"))).map(drop));
        if let Err(error) = kept {
            self.complain(&format!("failed to keep the session {id} in {}: {error}", folder.display()));
        }
    }

    fn keep_line(&self, id: &str, line: &Value) {
        let Some(folder) = self.kept_in(id) else { return };
        let file = folder.join(format!("{}.jsonl", self.shown(id)));
        let kept = open(&file).and_then(|mut file| writeln!(file, "{line}"));
        if let Err(error) = kept {
            self.complain(&format!("failed to keep a line of the session {id}: {error}"));
        }
    }

    /// The locks go with the agent.
    pub(super) fn unlock(&self) {
        for id in self.state().sessions.keys() {
            let Some(folder) = self.kept_in(id) else { continue };
            // One that is gone already is no lock.
            fs::remove_file(folder.join(format!("{}.lock", self.shown(id)))).ok();
        }
    }

    /// An id that is more than a name would lead out of the folder.
    fn kept_in(&self, id: &str) -> Option<PathBuf> {
        let is_name =
            !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        self.home.as_deref().filter(|_| is_name).map(kept_below)
    }

    /// The name that a session has for the client.
    fn shown(&self, id: &str) -> String {
        self.names.as_ref().map_or_else(|| id.to_owned(), |names| names.session(id))
    }
}

/// Where session files are kept in a home.
pub(super) fn kept_below(home: &Path) -> PathBuf {
    home.join(".kiro/sessions/cli")
}

fn open(path: &Path) -> std::io::Result<fs::File> {
    fs::OpenOptions::new().create(true).append(true).open(path)
}
