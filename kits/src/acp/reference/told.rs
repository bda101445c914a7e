//! What an agent tells, as the person sees it, and what it asks.

use super::agent::Agent;
use super::chat::Chat;
use super::client::Client;
use super::turn::done;
use super::words::{self, Update};
use crate::adapter::Screen;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// Updates that nothing is made of here.
const KNOWN: [&str; 6] = [
    "user_message_chunk",
    "agent_thought_chunk",
    "plan",
    "usage_update",
    "config_option_update",
    "current_mode_update",
];

impl Client {
    /// A notification.
    pub(super) fn told(&self, method: &str, params: Value, screen: &Screen) {
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        match method {
            "session/update" => self.route(&session, params["update"].clone(), screen),
            "_kiro.dev/mcp/server_initialized" if session.is_empty() => {
                // One for all sessions.
                let chats: Vec<String> = self.state().chats.keys().cloned().collect();
                for chat in chats.iter().filter(|_| !self.quirk.is("needs-session-id")) {
                    let server = &params["serverName"];
                    screen.show(
                        json!({"kind": "chatMcp", "chatId": chat, "what": "initialized", "server": server}),
                    );
                }
            }
            // Of what Kiro's agents tell, all is told in the order of the updates.
            _ if method.starts_with("_kiro.dev/") => {
                self.route(&session, json!({"kiro": method, "params": params}), screen);
            }
            _ => {}
        }
    }

    /// Something is shown in its chat.
    pub(super) fn show_update(&self, chat: &Chat, update: &Value, screen: &Screen) {
        if let Some(method) = update["kiro"].as_str() {
            return self.show_kiros(chat, method, &update["params"], screen);
        }
        let is_replay = chat.state().replays && !self.quirk.is("replay-as-new");
        match words::update(update, self.quirk) {
            _ if is_replay => {}
            Update::Text(text) => {
                let is_late = chat.state().turn.is_none();
                if !(is_late && self.quirk.is("drops-late")) {
                    screen.show(json!({"kind": "chatText", "chatId": chat.id, "delta": text}));
                }
            }
            Update::Tool { id, title: None, .. }
                if self.quirk.is("knows-all-calls") && !chat.state().calls.contains(&id) =>
            {
                done(chat, "error", Some("the agent speaks of a call that I don't know"), screen);
            }
            Update::Tool { id, title, status } => {
                chat.state().calls.insert(id.clone());
                let told = json!({"kind": "chatTool", "chatId": chat.id, "tool": id, "title": title, "status": status});
                screen.show(told);
            }
            Update::Commands(commands) => self.show_commands(chat, &commands, screen),
            Update::TurnEnd => {
                if let Some(turn) = &mut chat.state().turn {
                    turn.is_said_over = !self.quirk.is("turn-end-unheard");
                }
                if self.quirk.is("ends-twice") {
                    screen.show(json!({"kind": "chatDone", "chatId": chat.id, "stop": "end_turn"}));
                }
            }
            Update::Other => {
                let is_known = update["sessionUpdate"].as_str().is_none_or(|kind| KNOWN.contains(&kind));
                if !is_known && self.quirk.is("dies-of-the-unknown") {
                    done(chat, "error", Some("the agent says what I don't know"), screen);
                }
            }
        }
        chat.stir();
    }

    fn show_commands(&self, chat: &Chat, commands: &[Value], screen: &Screen) {
        let names: Vec<&str> = commands.iter().filter_map(|command| command["name"].as_str()).collect();
        let mut state = chat.state();
        let is_first = !std::mem::replace(&mut state.has_commands, true);
        drop(state);
        if is_first || !self.quirk.is("first-commands-stay") {
            screen.show(json!({"kind": "chatCommands", "chatId": chat.id, "names": names}));
        }
    }

