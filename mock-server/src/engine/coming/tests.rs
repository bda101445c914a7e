//! Goal: a prompt begins after its moment, once, and in its place among what else is asked.

use super::*;
use crate::engine::Mind;
use crate::model::Script;
use crate::performer::{Audience, Performer};
use crate::profile::Profile;
use crate::workspace::Workspace;
use crate::world::WorldConfig;
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::{ServerKind, catalog};

/// Somebody with a session, who hears everything.
struct Person {
    engine: Engine,
    session: String,
    tickets: u64,
    _folder: tempfile::TempDir,
}

impl Person {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        let root = workspace.root().to_string_lossy().into_owned();
        let scenario = catalog::scenario("text/plain").unwrap();
        let config = WorldConfig {
            seed: 1,
            directory: root.clone(),
            project: "global".to_owned(),
            home: root.clone(),
            said: scenario.workspace.config.clone(),
            kept: serde_json::Map::new(),
            config: scenario.workspace.config.clone(),
            skills: Vec::new(),
            runs_shell: false,
        };
        let mind = Mind::Script(Box::new(Script::new(scenario, root)));
        let engine = Engine::new(Profile::of(ServerKind::Kilo), config, workspace, mind).with_model_pause(80);
        let mut person = Self { engine, session: String::new(), tickets: 0, _folder: folder };
        person.asks("GET", "/event", "");
        let acts = person.asks("POST", "/session", "{}");
        person.session = acts.iter().find_map(|act| reply(act)?["id"].as_str().map(str::to_owned)).unwrap();
        person
    }

    fn asks(&mut self, method: &str, path: &str, body: &'static str) -> Vec<Act> {
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
        self.engine.take(request, &|| 1000)
    }

    fn prompts(&mut self) -> Vec<Act> {
        self.asks("POST", "/session/MAIN/prompt_async", r#"{"parts":[{"type":"text","text":"say hello"}]}"#)
    }
}

fn reply(act: &Act) -> Option<serde_json::Value> {
    match act {
        Act::Reply(_, reply) => serde_json::from_slice(&reply.body).ok(),
        _ => None,
    }
}

fn woken(acts: &[Act]) -> Vec<(u64, u64)> {
    acts.iter()
        .filter_map(|act| if let Act::WakeAt(at, number) = act { Some((*at, *number)) } else { None })
        .collect()
}

fn told(acts: &[Act]) -> Vec<String> {
    let of = |act: &Act| match act {
        Act::Send(Audience { stream: StreamName::Event, .. }, frame) => Some(frame.kind.to_string()),
        _ => None,
    };
    acts.iter().filter_map(of).filter(|kind| kind != "sync").collect()
}

#[test]
fn a_prompt_begins_after_its_moment_and_once() {
    let mut person = Person::new();
    let acts = person.prompts();
    let (at, number) = woken(&acts)[0];
    assert_eq!((acts.len(), at), (1, 1080), "nothing but the wait: {acts:?}");
    let listed = person.asks("GET", "/session/MAIN/message", "");
    assert_eq!(listed.iter().find_map(reply).unwrap(), serde_json::json!([]), "who looks does not begin it");
    let begun = person.engine.wake_at(number, &|| 1080);
    assert!(told(&begun).contains(&"message.updated".to_owned()), "{begun:?}");
    assert_eq!(told(&person.engine.wake_at(number, &|| 1080)), Vec::<String>::new());
}

#[test]
fn what_may_change_something_does_not_overtake_a_prompt() {
    let mut person = Person::new();
    let (_, number) = woken(&person.prompts())[0];
    let acts = person.asks("POST", "/session/MAIN/abort", "");
    let kinds = told(&acts);
    let place = |kind: &str| kinds.iter().position(|told| told == kind);
    assert!(place("message.updated").unwrap() < place("session.error").unwrap(), "{kinds:?}");
    assert_eq!(told(&person.engine.wake_at(number, &|| 1080)), Vec::<String>::new());
}

#[test]
fn two_prompts_begin_in_the_order_in_which_they_were_sent() {
    let mut person = Person::new();
    let first = woken(&person.prompts())[0];
    let acts = person.prompts();
    assert!(told(&acts).contains(&"message.updated".to_owned()), "the first has begun: {acts:?}");
    let second = woken(&acts).into_iter().find(|(_, number)| *number > FIRST).unwrap();
    assert_ne!(first.1, second.1);
}
