//! The webview's policy lets in what it needs, and nothing else.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use fixtures::csp::{Rule, reference};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "policy",
    about: "The webview's policy keeps every rule of docs/corpora.md; images from any host are an advice.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, _) in wanted(story, "csp/describe") {
        let policy = call.result().map(|result| text(&result["policy"])).unwrap_or_default();
        for rule in Rule::ALL {
            let holds = reference(policy, rule);
            if rule.is_advice() {
                if !holds {
                    examined
                        .degraded
                        .push("images may come from any host: their addresses carry texts out".to_owned());
                }
                continue;
            }
            // That has a check of its own.
            if rule == Rule::Sources {
                continue;
            }
            examined.fact(holds, || format!("the policy breaks the rule '{rule}': {policy:?}"));
        }
    }
    examined
}
