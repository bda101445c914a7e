//! Who works for a release, and which commands it comes with: as its recording `server/about-itself` tells, with the
//! folder of a session in place of the recorded one.

use fixtures::ServerKind;
use fixtures::catalog;
use fixtures::recording::Line;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The recording that tells.
const SCENARIO: &str = "server/about-itself";

/// The agents and commands of a release.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// The folder in which they were recorded; templates name it.
    pub(crate) workspace: String,
    /// The home that they were recorded with; rules name it.
    pub(crate) home: String,
    /// As `/agent` lists them.
    pub(crate) agents: Vec<Value>,
    /// As `/api/agent` lists them.
    pub(crate) agents_next: Vec<Value>,
    /// As `/command` lists them.
    pub(crate) commands: Vec<Value>,
    /// As `/skill` lists them.
    pub(crate) skills: Vec<Value>,
}

impl Roster {
    /// That of a release; it is read when it is first needed.
    pub(crate) fn of(server: ServerKind) -> &'static Self {
        static KILO: OnceLock<Roster> = OnceLock::new();
        static OPENCODE: OnceLock<Roster> = OnceLock::new();
        let of_server = match server {
            ServerKind::Kilo => &KILO,
            ServerKind::Opencode => &OPENCODE,
        };
        of_server.get_or_init(|| Self::read(server).unwrap_or_default())
    }

    fn read(server: ServerKind) -> Option<Self> {
        let recording = catalog::recording(&server.release(), SCENARIO).ok()?;
        let mut roster = Self { workspace: recording.header.workspace.clone(), ..Self::default() };
        let mut asked: HashMap<u64, &str> = HashMap::new();
        for line in &recording.lines {
            match line {
                Line::Request(request) if request.method == "GET" => {
                    asked.insert(request.exchange, request.path.as_str());
                }
                Line::Response(response) => {
                    let list = match asked.get(&response.exchange) {
                        Some(&"/agent") => &mut roster.agents,
                        Some(&"/command") => &mut roster.commands,
                        Some(&"/skill") => &mut roster.skills,
                        Some(&"/api/agent") => {
                            if let Some(Value::Array(told)) =
                                response.body.json().map(|mut told| told["data"].take())
                            {
                                roster.agents_next = told;
                            }
                            continue;
                        }
                        Some(&"/path") => {
                            let told = response.body.json().unwrap_or_default();
                            roster.home = told["home"].as_str().unwrap_or_default().to_owned();
                            continue;
                        }
                        _ => continue,
                    };
                    if let Some(Value::Array(told)) = response.body.json() {
                        *list = told;
                    }
                }
                _ => {}
            }
        }
        Some(roster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_knows_its_agents_and_commands() {
        for (server, agent) in [(ServerKind::Kilo, "code"), (ServerKind::Opencode, "build")] {
            let roster = Roster::of(server);
            let names = |list: &[Value]| -> Vec<String> {
                list.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect()
            };
            assert!(names(&roster.agents).contains(&agent.to_owned()));
            assert!(names(&roster.commands).contains(&"init".to_owned()));
            assert!(roster.workspace.starts_with('/') && roster.home.starts_with('/'));
        }
    }
}