    fn show_kiros(&self, chat: &Chat, method: &str, params: &Value, screen: &Screen) {
        let id = &chat.id;
        match method {
            "_kiro.dev/commands/available" => {
                let commands = params["commands"].as_array().cloned().unwrap_or_default();
                self.show_commands(chat, &commands, screen);
            }
            "_kiro.dev/compaction/status" => {
                if let Some(status) = words::compaction(params, self.quirk) {
                    chat.state().is_summing_up = status != "completed";
                    screen.show(json!({"kind": "chatCompaction", "chatId": id, "status": status}));
                }
            }
            "_kiro.dev/mcp/server_initialized" => {
                let server = &params["serverName"];
                screen
                    .show(json!({"kind": "chatMcp", "chatId": id, "what": "initialized", "server": server}));
            }
            "_kiro.dev/mcp/oauth_request" => self.show_login(chat, params, screen),
            "_kiro.dev/clear/status" => {
                screen.show(
                    json!({"kind": "chatNotice", "chatId": id, "text": "the conversation was cleared"}),
                );
            }
            _ => {}
        }
        chat.stir();
    }

    /// A server of tools wants a login: the person gets the whole address, a log the part without its query.
    fn show_login(&self, chat: &Chat, params: &Value, screen: &Screen) {
        let (id, server) = (&chat.id, &params["serverName"]);
        let url = params["authUrl"].as_str().or(params["url"].as_str()).unwrap_or_default();
        let known = match words::address(url) {
            None if self.quirk.is("any-address") => Some((url.to_owned(), url.to_owned())),
            known => known,
        };
        let Some((url, shown)) = known else {
            let text = format!("{server} wants a login at an address that is not safe");
            return screen.show(json!({"kind": "chatNotice", "chatId": id, "text": text}));
        };
        let logged = if self.quirk.is("logs-secrets") { &url } else { &shown };
        screen.show(json!({"kind": "log", "text": format!("{server} wants a login at {logged}")}));
        screen.show(json!({"kind": "chatMcp", "chatId": id, "what": "oauth", "server": server, "url": url}));
    }

    /// A request of the agent's; every one is answered, in its time.
    pub(super) fn asked(
        self: Arc<Self>,
        agent: &Arc<Agent>,
        id: Value,
        method: &str,
        params: &Value,
        screen: &Screen,
    ) -> Option<BoxFuture<'static, ()>> {
        let agent = Arc::clone(agent);
        if method != "session/request_permission" {
            let is_silent = self.quirk.is("silent-when-asked");
            return (!is_silent).then(|| -> BoxFuture<'static, ()> {
                Box::pin(async move { agent.reply(&id, Err((-32601, "not offered"))).await })
            });
        }
        let session = params["sessionId"].as_str().unwrap_or_default();
        let chat = self.state().chats.values().find(|chat| chat.session() == session).cloned();
        if let Some(chat) = &chat {
            let title = &params["toolCall"]["title"];
            let latest = self.state().latest.clone().filter(|_| self.quirk.is("asks-in-the-latest"));
            let place = latest.unwrap_or_else(|| chat.id.clone());
            screen.show(json!({"kind": "chatPermission", "chatId": place, "title": title}));
            chat.state().asked.push(id.clone());
        }
        let options = params["options"].clone();
        Some(Box::pin(async move {
            let Some(chat) = chat else { return agent.reply(&id, Ok(cancelled())).await };
            chat.stir();
            let leave = self.state().leave.clone();
            if leave == "wait" {
                return self.wait_for_person(&chat, &id).await;
            }
            let outcome = match words::option(&options, &leave, self.quirk) {
                Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
                None => cancelled(),
            };
            if chat.is_still_asked(&id) {
                agent.reply(&id, Ok(outcome)).await;
            }
        }))
    }

    /// Nobody answers until the turn is cancelled.
    async fn wait_for_person(&self, chat: &Chat, id: &Value) {
        let mut news = chat.news.subscribe();
        while chat.state().asked.contains(id) && news.changed().await.is_ok() {}
    }
}

pub(super) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}
