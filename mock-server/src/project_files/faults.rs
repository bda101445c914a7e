//! Files of settings that a server can't use: what is wrong with them, and how each server tells it.

use crate::doc::Mistake;
use serde_json::{Value, json};

/// A file that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The file's path, absolute.
    pub(crate) path: String,
    pub(crate) what: What,
}

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// It is no JSON; all that is wrong.
    NoJson(String),
    /// What it says is not what the server can be told.
    Mistakes(Vec<Mistake>),
    /// It says something that the server does not know, and is used all the same.
    Unknown(Vec<String>),
    /// It refers to what is not there, or may not be told.
    Reference(String),
    /// The same of an agent in Markdown.
    Agent(Vec<Mistake>),
    /// The same of a command.
    Command(Vec<Mistake>),
}

impl Fault {
    /// What a server answers that does not begin with such a file.
    pub(crate) fn error(&self) -> Value {
        let path = &self.path;
        let invalid = |data: Value| json!({"name": "ConfigInvalidError", "data": data});
        match &self.what {
            What::NoJson(words) => {
                json!({"name": "ConfigJsonError", "data": {"path": path, "message": words}})
            }
            What::Mistakes(all) | What::Agent(all) => {
                let issues: Vec<Value> = all.iter().map(Mistake::wire).collect();
                invalid(json!({"path": path, "issues": issues}))
            }
            What::Unknown(keys) => invalid(json!({"path": path, "message": unknown(keys)})),
            What::Reference(words) => invalid(json!({"path": path, "message": words})),
            What::Command(all) => {
                let first = all.first();
                let what = first.map_or("", |mistake| mistake.what.as_str());
                let keys = first.into_iter().flat_map(|mistake| &mistake.path);
                let keys: String = keys.map(|key| format!("[{key:?}]")).collect();
                invalid(json!({"path": path, "message": format!("SchemaError: {what}\n  at {keys}")}))
            }
        }
    }

    /// What a server warns of that goes on without it.
    pub(crate) fn warning(&self) -> Value {
        let path = &self.path;
        let in_words = |all: &[Mistake]| {
            let one = |mistake: &Mistake| match mistake.path.join(".") {
                path if path.is_empty() => mistake.what.clone(),
                path => format!("{path}: {}", mistake.what),
            };
            all.iter().map(one).collect::<Vec<_>>().join("\n")
        };
        let invalid = |words: &str| json!({"path": path, "message": format!("Configuration is invalid at {path}: {words}")});
        match &self.what {
            What::NoJson(words) => {
                let message = format!("Config file at {path} is not valid JSON(C)");
                json!({"path": path, "message": message, "detail": words})
            }
            What::Mistakes(all) => invalid(&in_words(all)),
            What::Unknown(keys) => {
                let words = unknown(keys);
                let mut told = invalid(&words);
                told["detail"] = json!(words);
                told
            }
            What::Reference(words) => invalid(words),
            What::Agent(all) | What::Command(all) => {
                let words = in_words(all);
                let message = format!("Config file at {path} is invalid: {words}");
                json!({"path": path, "message": message, "detail": words})
            }
        }
    }
}

pub(super) fn unknown(keys: &[String]) -> String {
    let many = if keys.len() == 1 { "" } else { "s" };
    format!("Unrecognized key{many}: {}", keys.join(", "))
}
