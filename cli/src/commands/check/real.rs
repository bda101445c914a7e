//! `standin check --against real`: which cases the real servers can play, and where they are.

use crate::commands::Failure;
use fixtures::ServerKind;
use harness::complain;
use harness::machine::Machine;
use harness::performance::Program;
use harness::runner::only_for_the_stand_in;
use parity_specs::NamedCase;
use recorder::real_servers::{self, Release};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The cases in which nothing breaks. One that was asked for by its name and can't be played is told.
pub(super) fn playable(all: &[NamedCase], names: &[String]) -> Result<Vec<NamedCase>, Failure> {
    let mut playable = Vec::new();
    for named in all {
        match only_for_the_stand_in(named) {
            None => playable.push(named.clone()),
            Some(why) if names.contains(&named.name) => {
                return Err(Failure::Misuse(format!(
                    "{} can't be played with the real server: {why}",
                    named.name
                )));
            }
            Some(_) => {}
        }
    }
    Ok(playable)
}

/// The servers of these cases, of whatever release is installed.
pub(super) fn programs(
    cases: &[NamedCase],
    npm_dir: Option<&Path>,
) -> Result<BTreeMap<ServerKind, Program>, Failure> {
    let machine = Machine::of_this_process();
    let npm_dir = npm_dir.map_or_else(|| machine.default_npm_dir(), Path::to_path_buf);
    let mut programs = BTreeMap::new();
    for server in cases.iter().flat_map(|named| &named.case.servers) {
        if programs.contains_key(server) {
            continue;
        }
        let found = real_servers::program(*server, &npm_dir, Release::Installed, |what| complain!("{what}"));
        let program = Program {
            path: found.map_err(|error| Failure::CouldNot(error.to_string()))?,
            args: Vec::new(),
            path_env: machine.path_env.clone(),
            model_pause: Duration::ZERO,
            server_log: None,
            secrets: machine.secrets.clone(),
        };
        programs.insert(*server, program);
    }
    Ok(programs)
}
