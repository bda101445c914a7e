//! What a server says about itself when nothing has happened yet: its agents, commands, skills, tools, providers. The
//! world has no state for these reads, so they are answered as they were recorded (`server/about-itself`), with the
//! folders of this stand-in in place of the recorded ones.

mod next;
mod own_models;

use crate::doc::Operations;
use crate::performer::WireReply;
use crate::project_files::{NextFiles, ProjectFiles, merge_settings};
use crate::providers::{Access, Providers};
use crate::world::{ApiRequest, Overlay, Skill, WorldConfig, configured, in_use, whole};
use bytes::Bytes;
use fixtures::recording::{Line, Recording};
use fixtures::{ServerKind, catalog};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// The recordings that have them.
const SCENARIOS: &[&str] = &["server/about-itself", "server/catalogues"];
/// Lists whose members can be asked for one by one.
const LISTS: &[&str] = &["/api/integration", "/api/provider"];
/// Parameters that say where, not what.
const PLACES: &[&str] =
    &["directory", "workspace", "auth_token", "location[directory]", "location[workspace]"];

/// What the recorded settings say of the scripted model.
const OF_THE_MODEL: &[&str] = &["model", "small_model", "provider"];

/// Status, content type and body, by path and query.
type Answers = HashMap<String, (u16, Option<String>, String)>;

/// Recorded answers; they are read when the first of them is asked for.
#[derive(Debug, Clone, Default)]
pub struct Exhibits {
    of: Option<Arc<(ServerKind, WorldConfig)>>,
    answers: Arc<OnceLock<Answers>>,
    /// Those of other folders, by what the files about them said when they were read. Who has nothing of its own shares
    /// what the server's own folder had then.
    abroad: BTreeMap<String, Exhibits>,
}

impl Exhibits {
    /// Those of a release, as they are in the place of a stand-in.
    #[must_use]
    pub fn of(server: ServerKind, config: &WorldConfig) -> Self {
        Self { of: Some(Arc::new((server, config.clone()))), ..Self::default() }
    }

    /// The files about a folder say this now.
    pub(crate) fn learn(&mut self, directory: &str, files: &ProjectFiles) {
        let Some((server, config)) = self.of.as_deref() else { return };
        let customs = config.customs_by(files);
        let is_own = config.directory == directory;
        let (of, answers) = match config.customs.is_as(&customs) {
            true if is_own => return,
            true => (self.of.clone(), Arc::clone(&self.answers)),
            false => {
                let config = WorldConfig { customs: Arc::new(customs), ..config.clone() };
                (Some(Arc::new((*server, config))), Arc::default())
            }
        };
        if is_own {
            (self.of, self.answers) = (of, answers);
        } else {
            self.abroad.insert(directory.to_owned(), Self { of, answers, ..Self::default() });
        }
    }

    /// What is told in a folder.
    pub(crate) fn within(&self, directory: &str) -> &Self {
        self.abroad.get(directory).unwrap_or(self)
    }

    fn read(&self) -> Answers {
        let Some((server, config)) = self.of.as_deref() else { return Answers::new() };
        let release = server.release();
        let recordings = SCENARIOS.iter().filter_map(|name| catalog::recording(&release, name).ok());
        let mut answers = Answers::new();
        recordings.for_each(|recording| read_answers(&recording, config, &mut answers));
        configure(&mut answers, config, *server);
        own_models::add(&mut answers, config, *server);
        add_skills(&mut answers, config, *server);
        fit_tools(&mut answers, config, *server);
        answers
    }

    /// The settings of the server's own screen that it comes with.
    pub(crate) fn tui_settings(&self) -> Map<String, Value> {
        let answers = self.answers.get_or_init(|| self.read());
        let recorded = answers.get(&key("/tui/config", &[]));
        recorded.and_then(|(_, _, body)| serde_json::from_str(body).ok()).unwrap_or_default()
    }

    /// The answer to a read that the world can't answer, in a folder.
    pub(crate) fn answer_in(&self, request: &ApiRequest, directory: &str) -> Option<WireReply> {
        let mut reply = self.answer(request)?;
        let root = self.of.as_deref().map_or(directory, |(_, config)| config.directory.as_str());
        let is_below = directory.strip_prefix(root).is_some_and(|below| below.starts_with('/'));
        if request.path.starts_with("/api/") && is_below {
            let mut told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            next::place(&mut told, root, directory);
            reply.body = Bytes::from(told.to_string());
        }
        Some(reply)
    }

