//! Do all tasks of a workspace share one server?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::Capability;
use crate::witness::{Witnessed, witnessed};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "one-server",
    about: "Of the servers that the client starts one lives at a time, however many tasks there are.",
    needs: &[Capability::Spawn],
    has_occasion: |course| starts(course).next().is_some() && course.tasks.len() > 1,
    examine,
};

/// The starts, without those within a wrapper.
fn starts<'a>(course: &'a Course<'_>) -> impl Iterator<Item = u32> + 'a {
    witnessed(course.lines).filter_map(|(_, seen)| match seen {
        Witnessed::Started { number, wrapped: false, .. } => Some(number),
        _ => None,
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut alive = BTreeSet::new();
    for (_, seen) in witnessed(course.lines) {
        match seen {
            Witnessed::Started { number, wrapped: false, .. } => {
                examined.fact(alive.is_empty(), || {
                    format!("server {number} is started while {alive:?} of the same workspace lives")
                });
                alive.insert(number);
            }
            // One that crashes has said so before anybody can see it.
            Witnessed::Crashes { number } | Witnessed::Ended { number } => {
                alive.remove(&number);
            }
            _ => {}
        }
    }
    examined
}
