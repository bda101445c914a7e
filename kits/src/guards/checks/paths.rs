//! A tool is let at what lies inside, and at nothing else.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{Call, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "paths",
    about: "What lies in a workspace is allowed, everything else is refused, and a guard that breaks refuses.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "path/check") {
        let said = call.result().map_or("refuse", |result| text(&result["verdict"]));
        judge(&mut examined, call, said, text(&wanted["verdict"]), text(&wanted["about"]));
    }
    for (call, wanted) in wanted(story, "path/act") {
        let done = call.result().is_some_and(|result| result["done"] == true);
        let said = if done { "allow" } else { "refuse" };
        judge(&mut examined, call, said, text(&wanted["verdict"]), text(&wanted["about"]));
        let file = text(&wanted["writes"]);
        if !file.is_empty() {
            // What stands on the disk right after it.
            let after = story.seen_of("disk").find(|seen| seen.at.line > call.at.line);
            let says = after.map_or("", |seen| text(&seen.value[file]));
            examined.fact(says == "written\n", || format!("{file} says {says:?} after it was to be written"));
        }
    }
    examined
}

/// An error is a refusal: whoever gets one lets no tool at the path.
fn judge(examined: &mut Examined, call: &Call, said: &str, wanted: &str, about: &str) {
    examined.fact(said == wanted, || {
        let path = text(&call.params["path"]);
        let path: String = path.chars().take(80).collect();
        format!("{about}: {path:?} has to be {wanted}, and is {said}")
    });
}
