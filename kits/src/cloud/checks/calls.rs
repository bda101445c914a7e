//! One request a fetch, as it has to be; and none where there is nothing to ask with.

use super::fetches;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "calls",
    about: "A fetch is one request with its bearer, and none without a token or for another provider.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // A cloud that refuses sees nothing.
    for fetch in fetches(story).iter().filter(|fetch| !fetch.is_tried() || fetch.is_heard()) {
        // Whoever is sent elsewhere asks there, too: what he brings is another matter.
        let is_sent = fetch.calls().first().is_some_and(|call| call["answer"] == "redirect");
        let calls = if is_sent { &fetch.calls()[..1] } else { fetch.calls() };
        let wanted = usize::from(fetch.is_tried());
        examined.fact(calls.len() == wanted, || format!("{} requests in place of {wanted}", calls.len()));
        for call in calls {
            let is_so = call["method"] == "GET" && call["path"] == "/api/users/notifications";
            examined.fact(is_so, || format!("it asks {} {}", call["method"], call["path"]));
            examined.fact(call["bearer"] == "right", || format!("its bearer is {}", call["bearer"]));
            examined.fact(call["says_json"] == true, || "it does not say that it speaks JSON".to_owned());
        }
    }
    examined
}
