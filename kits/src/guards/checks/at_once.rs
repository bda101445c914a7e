//! No more operations run at once than there may, and as many as may.

use super::wanted;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "at-once",
    about: "As many operations are under way as may be, and no more; one that fails gives its place back.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for seen in story.seen_of("under-way") {
        let (are, may) = (&seen.value["are"], &seen.value["may"]);
        examined.fact(are == may, || format!("{are} operations are under way instead of {may}"));
    }
    for (call, wanted) in wanted(story, "op/begin").into_iter().filter(|(_, wanted)| wanted["all"] == true) {
        let ok = call.result().is_some_and(|said| said["ok"] == true);
        examined.fact(ok == (wanted["ok"] == true), || format!("{} says ok = {ok}", call.params["id"]));
    }
    examined
}
