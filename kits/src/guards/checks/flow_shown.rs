//! What a model says is on the screen while it comes, and what it used is counted.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "flow-shown",
    about: "Words of the model are shown before the rest of its answer has come, all of them once; its tokens are summed up.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for seen in story.seen_of("let-go") {
        let (words, shown) = (text(&seen.value["words"]), text(&seen.value["shown"]));
        examined.fact(shown == words, || {
            format!("the model had said {words:?} and went on later: until then {shown:?} was shown")
        });
    }
    for (call, wanted) in
        wanted(story, "task/send").into_iter().filter(|(_, wanted)| wanted["killed"] == false)
    {
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let told = story.updates_of("says").filter(|told| call.at.line < told.at.line && told.at.line < end);
        let shown: String = told.map(|told| text(&told.update["text"])).collect();
        let answers = wanted["answers"].as_array().into_iter().flatten();
        let words: String = answers.map(|answer| text(&answer["says"])).collect();
        let task = text(&wanted["task"]);
        examined
            .fact(shown == words, || format!("{task}: the model said {words:?}, and {shown:?} was shown"));
        let dones = story.updates_of("done").filter(|told| call.at.line < told.at.line && told.at.line < end);
        let dones = dones.filter(|told| told.update["task"] == wanted["task"]).count();
        examined.fact(dones == 1, || format!("{task}: its end is shown {dones} times instead of once"));
        let usage = call.result().map(|result| result["usage"].clone()).unwrap_or_default();
        examined.fact(usage["input"] == wanted["input"] && usage["output"] == wanted["output"], || {
            let (input, output) = (&wanted["input"], &wanted["output"]);
            format!("{task}: {input} tokens were read and {output} written, and it says {usage}")
        });
    }
    examined
}
