//! What is known beside the cells: which requirements the recordings bear out, and what the signals of real use say.
//! An export is JSON Lines: `{"name": "kilo.cli.server.crash_count", "value": 1, "at_ms": 1700000000000}`.

use fixtures::error::{FileError, plain_words};
use parity_specs::evidence::{Answers, Evidence};
use parity_specs::trigger::{Measure, Threshold, Trigger};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Known without running anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    /// The data-only requirements that the recordings bear out; nothing where the recordings were not asked.
    pub holds: Option<BTreeSet<String>>,
    /// The signals of real use.
    pub signals: Vec<Signal>,
    /// Other thresholds, by trigger.
    pub thresholds: BTreeMap<String, u64>,
}

/// One value of a signal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it counts or measures.
    pub value: u64,
    /// When, in milliseconds since any beginning that all of them share.
    pub at_ms: u64,
}

/// What the signals say to a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) fired: bool,
    pub(super) words: String,
}

/// What the recordings answer for the requirements that rest on them.
///
/// # Errors
/// The embedded data can't be read.
pub fn held_by_recordings() -> Result<BTreeSet<String>, FileError> {
    let evidence = Evidence::embedded()?;
    let answers: Answers = evidence.ask(|| {})?;
    let holds = evidence.criteria.iter().filter(|it| evidence.hold(&it.rests_on, &answers));
    Ok(holds.map(|it| it.id.clone()).collect())
}

/// Reads an export.
///
/// # Errors
/// A line is no signal; the error names it.
pub fn read(file: &Path, text: &str) -> Result<Vec<Signal>, FileError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(index, line): (usize, &str)| {
        serde_json::from_str::<Signal>(line).map_err(|error| {
            let example = "{\"name\": \"kilo.cli.server.crash_count\", \"value\": 1, \"at_ms\": 0}";
            let why = plain_words(&error.to_string());
            FileError::at(file, index + 1, format!("no signal: {why}; one looks like {example}"))
        })
    };
    lines.map(read).collect()
}

impl Known {
    /// What the signals say to each trigger that has a threshold; nothing where no value of its signal is known.
    pub(super) fn said(&self, triggers: &[Trigger]) -> BTreeMap<String, Said> {
        let said = |trigger: &Trigger| {
            let mut threshold = trigger.signal.clone()?;
            if let Some(other) = self.thresholds.get(&trigger.id) {
                threshold.more_than = *other;
            }
            Some((trigger.id.clone(), self.measured(&threshold)?))
        };
        triggers.iter().filter_map(said).collect()
    }

    fn measured(&self, threshold: &Threshold) -> Option<Said> {
        let mut values: Vec<&Signal> =
            self.signals.iter().filter(|signal| signal.name == threshold.name).collect();
        values.sort_by_key(|signal| signal.at_ms);
        let measured = |window: &[&Signal]| measure(threshold.of, window.iter().map(|signal| signal.value));
        let worst = match threshold.within_s {
            // All that was exported is the window: its last value alone is none.
            None => (!values.is_empty()).then(|| measured(&values))?,
            // The worst window is one that begins with a value.
            Some(seconds) => {
                let windows = (0..values.len()).map(|first| {
                    let end = values[first].at_ms.saturating_add(seconds.saturating_mul(1000));
                    let inside = values[first..].partition_point(|signal| signal.at_ms <= end);
                    measured(&values[first..first + inside])
                });
                windows.max()?
            }
        };
        let Threshold { name, more_than, .. } = threshold;
        let within = threshold.within_s.map(|seconds| format!(" within {seconds} s")).unwrap_or_default();
        let of = match threshold.of {
            Measure::Sum => "the sum",
            Measure::P95 => "the 95th percentile",
        };
        let words = format!("{of} of {name} is {worst}{within}; {more_than} are allowed");
        Some(Said { fired: worst > *more_than, words })
    }
}

fn measure(of: Measure, values: impl Iterator<Item = u64>) -> u64 {
    match of {
        Measure::Sum => values.fold(0, u64::saturating_add),
        Measure::P95 => {
            let mut values: Vec<u64> = values.collect();
            values.sort_unstable();
            // The smallest value that 95 of 100 do not exceed.
            let at = (values.len() * 95).div_ceil(100).max(1) - 1;
            values.get(at).copied().unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parity_specs::trigger::Whose;

    fn known(values: &[(u64, u64)]) -> Known {
        let signal = |(at_ms, value): &(u64, u64)| Signal { name: "s".into(), value: *value, at_ms: *at_ms };
        Known { signals: values.iter().map(signal).collect(), ..Known::default() }
    }

    fn fired(values: &[(u64, u64)], of: Measure, more_than: u64, within_s: Option<u64>) -> Option<bool> {
        let threshold = Threshold { name: "s".into(), of, more_than, within_s, by: Whose::Plan };
        known(values).measured(&threshold).map(|said| said.fired)
    }

    #[test]
    fn a_sum_counts_within_its_window_only() {
        let four = [(0, 1), (100_000, 1), (200_000, 1), (600_000, 1)];
        assert_eq!(fired(&four, Measure::Sum, 3, Some(600)), Some(true));
        assert_eq!(fired(&four, Measure::Sum, 4, Some(600)), Some(false));
        assert_eq!(fired(&four, Measure::Sum, 3, Some(599)), Some(false));
        assert_eq!(fired(&[(700_000, 4), (0, 1)], Measure::Sum, 3, Some(600)), Some(true));
        assert_eq!(fired(&[], Measure::Sum, 0, None), None, "what is not exported is not evaluated");
    }

    #[test]
    fn a_percentile_forgives_five_of_a_hundred() {
        let values =
            |slow: u64| (0..100).map(|at| (at, if at < slow { 9000 } else { 10 })).collect::<Vec<_>>();
        assert_eq!(fired(&values(5), Measure::P95, 2000, None), Some(false));
        assert_eq!(fired(&values(6), Measure::P95, 2000, None), Some(true));
        let slow_at_last = values(5).into_iter().rev().enumerate();
        let slow_at_last: Vec<(u64, u64)> = slow_at_last.map(|(at, (_, value))| (at as u64, value)).collect();
        assert_eq!(fired(&slow_at_last, Measure::P95, 2000, None), Some(false), "wherever they stand");
        assert_eq!(fired(&[(0, 2001)], Measure::P95, 2000, None), Some(true));
    }

    #[test]
    fn a_line_that_is_no_signal_is_named() {
        let text = "{\"name\": \"s\", \"value\": 1, \"at_ms\": 5}\n\n{\"name\": \"s\", \"value\": -1}\n";
        let told = read(Path::new("x.jsonl"), text).unwrap_err().to_string();
        assert!(told.starts_with("x.jsonl:3: no signal: "), "{told}");
        assert_eq!(read(Path::new("x"), text.lines().next().unwrap()).unwrap().len(), 1);
    }
}
