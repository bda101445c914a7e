//! Does nothing run, and is nothing asked, where the person has said that the agent has no tools?

use super::{Check, Examined};
use crate::course::{Course, Sent};
use crate::protocol::{Capability, Request, Update};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "tools-off",
    about: "Of an agent without tools no call comes to anything, and nothing is asked for it.",
    needs: &[Capability::ToolsOff],
    has_occasion: |course| since(course).is_some_and(|(_, at_us)| tries(course, at_us).next().is_some()),
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

/// What agents of the tasks have tried since then.
fn tries<'a>(course: &'a Course<'_>, since_us: u64) -> impl Iterator<Item = &'a Value> {
    let is_ours = |sent: &&Sent| sent.session().is_some_and(|session| course.task_of(session).is_some());
    let since = course.events.iter().filter(move |sent| sent.at_us >= since_us).filter(is_ours);
    since.map(|sent| &sent.event["properties"]["part"]).filter(|part| part["type"] == "tool")
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let Some((line, at_us)) = since(course) else { return examined };
    // To hide what is asked is not enough where an agent need not ask.
    for part in tries(course, at_us) {
        // What is not offered is answered, too, under this name.
        let has_run = part["state"]["status"] == "completed" && part["tool"] != "invalid";
        examined.fact(!has_run, || {
            format!("{} has run in {}, and tools are off", part["tool"], part["sessionID"])
        });
    }
    let asked = |update: &Update| matches!(update, Update::PermissionRequest { .. });
    if course.shown().any(|(said, update)| said.line > line && asked(update)) {
        examined.fact(false, || "the person is asked for leave, and tools are off".to_owned());
    }
    examined
}
