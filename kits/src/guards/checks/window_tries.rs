//! When the model says that it is too long, less is sent, a few times, and then the person is told.

use super::wanted;
use super::window::{parts, sent, tokens};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "window-tries",
    about: "Each request after a refusal for length is smaller; there are at most three of them, and then one error.",
    examine,
};

/// As many tries more as there may be.
const MOST: usize = 3;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "context/send") {
        let Some(refused) = wanted["refused"].as_u64().and_then(|count| usize::try_from(count).ok()) else {
            continue;
        };
        if refused == 0 {
            continue;
        }
        let tokens = tokens(&call.params);
        let sums: Vec<f64> = sent(story, call)
            .iter()
            .map(|exchange| {
                let summary = exchange.body["summaryTokens"].as_f64().unwrap_or_default();
                parts(exchange).iter().filter_map(|id| tokens.get(id)).sum::<f64>() + summary
            })
            .collect();
        examined.fact(sums.len() <= 1 + MOST, || format!("{} requests for one conversation", sums.len()));
        examined.fact(sums.windows(2).all(|two| two[1] < two[0]), || {
            format!("the requests don't get smaller: {sums:?} tokens")
        });
        let enough = refused.min(MOST);
        examined.fact(sums.len() > enough, || {
            format!("it gives up after {} requests, and {} may be tried", sums.len(), 1 + enough)
        });
        let ok = call.result().is_some_and(|said| said["ok"] == true);
        examined.fact(ok == (refused <= MOST), || format!("after {refused} refusals it says ok = {ok}"));
    }
    examined
}
