//! A service is there once, however many ask for it at the same time.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "services",
    about: "A service is initialized once, is the same for all who ask, and is tried again when that failed.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let disposed: Vec<usize> = story.calls_of("service/dispose").map(|call| call.at.line).collect();
    let mut known: BTreeMap<(&str, usize), Value> = BTreeMap::new();
    for (call, wanted) in wanted(story, "service/use") {
        let name = text(&call.params["name"]);
        let (times, instead) = (&wanted["initialized"], &wanted["initializes"]);
        examined
            .fact(times == instead, || format!("{name} is initialized {times} times instead of {instead}"));
        // Whoever comes while it is initialized waits, too.
        let ready = story.exchanges.iter().filter(|one| {
            one.lane.as_deref().is_some_and(|lane| text(&call.params["url"]).ends_with(&format!("/{lane}")))
        });
        let ready = ready.filter_map(|one| one.answer.map(|(at, _)| at.line)).min();
        if let (Some(ready), Some((answered, _))) = (ready, &call.answer) {
            examined.fact(ready < answered.line, || {
                format!("line {}: {name} is given to who asks before it is initialized", answered.line + 1)
            });
        }
        let instance = call.result().map(|said| said["instance"].clone()).unwrap_or_default();
        let is_there = wanted["ok"] == true;
        examined.fact(instance.is_null() != is_there, || format!("{name}: the instance is {instance}"));
        if is_there {
            let life = disposed.iter().filter(|line| **line < call.at.line).count();
            let first = known.entry((name, life)).or_insert_with(|| instance.clone());
            examined.fact(*first == instance, || {
                format!("{name}: there is an instance {first}, and another one {instance}")
            });
            let other = known.iter().find(|((other, _), known)| *other != name && **known == instance);
            examined.fact(other.is_none(), || {
                let other = other.map_or("", |((other, _), _)| other);
                format!("{name} is {instance}, and so is {other}")
            });
        }
    }
    examined
}