    /// The same for the whole place.
    pub(crate) fn answer(&self, request: &ApiRequest) -> Option<WireReply> {
        if request.method != "GET" {
            return None;
        }
        let answers = self.answers.get_or_init(|| self.read());
        // What a query says that nobody knows makes no difference.
        let known = answers
            .get(&key(&request.path, &request.query))
            .or_else(|| answers.get(&key(&request.path, &[])));
        if let Some((status, kind, body)) = known {
            return Some(WireReply::new(*status, kind.clone(), Bytes::from(body.clone())));
        }
        let (list, id) = LISTS.iter().find_map(|list| {
            let id = request.path.strip_prefix(list)?.strip_prefix('/')?;
            Some((list, id.replace("%2F", "/"))).filter(|_| !id.contains('/'))
        })?;
        let (_, kind, body) = answers.get(*list)?;
        let mut told: Value = serde_json::from_str(body).unwrap_or_default();
        let members = told["data"].take();
        let member = members.as_array().into_iter().flatten().find(|member| member["id"] == id);
        told["data"] = member.cloned().unwrap_or_default();
        let mut status = 200;
        // Of an integration that there is not, nothing is told; a provider is missed.
        if told["data"].is_null() && list.ends_with("/provider") {
            let message = format!("Provider not found: {id}");
            told = json!({"_tag": "ProviderNotFoundError", "providerID": id, "message": message});
            status = 404;
        }
        Some(WireReply::new(status, kind.clone(), Bytes::from(told.to_string())))
    }
}

impl Exhibits {
    /// Adds what a model is told of these tools, as far as the release has them and nothing is said of them yet.
    pub(crate) fn define(&self, tools: &[String], definitions: &mut Map<String, Value>) {
        let answers = self.answers.get_or_init(|| self.read());
        let query = ["provider", "model"].map(|name| (name.to_owned(), "fake".to_owned()));
        let Some((_, _, body)) = answers.get(&key("/experimental/tool", &query)) else { return };
        let known: Vec<Value> = serde_json::from_str(body).unwrap_or_default();
        for tool in known {
            let Some(name) = tool["id"].as_str().filter(|id| tools.iter().any(|tool| tool == id)) else {
                continue;
            };
            let told = || json!({"description": tool["description"], "parameters": tool["parameters"]});
            definitions.entry(name.to_owned()).or_insert_with(told);
        }
    }

    /// A list of the next generation as it is in a folder, with what files say; empty where nothing was recorded.
    pub(crate) fn next_list(&self, request: &ApiRequest, directory: &str, files: &NextFiles) -> WireReply {
        let mut reply = self.answer(request).unwrap_or_else(|| WireReply::new(200, None, Bytes::new()));
        let recorded = String::from_utf8_lossy(&reply.body).into_owned();
        let root = self.of.as_deref().map_or("", |(_, config)| config.directory.as_str());
        if let Some(told) = next::told(&request.path, &recorded, (root, directory), files) {
            reply.body = Bytes::from(told);
        }
        reply
    }

    /// Where settings come from: the recorded places, with those in the project before what the environment says.
    pub(crate) fn sources(
        &self,
        request: &ApiRequest,
        global: Option<&str>,
        project: Vec<Value>,
    ) -> WireReply {
        let mut reply = self.answer(request).unwrap_or_else(|| WireReply::new(200, None, Bytes::new()));
        let mut told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let Some(list) = told["sources"].as_array_mut() else { return reply };
        let is_global = |one: &Value| one["kind"] == "global-file";
        for one in list.iter_mut().filter(|one| is_global(one) && one["path"].as_str() == global) {
            one["exists"] = json!(true);
        }
        let at = list.iter().take_while(|one| is_global(one)).count();
        list.splice(at..at, project);
        for (order, one) in list.iter_mut().enumerate() {
            let Some(fields) = one.as_object_mut() else { continue };
            fields.shift_remove("order");
            fields.shift_insert(0, "order".to_owned(), json!(order));
        }
        reply.body = Bytes::from(told.to_string());
        reply
    }

    /// Settings with where each comes from.
    pub(crate) fn overlay(&self, told: Overlay) -> WireReply {
        let request = |path: &str| ApiRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: Vec::new(),
            ..told.request.clone()
        };
        let value = |reply: &WireReply| serde_json::from_slice::<Value>(&reply.body).unwrap_or_default();
        let plain = || WireReply::new(200, Some("application/json".to_owned()), Bytes::new());
        let mut reply = self.answer(&request("/config/overlay")).unwrap_or_else(plain);
        let effective = self.configured(&request("/config"), &told.over);
        let effective = effective.as_ref().map(value).unwrap_or_else(|| json!(told.over));
        let file_of_all = told.file_of_all.as_deref();
        let mut sources = value(&self.sources(&request("/config/sources"), file_of_all, told.places.clone()));
        let whole = told.whole(&value(&reply), effective, sources["sources"].take());
        reply.body = Bytes::from(whole.to_string());
        reply
    }

    /// The recorded configuration, with what clients have set.
    pub(crate) fn configured(&self, request: &ApiRequest, over: &Map<String, Value>) -> Option<WireReply> {
        let mut reply = self.answer(request)?;
        let recorded = serde_json::from_slice(&reply.body).unwrap_or_default();
        reply.body = Bytes::from(Value::Object(configured(recorded, over)).to_string());
        Some(reply)
    }

    /// The providers that can be used, or all: those without a key as they were recorded.
    pub(crate) fn providers(&self, access: &Access, all: bool, by_key: bool) -> String {
        let answers = self.answers.get_or_init(|| self.read());
        let plain = answers.get("/config/providers").map(|(_, _, body)| body.as_str()).unwrap_or_default();
        let as_value = || serde_json::from_str(plain).unwrap_or_default();
        // The long list is opened for who needs it.
        match self.of.as_deref() {
            Some((server, _)) if all => Providers::of(*server).listed(as_value(), access, by_key),
            Some((server, _)) if *access != Access::default() => {
                Providers::of(*server).configured(as_value(), access)
            }
            _ if plain.is_empty() => Value::Null.to_string(),
            _ => plain.to_owned(),
        }
    }
}

