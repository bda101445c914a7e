//! What can't be merged or begun: it is said, nothing is lost, and the person's checkout is as the person left it.

use super::{is_refused_before, list, looks, says, status_in, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "blocked",
    about: "A phase that can't be begun or merged is not told as done, its work is kept, and no merge is left half done.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let issue = word(&subject, "issue");
    for run in story.seen_of("prompted").filter(|run| run.value["blocked"].is_string()) {
        let phase = word(&run.value, "blocked");
        let Some(look) = looks(story, &["gone"]).find(|look| look.at.line > run.at.line) else { continue };
        let status = status_in(look, issue, phase);
        // Who sees at once that it can't be ended may begin nothing at all: then there is no phase that is blocked.
        let begins_nothing = run.value["orStops"] == true && list(&run.value["prompted"]).is_empty();
        let is_said = if begins_nothing {
            let is_refused = is_refused_before(story, run.at.line);
            examined.fact(is_refused, || "nothing is begun, and the runner says that all is done".to_owned());
            status != Some("success")
        } else {
            // To fail is what an agent does; what stands in the way of its work is another thing to look at.
            status == Some("blocked")
        };
        examined.fact(is_said, || {
            format!("something stands in the way of {phase}, and its checkpoint says {}", says(status))
        });
        // Who asks and is not answered has done nothing.
        let works = list(&run.value["prompted"]).iter().any(|it| it["phase"] == phase);
        let worked = works && run.value["asks"].is_null();
        if worked {
            examined.fact(list(&look.value["kept"]).iter().any(|kept| kept == phase), || {
                format!("the work of {phase} is nowhere any more")
            });
        }
    }
    for look in looks(story, &["gone"]) {
        examined
            .fact(look.value["merging"] != true, || "the checkout is in the middle of a merge".to_owned());
    }
    for both in story.seen_of("together") {
        let Some(look) = looks(story, &["gone"]).filter(|look| look.at.line < both.at.line).last() else {
            continue;
        };
        let states: Vec<(&str, Option<&str>)> = list(&both.value["of"])
            .iter()
            .filter_map(|one| Some((one[1].as_str()?, status_in(look, one[0].as_str()?, one[1].as_str()?))))
            .collect();
        let done = states.iter().filter(|(_, status)| *status == Some("success")).count();
        let wanted = if both.value["cross"] == true { 1 } else { states.len() };
        examined.fact(done == wanted, || {
            let told = states.iter().map(|(phase, status)| format!("{phase} says {}", says(*status)));
            format!("{wanted} of two can be merged: {}", told.collect::<Vec<_>>().join(", "))
        });
        for (phase, status) in &states {
            let word = match *phase {
                "implementing" => "implemented\n",
                "fixing" => "fixed\n",
                _ => continue,
            };
            examined.fact(matches!(status, Some("success" | "blocked")), || {
                format!("{phase} can't be merged, and its checkpoint says {}", says(*status))
            });
            let holds = look.value["files"]["src/app.txt"].as_str().is_some_and(|text| text.contains(word));
            examined.fact(holds == (*status == Some("success")), || {
                let is = if holds { "is" } else { "is not" };
                format!("{phase} says {}, and its work {is} in the checkout", says(*status))
            });
        }
    }
    examined
}
