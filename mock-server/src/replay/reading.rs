//! Who reads when. A client that has read what the recorded one read, where it did, is taken for the same: what was told
//! after a read in the midst of a turn waits for that.

use super::course::What;
use super::read::Passed;
use super::{Pace, Replay};
use std::collections::BTreeSet;

/// So many reads in their places make a client the recorded one.
const ENOUGH: usize = 3;

/// The recorded reads that whoever is here has repeated.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// By their numbers; with those that are not waited for.
    done: BTreeSet<usize>,
    /// How many were read in their places.
    count: usize,
    /// Some other client is here: one read was waited for in vain.
    is_over: bool,
}

impl Reading {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn end(&mut self) {
        self.is_over = true;
    }
}

impl Replay {
    /// Does what comes after a read wait for that?
    pub(super) fn is_read_awaited(&self, index: usize) -> bool {
        let Reading { done, count, is_over } = &self.reading;
        *count >= ENOUGH && !is_over && !done.contains(&index) && self.course.reads[index].resource.is_some()
    }

    /// Whoever goes on with a cause does not come back to what was read before that.
    pub(super) fn forgo_reads_before(&mut self, cause: usize) {
        let moments = self.course.moments.iter().map(|moment| &moment.what);
        let before = moments.take_while(|what| !matches!(what, What::Cause(index) if *index == cause));
        self.reading.done.extend(before.filter_map(What::read));
    }

    /// The recorded read whose place is here, and whether everything waits for it.
    pub(super) fn read_in_place(&mut self, path: &str, query: &[(String, String)]) -> Option<(usize, bool)> {
        let reads = &self.course.reads;
        let is_same = |index: &usize| {
            let read = &reads[*index];
            read.path == path && read.query == query && !self.reading.done.contains(index)
        };
        let next = self.course.moments.get(self.first).filter(|_| self.pace == Pace::Causal);
        let awaited = next.and_then(|moment| moment.what.read()).filter(is_same);
        let passed = self.passed.iter().map(Passed::index).find(is_same);
        let index = passed.or(awaited)?;
        self.reading.done.insert(index);
        self.reading.count += usize::from(reads[index].resource.is_some());
        Some((index, awaited == Some(index)))
    }
}

#[cfg(test)]
mod tests;
