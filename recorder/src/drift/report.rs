//! What was found, what could not be checked, and the verdict.

use super::rule::{Rule, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where a difference was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In what the releases say about themselves.
    Doc,
    /// In what they did.
    Recordings,
}

impl Source {
    /// Both, in the order in which reports name them.
    pub const ALL: [Self; 2] = [Self::Doc, Self::Recordings];

    /// The words for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Doc => "/doc",
            Self::Recordings => "recordings",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The rule by which it is judged.
    pub rule: Rule,
    /// Where it was seen.
    pub source: Source,
    /// The place: an operation, a schema or an event, and the path inside.
    pub place: String,
    /// What stands there in OLD, where there is more to say than the rule does.
    pub old: Option<String>,
    /// What stands there in NEW.
    pub new: Option<String>,
    /// The operations, streams or recordings that it reaches.
    pub reaches: Vec<String>,
}

/// Something that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// What it is.
    pub what: String,
    /// Why not.
    pub why: String,
    /// Does the verdict hang on it? What NEW alone has can't have been broken, and few recordings tell of cadence.
    pub decides: bool,
}

/// How much was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compared {
    /// Operations that both `/doc` have.
    pub operations: usize,
    /// Pairs of recordings.
    pub recordings: usize,
    /// Types of events that both have, in `/doc` and in recordings.
    pub events: usize,
    /// Places that both sides have: parameters, statuses, fields, values, places in an order.
    pub paths: usize,
}

/// The result of comparing two releases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// What OLD is called.
    pub old: String,
    /// What NEW is called.
    pub new: String,
    /// The differences, gravest first.
    pub changes: Vec<Change>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// How much was compared.
    pub compared: Compared,
    /// Fewer compared paths than this prove nothing.
    pub min_paths: usize,
}

/// What a report comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything was compared, and nothing is as grave as was asked for.
    Holds,
    /// Something is.
    Drifts,
    /// Nothing as grave was found, but not everything could be compared.
    CouldNotCheck,
}

impl Verdict {
    /// The words for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Drifts => "drifts",
            Self::CouldNotCheck => "could not check",
        }
    }
}

impl Report {
    /// How many differences are this grave.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.changes.iter().filter(|change| change.rule.severity() == severity).count()
    }

    /// Were so few paths compared that silence says nothing?
    #[must_use]
    pub fn is_thin(&self) -> bool {
        self.compared.paths < self.min_paths
    }

    /// What it comes to, when this or anything graver is not wanted. What was found outweighs what could not be checked.
    #[must_use]
    pub fn verdict(&self, fail_on: Severity) -> Verdict {
        if self.changes.iter().any(|change| change.rule.severity() <= fail_on) {
            return Verdict::Drifts;
        }
        if self.is_thin() || self.unchecked.iter().any(|unchecked| unchecked.decides) {
            return Verdict::CouldNotCheck;
        }
        Verdict::Holds
    }
}

/// Collects what is found. The same difference seen at several places is one, which reaches them all.
#[derive(Debug, Default)]
pub(super) struct Findings {
    changes: BTreeMap<Change, BTreeSet<String>>,
    pub(super) unchecked: Vec<Unchecked>,
    pub(super) compared: Compared,
}

impl Findings {
    /// Notes a difference; who it reaches is said with `reached`, as far as it is known here.
    pub(super) fn push(&mut self, change: Change) {
        let Change { reaches, .. } = &change;
        let key = Change { reaches: Vec::new(), ..change.clone() };
        self.changes.entry(key).or_default().extend(reaches.iter().cloned());
    }

    pub(super) fn could_not(&mut self, what: impl Into<String>, why: impl Into<String>, decides: bool) {
        self.unchecked.push(Unchecked { what: what.into(), why: why.into(), decides });
    }

    /// Says of each difference who it reaches, by the place that has been noted with it.
    pub(super) fn reach(&mut self, mut who: impl FnMut(&str) -> BTreeSet<String>) {
        for reaches in self.changes.values_mut() {
            *reaches = reaches.iter().flat_map(|place| who(place)).collect();
        }
    }

    /// The differences, gravest first.
    pub(super) fn changes(&self) -> Vec<Change> {
        let told = self
            .changes
            .iter()
            .map(|(change, reaches)| Change { reaches: reaches.iter().cloned().collect(), ..change.clone() });
        told.collect()
    }
}
