//! What is known beside the cells: which requirements the recordings bear out, and what the signals of real use say.
//! An export is JSON Lines: `{"name": "kilo.cli.server.crash_count", "value": 1, "at_ms": 1700000000000}`. `value` is what
//! came to a counter, or what was measured; who has a counter's running total instead says `total`. `source` says whose
//! it is: counts of different clients are not added up.

use crate::checks::SIGNALS;
use fixtures::error::{FileError, plain_words};
use fixtures::near_names::unknown;
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What came to a counter, or what was measured.
    pub value: u64,
    /// Who says so: a client, a session; one for all where nobody is named.
    pub source: Option<String>,
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

/// A line of an export.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exported {
    name: String,
    value: Option<u64>,
    total: Option<u64>,
    source: Option<String>,
    at_ms: u64,
}

/// What these signals are called.
const OURS: &str = "kilo.cli.";

/// Reads an export. Signals of other names than ours are somebody else's.
///
/// # Errors
/// A line is no signal; the error names it.
pub fn read(file: &Path, text: &str) -> Result<Vec<Signal>, FileError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |why: &str| {
            let example = "{\"name\": \"kilo.cli.server.crash_count\", \"value\": 1, \"at_ms\": 0}";
            FileError::at(file, index + 1, format!("no signal: {why}; one looks like {example}"))
        };
        let read: Exported =
            serde_json::from_str(line).map_err(|error| wrong(&plain_words(&error.to_string())))?;
        if read.name.starts_with(OURS) && !SIGNALS.contains(&read.name.as_str()) {
            return Err(wrong(&unknown("signal", &read.name, &SIGNALS)));
        }
        if read.value.is_some() == read.total.is_some() {
            return Err(wrong("it has either `value`, what came to it, or `total`, its running total"));
        }
        lines.push(read);
    }
    // A total says what has come to it since the one before.
    lines.sort_by_key(|line| line.at_ms);
    let mut totals: BTreeMap<(String, Option<String>), u64> = BTreeMap::new();
    let signal = |line: Exported| {
        let value = match line.total {
            Some(total) => {
                let before = totals.insert((line.name.clone(), line.source.clone()), total).unwrap_or(0);
                // Who begins anew counts from nothing.
                if total < before { total } else { total - before }
            }
            None => line.value.unwrap_or_default(),
        };
        Signal { name: line.name, value, source: line.source, at_ms: line.at_ms }
    };
    Ok(lines.into_iter().map(signal).collect())
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

    /// Counts are held to a threshold for each source, measures for all together.
    fn measured(&self, threshold: &Threshold) -> Option<Said> {
        let mut sources: BTreeMap<Option<&str>, Vec<&Signal>> = BTreeMap::new();
        for signal in self.signals.iter().filter(|signal| signal.name == threshold.name) {
            let source = signal.source.as_deref().filter(|_| threshold.of == Measure::Sum);
            sources.entry(source).or_default().push(signal);
        }
        let worst_of = |(source, mut values): (Option<&str>, Vec<&Signal>)| {
            values.sort_by_key(|signal| signal.at_ms);
            Some((worst(threshold, &values)?, source.map(str::to_owned)))
        };
        let (worst, source) = sources.into_iter().filter_map(worst_of).max_by_key(|(worst, _)| *worst)?;
        let Threshold { name, more_than, .. } = threshold;
        let within = threshold.within_s.map(|seconds| format!(" within {seconds} s")).unwrap_or_default();
        let of = match threshold.of {
            Measure::Sum => "the sum",
            Measure::P95 => "the 95th percentile",
        };
        let whose = source.map(|source| format!(" of {source}")).unwrap_or_default();
        let words = format!("{of} of {name}{whose} is {worst}{within}; {more_than} are allowed");
        Some(Said { fired: worst > *more_than, words })
    }
}

/// The worst that these values make, in their order.
fn worst(threshold: &Threshold, values: &[&Signal]) -> Option<u64> {
    let measured = |window: &[&Signal]| measure(threshold.of, window.iter().map(|signal| signal.value));
    match threshold.within_s {
        // All that was exported is the window: its last value alone is none.
        None => (!values.is_empty()).then(|| measured(values)),
        // The worst window is one that begins with a value.
        Some(seconds) => {
            let windows = (0..values.len()).map(|first| {
                let end = values[first].at_ms.saturating_add(seconds.saturating_mul(1000));
                let inside = values[first..].partition_point(|signal| signal.at_ms <= end);
                measured(&values[first..first + inside])
            });
            windows.max()
        }
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
        let signal = |(at_ms, value): &(u64, u64)| Signal {
            name: "s".into(),
            value: *value,
            at_ms: *at_ms,
            source: None,
        };
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
    fn totals_are_what_has_come_since_and_counts_of_others_are_not_added() {
        let crash = "kilo.cli.server.crash_count";
        let line = |at: u64, key: &str, value: u64, source: &str| {
            format!(
                "{{\"name\": \"{crash}\", \"{key}\": {value}, \"at_ms\": {at}, \"source\": \"{source}\"}}\n"
            )
        };
        let threshold = Threshold {
            name: crash.into(),
            of: Measure::Sum,
            more_than: 3,
            within_s: Some(600),
            by: Whose::Plan,
        };
        let said = |lines: &[String]| {
            let signals = read(Path::new("x"), &lines.concat()).unwrap();
            Known { signals, ..Known::default() }.measured(&threshold).unwrap()
        };
        let totals: Vec<String> = (1..=4).map(|n| line(n, "total", n, "a")).collect();
        assert!(!said(&totals[..3]).fired, "1, 2, 3 are three crashes");
        let words = "the sum of kilo.cli.server.crash_count of a is 4 within 600 s; 3 are allowed";
        assert_eq!(said(&totals), Said { fired: true, words: words.into() });
        let restarted = [line(1, "total", 3, "a"), line(2, "total", 1, "a")];
        assert!(said(&restarted).fired, "it began anew, and counts on from there");
        let two: Vec<String> =
            ["a", "b"].iter().flat_map(|of| (1..=3).map(|n| line(n, "value", 1, of))).collect();
        assert!(!said(&two).fired, "three of one and three of another");
    }

    #[test]
    fn a_line_that_is_no_signal_is_named() {
        let text = "{\"name\": \"s\", \"value\": 1, \"at_ms\": 5}\n\n{\"name\": \"s\", \"value\": -1}\n";
        let told = read(Path::new("x.jsonl"), text).unwrap_err().to_string();
        assert!(told.starts_with("x.jsonl:3: no signal: "), "{told}");
        assert_eq!(read(Path::new("x"), text.lines().next().unwrap()).unwrap().len(), 1);
        for (line, why) in [
            (
                "{\"name\": \"kilo.cli.server.crash_counts\", \"value\": 1, \"at_ms\": 0}",
                "kilo.cli.server.crash_count",
            ),
            ("{\"name\": \"s\", \"at_ms\": 0}", "either `value`"),
            ("{\"name\": \"s\", \"value\": 1, \"total\": 1, \"at_ms\": 0}", "either `value`"),
        ] {
            let told = read(Path::new("x"), line).unwrap_err().to_string();
            assert!(told.starts_with("x:1: no signal: ") && told.contains(why), "{told}");
        }
    }
}
