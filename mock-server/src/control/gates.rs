//! Gates: where an answer of the model waits in mid-turn until it is let go on.

use super::{Control, Outcome, Refused, Said};
use crate::http::core::Core;
use axum::http::StatusCode;
use fixtures::near_names::unknown;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};

/// Those of the scenario, in its order.
fn names(control: &Control) -> Vec<String> {
    control.gates.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

pub(super) fn list(core: &Arc<Core>, control: &Control) -> Said {
    let told = |name: String| json!({"state": core.gate(&name), "name": name});
    Said::Json(names(control).into_iter().map(told).collect::<Value>())
}

pub(super) fn open(core: &Arc<Core>, control: &Control, name: &str) -> Outcome {
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
    let known = names(control);
    if !known.contains(&name) {
        return Err(Refused(StatusCode::NOT_FOUND, unknown("gate in the scenario", &name, &known)));
    }
    core.note(format!("it is told to open the gate {name}"));
    core.open_gate(&name);
    Ok(Said::Json(json!({"opened": name})))
}
