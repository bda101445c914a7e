//! How a case comes to its end: it settles, the server's state is read, and the adapter is told to end.

use super::{Ran, Run, Troubled};
use crate::clock::within;
use crate::history;
use crate::link::before_gone;
use crate::protocol::request::TaskRef;
use crate::protocol::{Capability, Request};
use crate::sight::Sight;
use fixtures::catalog;
use fixtures::fault_plan::{Action, Fault};
use fixtures::recording::{FileKind, Header, Line, Provenance, Recording, Trouble, TroubleKind};
use parity_specs::NamedCase;
use parity_specs::case::Case;
use std::collections::BTreeSet;
use std::sync::PoisonError;

impl Run {
    /// Waits until nothing happens any more: the adapter is connected (or will not be), has dealt with all that it
    /// has read, and the time line has been quiet for a while. Has it come to that?
    pub(super) async fn settle(&mut self) -> bool {
        let limits = self.limits;
        let gone = self.running.link.gone();
        let settled = async {
            loop {
                // Who has stopped until Retry is pressed owes what they owe.
                self.seen(|sight| sight.knows_connection() && (!sight.owes() || self.retry_is_due(sight)))
                    .await;
                // After something that went wrong an end mostly follows; where time costs nothing, all of it comes first.
                if !self.is_virtual {
                    let _ended = within(limits.quiet * 6, self.seen(Sight::has_ended)).await;
                }
                if self.running.link.ask(&Request::Fence, limits.answer).await.is_err() {
                    return false;
                }
                if !self.is_quiet().await {
                    continue;
                }
                let is_due = self.retry_is_due(&self.sight.lock().unwrap_or_else(PoisonError::into_inner));
                if !is_due || self.press_retry().await.is_err() {
                    return true;
                }
            }
        };
        // Settled or gone or neither: what there is will be judged.
        matches!(within(limits.settle, before_gone(settled, gone)).await, Some(Ok(true)))
    }

    /// When all is quiet the person looks once more, and closes what is to be closed.
    pub(super) async fn see_off(&mut self, case: &Case) -> Result<(), Troubled> {
        if self.settle().await {
            self.look().await?;
        }
        self.close(case).await
    }

    /// Asks for the adapter's own view of each task that is open, where it has one.
    async fn look(&mut self) -> Result<(), Troubled> {
        if !self.can.contains(&Capability::Snapshot) {
            return Ok(());
        }
        let open: Vec<String> =
            self.tasks.keys().filter(|task| !self.closed.contains(*task)).cloned().collect();
        for task_id in open {
            self.ask_or_be_refused(Request::TaskSnapshot(TaskRef { task_id })).await?;
        }
        Ok(())
    }

    /// Does nothing but heartbeats happen for a while? Between an adapter and a server of its own there is one more
    /// process, which takes its time.
    pub(super) async fn is_quiet(&self) -> bool {
        let mut before = None;
        let news = self.seen(|sight| sight.news > *before.get_or_insert(sight.news));
        let processes = if self.spawned.is_some() { 3 } else { 1 };
        within(self.limits.quiet * processes, news).await.is_none()
    }

    /// The server's state at the end, as anyone can read it.
    pub(super) async fn read_server(&mut self) {
        let workspace = self.stand_in.workspace().to_owned();
        let below = self.folders.values().map(|below| format!("{workspace}/{below}"));
        let folders: Vec<String> = std::iter::once(workspace.clone()).chain(below).collect();
        let mut sessions: BTreeSet<String> = self.tasks.values().cloned().collect();
        let mut read = BTreeSet::new();
        let mut there = None;
        for folder in &folders {
            for path in ["/permission", "/question", "/session/status", "/session"] {
                match self.observer.read(path, folder).await {
                    Ok(list) if path == "/session" => {
                        read.insert(path.to_owned());
                        let ids = list
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(|session| session["id"].as_str());
                        let ids: BTreeSet<String> = ids.map(str::to_owned).collect();
                        sessions.extend(ids.iter().cloned());
                        there.get_or_insert_with(BTreeSet::new).extend(ids);
                    }
                    Ok(_) => drop(read.insert(path.to_owned())),
                    Err(what) => self.trouble(TroubleKind::Harness, what),
                }
            }
        }
        let closed: Vec<&String> = self.closed.iter().filter_map(|task| self.tasks.get(task)).collect();
        sessions.retain(|session| !is_gone(session, &closed, there.as_ref()));
        for session in sessions {
            for what in ["message", "todo", "diff"] {
                let path = format!("/session/{session}/{what}");
                match self.observer.read(&path, &workspace).await {
                    Ok(_) => drop(read.insert(path)),
                    Err(what) => self.trouble(TroubleKind::Harness, what),
                }
            }
        }
        // In front of a real server an answer is written down after it has been handed on.
        let is_written = |lines: &[Line]| read.iter().all(|path| history::last_read(lines, path).is_some());
        let _written = within(self.limits.settle, self.stand_in.journal().wait_until(is_written)).await;
    }

