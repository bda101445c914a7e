//! Nothing of the run before reaches the new turn.

use super::super::play::LATE_FILE;
use super::{episodes, messages, text_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "fresh",
    about: "Nothing of the run before reaches the new turn: no late word and no late file.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| !episode.told["works_for_ms"].is_null()) {
        if episode.done().is_none() && episode.said_behind().is_none() {
            continue;
        }
        let (name, late) = (episode.name(), episode.told["late"].as_str().unwrap_or_default());
        let is_told = episode
            .asked
            .iter()
            .any(|asked| messages(asked).iter().any(|message| text_of(message).contains(late)));
        examined.fact(!is_told, || format!("{name}: the model is told what the run before said too late"));
        for list in ["user", "model"] {
            let has = episode.list(list).iter().any(|text| text.contains(late));
            examined.fact(!has, || format!("{name}: the list of the {list} has late words in it"));
        }
        let has_file = !episode.after["tree"][LATE_FILE].is_null();
        examined.fact(!has_file, || format!("{name}: the run before has written a file into the new turn"));
    }
    examined
}
