//! Who listens when. A client that asks for its stream and prompts at once does not know which of both comes first; what
//! the recorded client had heard waits until whoever is here listens, too.

use super::course::{What, audience};
use super::resource::other_folder;
use super::{Pace, Replay, Step, Waits};
use crate::performer::{Act, Frame};
use crate::world::ApiRequest;
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::sse;
use std::collections::HashMap;
use std::sync::Arc;

/// A stream of the recorded client was open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) at_us: u64,
    pub(super) stream: StreamName,
    /// So many had been opened with it.
    pub(super) count: usize,
}

/// How often whoever is here has asked for each stream.
#[derive(Debug, Default)]
pub(super) struct Listening {
    opened: HashMap<StreamName, usize>,
    /// Those that it was waited for in vain.
    excused: HashMap<StreamName, usize>,
}

impl Listening {
    pub(super) fn open(&mut self, stream: StreamName) {
        *self.opened.entry(stream).or_default() += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.opened.values().sum()
    }

    /// Has whoever is here opened what the recorded client had?
    pub(super) fn has(&self, opened: &Opened) -> bool {
        let of =
            |counts: &HashMap<StreamName, usize>| counts.get(&opened.stream).copied().unwrap_or_default();
        of(&self.opened).saturating_add(of(&self.excused)) >= opened.count
    }

    /// Who has never listened to a stream is not waited for again.
    fn excuse(&mut self, opened: &Opened) {
        let has_listened = self.opened.contains_key(&opened.stream);
        let excused = self.excused.entry(opened.stream).or_default();
        *excused = if has_listened { *excused + 1 } else { usize::MAX };
    }
}

impl Replay {
    pub(super) fn open(&mut self, request: &ApiRequest, stream: StreamName, acts: &mut Vec<Act>) {
        let hello = self.course.hello.get(stream.path()).cloned().unwrap_or_else(|| Frame {
            kind: Arc::from("server.connected"),
            bytes: Bytes::from(sse::encode(r#"{"type":"server.connected","properties":{}}"#)),
        });
        self.listening.open(stream);
        let folder = other_folder(&request.query, request.directory_header.as_deref(), &self.workspace);
        let folder = folder.filter(|folder| self.course.folders.contains(folder));
        let audience = audience(stream, folder.as_deref().unwrap_or(&self.workspace));
        acts.push(Act::Open(request.ticket, audience.clone(), hello));
        if !self.has_begun && self.pace == Pace::Causal {
            let early = self.course.moments[self.prologue.clone()].iter();
            let early = early.filter_map(|moment| moment.what.sent());
            let heard = early.filter(|sent| audience.hears(&sent.audience));
            acts.extend(heard.map(|sent| Act::Send(sent.audience.clone(), sent.frame.clone())));
        }
    }

    /// Nothing has come for long: what is waited for will not come. Who does not listen goes on without, and who does
    /// not follow the recorded order goes on session by session.
    pub(super) fn give_up(&mut self, acts: &mut Vec<Act>) {
        let mut waits = Waits::default();
        let mut open = (self.first..self.played.len()).filter(|at| !self.played[*at]);
        let held = open.find(|at| !matches!(self.step(*at, self.follows, &mut waits), Step::Comes));
        match held.map(|at| &self.course.moments[at].what) {
            Some(What::Opened(opened)) => self.listening.excuse(opened),
            Some(What::Read(_)) => self.reading.end(),
            _ => self.follows = false,
        }
        self.play(acts);
    }
}

#[cfg(test)]
mod tests;
