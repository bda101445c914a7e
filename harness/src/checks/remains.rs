//! What is left of the servers that the adapter has started, when the workspace is closed and when the adapter has ended?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::Capability;
use crate::witness::{Witnessed, witnessed};

pub(super) const CHECK: Check = Check {
    name: "remains",
    about: "When the workspace is closed, and when the client has ended, no process of a server lives, and nobody listens \
            at its port.",
    needs: &[Capability::Spawn],
    has_occasion: |course| left(course).any(|(when, ..)| when != "before"),
    examine,
};

fn left<'a>(course: &'a Course<'_>) -> impl Iterator<Item = (String, usize, usize)> + 'a {
    witnessed(course.lines).filter_map(|(_, seen)| match seen {
        Witnessed::Left { when, processes, ports } => Some((when, processes, ports)),
        _ => None,
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let before = left(course).find(|(when, ..)| when == "before");
    let (processes_before, ports_before) = before.map_or((0, 0), |(_, processes, ports)| (processes, ports));
    for (when, processes, ports) in left(course).filter(|(when, ..)| when != "before") {
        let moment = if when == "closed" { "the workspace is closed" } else { "the client has ended" };
        examined.fact(processes <= processes_before, || {
            format!("{moment}, and of the processes that it has started {processes} live")
        });
        examined
            .fact(ports <= ports_before, || format!("{moment}, and {ports} of its servers' ports are open"));
    }
    examined
}
