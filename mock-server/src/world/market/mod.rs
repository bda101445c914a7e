//! Kilo's marketplace: which tool servers, agents and skills are installed in a project and in the home, and how a client puts
//! one there or takes it away. The catalogue lies in a cloud that is never reached.

mod agent_text;
mod tool_server;
mod yaml;

use super::config::{SettingsFile, merge};
use super::folders::within;
use super::routes::body_of;
use super::surroundings::{Browsed, PlaceAsk, PlaceWish};
use super::{ApiRequest, World};
use crate::project_files::read_settings;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// What the real server says of its catalogue where there is no network.
const UNREACHED: &str = "Unable to connect. Is the computer able to access the url?";
/// The parts of the catalogue.
const PARTS: [&str; 3] = ["agents", "mcps", "skills"];

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test compiles it")]
static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[\w\-@.]+$").unwrap());
#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test compiles it")]
static DEVICE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)").unwrap());

/// What is wanted of the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketWish {
    /// Which agents have a file of their own in these folders.
    Agents([String; 2]),
    /// Write the file of an agent, unless there is one.
    Agent {
        /// Absolute.
        path: String,
        /// The text.
        content: String,
    },
    /// Unpack a skill, unless there is one.
    Skill {
        /// The folder of all skills, absolute.
        folder: String,
        /// Its name.
        id: String,
        /// Where the archive lies: an address, or one that holds it.
        address: String,
    },
    /// Take a file or a folder away.
    Remove(String),
}

impl MarketWish {
    /// The place that it is about.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Agents([first, _]) => first,
            Self::Agent { path, .. } | Self::Remove(path) => path,
            Self::Skill { folder, .. } => folder,
        }
    }
}

/// What the disk says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketFound {
    /// The names of the agents, by folder.
    Agents([Vec<String>; 2]),
    /// It is done; the file that was made.
    Done(Option<String>),
    /// It is not, and why.
    Not(String),
}

/// A client waits for what the disk says.
#[derive(Debug)]
pub(super) struct MarketAsk {
    request: ApiRequest,
    target: SettingsFile,
    item: Item,
}

/// What a client names, and where.
#[derive(Debug, Clone)]
struct Item {
    kind: String,
    id: String,
    is_global: bool,
}

impl Item {
    fn of(body: &Value) -> Self {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let item = &body["item"];
        let place = if body["scope"].is_string() { &body["scope"] } else { &body["target"] };
        Self { kind: word(&item["type"]), id: word(&item["id"]), is_global: place == "global" }
    }

    /// A name that is one on every system, and leads nowhere.
    fn has_name(&self) -> bool {
        let id = self.id.as_str();
        !id.contains("..") && !id.ends_with('.') && NAME.is_match(id) && !DEVICE.is_match(id)
    }

    fn done(&self) -> Value {
        json!({"success": true, "slug": self.id})
    }
}

impl World {
    /// `/kilocode/marketplace…`. `None` when it is about something else.
    pub(super) fn about_market(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        operation.starts_with("kilocode.marketplace.").then(|| self.look_for_market(request))
    }

    /// It is known which file of settings the project has, and what it says.
    pub(super) fn market_settings_found(&mut self, request: ApiRequest, path: String, browsed: Browsed) {
        let target = SettingsFile { directory: self.directory_of(&request), path, browsed };
        let item = Item::of(&body_of(&request));
        match request.path.rsplit('/').next() {
            Some("install") => self.install(MarketAsk { request, target, item }),
            Some("remove") => self.uninstall(MarketAsk { request, target, item }),
            _ => {
                let folders = [false, true].map(|is_global| self.agents_at(&target.directory, is_global));
                self.ask_market(MarketAsk { request, target, item }, MarketWish::Agents(folders));
            }
        }
    }

    fn install(&mut self, ask: MarketAsk) {
        let body = body_of(&ask.request);
        let content = &body["item"]["content"];
        let item = &ask.item;
        match item.kind.as_str() {
            "mcp" if self.settings_at(&ask)["mcp"].get(&item.id).is_some_and(is_something) => {
                self.keeps_out(&ask, "MCP server already installed. Remove it first.");
            }
            "mcp" => match tool_server::settings(content, &body["parameters"]) {
                Ok(Some(server)) => self.set(ask, "mcp", server),
                Ok(None) => self.keeps_out(&ask, "No installation content for MCP server"),
                Err(why) => self.keeps_out(&ask, &format!("Invalid MCP config: {why}")),
            },
            "skill" if content == "" => self.keeps_out(&ask, "Skill has no tarball URL"),
            kind if !item.has_name() => self.keeps_out(&ask, &format!("Invalid {kind} id")),
            "agent" => {
                let folder = self.agents_at(&ask.target.directory, item.is_global);
                let path = format!("{folder}/{}.md", item.id);
                self.ask_market(ask, MarketWish::Agent { path, content: agent_text::written(content) });
            }
            _ => {
                let folder = self.skills_at(&ask.target.directory, item.is_global);
                let address = content.as_str().unwrap_or_default().to_owned();
                let wish = MarketWish::Skill { folder, id: item.id.clone(), address };
                self.ask_market(ask, wish);
            }
        }
    }

    fn uninstall(&mut self, ask: MarketAsk) {
        let item = &ask.item;
        let path = match item.kind.as_str() {
            "mcp" if self.settings_at(&ask)["mcp"].get(&item.id).is_some_and(is_something) => {
                return self.set(ask, "mcp", Value::Null);
            }
            "mcp" => {
                let told = item.done();
                return self.has_moved(&ask, told);
            }
            kind if !item.has_name() => return self.keeps_out(&ask, &format!("Invalid {kind} id")),
            "agent" => format!("{}/{}.md", self.agents_at(&ask.target.directory, item.is_global), item.id),
            _ => format!("{}/{}", self.skills_at(&ask.target.directory, item.is_global), item.id),
        };
        self.ask_market(ask, MarketWish::Remove(path));
    }

