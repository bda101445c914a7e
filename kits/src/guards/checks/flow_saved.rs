//! When the person is told of the end of a task, it is on the disk.

use super::told::{lacks, messages, requests};
use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "flow-saved",
    about: "A program that is killed when it has told of a task's end goes on with all of the task.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let all = wanted(story, "task/send");
    for (nth, (call, before)) in all.iter().enumerate().filter(|(_, (_, wanted))| wanted["killed"] == true) {
        let task = text(&before["task"]);
        let was_told =
            story.updates_of("done").any(|told| told.at.line > call.at.line && told.update["task"] == task);
        examined.fact(was_told, || format!("{task}: the person was never told of its end"));
        let next = all[nth + 1..].iter().find(|(_, wanted)| wanted["task"] == before["task"]);
        let first = next.and_then(|(_, wanted)| requests(story, &wanted["lane"]).first().copied());
        let lacks = first.map(|first| lacks(messages(first), before));
        examined.fact(lacks.as_ref().is_some_and(Vec::is_empty), || {
            let lacks = lacks.as_ref().map_or("any request".to_owned(), |lacks| lacks.join(", "));
            format!("{task}: killed after it had told of its end, it goes on without {lacks}")
        });
    }
    examined
}
