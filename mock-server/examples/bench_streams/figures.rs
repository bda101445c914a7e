//! What was measured, and what must hold.

use crate::Who;
use crate::bare::Writes;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The stand-in's part of what bare hyper sends when it writes each frame by itself.
const LEAST: f64 = 0.8;

/// What a fault that is armed for each subscriber and never acts may leave of it.
const LEAST_ARMED: f64 = 0.9;

/// Frames in a second, of each turn.
#[derive(Debug, Default)]
pub(crate) struct Figures(Vec<(usize, Who, f64)>);

impl Figures {
    /// A turn.
    pub(crate) fn take(&mut self, subscribers: usize, who: Who, frames_per_second: f64) {
        self.0.push((subscribers, who, frames_per_second));
    }

    fn median(&self, subscribers: usize, who: Who) -> f64 {
        let of = self.0.iter().filter(|(count, by, _)| (*count, *by) == (subscribers, who));
        let mut of: Vec<f64> = of.map(|(_, _, frames)| *frames).collect();
        of.sort_by(f64::total_cmp);
        of.get(of.len() / 2).copied().unwrap_or_default()
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.0.iter().map(|(subscribers, ..)| *subscribers).collect();
        sizes.dedup();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Of bare hyper's, when it writes in these two ways.
    fn parts(&self, subscribers: usize) -> (f64, f64) {
        let part = |own, writes| self.median(subscribers, own) / self.median(subscribers, Who::Bare(writes));
        (part(Who::StandIn, Writes::OnePerFrame), part(Who::Flood, Writes::Joined))
    }

    /// What is left when a fault is armed.
    fn armed_part(&self, subscribers: usize) -> f64 {
        self.median(subscribers, Who::Armed) / self.median(subscribers, Who::StandIn)
    }

    /// Is nothing slower than it may be?
    pub(crate) fn hold(&self) -> bool {
        self.sizes().into_iter().all(|size| {
            let (one, joined) = self.parts(size);
            one >= LEAST && joined >= LEAST && self.armed_part(size) >= LEAST_ARMED
        })
    }

    pub(crate) fn table(&self) -> String {
        let mut table = String::from(
            "frames a second      stand-in   with faults armed   bare, one write each   part   all pending   bare, joined   part\n",
        );
        for size in self.sizes() {
            let [own, armed, one, flood, joined] = Who::ALL.map(|who| self.median(size, who));
            let left = self.armed_part(size);
            let (of_one, of_joined) = self.parts(size);
            let _ = writeln!(
                table,
                "{size:>5} subscribers {own:>12.0} {armed:>12.0} ({left:.2}) {one:>22.0} {of_one:>6.2} {flood:>13.0} {joined:>14.0} {of_joined:>6.2}"
            );
        }
        let _ = write!(
            table,
            "wanted of both: {LEAST}, with faults armed {LEAST_ARMED} of what it is without; {}",
            if self.hold() { "it holds" } else { "it does not hold" }
        );
        table
    }

    pub(crate) fn json(&self) -> Value {
        let sizes = self.sizes().into_iter().map(|size| {
            let [own, armed, one, flood, joined] = Who::ALL.map(|who| self.median(size, who));
            json!({
                "subscribers": size, "stand_in": own, "armed": armed, "one_write_per_frame": one, "pending": flood,
                "joined": joined,
            })
        });
        json!({"frames_per_second": sizes.collect::<Vec<_>>(), "least_part": LEAST, "holds": self.hold()})
    }
}
