//! The routes about the instance around the sessions, by the operation's name.

use super::session::iso_time;
use super::{ApiRequest, ReplyBody, World};
use serde_json::json;

impl World {
    /// Answers a request that is about no session. `None` when it is none of these.
    pub(super) fn answer_around(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let segments: Vec<&str> = request.path.split('/').filter(|segment| !segment.is_empty()).collect();
        let name = segments.get(1).copied().unwrap_or_default();
        let ticket = request.ticket;
        match operation {
            "file.list" => self.list_files(request),
            "file.read" => self.file_content(request),
            "find.files" => self.find_files(request),
            "find.text" => self.find_lines(request),
            "v2.fs.list" => self.list_files_next(request),
            "v2.fs.find" => self.find_files_next(request),
            "v2.fs.read" => self.file_bytes_next(request),
            "path.get" => self.path(request),
            "project.list" => self.list_projects(ticket),
            "project.current" => self.current_project(request),
            "project.update" => self.patch_project(request, name),
            "project.directories" => self.project_directories(ticket, name),
            "sync.history.list" => self.sync_history(request),
            "project.initGit" => self.init_repository(request),
            "experimental.session.list" => self.list_all_sessions(request),
            "formatter.status" => self.list_formatters(request),
            "vcs.get" => self.vcs(request),
            "vcs.status" => self.vcs_status(request),
            "vcs.diff" => self.vcs_diff(request),
            "vcs.diff.raw" => self.vcs_diff_raw(request),
            "instance.dispose" => self.dispose_one(request),
            "instance.reload" => self.reload(request),
            "global.dispose" => self.dispose_globally(ticket),
            "auth.set" => self.put_key(request, name),
            "auth.remove" => self.delete_key(request, name),
            // The model makes no difference to the tools of an unknown one.
            "tool.list" => self.list_tools(request),
            "app.agents" => self.list_agents(request),
            "command.list" => self.list_commands(request),
            "provider.list" => self.list_providers(request),
            "config.providers" => self.configured_providers(request),
            "config.get" | "config.effective" => self.config(request),
            "config.warnings" => self.list_warnings(request),
            "config.sources" => self.look_for_sources(request),
            "config.overlay" => self.show_overlay(request),
            "config.overlayUpdate" => self.change_overlay(request),
            "config.update" => self.patch_config(request),
            "global.config.get" => self.global_config(ticket),
            "global.config.update" => self.patch_global_config(request),
            _ => {
                return self
                    .misses_question(request, operation, &segments)
                    .or_else(|| self.answer_next(request, operation, &segments))
                    .or_else(|| self.take_over(request, operation))
                    .or_else(|| self.about_terminals(request, operation))
                    .or_else(|| self.about_rule_files(request, operation))
                    .or_else(|| self.about_agent_file(request, operation, name))
                    .or_else(|| self.remove_agent(request, operation))
                    .or_else(|| self.about_words(request, operation, name))
                    .or_else(|| self.about_suggestions(request, operation, &segments))
                    .or_else(|| self.about_processes(request, operation, &segments))
                    .or_else(|| self.about_boards(request, operation, &segments))
                    .or_else(|| self.about_worktrees(request, operation))
                    .or_else(|| self.about_market(request, operation))
                    .or_else(|| self.about_tui_settings(request, operation))
                    .or_else(|| self.answer_alone(request, operation, &segments))
                    .or_else(|| self.answer_memory(request, operation))
                    .or_else(|| self.about_servers(request, operation, name))
                    .or_else(|| self.tell_terminal(request, operation))
                    .or_else(|| self.answer_plainly(request, operation, &segments));
            }
        }
        Some(())
    }

    fn list_tools(&mut self, request: &ApiRequest) {
        let query = ["provider", "model"].map(|name| (name.to_owned(), "fake".to_owned()));
        self.not_played(&ApiRequest { query: query.to_vec(), ..request.clone() });
    }

    /// Operations whose answer is the same in a server's usual state.
    fn answer_plainly(&mut self, request: &ApiRequest, operation: &str, segments: &[&str]) -> Option<()> {
        let ticket = request.ticket;
        let body = match operation {
            "experimental.workspace.syncList" => {
                self.reply(ticket, 204, ReplyBody::Empty);
                return Some(());
            }
            "permission.saveAlwaysRules" if self.permissions.session_of(segments.get(1)?).is_none() => {
                let id = segments.get(1).copied()?;
                let message = format!("Permission request not found: {id}");
                let body = json!({"_tag": "PermissionNotFoundError", "requestID": id, "message": message});
                self.reply(ticket, 404, ReplyBody::Json(body));
                return Some(());
            }
            "kilo.profile" | "kilo.cloudSessions" => {
                self.reply(ticket, 401, ReplyBody::Json(json!({"_tag": "Unauthorized"})));
                return Some(());
            }
            "app.log"
            | "telemetry.capture"
            | "telemetry.setEnabled"
            | "tui.control.response"
            | "sync.start" => json!(true),
            "experimental.session.background" => json!(false),
            "kilo.notifications" if self.ask_for_news(ticket) => return Some(()),
            "file.status" | "find.symbols" | "kilo.notifications" => json!([]),
            "kilocode.wakeups" => {
                self.list_wakeups(request);
                return Some(());
            }
            "experimental.console.listOrgs" => json!({"orgs": []}),
            "indexing.models" => json!({"defaultModel": "", "models": [], "aliases": {}}),
            "kilocode.providerUsage.get" => json!({"items": [], "generatedAt": iso_time(self.now_ms)}),
            "v2.session.active" => json!({"data": {}}),
            _ => return None,
        };
        self.reply_json(ticket, body);
        Some(())
    }
}
