//! The server's end: wanted by the person, or because it was no good. None is started while the one before it still ends,
//! and whoever wants the end waits for all of them.

use super::core::Core;
use super::io::Output;
use super::life::At;
use crate::protocol::{Done, Id, RpcError, ServerSpawn, ServerState};

/// What is still to end.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// The start whose process was killed and has not ended yet.
    killed: Option<u64>,
    /// The start that counts waits until that one has.
    next_waits: bool,
    /// Who waits for the server's end, and whether the adapter ends then.
    waiting: Vec<(Id, bool)>,
}

impl Core {
    /// Starts it, once nothing is left of the one before.
    pub(super) fn order_when_alone(&mut self, start: u64, spawn: ServerSpawn) {
        if self.life.leaving.killed.is_some() {
            self.life.leaving.next_waits = true;
        } else {
            self.order_server(start, spawn);
        }
    }

    /// Kills it. One that only waits to be started is not started any more.
    pub(super) fn kill_server(&mut self, start: u64) {
        if !std::mem::take(&mut self.life.leaving.next_waits) {
            self.life.leaving.killed = Some(start);
            self.out.push(Output::KillServer { start });
        }
    }

    /// A process has ended: was it the one that was killed?
    pub(super) fn has_died(&mut self, start: u64) -> bool {
        if self.life.leaving.killed != Some(start) {
            return false;
        }
        self.life.leaving.killed = None;
        if std::mem::take(&mut self.life.leaving.next_waits)
            && let Some(spawn) = self.life.spawn.clone()
        {
            self.order_server(self.life.start, spawn);
        }
        if !self.life.leaving.waiting.is_empty() && self.life.at == At::Nowhere {
            self.server_gone();
        }
        true
    }

    /// Ends the server. `leaves` when the adapter ends then, too.
    pub(super) fn end_server(&mut self, id: Id, leaves: bool) {
        self.life.leaving.waiting.push((id, leaves));
        if std::mem::take(&mut self.life.leaving.next_waits) {
            self.life.at = At::Nowhere;
        }
        let is_there = matches!(self.life.at, At::Starting | At::Asked(_) | At::Up);
        if is_there && self.strategies.life.ends_server() {
            self.life.at = At::Ending;
            self.leave_streams();
            self.out.push(Output::StopServer { start: self.life.start });
        } else if self.life.at != At::Ending && self.life.leaving.killed.is_none() {
            self.server_gone();
        }
    }

    /// Nothing is left of it.
    pub(super) fn server_gone(&mut self) {
        if self.life.at == At::Ending {
            self.life.at = At::Nowhere;
            self.show_server(ServerState::Stopped, None, None);
        }
        // No start is due any more.
        self.life.start += 1;
        if self.life.spawn.is_some()
            && let Some(id) = self.connecting.take()
        {
            self.fail(id, RpcError::failed("the server was ended before it was ready"));
        }
        for (id, leaves) in std::mem::take(&mut self.life.leaving.waiting) {
            self.answer(id, Done {});
            if leaves {
                self.out.push(Output::Exit);
            }
        }
    }
}
