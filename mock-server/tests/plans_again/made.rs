//! Plans made of a seed: a few faults on streams and requests.

use fixtures::fault_plan::{Action, Fault, FaultPlan};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// The most faults in one.
const FAULTS: usize = 4;

/// Triggers on streams: kinds, places and counts.
const POINTS: &[&str] = &[
    "",
    ", after_events = 3",
    ", after_events = 9, times = 4",
    ", after_event = \"message.part.delta\"",
    ", event = \"message.part.delta\", nth = 2",
    ", event = \"message.part.updated\", times = \"always\"",
    ", event = \"session.status\", while = \"busy\"",
    ", event = \"*\", nth = 5, times = 3",
];
const STREAMS: &[&str] = &["event", "global/event", "any"];
const REQUESTS: &[&str] = &[
    "request = \"rest\", nth = 2",
    "request = \"streams\"",
    "request = \"GET /session/{sessionID}/message\"",
    "request = \"*\", times = 2, nth = 3",
];

fn one<T: Copy>(random: &mut ChaCha8Rng, of: &[T]) -> T {
    of[random.next_u32() as usize % of.len()]
}

/// What is tried. None lets a client wait for ever, and none is about doors or sockets: they are no bytes of a stream.
fn actions() -> Vec<&'static str> {
    let left_out = ["hang", "door", "refuse_ms", "restart", "reset", "truncate"];
    let tried = Action::examples().iter().filter(|(word, _)| !left_out.contains(word));
    tried.map(|(_, action)| *action).collect()
}

/// A plan of a few faults; each action is in one of them.
pub(crate) fn plan(seed: u64) -> FaultPlan {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let actions = actions();
    let mut faults = Vec::new();
    let count = 1 + random.next_u32() as usize % FAULTS;
    let mut action = actions[seed as usize % actions.len()];
    while faults.len() < count {
        let (stream, point) = (one(&mut random, STREAMS), one(&mut random, POINTS));
        let on_stream = format!("stream = \"{stream}\"{point}");
        let request = one(&mut random, REQUESTS);
        let when = one(&mut random, &[on_stream.as_str(), request]);
        if let Ok(fault) = Fault::short(&format!("{{ when = {{ {when} }}, do = {action} }}")) {
            faults.push(fault);
            action = one(&mut random, &actions);
        }
    }
    FaultPlan { faults, ..FaultPlan::default() }
}