    fn ask_market(&mut self, ask: MarketAsk, wish: MarketWish) {
        self.ask_place(PlaceAsk::Market(Box::new(ask)), PlaceWish::Market(wish));
    }

    /// The disk has answered.
    pub(super) fn market_told(&mut self, ask: MarketAsk, found: MarketFound) {
        match found {
            MarketFound::Agents(agents) => self.list_installed(&ask, &agents),
            MarketFound::Not(why) => self.keeps_out(&ask, &why),
            MarketFound::Done(file) => {
                let mut told = ask.item.done();
                if let Some(path) = file {
                    told["filePath"] = json!(path);
                    told["line"] = json!(1);
                }
                // What the settings say of an agent would stand beside its file.
                let is_said = self.settings_at(&ask)["agent"].get(&ask.item.id).is_some_and(is_something);
                match is_said && ask.item.kind == "agent" {
                    true => self.set_telling(ask, "agent", Value::Null, told),
                    false => self.has_moved(&ask, told),
                }
            }
        }
    }

    /// `GET /kilocode/marketplace`.
    fn list_installed(&mut self, ask: &MarketAsk, agents: &[Vec<String>; 2]) {
        let inside =
            |location: &str| within(location, &ask.target.directory).is_some_and(|rest| !rest.is_empty());
        let skills: Vec<(String, bool)> = self
            .all_skills(&ask.target.directory)
            .into_iter()
            .map(|skill| (skill.name, inside(&skill.location)))
            .collect();
        let shelf = |is_global: bool, agents: &[String]| {
            let said = self.settings_of_market(&ask.target, is_global);
            let names = |list: &str| said[list].as_object().into_iter().flat_map(Map::keys).cloned();
            let mut all = Map::new();
            let mut put = |kind: &str, name: &str| {
                all.insert(format!("{kind}:{name}"), json!({"type": kind}));
            };
            agents.iter().for_each(|name| put("agent", name));
            names("mcp").for_each(|name| put("mcp", &name));
            names("agent").for_each(|name| put("agent", &name));
            let own = skills.iter().filter(|(_, is_inside)| *is_inside != is_global);
            own.for_each(|(name, _)| put("skill", name));
            all
        };
        let [of_project, of_all] = agents;
        let told = json!({
            "items": [],
            "installed": {"project": shelf(false, of_project), "global": shelf(true, of_all)},
            "errors": PARTS.map(|part| format!("Failed to fetch {part}: {UNREACHED}")),
        });
        self.reply_json(ask.request.ticket, told);
    }

    /// What stands in the settings that are meant.
    fn settings_at(&self, ask: &MarketAsk) -> Value {
        self.settings_of_market(&ask.target, ask.item.is_global)
    }

    fn settings_of_market(&self, target: &SettingsFile, is_global: bool) -> Value {
        if is_global {
            return Value::Object(self.global_settings());
        }
        match &target.browsed {
            Browsed::File(bytes) => read_settings(&String::from_utf8_lossy(bytes)).unwrap_or_default(),
            _ => Value::Null,
        }
    }

    fn agents_at(&self, directory: &str, is_global: bool) -> String {
        match is_global {
            true => format!("{}/.config/{}/agents", self.config.home, self.profile.server.word()),
            false => format!("{directory}/.kilo/agents"),
        }
    }

    fn skills_at(&self, directory: &str, is_global: bool) -> String {
        let above = if is_global { self.config.home.as_str() } else { directory };
        format!("{above}/.kilo/skills")
    }

    fn set(&mut self, ask: MarketAsk, list: &str, value: Value) {
        let told = ask.item.done();
        self.set_telling(ask, list, value, told);
    }

    /// Something is said of the item in the settings, and not any more where it is null.
    fn set_telling(&mut self, ask: MarketAsk, list: &str, value: Value, told: Value) {
        let patch = Map::from_iter([(list.to_owned(), json!({ask.item.id.as_str(): value.clone()}))]);
        if !ask.item.is_global {
            return self.change_setting(ask.request.ticket, ask.target, patch, told);
        }
        let mut all = self.global_settings();
        merge(&mut all, &Value::Object(patch));
        if value.is_null()
            && let Some(list) = all.get_mut(list).and_then(Value::as_object_mut)
        {
            list.shift_remove(&ask.item.id);
        }
        self.set_global(&Value::Object(all).to_string());
        self.emit_global("global.config.updated", json!({"sandbox": false}));
        self.has_moved(&ask, told);
    }

    fn has_moved(&mut self, ask: &MarketAsk, told: Value) {
        self.reply_json(ask.request.ticket, told);
        self.dispose(&ask.target.directory);
    }

    fn keeps_out(&mut self, ask: &MarketAsk, why: &str) {
        self.reply_json(ask.request.ticket, json!({"success": false, "slug": ask.item.id, "error": why}));
    }
}

/// What counts as something in the servers' language.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_on_every_system() {
        let item = |id: &str| Item { kind: "skill".to_owned(), id: id.to_owned(), is_global: false };
        for id in ["a", "a-b_c.d@1", "console"] {
            assert!(item(id).has_name(), "{id}");
        }
        for id in ["", ".", "..", "a/b", "a\\b", "a b", "a.", "con", "NUL.txt", "a..b"] {
            assert!(!item(id).has_name(), "{id}");
        }
    }
}
