//! `/tui/config`: the settings of Kilo's own screen. They lie in files of their own, which are read each time.

use super::routes::body_of;
use super::surroundings::PlaceAsk;
use super::{ApiRequest, Effect, Purpose, ReplyBody, Ticket, World};
use serde_json::{Map, Value, json};

/// What is wanted of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TuiWish {
    /// The folder that is meant.
    pub directory: String,
    /// The settings of all projects are changed.
    pub is_global: bool,
    /// What is changed.
    pub change: Option<Map<String, Value>>,
}

/// What the files say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TuiFound {
    /// All that holds now.
    Settings(Value),
    /// Why nothing was changed.
    Not(Value),
}

/// A client waits for it.
#[derive(Debug)]
pub(super) struct TuiAsk {
    ticket: Ticket,
    changes: bool,
}

impl World {
    /// `None` when it is about something else.
    pub(super) fn about_tui_settings(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let change = match operation {
            "tui.config.get" => None,
            "tui.config.update" => match self.operations.known_body(operation, body_of(request)) {
                Value::Object(change) => Some(change),
                _ => Some(Map::new()),
            },
            _ => return None,
        };
        let is_global = request.query.iter().any(|(name, word)| name == "scope" && word == "global");
        let ask = TuiAsk { ticket: request.ticket, changes: change.is_some() };
        let wish = TuiWish { directory: self.directory_of(request), is_global, change };
        self.effect(Purpose::Place(Box::new(PlaceAsk::Tui(ask))), Effect::Tui(wish));
        Some(())
    }

    /// The files have been read.
    pub(super) fn tui_settings_told(&mut self, ask: &TuiAsk, found: TuiFound) {
        match found {
            TuiFound::Settings(told) => {
                if ask.changes {
                    self.emit_global("global.config.updated", json!({}));
                }
                self.reply_json(ask.ticket, told);
            }
            TuiFound::Not(why) => self.reply(ask.ticket, 400, ReplyBody::Json(why)),
        }
    }
}
