//! The design's own names. Its exchanges can be said to the letter only to an agent whose first session is `sess_abc123`, and
//! whose first call is `tool_1`: those of the server behind it are known by such names here, on the way in and out.

use super::Dialect;
use crate::acp::kiro;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The number in the name of the first session.
const FIRST_SESSION: usize = 123;

/// Where the sessions of a message stand that goes out.
const SESSIONS: &[&str] = &["/params/sessionId", "/result/sessionId", "/error/data/sessionId"];
/// And its calls.
const CALLS: &[&str] = &["/params/update/id", "/params/toolCall/toolCallId"];

/// Names that have been given.
#[derive(Debug)]
pub(in crate::acp) struct Names {
    /// Where the session files of other agents lie, if anywhere: their names are taken.
    folder: Option<PathBuf>,
    given: Mutex<Given>,
}

#[derive(Debug, Default)]
struct Given {
    /// Names of sessions, and who they are to the server.
    sessions: Vec<(String, String)>,
    /// The server's calls, in the order of their names.
    calls: Vec<String>,
}

impl Names {
    /// Those of a dialect that has its own.
    pub(in crate::acp) fn of(dialect: Dialect, home: Option<&Path>) -> Option<Arc<Self>> {
        (dialect == Dialect::KiroSeed).then(|| Arc::new(Self::new(home.map(kiro::kept_below))))
    }

    fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, given: Mutex::default() }
    }

    /// A message that goes out, in the design's names.
    pub(in crate::acp) fn told(&self, mut message: Value) -> Value {
        let listed = message.pointer_mut("/result/sessions").and_then(Value::as_array_mut);
        for session in listed.into_iter().flatten().filter_map(|session| session.get_mut("sessionId")) {
            self.rename(session, Self::session);
        }
        for (places, name) in [(SESSIONS, Self::session as fn(&Self, &str) -> String), (CALLS, Self::call)] {
            for place in places {
                if let Some(id) = message.pointer_mut(place) {
                    self.rename(id, name);
                }
            }
        }
        message
    }

    fn rename(&self, id: &mut Value, name: fn(&Self, &str) -> String) {
        if let Some(text) = id.as_str() {
            *id = json!(name(self, text));
        }
    }

    /// The name of a session; what is none of the server's keeps its own.
    pub(in crate::acp) fn session(&self, id: &str) -> String {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, _)) = given.sessions.iter().find(|(_, known)| known == id) {
            return name.clone();
        }
        if !id.starts_with("ses_") {
            return id.to_owned();
        }
        let mut names = (FIRST_SESSION..).map(|number| format!("sess_abc{number}"));
        let is_free = |name: &String| {
            let is_kept = self.file(name).is_some_and(|file| file.exists());
            !is_kept && !given.sessions.iter().any(|(known, _)| known == name)
        };
        let Some(name) = names.find(is_free) else { return id.to_owned() };
        given.sessions.push((name.clone(), id.to_owned()));
        name
    }

    fn call(&self, id: &str) -> String {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let known = given.calls.iter().position(|known| known == id);
        let at = known.unwrap_or_else(|| {
            given.calls.push(id.to_owned());
            given.calls.len() - 1
        });
        format!("tool_{}", at + 1)
    }

    /// What a client says, in the server's names; and the folder of a session that another agent has left.
    pub(in crate::acp) fn heard(&self, params: &mut Value) -> Option<Value> {
        let name = params["sessionId"].as_str()?.to_owned();
        let known = {
            let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
            given.sessions.iter().find(|(known, _)| *known == name).map(|(_, id)| id.clone())
        };
        if let Some(id) = known {
            params["sessionId"] = json!(id);
            return None;
        }
        let kept = fs::read_to_string(self.file(&name)?).ok()?;
        let kept: Value = serde_json::from_str(&kept).ok()?;
        let id = kept["server_session"].as_str()?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.sessions.push((name, id.to_owned()));
        params["sessionId"] = json!(id);
        Some(kept["cwd"].clone())
    }

    /// A name leads to no other folder.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let folder = self.folder.as_deref().filter(|_| is_name && !name.is_empty())?;
        Some(Path::new(folder).join(format!("{name}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_out_under_a_name_comes_in_by_it() {
        let names = Names::new(None);
        let made = names.told(json!({"id": 2, "result": {"sessionId": "ses_one"}}));
        assert_eq!(made["result"]["sessionId"], "sess_abc123");
        assert_eq!(names.session("ses_two"), "sess_abc124");
        let call = |id: &str| names.told(json!({"params": {"sessionId": "ses_one", "update": {"id": id}}}));
        assert_eq!(call("call_b")["params"], json!({"sessionId": "sess_abc123", "update": {"id": "tool_1"}}));
        assert_eq!(call("call_a")["params"]["update"]["id"], "tool_2");
        assert_eq!(call("call_b")["params"]["update"]["id"], "tool_1");
        let mut heard = json!({"sessionId": "sess_abc124"});
        assert_eq!(names.heard(&mut heard), None);
        assert_eq!(heard["sessionId"], "ses_two");
        let mut unknown = json!({"sessionId": "sess_abc999"});
        names.heard(&mut unknown);
        assert_eq!(unknown["sessionId"], "sess_abc999");
    }

    #[test]
    fn a_name_that_another_agent_has_left_is_its_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let kept = json!({"server_session": "ses_old", "cwd": "/w"});
        fs::write(folder.path().join("sess_abc123.json"), kept.to_string()).unwrap();
        let names = Names::new(Some(folder.path().to_owned()));
        assert_eq!(names.session("ses_new"), "sess_abc124");
        let mut heard = json!({"sessionId": "sess_abc123"});
        assert_eq!(names.heard(&mut heard), Some(json!("/w")));
        assert_eq!(heard["sessionId"], "ses_old");
        assert_eq!(names.session("ses_old"), "sess_abc123");
        let mut led_out = json!({"sessionId": "../sess_abc123"});
        assert_eq!(names.heard(&mut led_out), None);
    }
}
