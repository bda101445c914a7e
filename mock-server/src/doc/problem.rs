//! What is wrong with a value, and where, in the words of the servers.

use super::settings::Mistake;
use serde_json::{Value, json};

/// The first thing that is wrong; of a value that could be several things, the first for each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem(Vec<Cause>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause {
    what: String,
    /// From the outside in.
    path: Vec<Value>,
}

impl Problem {
    fn of(what: String) -> Self {
        Self(vec![Cause { what, path: Vec::new() }])
    }

    pub(super) fn missing() -> Self {
        Self::of("Missing key".to_owned())
    }

    pub(super) fn expected(expected: &str, got: &str) -> Self {
        Self::of(format!("Expected {expected}, got {got}"))
    }

    /// Both, of a value that could be either.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same, in a thing of this name.
    pub(super) fn at(self, name: &str) -> Self {
        self.inside(&json!(name))
    }

    pub(super) fn at_item(self, place: usize) -> Self {
        self.inside(&json!(place))
    }

    fn inside(mut self, key: &Value) -> Self {
        self.0.iter_mut().for_each(|cause| cause.path.insert(0, key.clone()));
        self
    }

    /// The same, one by one, in what stands at this path.
    pub(super) fn mistakes(&self, at: &[String]) -> impl Iterator<Item = Mistake> {
        let key = |key: &Value| key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        self.0.iter().map(move |cause| Mistake {
            path: at.iter().cloned().chain(cause.path.iter().map(key)).collect(),
            what: cause.what.clone(),
        })
    }

    pub(super) fn message(&self) -> String {
        self.0.iter().map(Cause::message).collect::<Vec<_>>().join("\n")
    }
}

impl Cause {
    fn message(&self) -> String {
        if self.path.is_empty() {
            return self.what.clone();
        }
        let path: String = self.path.iter().map(|key| format!("[{key}]")).collect();
        format!("{}\n  at {path}", self.what)
    }
}
