//! What a server remembers of a project: switched on and off, and otherwise empty. What a person wants remembered is not
//! played.

use super::routes::body_of;
use super::{ApiRequest, ReplyBody, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use std::fmt::Write as _;

/// How many bytes of a folder's hash stand in the name of its memory.
const HASH_BYTES: usize = 6;

/// What is known of a project's memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Memory {
    is_on: bool,
    consolidates: bool,
    is_verbose: bool,
    /// It has files.
    exists: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self { is_on: false, consolidates: true, is_verbose: false, exists: false }
    }
}

impl Memory {
    fn state(&self) -> Value {
        json!({
            "version": 1, "enabled": self.is_on, "scope": "project", "autoInject": true,
            "autoConsolidate": self.consolidates, "verbose": self.is_verbose,
            "capture": {
                "mode": "selective", "turnClose": true, "explicit": true, "maxOpsPerRun": 16,
                "minIntervalMs": 300_000, "timeoutMs": 30_000,
            },
            "limits": {
                "maxProjectIndexBytes": 8192, "maxSessionFiles": 20, "maxRecentSessions": 5,
                "maxConsolidationInputBytes": 24_000, "maxLineChars": 240, "maxSessionLineChars": 480,
            },
            "stats": {
                "lastInjectedAt": 0, "lastInjectedBytes": 0, "lastInjectedTokens": 0, "lastInjectedSessionID": "",
                "lastTypedConsolidationAt": 0, "lastSessionSavedAt": 0, "lastConsolidationCost": 0,
                "lastConsolidationTokens": 0, "lastOperationCount": 0, "lastRecallAt": 0, "lastRecallCount": 0,
                "lastRecallSessionID": "",
            },
        })
    }

    fn sources(&self) -> Value {
        if !self.exists {
            return json!({"project": "", "environment": "", "corrections": ""});
        }
        json!({
            "project": "# Project Memory\n\n## Facts\n\n## Decisions\n\n## Constraints\n\n## Open Questions\n",
            "environment": "# Environment Memory\n\n## Commands\n\n## Paths\n\n## Tooling\n",
            "corrections": "# Corrective Memory\n\n## Corrections\n",
        })
    }
}

impl World {
    /// Answers a request about a project's memory. `None` when it is about none, or about what is not played.
    pub(super) fn answer_memory(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let what = operation.strip_prefix("memory.")?;
        let (ticket, directory) = (request.ticket, self.directory_of(request));
        let root = self.repository_of(&directory).map_or(&directory, |project| &project.worktree);
        let root = self.memory_root(root);
        let memory = self.memories.entry(directory.clone()).or_default();
        let empty = json!({"text": "", "bytes": 0, "tokens": 0, "truncated": false});
        let nothing = json!({"trigger": "rebuild", "operationCount": 0, "cost": 0, "tokens": 0});
        let body = body_of(request);
        let mut told = Some(("memory.status", json!({})));
        let mut answer = json!({"root": root});
        match what {
            "status" | "show" => told = None,
            "enable" => {
                (memory.is_on, memory.exists) = (true, true);
                told = Some(("memory.status", json!({"consolidation": nothing})));
            }
            "disable" => memory.is_on = false,
            "configure" => {
                memory.consolidates = body["autoConsolidate"].as_bool().unwrap_or(memory.consolidates);
                memory.is_verbose = body["verbose"].as_bool().unwrap_or(memory.is_verbose);
            }
            "rebuild" => told = Some(("memory.updated", json!({"consolidation": nothing}))),
            "purge" => {
                *memory = Memory::default();
                told = Some(("memory.status", json!({"reason": "purged"})));
            }
            "remember" | "correct" | "forget" if !memory.is_on => {
                let data = json!({"code": "memory_disabled", "message": "project memory is disabled"});
                let body = json!({"name": "MemoryApiClientError", "data": data});
                self.reply(ticket, 400, ReplyBody::Json(body));
                return Some(());
            }
            _ => return None,
        }
        match what {
            "purge" => answer["purged"] = json!(true),
            _ => answer["state"] = memory.state(),
        }
        match what {
            "status" => {
                answer["exists"] = json!({"state": memory.exists, "index": memory.exists});
                answer["index"] = json!({"bytes": 0, "estimatedTokens": 0, "preview": ""});
            }
            "show" => {
                answer["sources"] = memory.sources();
                for key in ["index", "items", "changes", "decisions"] {
                    answer[key] = json!("");
                }
            }
            "enable" | "rebuild" => answer["index"] = empty,
            _ => {}
        }
        let is_on = memory.is_on;
        if let Some((kind, more)) = told {
            let mut properties = json!({"directory": root, "enabled": is_on, "state": "idle"});
            if let Some(reason) = more.get("reason") {
                properties["reason"] = reason.clone();
            }
            properties["project"] = json!({"bytes": 0, "estimatedTokens": 0, "truncated": false});
            if let Some(consolidation) = more.get("consolidation") {
                properties["consolidation"] = consolidation.clone();
            }
            self.emit(&directory, kind, properties);
        }
        self.reply_json(ticket, answer);
        Some(())
    }

    /// Where the memory of a project is kept.
    fn memory_root(&self, directory: &str) -> String {
        let name = directory.rsplit('/').next().unwrap_or_default();
        let hash = Sha1::digest(directory.as_bytes());
        let hash = hash.iter().take(HASH_BYTES).fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").ok();
            text
        });
        format!("{}/.local/share/kilo/memory/{name}-{hash}", self.config.home)
    }
}