    /// Ends the adapter, which is not needed.
    pub(super) async fn leave(mut self) {
        let was_told = self.running.link.ask(&Request::Shutdown, self.limits.end).await.is_ok();
        // However it ends, it is judged by no case.
        let _ended = self.running.end(was_told, self.limits.end).await;
    }

    pub(super) fn trouble(&self, kind: TroubleKind, what: String) {
        self.stand_in.journal().push(|at_us| Line::Trouble(Trouble { at_us, kind, what }));
    }

    pub(super) async fn finish(mut self, named: &NamedCase) -> Ran {
        let told = self.running.link.ask(&Request::Shutdown, self.limits.end).await;
        let was_told = told.is_ok();
        if let Err(error) = told {
            self.trouble(TroubleKind::Adapter, error.to_string());
        }
        // Where no server got ready, no heart could beat faster.
        let is_owed = |(_, fault): &(usize, Fault)| {
            named.case.spawn.is_none() || !matches!(fault.action, Action::Heartbeat(_))
        };
        for (number, fault) in self.stand_in.unfired_faults().into_iter().filter(is_owed) {
            self.trouble(TroubleKind::FaultNeverFired, format!("fault {number} never fired: it {fault}"));
        }
        let journal = self.stand_in.journal().clone();
        self.canaries.seen().for_each(|seen| seen.note(&journal));
        self.seek_credentials();
        self.seek_passwords();
        // What it leaves behind is counted as long as it is there: it is ended with the adapter.
        let count = async {
            if let Some(spawned) = &self.spawned {
                spawned.desk.count("after").await;
            }
        };
        if let Err(what) = self.running.end_seen(was_told, self.limits.end, count).await {
            journal.push(|at_us| Line::Trouble(Trouble { at_us, kind: TroubleKind::Adapter, what }));
        }
        let header = header_of(named, self.stand_in.header());
        let history = Recording { header, lines: self.stand_in.history(), torn: false };
        let mut sight = self.sight.into_inner().unwrap_or_else(PoisonError::into_inner);
        sight.see(&history.lines);
        Ran { history, events: sight.events }
    }
}

/// The header of a case's history, played by whoever has written `header`.
pub(crate) fn header_of(named: &NamedCase, header: &Header) -> Header {
    Header {
        kind: FileKind::History,
        scenario: named.case.scenario.clone(),
        provenance: Provenance {
            scenario_id: catalog::scenario_id(&named.case.scenario),
            case: Some(named.name.clone()),
            faults: named.case.fault_plan().map(|plan| plan.faults).unwrap_or_default(),
            ..Provenance::default()
        },
        ..header.clone()
    }
}

/// Who is done with a task may have done with its session, too: there is nothing to be read of it. The session of any
/// other task is missed.
fn is_gone(session: &String, closed: &[&String], there: Option<&BTreeSet<String>>) -> bool {
    closed.contains(&session) && there.is_some_and(|there| !there.contains(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_session_of_a_closed_task_may_be_gone() {
        let [open, shut, kept] = ["ses_open", "ses_shut", "ses_kept"].map(str::to_owned);
        let closed = [&shut, &kept];
        let there = BTreeSet::from([kept.clone()]);
        let gone = |session| is_gone(session, &closed, Some(&there));
        assert_eq!((gone(&open), gone(&shut), gone(&kept)), (false, true, false));
        assert!(!is_gone(&shut, &closed, None), "nobody knows which there are");
    }
}
