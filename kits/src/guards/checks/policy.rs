//! The webview's policy lets in what it needs, and nothing else.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use fixtures::csp::{Rule, reference};
use harness::checks::Examined;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "policy",
    about: "The webview's policy keeps every rule of docs/corpora.md; images from any host are an advice.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut known = BTreeSet::new();
    for (call, _) in wanted(story, "csp/describe") {
        let policy = call.result().map(|result| text(&result["policy"])).unwrap_or_default();
        // Whoever has read one page knows the signs that let in the scripts of the next one, if they are the same.
        for nonce in nonces(policy) {
            examined.fact(!known.contains(nonce), || {
                "two pages have the same nonce: whoever has read one page can add scripts to the next"
                    .to_owned()
            });
        }
        known.extend(nonces(policy).map(str::to_owned));
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

/// The nonces of a policy, each once.
fn nonces(policy: &str) -> impl Iterator<Item = &str> {
    let words = policy.split([' ', ';', '\n', '\t']).filter(|word| word.starts_with("'nonce-"));
    words.collect::<BTreeSet<_>>().into_iter()
}
