//! How a summary stands is told as the agent tells it, in either of its forms; and it holds nothing up.

use super::{Check, Examined};
use crate::acp::heard::messages;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "compaction", about: "How a summary stands is told, whichever form it has.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("kiro.compaction") {
        return examined;
    }
    let told: Vec<&str> = messages(story)
        .filter(|message| !message.is_clients && message.method() == Some("_kiro.dev/compaction/status"))
        .filter_map(|message| {
            let status = &message.value["params"]["status"];
            status["type"].as_str().or(status.as_str())
        })
        .collect();
    if !told.is_empty() {
        let shown = story.updates_of("chatCompaction").filter_map(|told| told.update["status"].as_str());
        let shown: Vec<&str> = shown.collect();
        examined.fact(shown == told, || {
            format!("the agent says {told:?} of its summary, and shown is {shown:?}")
        });
    }
    examined
}
