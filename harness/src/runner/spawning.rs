//! A server that the adapter starts by itself: what it is told to start, what is in its way, and what is left of it.

use super::ground::Ground;
use super::{NotRun, Run, Troubled, broken};
use crate::clock::within;
use crate::protocol::request::TaskStart;
use crate::protocol::{Request, ServerSpawn};
use crate::spawned::desk::Desk;
use crate::spawned::{Command, DESK};
use crate::witness::Witnessed;
use fixtures::recording::TroubleKind;
use parity_specs::case::ADAPTER_LANE;
use parity_specs::{Case, Spawn};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::TempDir;

/// A program that nobody has.
const NO_PROGRAM: &str = "no-such-server";

/// What the adapter starts.
pub(super) struct Spawned {
    pub(super) desk: Desk,
    command: Command,
    /// The program that there is, and where it is to be once the person has installed it.
    program: PathBuf,
    installed_in: Option<TempDir>,
    /// Whoever has the port that the server is told to take.
    squatter: Option<TcpListener>,
}

impl Spawned {
    /// Gets everything ready for it.
    pub(super) async fn of(spawn: &Spawn, ground: &Ground) -> Result<Self, NotRun> {
        let Ground::StandIn(world) = ground else {
            return Err(NotRun::Harness("no real server can be behind a spawned one".to_owned()));
        };
        let failed =
            |error: std::io::Error| NotRun::Harness(format!("failed to listen for servers: {error}"));
        let no_folder = |error: std::io::Error| {
            NotRun::Harness(format!("failed to make a folder for a program: {error}"))
        };
        let squatter = if spawn.port_taken {
            Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?)
        } else {
            None
        };
        let port = squatter.as_ref().and_then(|squatter| squatter.local_addr().ok());
        // Below 0 is any port; 0 is the usual one, if it is free.
        let port = port.map_or_else(|| "-1".to_owned(), |address| address.port().to_string());
        let mut command = Command::of(world.header().server, &port)?;
        let program = command.program.clone();
        let installed_in =
            if spawn.program_missing { Some(tempfile::tempdir().map_err(no_folder)?) } else { None };
        if let Some(folder) = &installed_in {
            command.program = folder.path().join(NO_PROGRAM);
        }
        let desk = Desk::open(world.clone(), ADAPTER_LANE, spawn.starts.clone()).await.map_err(failed)?;
        let in_the_way =
            Witnessed::Spawning { program: !spawn.program_missing, port_taken: spawn.port_taken };
        in_the_way.note(world.journal());
        desk.count("before").await;
        Ok(Self { desk, command, program, installed_in, squatter })
    }

    /// The person has mended what was in the way of it.
    pub(super) fn mend(&mut self, ground: &Ground) -> Result<(), Troubled> {
        if self.installed_in.is_some() {
            symlink(&self.program, &self.command.program).map_err(|error| {
                (TroubleKind::Harness, format!("failed to install the server's program: {error}"))
            })?;
        }
        self.squatter = None;
        ground.mend();
        Witnessed::Spawning { program: true, port_taken: false }.note(ground.journal());
        Ok(())
    }

    /// What the adapter is asked.
    pub(super) fn request(&self, ground: &Ground) -> Request {
        Request::ServerSpawn(ServerSpawn {
            program: self.command.program.display().to_string(),
            args: self.command.args.clone(),
            env: BTreeMap::from([(DESK.to_owned(), self.desk.address().to_owned())]),
            password_variable: format!("{}_SERVER_PASSWORD", ground.header().server.env_prefix()),
            username: ground.username().to_owned(),
            directory: ground.workspace().to_owned(),
        })
    }
}

impl Run {
    /// A start has failed, and in some cases the person wants another one. Is the server there then?
    pub(super) async fn start_again(&mut self, case: &Case) -> Result<bool, Troubled> {
        let Some(spawned) =
            self.spawned.as_mut().filter(|_| case.spawn.as_ref().is_some_and(|spawn| spawn.again))
        else {
            return Ok(false);
        };
        spawned.mend(&self.stand_in)?;
        let request = spawned.request(&self.stand_in);
        self.ask_or_be_refused(request).await
    }

    /// What the person does in the end: one more task, and good-bye.
    pub(super) async fn close(&mut self, case: &Case) -> Result<(), Troubled> {
        let Some(spawn) = &case.spawn else { return Ok(()) };
        if spawn.another_task {
            let start = TaskStart { task_id: "task-another".to_owned(), directory: None };
            self.ask_or_be_refused(Request::TaskStart(start)).await?;
        }
        if spawn.closes {
            self.ask(Request::WorkspaceClose).await?;
            self.count_left("closed").await;
        }
        Ok(())
    }

    /// Counts processes and ports, where there may be any.
    pub(super) async fn count_left(&self, when: &str) {
        if let Some(spawned) = &self.spawned {
            spawned.desk.count(when).await;
        }
    }

    /// The server ends by itself, when all that it has said has arrived.
    pub(super) async fn crash(&mut self) -> Result<(), Troubled> {
        self.ask(Request::Fence).await?;
        // Whoever looks at its server now and then is never quiet.
        let quiet = async { while !self.is_quiet().await {} };
        let _quiet = within(self.limits.settle, quiet).await;
        let limit = self.limits.step;
        match &self.spawned {
            Some(spawned) if spawned.desk.crash(limit).await => Ok(()),
            _ => Err(broken("no server of the adapter listens that could crash")),
        }
    }
}

/// A server that is to end otherwise than by a crash is not the adapter's own.
pub(super) fn only_crashes() -> Troubled {
    (
        TroubleKind::Harness,
        "a server that the adapter has started can only be killed: restart = \"kill\"".to_owned(),
    )
}
