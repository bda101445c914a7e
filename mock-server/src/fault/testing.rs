//! For tests of faults: one connection under a plan of one fault.

use super::ArmedPlan;
use crate::performer::Frame;
use bytes::Bytes;
use fixtures::fault_plan::{FaultPlan, StreamName};
use std::path::Path;
use std::sync::Arc;

/// What a connection carries under a plan, `<kind>` for each event and `!` where it breaks, and how many faults are
/// left unfired.
pub(super) fn carried(when: &str, action: &str, kinds: &[&str]) -> (String, usize) {
    let text = format!("[[fault]]\nwhen = {{ stream = \"event\", {when} }}\ndo = {{ {action} }}\n");
    let plan = ArmedPlan::new(FaultPlan::parse(Path::new("p"), &text).unwrap());
    let mut faults = plan.connect("a", StreamName::Event);
    let mut carried = String::new();
    for kind in kinds {
        let bytes = Bytes::from(format!("<{kind}>"));
        let outcome = faults.frame(&Frame { kind: Arc::from(*kind), bytes });
        carried.push_str(std::str::from_utf8(&outcome.bytes).unwrap());
        if outcome.breaks {
            carried.push('!');
            break;
        }
    }
    (carried, plan.unfired().len())
}
