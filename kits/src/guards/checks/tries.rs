//! What may succeed is tried again, after longer and longer waits, and what can't is not.

use super::{in_time, text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "tries",
    about: "Tries come when they should and no others do; in the end there is the answer, or the last error.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "op/run") {
        let lane = text(&wanted["lane"]);
        let tries: Vec<f64> = story
            .exchanges
            .iter()
            .filter(|exchange| exchange.lane.as_deref() == Some(lane))
            .map(|exchange| exchange.at.ms)
            .collect();
        let times = wanted["at_s"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let times: Vec<f64> = times.map(|seconds| seconds * 1000.0).collect();
        examined.fact(tries.len() == times.len(), || {
            format!("{lane}: {} tries instead of {}", tries.len(), times.len())
        });
        let waits = |times: &[f64]| times.windows(2).map(|two| two[1] - two[0]).collect::<Vec<_>>();
        for (nth, (waited, wanted)) in waits(&tries).into_iter().zip(waits(&times)).enumerate() {
            in_time(&mut examined, story, waited, wanted, || {
                format!("{lane}: the wait after try {} is {waited:.0} ms instead of {wanted:.0} ms", nth + 1)
            });
        }
        if let (Some(last), Some((answered, _))) = (tries.last(), &call.answer) {
            let took = answered.ms - last;
            in_time(&mut examined, story, took, 0.0, || {
                format!("{lane}: nothing is tried any more, and it takes {took:.0} ms until that is told")
            });
        }
        let said = call.result();
        let ok = said.is_some_and(|said| said["ok"] == true);
        examined.fact(ok == (wanted["ok"] == true), || format!("{lane}: it says ok = {ok}"));
        if wanted["ok"] == false {
            let error = match &call.answer {
                Some((_, Ok(said))) => text(&said["error"]["message"]).to_owned(),
                Some((_, Err(error))) => error.message.clone(),
                None => String::new(),
            };
            let speaks = !error.is_empty() && !["undefined", "null", "None"].contains(&error.trim());
            examined.fact(speaks, || format!("{lane}: it failed, and the error says {error:?}"));
            let status = said.map(|said| said["error"]["status"].clone()).unwrap_or_default();
            let last = &wanted["last"];
            examined.fact(last.is_null() || status == *last, || {
                format!("{lane}: the last error had the status {last}, and it tells of {status}")
            });
        }
    }
    examined
}
