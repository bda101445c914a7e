//! The door of a terminal: who is let in to look at its screen. Who has no password brings a ticket, which is good for one
//! terminal, once, and not for long.

use super::{ApiRequest, ReplyBody, World};
use serde_json::{Value, json};

/// Lets somebody in who brings it.
#[derive(Debug)]
pub(super) struct DoorTicket {
    word: String,
    terminal: String,
    directory: String,
    until_ms: u64,
}

/// How long a ticket is good.
const GOOD_S: u64 = 60;
const BAD_WISH: &str = "Invalid PTY connect token request";

impl World {
    /// Somebody wants into a terminal, or a ticket for one. `None` when it is about something else, or there is none.
    pub(super) fn at_the_door(
        &mut self,
        request: &ApiRequest,
        verb: &str,
        directory: &str,
        is_next: bool,
    ) -> Option<()> {
        let id = request.path.trim_end_matches('/').rsplit('/').nth(1).unwrap_or_default().to_owned();
        match verb {
            "pty.connectToken" => {
                if !(request.knock.asks_for_ticket && request.knock.is_at_home) {
                    let tag = if is_next { "ForbiddenError" } else { "PtyForbiddenError" };
                    let body = ReplyBody::Json(json!({"_tag": tag, "message": BAD_WISH}));
                    self.reply(request.ticket, 403, body);
                    return Some(());
                }
                if self.terminal(&id, directory, is_next).is_none() {
                    let message = format!("PTY session not found: {id}");
                    let body = json!({"_tag": "PtyNotFoundError", "ptyID": id, "message": message});
                    self.reply(request.ticket, 404, ReplyBody::Json(body));
                    return Some(());
                }
                let now_ms = self.now_ms;
                self.alongside.terminals.tickets.retain(|ticket| now_ms < ticket.until_ms);
                let word = self.ids.ticket();
                let told = json!({"ticket": word, "expires_in": GOOD_S});
                let until_ms = now_ms + GOOD_S * 1000;
                let made = DoorTicket { word, terminal: id, directory: directory.to_owned(), until_ms };
                self.alongside.terminals.tickets.push(made);
                self.tell_terminals(request.ticket, is_next, directory, told);
            }
            "pty.connect" => {
                self.terminal(&id, directory, is_next)?;
                let brought = request.query.iter().find(|(name, word)| name == "ticket" && !word.is_empty());
                let is_let_in = brought.is_none_or(|(_, word)| {
                    request.knock.is_at_home && self.takes_ticket(word, &id, directory)
                });
                let status = match (is_let_in, request.knock.upgrades) {
                    (false, _) => 403,
                    (true, false) => 400,
                    (true, true) => 101,
                };
                self.reply(request.ticket, status, ReplyBody::Empty);
            }
            _ => return None,
        }
        Some(())
    }

    /// A ticket is used up by whoever brings it.
    fn takes_ticket(&mut self, word: &str, terminal: &str, directory: &str) -> bool {
        let now_ms = self.now_ms;
        let tickets = &mut self.alongside.terminals.tickets;
        let is_good = |ticket: &DoorTicket| ticket.word == word && now_ms < ticket.until_ms;
        let Some(at) = tickets.iter().position(is_good) else { return false };
        let ticket = tickets.remove(at);
        ticket.terminal == terminal && ticket.directory == directory
    }

    /// What a program in a terminal is told by its environment, beside what all are told.
    pub(super) fn environment_of(&self, id: &str, given: &Value) -> Vec<(String, String)> {
        let server = self.profile.server.word().to_uppercase();
        let given = given.as_object().into_iter().flatten();
        let marks = ["AGENT", "OPENCODE", &server].map(|name| (name.to_owned(), "1".to_owned()));
        let mut all: Vec<(String, String)> = marks.to_vec();
        all.extend(self.config.shell.iter().map(|path| ("SHELL".to_owned(), path.clone())));
        all.extend(given.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())));
        all.push((format!("{server}_TERMINAL"), "1".to_owned()));
        if self.profile.shares_terminals {
            all.push((format!("{server}_PTY_ID"), id.to_owned()));
        }
        all
    }
}
