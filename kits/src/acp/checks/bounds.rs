//! What an agent says has a bound in the client: one that never ends its line is given up before it fills the machine.

use super::{Check, Examined};
use crate::acp::heard::facts;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "bounds", about: "A line without an end is not held for ever.", examine };

/// More than this is much.
const MUCH: u64 = 18 * 1024 * 1024;
/// More than this a client with a bound does not read: the official SDK's bound is 32 MiB, that of acpx 64 MiB, and pipes
/// hold some more. An endless line is several times as long.
const TOO_MUCH: u64 = 80 * 1024 * 1024;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (agent, _, gone) in facts(story, "gone") {
        let wrote = gone["wrote"].as_u64().unwrap_or_default();
        if wrote > MUCH {
            examined.fact(wrote < TOO_MUCH, || format!("{wrote} bytes of the agent {agent} were read"));
        }
    }
    examined
}
