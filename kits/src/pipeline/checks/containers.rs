//! Containers: there while their agent works, gone afterwards, whoever was killed; and nobody else's.

use super::{list, looks, prompted, subject};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "containers",
    about: "A container runs while its agent works, none is left after a run, and nobody else's is touched.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    if subject["docker"] != true || !story.can.contains("pipeline.container") {
        return examined;
    }
    let own = |value: &Value| -> Vec<String> {
        list(&value["containers"]["own"]).iter().map(|it| it["name"].to_string()).collect()
    };
    // Of two issues at once each has its own.
    let images: Vec<&Value> =
        list(&subject["phases"]).iter().map(|phase| &phase["image"]).filter(|it| it.is_string()).collect();
    for look in looks(story, &["held"]) {
        let own = list(&look.value["containers"]["own"]).iter();
        let runs = own.filter(|it| it["runs"] == true && images.contains(&&it["image"])).count();
        let wanted = images.len();
        examined.fact(runs >= wanted, || match wanted {
            0 | 1 => "the agent works, and its container does not run".to_owned(),
            _ => format!("{wanted} agents want a container each at the same time, and {runs} of these run"),
        });
    }
    // What nobody can remove just now is another question: whether it is told.
    for look in looks(story, &["gone", "swept"]).filter(|look| look.value["keeps"] != true) {
        let left = own(&look.value);
        examined.fact(left.is_empty(), || format!("left is {}", left.join(", ")));
    }
    for look in looks(story, &["held", "killed", "gone", "swept"]) {
        examined.fact(look.value["containers"]["stranger"] == true, || {
            "somebody else's container is gone".to_owned()
        });
    }
    let blocked = story.seen_of("prompted").find_map(|run| run.value["blocked"].as_str());
    if let Some(phase) = blocked {
        let sent = prompted(story).any(|it| it["phase"] == phase);
        examined.fact(!sent, || format!("the agent of {phase} works without its container"));
    }
    examined
}
