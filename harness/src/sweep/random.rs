//! Schedules of several faults, drawn from a seed: what no sweep of single faults meets. The same seed draws the same.

use super::schedule::{Kind, Schedule, at_frame, failures, fault, frames, is_read, operation};
use crate::course::Course;
use fixtures::fault_plan::action::{
    Cut, CutEnd, CutPlace, Drop, Duplicate, Late, Side, Split, SplitAt, Stall,
};
use fixtures::fault_plan::{Action, Fault, Point, Route, Scene};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Faults of one schedule, at least and at most.
const FAULTS: (usize, usize) = (2, 6);
/// What waits or comes late does so for at most so long.
const MOST_MS: usize = 3000;
/// What is read in each rehydration, whether anything broke in the run at hand or not.
const READ: [&str; 6] = [
    "/session/status",
    "/session",
    "/permission",
    "/question",
    "/session/{sessionID}/message",
    "/session/{sessionID}/todo",
];

/// So many schedules.
pub(super) fn schedules(unbroken: &Course<'_>, count: usize, seed: u64) -> Vec<Schedule> {
    let reads = unbroken.exchanges.iter().filter(|exchange| is_read(exchange));
    let mut routes: BTreeSet<String> = reads.map(|read| operation(&read.path)).collect();
    routes.extend(READ.map(str::to_owned));
    let routes: Vec<String> = routes.into_iter().collect();
    let frames = frames(unbroken).len();
    let mut draws = Draws(ChaCha8Rng::seed_from_u64(seed ^ 0x5eed));
    (0..count)
        .map(|_| {
            let count = FAULTS.0 + draws.below(FAULTS.1 - FAULTS.0 + 1);
            // Without a cut there is hardly a rehydration that the others could meet.
            let mut faults = vec![draws.first_cut(frames)];
            faults.extend((1..count).map(|_| draws.fault(frames, &routes)));
            Schedule::of(Kind::Random, faults)
        })
        .collect()
}

struct Draws(ChaCha8Rng);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u64() % end.max(1) as u64).unwrap_or_default()
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn ms(&mut self) -> u64 {
        1 + self.below(MOST_MS) as u64
    }

    fn fault(&mut self, frames: usize, routes: &[String]) -> Fault {
        match self.below(10) {
            0..4 => self.cut(frames),
            4 => at_frame(self.below(frames), Action::Drop(Drop { drop: "*".to_owned() })),
            5 => at_frame(self.below(frames), Action::Duplicate(Duplicate { duplicate: 1 })),
            6 => at_frame(self.below(frames), Action::Stall(Stall { stall_ms: self.ms() })),
            7 => {
                let size = NonZeroU32::MIN.saturating_add(u32::try_from(self.below(20)).unwrap_or_default());
                at_frame(self.below(frames), Action::Split(Split { split: SplitAt::Every(size) }))
            }
            8 => {
                let late = Action::Late(Late { late_ms: self.ms(), of: Side::Answer });
                self.answer(routes, late)
            }
            _ => {
                let action = self.of(&failures());
                self.answer(routes, action)
            }
        }
    }

    fn cut_action(&mut self) -> Action {
        let end = self.of(&[CutEnd::Broken, CutEnd::Clean, CutEnd::Reset, CutEnd::Silent]);
        let place = match self.below(4) {
            0 => CutPlace::LineEnd,
            1 => CutPlace::BlankLine,
            2 => CutPlace::MidFrame { bytes: 1 + self.below(200) },
            _ => CutPlace::BetweenFrames,
        };
        Action::Cut(Cut { place, end })
    }

    fn first_cut(&mut self, frames: usize) -> Fault {
        let cut = self.cut_action();
        at_frame(self.below(frames), cut)
    }

    /// A cut on one of the connections that follow. They are shorter.
    fn cut(&mut self, frames: usize) -> Fault {
        let cut = self.cut_action();
        let point = Point::After(u32::try_from(self.below(frames / 2 + 1)).unwrap_or_default());
        let connection = u32::try_from(2 + self.below(2)).ok();
        fault(Scene::Stream { stream: None, connection, point }, cut)
    }

    fn answer(&mut self, routes: &[String], action: Action) -> Fault {
        let (path, nth) = (self.of(routes), 1 + u32::try_from(self.below(3)).unwrap_or_default());
        let route = Route::Operation { method: "GET".to_owned(), path };
        fault(Scene::Request { route, session: None, nth }, action)
    }
}
