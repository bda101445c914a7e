//! Who listens when. A client that asks for its stream and prompts at once does not know which of both comes first; what
//! the recorded client had heard waits until whoever is here listens, too.

use super::course::What;
use super::{Replay, Step, Waits};
use crate::performer::Act;
use fixtures::fault_plan::StreamName;
use std::collections::HashMap;

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
    /// Nothing has come for long: what is waited for will not come. Who does not listen goes on without, and who does
    /// not follow the recorded order goes on session by session.
    pub(super) fn give_up(&mut self, acts: &mut Vec<Act>) {
        let mut waits = Waits::default();
        let mut open = (self.first..self.played.len()).filter(|at| !self.played[*at]);
        let held = open.find(|at| !matches!(self.step(*at, self.follows, &mut waits), Step::Comes));
        match held.map(|at| &self.course.moments[at].what) {
            Some(What::Opened(opened)) => self.listening.excuse(opened),
            _ => self.follows = false,
        }
        self.play(acts);
    }
}

#[cfg(test)]
mod tests;
