//! State is where it belongs, and as long as it should be.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{Story, quoted};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "scopes",
    about: "Global state stays, a workspace's is there with its workspace alone, and a session's ends with the program.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "state/dump") {
        let at = |name: &str| -> Option<String> {
            let (scope, name) = name.split_once('.')?;
            call.result()?[scope][name].as_str().map(str::to_owned)
        };
        for (name, value) in wanted["has"].as_object().into_iter().flatten() {
            let stands = at(name);
            examined.fact(stands.as_deref() == value.as_str(), || {
                format!("{name} has to be {value}, and is {}", quoted(stands.as_deref()))
            });
        }
        for name in wanted["lacks"].as_array().into_iter().flatten().map(text) {
            let stands = at(name);
            examined.fact(stands.is_none() && call.result().is_some_and(Value::is_object), || {
                format!("{name} must not be there, and is {}", quoted(stands.as_deref()))
            });
        }
    }
    examined
}
