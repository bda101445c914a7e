//! Containers: there while their agent works, gone afterwards, whoever was killed; and nobody else's.

use super::{list, looks, prompted, subject};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

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
    let own = |value: &serde_json::Value| -> Vec<String> {
        list(&value["containers"]["own"]).iter().map(|it| it["name"].to_string()).collect()
    };
    let of_phase = list(&subject["phases"]).iter().find(|phase| phase["image"].is_string());
    for look in looks(story, &["held"]) {
        let image = of_phase.map(|phase| &phase["image"]);
        let runs = list(&look.value["containers"]["own"])
            .iter()
            .any(|it| it["runs"] == true && Some(&it["image"]) == image);
        examined.fact(runs, || "the agent works, and its container does not run".to_owned());
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
