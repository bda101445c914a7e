//! The server's life, when the adapter starts it: started, asked how it is, used; ended by itself and started again, until
//! that is too often; ended with the workspace.

use super::call::Call;
use super::channel::Phase;
use super::core::Core;
use super::ending::Leaving;
use super::io::{Output, Timer};
use super::strategy::life::Health;
use crate::protocol::{
    Connect, ConnectionState, Id, LogLevel, RpcError, ServerReason, ServerSpawn, ServerState, Update,
};
use std::collections::BTreeSet;

/// So often a server is asked how it is that is not well, and after which wait (unscaled).
const HEALTH_TRIES: u32 = 3;
const HEALTH_AGAIN_MS: u64 = 250;
/// Before a server that has ended by itself is started again (unscaled), doubled for each time.
const AGAIN_AFTER_MS: u64 = 250;
/// How the answer to `GET /global/health` begins that a server gives at its door.
const READY: &str = " server listening on ";

/// What is known of the server.
#[derive(Debug, Default)]
pub(super) struct Life {
    pub(super) spawn: Option<ServerSpawn>,
    /// The start that counts, from 1; news of an older one is stale.
    pub(super) start: u64,
    pub(super) at: At,
    password: String,
    /// When it has to be ready.
    due_ms: Option<u64>,
    /// It has been ready once.
    has_been_ready: bool,
    /// A line that looked like the one that it listens, and was none.
    said_strange: bool,
    /// When it ended by itself, lately.
    crashes: Vec<u64>,
    /// It ended too often.
    disabled: bool,
    /// Why the last start has failed, if it has.
    failed: Option<ServerReason>,
    /// What is still to end.
    pub(super) leaving: Leaving,
}

/// How far it is.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// There is none.
    #[default]
    Nowhere,
    /// It was started.
    Starting,
    /// It listens, and was asked how it is, so many times.
    Asked(u32),
    /// It is used.
    Up,
    /// It is being ended.
    Ending,
}

impl Core {
    pub(super) fn server_spawn(&mut self, id: Id, spawn: ServerSpawn) {
        let failed = self.life.failed;
        let is_free = match failed {
            Some(reason) => self.strategies.life.starts_after(reason),
            None => self.life.spawn.is_none(),
        };
        if !is_free || self.server.is_some() || self.life.at != At::Nowhere {
            return self.fail(id, RpcError::failed("there is a server already"));
        }
        self.connecting = Some(id);
        let args = self.strategies.life.words(spawn.args);
        self.life.spawn = Some(ServerSpawn { args, ..spawn });
        self.start_server();
    }

    fn start_server(&mut self) {
        let Some(spawn) = self.life.spawn.clone() else { return };
        self.life.start += 1;
        self.life.at = At::Starting;
        self.life.said_strange = false;
        let start = self.life.start;
        self.show_server(ServerState::Starting, None, None);
        self.order_when_alone(start, spawn);
        let limit = self.strategies.life.start_limit_ms(self.time_scale);
        self.life.due_ms = limit.map(|limit| self.now_ms + limit);
        if let Some(limit) = limit {
            self.start_timer(Timer::Start(start), limit);
        }
    }

    pub(super) fn order_server(&mut self, start: u64, spawn: ServerSpawn) {
        let living = &self.strategies.life;
        let (fresh_password, whole_group) =
            (living.changes_password() || start == 1, living.ends_whole_group());
        let (spawn, grace_ms) = (Box::new(spawn), self.scaled(5000).max(500));
        self.out.push(Output::StartServer { start, spawn, fresh_password, whole_group, grace_ms });
    }

    /// A task is started, and there are `others`: they share the server, unless this client thinks otherwise.
    pub(super) fn server_for_task(&mut self, others: usize) {
        if let Some(spawn) = self.life.spawn.clone()
            && self.strategies.life.one_for_each_task()
        {
            // Far from the starts that count.
            self.order_server(u64::MAX - others as u64, spawn);
        }
    }

    /// It was started, with this password.
    pub(super) fn server_started(&mut self, start: u64, password: String) {
        if start == self.life.start {
            self.life.password = password;
        }
    }

    pub(super) fn server_not_started(&mut self, start: u64, why: &str) {
        if start == self.life.start {
            self.life.at = At::Nowhere;
            let program = self.life.spawn.as_ref().map_or("", |spawn| spawn.program.as_str());
            let program = program.rsplit('/').next().unwrap_or(program);
            let what = format!("the server {program} can't be started ({why}): is it installed?");
            self.start_failed(ServerReason::NoProgram, &what);
        }
    }