/// Tools are told as the client gets them that has started the server.
fn fit_tools(answers: &mut Answers, config: &WorldConfig, server: ServerKind) {
    let lists = answers.iter_mut().filter(|(key, _)| key.starts_with("/experimental/tool"));
    for (_, (_, _, body)) in lists {
        let Ok(Value::Array(mut tools)) = serde_json::from_str(body) else { continue };
        config.client.fit(server, &mut tools);
        *body = Value::Array(tools).to_string();
    }
}

/// What a recorded server answered to reads.
fn read_answers(recording: &Recording, config: &WorldConfig, answers: &mut Answers) {
    let moves = Moves::of(recording, config);
    let mut asked: HashMap<u64, String> = HashMap::new();
    for line in &recording.lines {
        match line {
            Line::Request(request) if request.method == "GET" => {
                let query = crate::http::decode_query(&request.query);
                asked.insert(request.exchange, key(&request.path, &query));
            }
            Line::Response(response) => {
                let Some(key) = asked.remove(&response.exchange).filter(|_| response.status == 200) else {
                    continue;
                };
                let kind =
                    response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
                let kind = kind.map(|(_, kind)| kind.clone());
                let body = moves.moved(&String::from_utf8_lossy(&response.body.to_bytes()));
                answers.entry(key).or_insert((response.status, kind, body));
            }
            _ => {}
        }
    }
}

/// The recorded configuration, with that of the scenario over it; what it says of the model only if nothing else does.
fn configure(answers: &mut Answers, config: &WorldConfig, server: ServerKind) {
    for path in ["/config", "/config/effective"] {
        if let Some((_, _, body)) = answers.get_mut(path)
            && let Ok(Value::Object(mut all)) = serde_json::from_str(body)
        {
            if let Some(user) = &config.user {
                all.insert("username".to_owned(), json!(user));
            }
            if config.customs.brings_model {
                all.retain(|key, _| !OF_THE_MODEL.contains(&key.as_str()));
            }
            let said = Value::Object(in_use(whole(config.customs.settings.clone(), server)));
            let Value::Object(mut said) = Operations::of(server).known_settings(said) else {
                continue;
            };
            let agents = said.get_mut("agent").and_then(Value::as_object_mut).into_iter().flatten();
            for (_, agent) in agents.filter(|(_, agent)| agent["options"].is_null()) {
                agent.as_object_mut().map(|agent| agent.shift_remove("options"));
            }
            // The provider of the recorded server is the scenario's, too.
            if let (Some(known), Some(provider)) = (all.get("provider"), said.get_mut("provider")) {
                let mut both = Map::from_iter([("provider".to_owned(), known.clone())]);
                merge_settings(&mut both, &json!({"provider": provider.take()}));
                *provider = both.remove("provider").unwrap_or_default();
            }
            all.extend(said);
            *body = Value::Object(all).to_string();
        }
    }
}

/// The skills of the workspace, behind those of the release.
fn add_skills(answers: &mut Answers, config: &WorldConfig, server: ServerKind) {
    let Some((_, _, body)) = answers.get_mut("/skill") else { return };
    let mut known: Vec<Value> = serde_json::from_str(body).unwrap_or_default();
    for Skill { name, description, location, content, .. } in &config.customs.skills {
        let mut told = json!({"name": name});
        told["description"] = json!(description);
        told["location"] = json!(location);
        told["content"] = json!(content);
        if server == ServerKind::Kilo {
            told["trusted"] = json!(config.trusts(location));
        }
        match known.iter_mut().find(|known| known["name"] == name.as_str()) {
            Some(known) => *known = told,
            None => known.push(told),
        }
    }
    *body = Value::from(known).to_string();
}

fn key(path: &str, query: &[(String, String)]) -> String {
    let mut key = format!("/{}", path.trim_matches('/'));
    for (name, value) in query.iter().filter(|(name, _)| !PLACES.contains(&name.as_str())) {
        let mark = if key.contains('?') { '&' } else { '?' };
        key = format!("{key}{mark}{name}={value}");
    }
    key
}

/// What stands in place of what was recorded.
struct Moves(Vec<(String, String)>);

impl Moves {
    fn of(recording: &Recording, config: &WorldConfig) -> Self {
        let mut moves = vec![(recording.header.workspace.clone(), config.directory.clone())];
        let bodies = recording.lines.iter().filter_map(|line| match line {
            Line::Response(response) => response.body.json(),
            _ => None,
        });
        for body in bodies {
            if let Some(home) = body["home"].as_str() {
                moves.push((home.to_owned(), config.home.clone()));
            }
            if let Some(project) = body["projectID"].as_str() {
                moves.push((project.to_owned(), config.project.id.clone()));
            }
        }
        moves.dedup();
        Self(moves)
    }

    fn moved(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}
