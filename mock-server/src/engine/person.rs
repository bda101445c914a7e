//! Goal: the tests of an engine see what a person does and hears, without a socket.

use super::*;
use crate::model::Script;
use crate::options::Standing;
use crate::workspace::{GLOBAL, Project};
use crate::world::Customs;
use fixtures::{ServerKind, catalog};

/// Somebody with a session, who hears everything.
pub(super) struct Person {
    pub(super) engine: Engine,
    session: String,
    tickets: u64,
    _folder: tempfile::TempDir,
}

impl Person {
    /// In front of a server whose mind this is.
    pub(super) fn new(server: ServerKind, mind: impl FnOnce(Script) -> Mind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        let root = workspace.root().to_string_lossy().into_owned();
        let scenario = catalog::scenario("text/plain").unwrap();
        let config = WorldConfig {
            seed: 1,
            directory: root.clone(),
            project: Project::begun(GLOBAL.to_owned(), &root),
            home: root.clone(),
            said: scenario.workspace.config.clone(),
            kept: serde_json::Map::new(),
            customs: Arc::new(Customs { settings: scenario.workspace.config.clone(), ..Customs::default() }),
            cloud: None,
            runs_shell: false,
            shell: None,
            user: None,
            has_screens: false,
            standing: Standing::Alone,
            client: crate::Client::default(),
        };
        let mind = mind(Script::new(scenario, root));
        let pages = Pages { release: None, exhibits: Exhibits::of(server, &config) };
        let engine = Engine::new(Profile::of(server), config, workspace, mind).with_pages(pages);
        let mut person = Self { engine, session: String::new(), tickets: 0, _folder: folder };
        person.asks("GET", "/event", "");
        let acts = person.asks("POST", "/session", "{}");
        person.session = acts.iter().find_map(|act| reply(act)?["id"].as_str().map(str::to_owned)).unwrap();
        person
    }

    pub(super) fn asks(&mut self, method: &str, path: &str, body: &'static str) -> Vec<Act> {
        self.asks_at(1000, method, path, body)
    }

    pub(super) fn asks_at(&mut self, now_ms: u64, method: &str, path: &str, body: &'static str) -> Vec<Act> {
        self.tickets += 1;
        let body = Bytes::from_static(body.as_bytes());
        let path = path.replace("MAIN", &self.session);
        let request = ApiRequest {
            ticket: self.tickets,
            method: method.to_owned(),
            path,
            body,
            ..ApiRequest::default()
        };
        self.engine.take(request, &|| now_ms)
    }

    pub(super) fn prompts(&mut self) -> Vec<Act> {
        self.asks("POST", "/session/MAIN/prompt_async", r#"{"parts":[{"type":"text","text":"say hello"}]}"#)
    }
}

pub(super) fn reply(act: &Act) -> Option<serde_json::Value> {
    match act {
        Act::Reply(_, reply) => serde_json::from_slice(&reply.body).ok(),
        _ => None,
    }
}

pub(super) fn woken(acts: &[Act]) -> Vec<(u64, u64)> {
    acts.iter()
        .filter_map(|act| if let Act::WakeAt(at, number) = act { Some((*at, *number)) } else { None })
        .collect()
}

pub(super) fn told(acts: &[Act]) -> Vec<String> {
    let of = |act: &Act| match act {
        Act::Send(Audience { stream: StreamName::Event, .. }, frame) => Some(frame.kind.to_string()),
        _ => None,
    };
    acts.iter().filter_map(of).filter(|kind| kind != "sync").collect()
}
