//! Five seconds in all, whatever comes meanwhile.

use super::fetches;
use crate::kit::Check;
use crate::story::{AdapterClock, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "in-time", about: "A fetch is over after five seconds in all.", examine };

/// How long a fetch may take.
const LIMIT_MS: f64 = 5000.0;

fn examine(story: &Story<'_>) -> Examined {
    // A machine is slow; time that is told is exact.
    let slack = match story.clock {
        AdapterClock::Virtual => 1.0,
        AdapterClock::Scaled => 0.01 * LIMIT_MS / story.time_scale,
        AdapterClock::Real => 500.0,
    };
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.is_tried()) {
        let took = fetch.asked.answer.as_ref().map(|(at, _)| at.ms - fetch.asked.at.ms);
        let is_so = took.is_some_and(|took| took <= LIMIT_MS + slack);
        examined.fact(is_so, || match took {
            Some(took) => format!("a fetch took {took:.0} ms"),
            None => "a fetch never ended".to_owned(),
        });
    }
    examined
}
