//! A plan reaches whoever works by it as it was made, whoever was killed in between. What counts is what the agent is told.

use super::{issue_of, prompted, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "plan",
    about: "Each agent behind the designer is told the plan, word for word, after a restart too.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("pipeline.plan") {
        return examined;
    }
    let subject = subject(story);
    let mut planned = BTreeSet::new();
    for asked in prompted(story) {
        let issue = issue_of(asked, &subject);
        if asked["phase"] == "designing" {
            planned.insert(issue);
        } else if planned.contains(issue) {
            let phase = word(asked, "phase");
            let how = word(asked, "plan");
            examined.fact(how == "whole", || format!("the agent of {phase} is told the plan {how}"));
        }
    }
    examined
}
