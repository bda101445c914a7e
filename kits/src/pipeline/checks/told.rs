//! What a run says of itself: whoever goes on behind it, a script or a person, goes by that.

use super::{answer_before, list, looks, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "told",
    about: "A run ends with a success when all phases are done, and never else.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for run in story.seen_of("prompted") {
        let said = &run.value;
        let is_over = said["killed"].is_null() && said["hangs"] != true;
        // Of two issues at once, of one that is begun twice, and of what is swept through, other checks tell.
        let is_swept = said["orFewer"] == true || said["twice"] == true;
        if !is_over || is_swept || story.seen_of("together").next().is_some() {
            continue;
        }
        let Some(answer) = answer_before(story, run.at.line) else { continue };
        let says_done = answer.as_ref().is_ok_and(|answer| answer["status"] == "success");
        let phases =
            |key: &str| list(&said[key]).iter().map(|it| it.as_str().unwrap_or_else(|| word(it, "phase")));
        let undone = phases("wanted").find(|wanted| !phases("prompted").any(|it| it == *wanted));
        let fell = ["failed", "blocked", "asks"].into_iter().find_map(|key| said[key].as_str()).or(undone);
        let method = word(said, "method");
        if let Some(phase) = fell {
            examined.fact(!says_done, || format!("{phase} is not done, and {method} ends with a success"));
            continue;
        }
        // Whatever can't be removed is an error, too.
        let look = looks(story, &["gone"]).find(|look| look.at.line > run.at.line);
        if look.is_some_and(|look| look.value["keeps"] != true) {
            examined.fact(says_done, || {
                let answer = answer.as_ref().map_or_else(|error| error.message.clone(), ToString::to_string);
                format!("all phases are done, and {method} does not end with a success: {answer}")
            });
        }
    }
    examined
}
