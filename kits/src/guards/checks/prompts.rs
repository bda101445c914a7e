//! The person is asked when there is a question, and a line runs only after a yes.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    name: "prompts",
    about: "A line runs after a yes and never without; `always` is not asked again, `once` is.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "command/run") {
        let about = text(&wanted["about"]);
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let of_call = |line: usize| call.at.line < line && line < end;
        let prompts = story.updates_of("prompt").filter(|told| of_call(told.at.line)).count();
        let asks = wanted["asks"] == true;
        examined.fact(prompts == usize::from(asks), || match asks {
            true => format!("{about}: the person was asked {prompts} times instead of once"),
            false => format!("{about}: the person was asked {prompts} times, and had allowed it"),
        });
        let after = story.seen_of("disk").find(|seen| seen.at.line > call.at.line);
        let makes = format!("work/{}", text(&wanted["makes"]));
        let ran = after.is_some_and(|seen| seen.value.get(&makes).is_some());
        let runs = wanted["runs"] == true;
        examined.fact(ran == runs, || match runs {
            true => format!("{about}: the person allowed it, and it did not run"),
            false => format!("{about}: it ran without a yes"),
        });
        let told = call.result().map(|result| result["ran"].clone());
        examined.fact(told == Some(json!(ran)) || (told.is_none() && !ran), || {
            format!("{about}: it says ran = {told:?}, and the disk says {ran}")
        });
    }
    examined
}
