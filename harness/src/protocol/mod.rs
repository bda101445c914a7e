//! The adapter protocol: what the harness and an adapter (the client under test) say to each other.
//!
//! JSON-RPC 2.0, one message a line. It is strict both ways: an unknown field is a mistake, never ignored, so that a
//! typo in an adapter shows on the first line and not as a missing effect an hour later.
//!
//! * [`rpc`] — a line ⇄ a request, a response or a notification.
//! * [`request`] — what the harness asks, and the results; [`capability`] — what an adapter can do of it.
//! * [`features`], [`history`], [`tools`] and [`guarding`] — what else it asks. [`files`] — what goes beside words.
//! * [`spawn`] — a server that the adapter starts by itself.
//! * [`update`] — what an adapter says by itself: what the person would see, counters, log lines.
//! * [`view`] — what the person sees after any number of updates. A pure fold.
//!
//! Absent on purpose: times (the harness stamps them) and expectations (they are never sent).

pub mod capability;
pub mod features;
pub mod files;
pub mod guarding;
pub mod history;
mod platform;
pub mod request;
pub mod rpc;
pub mod spawn;
mod tools;
pub mod update;
pub mod view;

#[cfg(test)]
mod tests;

pub use capability::Capability;
pub use features::{
    Affordance, AutoApprove, Backend, FollowUp, Locale, Offered, PermissionAll, PermissionRef,
};
pub use files::{Attachment, ChangedFile, Diff};
pub use guarding::{
    CredentialsCheck, CredentialsJudged, CredentialsVerdict, PathCheck, PathJudged, PathVerdict,
};
pub use history::{Aside, TaskEdit, TaskFork, TaskRevert};
pub use platform::PlatformFeatures;
pub use request::{
    Connect, Done, Initialize, Initialized, PermissionReply, QuestionRef, QuestionReply, Reply, Request,
    Settings, TaskRef, TaskSend, TaskStart, TaskStarted,
};
pub use rpc::{BadLine, Id, Incoming, RpcError};
pub use spawn::{ServerReason, ServerSpawn, ServerState};
pub use tools::{ToolServerAdd, ToolServerRef, ToolServers};
pub use update::{
    ConnectionState, LogLevel, LogLine, Notification, Outcome, Signal, TaskState, ToolState, Update,
};
pub use view::{Asked, Item, ItemKind, Permission, Process, Question, Screen, TodoItem, View};

use serde_json::{Map, Value};

/// The version of the protocol that this code speaks.
pub const PROTOCOL: u32 = 1;

/// Reads `params` (or a result) strictly; the message names the field that is wrong.
pub(crate) fn strict<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value::<T>(value.clone()).map_err(|error| {
        let message = error.to_string();
        match field_at_fault::<T>(value, &message) {
            Some(field) if !message.contains(&format!("`{field}`")) => format!("field `{field}`: {message}"),
            _ => message,
        }
    })
}

/// serde names a missing or unknown field, but not one of a wrong type, nor the field that a mistake lies in: that is
/// the first one without which the message would be another.
fn field_at_fault<T: serde::de::DeserializeOwned>(value: &Value, message: &str) -> Option<String> {
    let fields = value.as_object()?;
    let differs = |fields: Map<String, Value>| {
        serde_json::from_value::<T>(Value::Object(fields))
            .err()
            .is_none_or(|error| error.to_string() != message)
    };
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    if let Some(missing) = missing {
        // Missing here, or in a field? Only here would it help to add it.
        let mut with = fields.clone();
        with.insert(missing.to_owned(), Value::Null);
        if differs(with) {
            return None;
        }
    }
    let at_fault = |field: &&String| {
        let mut without = fields.clone();
        without.remove(*field);
        differs(without)
    };
    fields.keys().find(at_fault).cloned()
}