    /// A line of its standard output.
    pub(super) fn server_said(&mut self, start: u64, line: &str) {
        if start != self.life.start || self.life.at != At::Starting {
            return;
        }
        let Some((_, address)) = line.split_once(READY) else { return };
        let port = address.trim().strip_prefix("http://").and_then(|address| address.rsplit(':').next());
        let port =
            port.and_then(|port| port.trim_end_matches('/').parse::<u16>().ok()).filter(|port| *port > 0);
        let (Some(port), Some(spawn)) = (port, &self.life.spawn) else {
            self.life.said_strange = true;
            let what = "the server said that it listens, and not where: is this the right program?";
            return self.start_failed(ServerReason::Garbled, what);
        };
        let server = Connect {
            url: format!("http://127.0.0.1:{port}"),
            username: spawn.username.clone(),
            password: self.life.password.clone(),
            directory: spawn.directory.clone(),
        };
        self.out.push(Output::UseServer(server.clone()));
        self.server = Some(server);
        let is_asked = self.life.failed.is_none() || self.strategies.life.asks_again();
        if is_asked && self.strategies.life.asks_health() {
            self.ask_health(1);
        } else {
            self.use_server();
        }
    }

    fn ask_health(&mut self, time: u32) {
        if time == 1
            && let Some(due) = self.life.due_ms
        {
            let left = due.saturating_sub(self.now_ms);
            let limit = left.min(self.strategies.life.answers_limit_ms(self.time_scale));
            self.start_timer(Timer::Start(self.life.start), limit);
        }
        self.life.at = At::Asked(time);
        let directory = self.server.as_ref().map(|server| server.directory.clone()).unwrap_or_default();
        let request = self.http(&directory, "GET", "/global/health", None);
        self.calls.insert(request, Call::Health { start: self.life.start });
    }

    /// What it says of its health.
    pub(super) fn health_said(&mut self, start: u64, status: Option<u16>, body: Result<String, String>) {
        let At::Asked(times) = self.life.at else { return };
        if start != self.life.start {
            return;
        }
        let health = body.as_ref().map(|body| self.strategies.life.health(body));
        match (status, health) {
            (_, Ok(Health::Well)) => self.use_server(),
            (Some(401 | 403), _) => {
                let what = "the server does not take the password that it was started with: does another one \
                            answer at its port?";
                self.start_failed(ServerReason::Unauthorized, what);
            }
            (_, Ok(Health::Strange)) => {
                let what = "the server answers, and not as this server does: is it another release, or another \
                            program?";
                self.start_failed(ServerReason::WrongShape, what);
            }
            _ if times < HEALTH_TRIES => {
                let wait = self.scaled(HEALTH_AGAIN_MS);
                self.start_timer(Timer::Health(start), wait);
            }
            (_, health) => {
                let said = health.err().map_or("it says so itself", String::as_str).to_owned();
                let what = format!("the server is not well ({said}); look into its log");
                self.start_failed(ServerReason::Unhealthy, &what);
            }
        }
    }

    /// It is asked again.
    pub(super) fn health_due(&mut self, start: u64) {
        if let At::Asked(times) = self.life.at
            && start == self.life.start
        {
            self.ask_health(times + 1);
        }
    }

    /// It is ready: its events are listened to, and the tasks are read anew.
    fn use_server(&mut self) {
        self.life.at = At::Up;
        self.life.has_been_ready = true;
        self.life.failed = None;
        let Some(main) = self.server.as_ref().map(|server| server.directory.clone()) else { return };
        let mut folders: BTreeSet<String> = self.channels.keys().cloned().collect();
        folders.insert(main);
        for folder in folders {
            if let Some(channel) = self.channels.get_mut(&folder) {
                channel.failures = 0;
                self.count("kilo.cli.sse.reconnect_count", None);
            }
            self.open_stream(&folder);
        }
        self.show_server(ServerState::Ready, None, None);
    }

    /// The time for a start is over.
    pub(super) fn start_due(&mut self, start: u64) {
        if start != self.life.start || !matches!(self.life.at, At::Starting | At::Asked(_)) {
            return;
        }
        let (reason, what) = match self.life.at {
            At::Asked(_) => (ServerReason::Unhealthy, "does not answer when it is asked how it is"),
            _ if self.life.said_strange => (ServerReason::Garbled, "does not say where it listens"),
            _ => (ServerReason::Silent, "does not say that it listens"),
        };
        let reason = self.strategies.life.late_for(reason);
        self.start_failed(reason, &format!("the server was started and {what}; look into its log"));
    }

