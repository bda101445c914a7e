//! Does nothing run, and is nothing asked, where the person has said that the agent has no tools?

use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, Request, Update};

pub(super) const CHECK: Check = Check {
    name: "tools-off",
    about: "Of an agent without tools no call comes to anything, and nothing is asked for it.",
    needs: &[Capability::ToolsOff],
    has_occasion: |course| since(course).is_some(),
    examine,
};

/// Where and when the person has said so, if it was the last word.
fn since(course: &Course<'_>) -> Option<(usize, u64)> {
    let settings = course.asked().filter_map(|(said, _, request)| match request {
        Request::Settings(settings) => Some((said, settings.tools)),
        _ => None,
    });
    settings.last().filter(|(_, tools)| !tools).map(|(said, _)| (said.line, said.at_us))
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let Some((line, at_us)) = since(course) else { return examined };
    // To hide what is asked is not enough where an agent need not ask.
    for sent in course.events.iter().filter(|sent| sent.at_us >= at_us) {
        let part = &sent.event["properties"]["part"];
        let is_ours = sent.session().is_some_and(|session| course.task_of(session).is_some());
        if !is_ours || part["type"] != "tool" {
            continue;
        }
        // What is not offered is answered, too, under this name.
        let has_run = part["state"]["status"] == "completed" && part["tool"] != "invalid";
        examined.fact(!has_run, || {
            format!("{} has run in {}, and tools are off", part["tool"], part["sessionID"])
        });
    }
    let asked = |update: &Update| matches!(update, Update::PermissionRequest { .. });
    let shown = course.shown().any(|(said, update)| said.line > line && asked(update));
    examined.fact(!shown, || "the person is asked for leave, and tools are off".to_owned());
    examined
}
