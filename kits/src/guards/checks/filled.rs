//! Every source of the webview's policy is one: no place is left unfilled.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use fixtures::csp::{Rule, reference};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "filled",
    about: "No placeholder is left in the webview's policy, and no word in it is misspelt.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, _) in wanted(story, "csp/describe") {
        let policy = call.result().map(|result| text(&result["policy"])).unwrap_or_default();
        let filled = !policy.is_empty() && reference(policy, Rule::Sources);
        examined.fact(filled, || format!("a source of the policy is none: {policy:?}"));
    }
    examined
}
