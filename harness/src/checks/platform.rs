//! Does what is no agent work on, whatever becomes of the server and of the flag?

use super::errands::errands;
use super::{Check, Examined};
use crate::course::Course;
use crate::protocol::{Capability, PlatformFeatures, Request};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "platform",
    about: "What the client has beside the agent works whenever one looks, and none of it vanishes.",
    needs: &[Capability::Platform],
    has_occasion: |course| course.asked().any(|(_, _, request)| matches!(request, Request::PlatformFeatures)),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for errand in errands(course, |request| matches!(request, Request::PlatformFeatures)) {
        let told = errand.answer.and_then(|answer| answer.as_ref().ok());
        let told: Option<PlatformFeatures> = told.and_then(|told| serde_json::from_value(told.clone()).ok());
        examined.fact(told.is_some(), || "nobody says what works beside the agent".to_owned());
        let Some(PlatformFeatures { features }) = told else { continue };
        examined.fact(!features.is_empty(), || {
            "the client declares features beside the agent, and names none".to_owned()
        });
        for name in &known {
            examined.fact(features.contains_key(name), || format!("{name} was there, and is not any more"));
        }
        for (name, works) in features {
            examined.fact(works, || format!("{name} is no agent, and does not work"));
            known.insert(name);
        }
    }
    examined
}
