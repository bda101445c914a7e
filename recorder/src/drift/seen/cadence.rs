//! How fast things come. Two runs never agree to the millisecond, so this is coarse, over all recordings together, and
//! with few of them it says nothing.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::{HEARTBEAT, Seen, kind, payload};
use std::collections::BTreeMap;

const DELTA: &str = "message.part.delta";

/// Fewer heartbeats than this on one side show no interval.
const FEWEST_BEATS: usize = 2;
/// An interval that differs by less than this part of the old one is the same.
const BEAT_TOLERANCE: f64 = 0.25;
/// Fewer texts than this show nothing about how they are cut.
const FEWEST_TEXTS: usize = 4;
/// Half or twice as many pieces are as many.
const PIECES_TOLERANCE: f64 = 2.0;
/// Below this, in microseconds, a pause between pieces is the machine's.
const SHORTEST_PAUSE_US: f64 = 200_000.0;
/// A pause of up to so many times the old one is the same.
const PAUSE_TOLERANCE: f64 = 5.0;

/// What one side shows.
#[derive(Default)]
struct Cadence {
    beats: Vec<u64>,
    /// How long the longest stream was listened to.
    longest: u64,
    /// How many pieces each text came in.
    texts: Vec<u64>,
    pauses: Vec<u64>,
}

/// Compares all recordings of both sides.
pub(super) fn compare(pairs: &[(Seen, Seen)], findings: &mut Findings) {
    let (mut one, mut two) = (Cadence::default(), Cadence::default());
    for (old, new) in pairs {
        one.take(old);
        two.take(new);
    }
    heartbeats(&one, &two, findings);
    if let Some((before, after)) =
        medians(&one.texts, &two.texts, FEWEST_TEXTS, "the pieces of a text", findings)
        && (after > before * PIECES_TOLERANCE || after * PIECES_TOLERANCE < before)
    {
        let told = |pieces: f64| format!("{pieces} pieces");
        push(Rule::DeltasOther, told(before), told(after), findings);
    }
    if let Some((before, after)) =
        medians(&one.pauses, &two.pauses, FEWEST_TEXTS, "pauses in a text", findings)
        && before.max(after) > SHORTEST_PAUSE_US
        && (after > before * PAUSE_TOLERANCE || after * PAUSE_TOLERANCE < before)
    {
        let told = |us: f64| format!("{:.0} ms apart", us / 1e3);
        push(Rule::PaceOther, told(before), told(after), findings);
    }
}

fn heartbeats(one: &Cadence, two: &Cadence, findings: &mut Findings) {
    // Who has listened for longer than two beats take would have heard one.
    let would_hear = |beats: &[u64], other: &Cadence| {
        let longest = beats.iter().max().copied().unwrap_or(u64::MAX);
        other.beats.is_empty() && other.longest > longest.saturating_mul(2)
    };
    let mut told = |rule| {
        let (place, reaches) = (format!("event {HEARTBEAT}"), Vec::new());
        let (old, new, source) = (None, None, Source::Recordings);
        findings.push(Change { rule, source, place, old, new, reaches });
    };
    if would_hear(&one.beats, two) {
        return told(Rule::EventGone);
    }
    if would_hear(&two.beats, one) {
        return told(Rule::EventNew);
    }
    let both = medians(&one.beats, &two.beats, FEWEST_BEATS, "the interval of heartbeats", findings);
    let Some((before, after)) = both else { return };
    let told = |us: f64| format!("every {:.1} s", us / 1e6);
    if after > before * (1.0 + BEAT_TOLERANCE) {
        push(Rule::HeartbeatSlower, told(before), told(after), findings);
    } else if after < before * (1.0 - BEAT_TOLERANCE) {
        push(Rule::HeartbeatFaster, told(before), told(after), findings);
    }
}

impl Cadence {
    fn take(&mut self, seen: &Seen) {
        for stream in &seen.streams {
            // The first beat is counted from the beginning of the stream.
            let mut beat = stream.events.first().map(|timed| timed.at_us);
            let last = stream.events.last().map(|timed| timed.at_us);
            let listened = last.zip(beat).map_or(0, |(last, first)| last.saturating_sub(first));
            self.longest = self.longest.max(listened);
            let mut texts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for timed in &stream.events {
                match kind(&timed.event) {
                    HEARTBEAT => {
                        self.beats.extend(beat.map(|before| timed.at_us.saturating_sub(before)));
                        beat = Some(timed.at_us);
                    }
                    DELTA => {
                        let part = payload(&timed.event)["properties"]["partID"].to_string();
                        let (pieces, last) = texts.entry(part).or_insert((0, timed.at_us));
                        if *pieces > 0 {
                            self.pauses.push(timed.at_us.saturating_sub(*last));
                        }
                        (*pieces, *last) = (*pieces + 1, timed.at_us);
                    }
                    _ => {}
                }
            }
            self.texts.extend(texts.into_values().map(|(pieces, _)| pieces));
        }
    }
}

/// The medians of both sides, if both have enough to have one.
fn medians(
    one: &[u64],
    two: &[u64],
    fewest: usize,
    what: &str,
    findings: &mut Findings,
) -> Option<(f64, f64)> {
    if one.len() < fewest || two.len() < fewest {
        let why = format!("OLD shows {}, NEW {}; {fewest} of each are needed", one.len(), two.len());
        findings.could_not(what, why, false);
        return None;
    }
    findings.compared.paths += 1;
    Some((median(one), median(two)))
}

#[expect(clippy::cast_precision_loss, reason = "a median of microseconds needs no more than 52 bits")]
fn median(all: &[u64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_unstable();
    all.get(all.len() / 2).map_or(0.0, |middle| *middle as f64)
}

fn push(rule: Rule, old: String, new: String, findings: &mut Findings) {
    let (old, new, source) = (Some(old), Some(new), Source::Recordings);
    findings.push(Change { rule, source, place: "cadence".to_owned(), old, new, reaches: Vec::new() });
}
