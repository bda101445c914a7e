//! One event stream: opened, live, silent, lost, opened again. One for each folder that tasks work in, and never two.

use super::core::Core;
use super::io::{Output, Timer};
use super::refresh::Refresh;
use super::strategy::Gap;
use super::strategy::stream::Latest;
use crate::protocol::{ConnectionState, LogLevel, RpcError, Update};

/// So many attempts in a row may fail before the person is told (some five seconds).
const ATTEMPTS_BEFORE_COMPLAINT: u32 = 6;

/// So soon the system tells that a process has ended, whatever the scale.
const SERVERS_END_MS: u64 = 150;

/// The stream of a folder.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Its number; each attempt has one of its own.
    pub(super) stream: u64,
    pub(super) phase: Phase,
    /// Attempts in a row that brought no stream, or none that lasted.
    pub(super) failures: u32,
    /// Events that came lately.
    pub(super) latest: Latest,
    live_since_ms: u64,
    alive_ms: u64,
}

/// Where the event stream is.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// No sense in trying again.
    #[default]
    Off,
    /// Being opened, or open without an event yet.
    Opening,
    /// Waits before it is opened again.
    Waiting,
    /// Events are shown as they come.
    Live,
    /// Events wait until everything was fetched anew.
    Refreshing(Box<Refresh>),
}

impl Core {
    /// Opens the stream of a folder; the one that it had is closed.
    pub(super) fn open_stream(&mut self, folder: &str) {
        self.last_stream += 1;
        let (stream, now) = (self.last_stream, self.now_ms);
        let channel = self.channels.entry(folder.to_owned()).or_default();
        let old = std::mem::replace(&mut channel.stream, stream);
        channel.phase = Phase::Opening;
        channel.alive_ms = now;
        if old != 0 && self.strategies.liveness.closes_old() {
            self.out.push(Output::CloseStream { stream: old });
        }
        self.strategies.seen.begin();
        let path = self.path_in(folder, "/event");
        self.out.push(Output::OpenStream { stream, path });
        if let Some(limit) = self.strategies.liveness.silence_limit_ms() {
            let limit = self.scaled(limit);
            self.start_timer(Timer::Silence(stream), limit);
        }
    }

    pub(super) fn stream_alive(&mut self, folder: &str) {
        let now = self.now_ms;
        if let Some(channel) = self.channels.get_mut(folder) {
            channel.alive_ms = now;
        }
    }

    /// Its limit of silence may be over.
    pub(super) fn look_for_life(&mut self, folder: &str) {
        let Some(limit) = self.strategies.liveness.silence_limit_ms() else { return };
        let limit = self.scaled(limit);
        let Some(channel) = self.channels.get(folder) else { return };
        let (stream, silent) = (channel.stream, self.now_ms.saturating_sub(channel.alive_ms));
        if silent < limit {
            self.start_timer(Timer::Silence(stream), limit - silent);
        } else {
            self.stream_ended(folder, &format!("silent for {silent} ms"), None);
        }
    }

    /// Any event proves that the server has subscribed this stream, even if the first one was damaged.
    pub(super) fn stream_live(&mut self, folder: &str) {
        let now = self.now_ms;
        let Some(channel) = self.channels.get_mut(folder) else { return };
        if !matches!(channel.phase, Phase::Opening) {
            return;
        }
        channel.phase = Phase::Live;
        channel.live_since_ms = now;
        channel.latest = Latest::default();
        self.show_connection(ConnectionState::Connected);
        self.connected(folder);
        self.on_gap(folder, Gap::Reconnected);
        self.start_waiting_tasks(folder);
    }

    pub(super) fn stream_refused(&mut self, folder: &str, status: u16, retry_after_ms: Option<u64>) {
        if matches!(status, 401 | 403) {
            self.count("kilo.cli.sse.auth_failures", None);
        }
        if !self.strategies.backoff.gives_up_on(status) {
            return self.stream_ended(folder, &format!("the server answered {status}"), retry_after_ms);
        }
        // Wrong credentials stay wrong: say so, and leave the server alone.
        self.set_phase(folder, Phase::Off);
        let message = format!(
            "the server refused the credentials (status {status}): check username and password, then connect again"
        );
        self.show_connection(ConnectionState::Disconnected);
        self.log(LogLevel::Error, message.clone(), None);
        self.tell(Update::Error { task_id: None, message: message.clone(), retry: true });
        self.fail_waiting(folder, &message);
        self.pass_fences();
    }

    pub(super) fn stream_ended(&mut self, folder: &str, reason: &str, retry_after_ms: Option<u64>) {
        // What was read before is shown before.
        self.publish_all();
        let now = self.now_ms;
        let proven_after = self.scaled(self.strategies.backoff.proven_after_ms());
        let Some(channel) = self.channels.get_mut(folder) else { return };
        let stream = channel.stream;
        if !matches!(channel.phase, Phase::Opening | Phase::Waiting) {
            if now.saturating_sub(channel.live_since_ms) >= proven_after {
                channel.failures = 0;
            }
            self.show_connection(ConnectionState::Disconnected);
        }
        self.log(LogLevel::Info, format!("the event stream ended: {reason}"), None);
        // A refresh of this stream is over; what it had read is thrown away, as the next one fetches everything.
        self.set_phase(folder, Phase::Waiting);
        self.pass_fences();
        let jitter = jitter(stream);
        let Some(channel) = self.channels.get_mut(folder) else { return };
        let wait = self.strategies.backoff.delay_ms(channel.failures, jitter);
        channel.failures = channel.failures.saturating_add(1);
        let failures = channel.failures;
        let is_first = self.connecting.is_some();
        let Some(own) = wait.filter(|_| !(is_first && failures == ATTEMPTS_BEFORE_COMPLAINT)) else {
            self.set_phase(folder, Phase::Off);
            self.fail_waiting(
                folder,
                &format!("no event stream after {failures} attempts: {reason}; connect again"),
            );
            return;
        };
        if failures == ATTEMPTS_BEFORE_COMPLAINT {
            let message = format!("no event stream after {failures} attempts: {reason}; trying on");
            self.tell(Update::Error { task_id: None, message, retry: true });
        }
        let wait = match retry_after_ms {
            Some(asked) => self.strategies.backoff.retry_after_ms(asked, own),
            None => own,
        };
        // With its stream a server may be gone that was started here; that is heard in a moment.
        let least = if self.is_spawned() { SERVERS_END_MS } else { 0 };
        let wait = self.scaled(wait).max(least);
        self.start_timer(Timer::Reconnect(stream), wait);
    }

    /// Whoever waits for this stream waits in vain.
    fn fail_waiting(&mut self, folder: &str, why: &str) {
        if self.server.as_ref().is_some_and(|server| server.directory == folder)
            && let Some(id) = self.connecting.take()
        {
            self.fail(id, RpcError::failed(why.to_owned()));
        }
        self.fail_waiting_tasks(folder, why);
    }

    pub(super) fn set_phase(&mut self, folder: &str, phase: Phase) {
        if let Some(channel) = self.channels.get_mut(folder) {
            channel.phase = phase;
        }
    }
}

/// Any numbers will do, as long as they differ from attempt to attempt and are the same in the next run.
fn jitter(stream: u64) -> u8 {
    stream.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()[0]
}