    /// A start has failed. The first one is for the person to mend; a later one is another crash.
    fn start_failed(&mut self, reason: ServerReason, what: &str) {
        let start = self.life.start;
        let stays = self.server.is_some() && !self.strategies.life.lets_go_of_unwell();
        if stays {
            self.life.at = At::Up;
        } else if self.life.at != At::Nowhere {
            self.life.at = At::Nowhere;
            self.kill_server(start);
        }
        if self.life.has_been_ready {
            return self.crashed(what);
        }
        self.server = self.server.take().filter(|_| stays);
        self.life.failed = Some(reason);
        let reason = self.strategies.life.told_for(reason);
        self.log(LogLevel::Error, what.to_owned(), None);
        self.show_server(ServerState::Failed, Some(reason), Some(what.to_owned()));
        if let Some(id) = self.connecting.take() {
            self.fail(id, RpcError::failed(what));
        }
    }

    /// Its process has ended.
    pub(super) fn server_ended(&mut self, start: u64, how: &str, said: &str, port_taken: bool) {
        if self.has_died(start) || start != self.life.start {
            return;
        }
        let quoted = self.strategies.life.quotes(said, &self.life.password);
        let how = if quoted.is_empty() { how.to_owned() } else { format!("{how}; it said: {quoted}") };
        match self.life.at {
            At::Nowhere => {}
            At::Starting if !self.strategies.life.hears_end() => {}
            At::Ending => self.server_gone(),
            At::Starting | At::Asked(_) => {
                self.life.at = At::Nowhere;
                let (reason, what) = if port_taken {
                    (
                        ServerReason::PortTaken,
                        format!("somebody else has the server's port ({how}): take another"),
                    )
                } else {
                    (ServerReason::EarlyExit, format!("the server ended before it was ready: {how}"))
                };
                self.start_failed(reason, &what);
            }
            At::Up => {
                self.life.at = At::Nowhere;
                self.crashed(&format!("the server has ended by itself: {how}"));
            }
        }
    }

    /// It ended by itself: everybody is told, and it is started again, if that is not too often.
    fn crashed(&mut self, what: &str) {
        self.count("kilo.cli.server.crash_count", None);
        let (now, window) = (self.now_ms, self.scaled(self.strategies.life.crash_window_ms()));
        self.life.crashes.retain(|at| now.saturating_sub(*at) < window);
        self.life.crashes.push(now);
        self.publish_all();
        self.leave_streams();
        if !self.strategies.life.keeps_tasks() {
            self.tasks.clear();
        }
        self.log(LogLevel::Error, what.to_owned(), None);
        let crashes = self.life.crashes.len();
        let again = self.strategies.life.starts_again();
        if crashes > self.strategies.life.most_crashes() {
            self.life.disabled = true;
            let message = format!("{what}; that was {crashes} times, and it is not started any more");
            self.tell_all_tasks(&message);
            self.show_server(ServerState::Disabled, Some(ServerReason::CrashLoop), Some(message.clone()));
            if let Some(id) = self.connecting.take() {
                self.fail(id, RpcError::failed(message));
            }
            return;
        }
        self.tell_all_tasks(&format!("{what}; it is started again"));
        self.show_server(ServerState::Restarting, Some(ServerReason::Crashed), Some(what.to_owned()));
        if again {
            let doublings = u32::try_from(crashes - 1).unwrap_or(u32::MAX).min(6);
            let wait = self.scaled(AGAIN_AFTER_MS << doublings);
            self.start_timer(Timer::Again(self.life.start), wait);
        }
    }

    /// It is time to start it again.
    pub(super) fn start_again(&mut self, start: u64) {
        if start == self.life.start && self.life.at == At::Nowhere && !self.life.disabled {
            self.start_server();
        }
    }

    /// There is nobody to listen to.
    pub(super) fn leave_streams(&mut self) {
        let mut left = Vec::new();
        for channel in self.channels.values_mut() {
            channel.phase = Phase::Off;
            left.push(channel.stream);
        }
        self.out.extend(left.into_iter().map(|stream| Output::CloseStream { stream }));
        self.show_connection(ConnectionState::Disconnected);
        self.pass_fences();
    }

    /// Why no task can be begun, if none can.
    pub(super) fn takes_no_tasks(&self) -> Option<RpcError> {
        let refuses = self.life.disabled && !self.strategies.life.begins_tasks_in_a_loop();
        refuses.then(|| {
            RpcError::failed(
                "the server has ended too often and is not used for new tasks; look into its log",
            )
        })
    }

    /// The folder of a server of ours.
    pub(super) fn spawned_in(&self) -> Option<&str> {
        self.life.spawn.as_ref().map(|spawn| spawn.directory.as_str())
    }

    /// Is there a server of ours?
    pub(super) fn is_spawned(&self) -> bool {
        self.life.spawn.is_some()
    }

    pub(super) fn show_server(
        &mut self,
        state: ServerState,
        reason: Option<ServerReason>,
        message: Option<String>,
    ) {
        self.tell(Update::Server { state, reason, message });
    }
}
