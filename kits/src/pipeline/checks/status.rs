//! How far it is: where a resume would begin, and what came of that phase so far.

use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "status", about: "A status names the phase at which a resume would begin.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for seen in story.seen_of("status") {
        let (wanted, told) = (&seen.value["wanted"], &seen.value["told"]);
        for field in ["phase", "agent", "status"] {
            examined.fact(wanted[field] == told[field], || {
                format!("{field} should be {}, and {} is told", wanted[field], told[field])
            });
        }
    }
    examined
}
