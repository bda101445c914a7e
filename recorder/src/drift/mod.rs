//! Drift: in what NEW differs from OLD, where both are recordings, `/doc` documents or whole releases, and whether a
//! client that was right with OLD can be wrong with NEW.
//!
//! # What breaks
//!
//! * What a client **reads** (answers, events) is a promise to it. Gone, of another type, null or absent where it never
//!   was: breaking. A new field, a new value, a new form, a new type of event: additive, since a client has to survive
//!   what it does not know.
//! * What a client **sends** it sends on. Something new that has to be sent, something that is not taken any more, fewer
//!   values than before: breaking. What may be sent in addition: additive.
//! * Words, names of schemas, ids for generators: cosmetic.
//! * The **order** of a turn is a promise where both releases send the same events; **cadence** is judged coarsely.
//!
//! Each difference has a [`Rule`], and the rule alone says how grave it is.
//!
//! # What could not be checked
//!
//! Silence is only good news if somebody has looked: what one side alone has, scenarios that have changed, streams that
//! broke, empty documents and too few compared paths are told, and are never green.
//!
//! * [`source`] reads, [`doc`] and [`seen`] compare, [`report`] holds what was found, [`say`] tells it.

mod doc;
mod report;
mod rule;
mod say;
mod seen;
mod source;
#[cfg(test)]
mod tests;

pub use report::{Change, Compared, Report, Source, Unchecked, Verdict};
pub use rule::{Rule, Severity};
pub use say::{Shown, json, markdown, text};
pub use source::{Pair, PairOfRecordings, read};

use report::Findings;

/// Fewer compared paths than this prove nothing, unless somebody says otherwise: one short recording has more.
pub const MIN_PATHS: usize = 100;

/// Compares two releases, or parts of them.
#[must_use]
pub fn drift(pair: &Pair, min_paths: usize) -> Report {
    let mut findings = Findings::default();
    match &pair.docs {
        (Some(old), Some(new)) => doc::compare(old, new, &mut findings),
        (Some(_), None) => findings.could_not("/doc", "NEW has none", true),
        (None, Some(_)) => findings.could_not("/doc", "OLD has none", false),
        (None, None) => {}
    }
    for name in &pair.only_old {
        findings.could_not(format!("recording {name}"), "NEW has none of this name", true);
    }
    if !pair.only_new.is_empty() {
        let count = pair.only_new.len();
        let what = if count == 1 { "1 recording".to_owned() } else { format!("{count} recordings") };
        findings.could_not(what, format!("NEW alone has them: {}", pair.only_new.join(", ")), false);
    }
    seen::compare(&pair.recordings, &mut findings);
    Report {
        old: pair.old.clone(),
        new: pair.new.clone(),
        changes: findings.changes(),
        unchecked: findings.unchecked,
        compared: findings.compared,
        min_paths,
    }
}
