//! One file of an agent's diff is taken back: that file, and no other.

use super::{list, named};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "taken-back",
    about: "What an agent did to a file is taken back; what others did to it, whether it can be run, all other files and the index stay.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for seen in story.seen_of("taken-back") {
        let (wanted, found) = (&seen.value["wanted"], &seen.value["found"]);
        let names = [wanted, found].into_iter().filter_map(Value::as_object).flat_map(|files| files.keys());
        for name in names.collect::<BTreeSet<_>>() {
            examined.fact(wanted[name] == found[name], || {
                let told =
                    |it: &Value| if it.is_null() { "not be there".to_owned() } else { format!("hold {it}") };
                let found = if found[name].is_null() {
                    "is not there".to_owned()
                } else {
                    format!("holds {}", found[name])
                };
                format!("{name} should {} and {found}", told(&wanted[name]))
            });
        }
        // Nobody who takes words back has asked for another kind of file.
        let [could, can] = [0, 1].map(|which| names_in(&seen.value["runs"][which]));
        let other = named(could.symmetric_difference(&can).copied());
        examined.fact(other.is_empty(), || {
            format!(
                "whether {other} can be run is not as it was before {} was taken back",
                seen.value["path"]
            )
        });
        let staged = &seen.value["staged"];
        examined.fact(staged[0] == staged[1], || {
            format!("the person's index held {}, and now holds {}", staged[0], staged[1])
        });
        let is_refused = seen.value["refused"] == true;
        examined.fact(is_refused != (seen.value["done"] == true), || {
            let word = if is_refused { "done" } else { "refused" };
            format!("to take back {} was {word}", seen.value["path"])
        });
    }
    examined
}

fn names_in(value: &Value) -> BTreeSet<&str> {
    list(value).iter().filter_map(Value::as_str).collect()
}
