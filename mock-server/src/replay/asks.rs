//! What a request means: two routes that do the same are one, and a body is held against the recorded one without
//! what a client chooses for itself.

use crate::world::ApiRequest;
use bytes::Bytes;
use serde_json::{Value, json};

/// What a request that causes something asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    /// A session.
    NewSession,
    /// A turn of this session: `message` answers when it ends, `prompt_async` at once.
    Turn(String),
    /// The answer to this question for permission. The servers ignore the session that one of the routes names.
    Permission(String),
    /// That the server ends and another one begins over what it has kept; no request says so.
    End,
    /// Anything else.
    Other {
        /// `POST`, …
        method: String,
        /// The path.
        path: String,
    },
}

/// Who shall answer, and who asks. What the recording's client left open, another may choose: the answer is the
/// recorded one all the same.
const CHOICES: [&str; 7] =
    ["agent", "model", "variant", "editorContext", "snapshotInitialization", "platform", "metadata"];

/// Where a prompt has its name.
const PROMPT_NAME: &str = "/messageID";

/// What clients say when they think fit: how often depends on the moment.
const NOTICES: [&str; 2] = ["/session/viewed", "/log"];

/// How many leaves a near miss names.
const LEAVES_SHOWN: usize = 3;

impl Asks {
    /// What `method` and `path` ask for.
    pub(super) fn of(method: &str, path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        match (method, segments.as_slice()) {
            ("POST", ["session"]) => Self::NewSession,
            ("POST", ["session", id, "message" | "prompt_async"]) => Self::Turn((*id).to_owned()),
            ("POST", ["session", _, "permissions", id] | ["permission", id, "reply"]) => {
                Self::Permission((*id).to_owned())
            }
            _ => Self::Other { method: method.to_owned(), path: format!("/{}", segments.join("/")) },
        }
    }

    /// The session that is named, if it is not to be found by a question.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::Turn(id) => Some(id),
            Self::NewSession | Self::Permission(_) | Self::End => None,
            Self::Other { path, .. } => {
                let mut segments = path.split('/').skip_while(|segment| *segment != "session");
                segments.nth(1).filter(|session| session.starts_with("ses_"))
            }
        }
    }

    /// Where a client names what it asks for, or itself, as it likes.
    pub(super) fn own_name(&self) -> Option<&'static str> {
        let Self::Other { method, path } = self else {
            return matches!(self, Self::Turn(_)).then_some(PROMPT_NAME);
        };
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match (method.as_str(), segments.as_slice()) {
            ("POST", ["session", _, "command" | "shell" | "init"]) => Some(PROMPT_NAME),
            ("POST", ["session", "viewed"]) => Some("/viewer/id"),
            ("POST", ["kilocode", "session", _, "drain"]) => Some("/token"),
            ("POST", ["api", "session"] | ["api", "session", _, "prompt"]) => Some("/id"),
            _ => None,
        }
    }

    /// Does it only tell the server something, from which nothing follows that anybody hears of?
    pub(super) fn is_notice(&self) -> bool {
        let Self::Other { method, path } = self else { return false };
        method == "POST" && NOTICES.contains(&path.as_str())
    }

    /// The question that is answered, if it is one.
    pub(super) fn question(&self) -> Option<&str> {
        match self {
            Self::Permission(id) => Some(id),
            Self::Other { path, .. } => path.strip_prefix("/question/")?.split('/').next(),
            Self::NewSession | Self::Turn(_) | Self::End => None,
        }
    }

    /// A body, as it is compared.
    fn meaning(&self, body: &[u8]) -> Value {
        if body.is_empty() {
            return json!({});
        }
        let Ok(mut meaning) = serde_json::from_slice::<Value>(body) else {
            return Value::String(String::from_utf8_lossy(body).into_owned());
        };
        let own = self.own_name();
        if let Some((around, name)) = own.and_then(|own| own.rsplit_once('/'))
            && let Some(fields) = meaning.pointer_mut(around).and_then(Value::as_object_mut)
        {
            fields.remove(name);
        }
        let Some(fields) = meaning.as_object_mut() else { return meaning };
        fields.retain(|_, value| !value.is_null());
        if own == Some(PROMPT_NAME) {
            let parts = fields.get_mut("parts").and_then(Value::as_array_mut);
            for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
                part.retain(|key, value| key != "id" && !value.is_null());
            }
        }
        match self {
            // The recorded session has the recorded title, whatever a client calls its own.
            Self::NewSession => {
                fields.remove("title");
            }
            Self::Permission(_) => {
                if let Some(answer) = fields.remove("response") {
                    fields.insert("reply".to_owned(), answer);
                }
            }
            Self::Turn(_) | Self::Other { .. } | Self::End => {}
        }
        meaning
    }

    /// Where what is sent means something else than what was recorded; empty when it means the same.
    pub(super) fn differences(&self, recorded: &[u8], sent: &[u8]) -> Vec<String> {
        let (recorded, mut sent) = (self.meaning(recorded), self.meaning(sent));
        if let (Self::NewSession | Self::Turn(_), Some(before), Some(now)) =
            (self, recorded.as_object(), sent.as_object_mut())
        {
            now.retain(|key, _| before.contains_key(key) || !CHOICES.contains(&key.as_str()));
        }
        let mut found = Vec::new();
        leaves("", Some(&recorded), Some(&sent), &mut found);
        let more = found.len().saturating_sub(LEAVES_SHOWN);
        found.truncate(LEAVES_SHOWN);
        if more > 0 {
            found.push(format!("and {more} more"));
        }
        found
    }
}

/// The body with the recorded folder in place of the client's own.
pub(super) fn moved_body(request: &ApiRequest, workspace: &str) -> Bytes {
    let query = request.query.iter().find(|(key, _)| key == "directory").map(|(_, value)| value.as_str());
    let own = query.or(request.directory_header.as_deref()).unwrap_or_default().trim_end_matches('/');
    match serde_json::from_slice::<Value>(&request.body) {
        Ok(mut body) if own.starts_with('/') && own != workspace => {
            move_text(&mut body, own, workspace);
            Bytes::from(body.to_string())
        }
        _ => request.body.clone(),
    }
}

fn move_text(value: &mut Value, own: &str, workspace: &str) {
    match value {
        Value::String(text) if text == own => workspace.clone_into(text),
        Value::String(text) => *text = text.replace(&format!("{own}/"), &format!("{workspace}/")),
        Value::Array(list) => list.iter_mut().for_each(|inner| move_text(inner, own, workspace)),
        Value::Object(map) => map.values_mut().for_each(|inner| move_text(inner, own, workspace)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn leaves(place: &str, recorded: Option<&Value>, sent: Option<&Value>, found: &mut Vec<String>) {
    match (recorded, sent) {
        (Some(Value::Object(before)), Some(Value::Object(now))) => {
            let added = now.iter().filter(|(key, _)| !before.contains_key(*key));
            for key in before.keys().chain(added.map(|(key, _)| key)) {
                let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                leaves(&place, before.get(key), now.get(key), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            for index in 0..before.len().max(now.len()) {
                leaves(&format!("{place}[{index}]"), before.get(index), now.get(index), found);
            }
        }
        (recorded, sent) if recorded == sent => {}
        (recorded, sent) => {
            let place = if place.is_empty() { "the body" } else { place };
            found.push(format!("{place}: recorded {}, sent {}", shown(recorded), shown(sent)));
        }
    }
}

/// Enough of a value to know it.
fn shown(value: Option<&Value>) -> String {
    const SHOWN_CHARS: usize = 120;
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn differences(path: &str, recorded: &Value, sent: &Value) -> Vec<String> {
        Asks::of("POST", path).differences(recorded.to_string().as_bytes(), sent.to_string().as_bytes())
    }

    #[test]
    fn routes_that_do_the_same_are_one() {
        assert_eq!(
            Asks::of("POST", "/session/ses_1/message"),
            Asks::of("POST", "/session/ses_1/prompt_async")
        );
        assert_eq!(
            Asks::of("POST", "/permission/per_1/reply"),
            Asks::of("POST", "/session/x/permissions/per_1")
        );
        assert_ne!(Asks::of("POST", "/permission/per_1/reply"), Asks::of("POST", "/permission/per_2/reply"));
        assert_ne!(Asks::of("GET", "/session"), Asks::of("POST", "/session"));
    }

    #[test]
    fn a_session_is_named_or_to_be_found_by_its_question() {
        for (path, session, question) in [
            ("/session", None, None),
            ("/session/ses_1/message", Some("ses_1"), None),
            ("/session/ses_1/abort", Some("ses_1"), None),
            // The servers ignore the session of this route.
            ("/session/ses_1/permissions/per_1", None, Some("per_1")),
            ("/permission/per_1/reply", None, Some("per_1")),
            ("/question/que_1/reply", None, Some("que_1")),
            ("/question/que_1/reject", None, Some("que_1")),
            ("/config", None, None),
        ] {
            let asks = Asks::of("POST", path);
            assert_eq!((asks.session(), asks.question()), (session, question), "{path}");
        }
    }

    #[test]
    fn what_a_client_chooses_for_itself_is_no_difference() {
        let prompt = json!({"parts": [{"type": "text", "text": "hi"}]});
        let own = json!({"parts": [{"id": "prt_9", "type": "text", "text": "hi", "metadata": null}],
                         "messageID": "msg_9", "agent": "plan", "model": {"providerID": "a", "modelID": "b"}});
        assert_eq!(differences("/session/ses_1/message", &prompt, &own), [""; 0]);
        assert_eq!(differences("/session", &json!({}), &json!({"title": "Mine"})), [""; 0]);
        assert_eq!(Asks::NewSession.differences(b"", b"{}"), [""; 0]);
        let answer = (json!({"response": "once"}), json!({"reply": "once"}));
        assert_eq!(differences("/permission/per_1/reply", &answer.0, &answer.1), [""; 0]);
    }

    #[test]
    fn what_means_something_else_is_named() {
        let prompt = json!({"parts": [{"type": "text", "text": "hi"}], "agent": "code"});
        let other = json!({"parts": [{"type": "text", "text": "ho"}, {"type": "text", "text": "!"}], "agent": "plan"});
        let parent = differences("/session", &json!({}), &json!({"parentID": "ses_2"}));
        let found = [
            differences("/session/ses_1/prompt_async", &prompt, &other),
            differences(
                "/session/s/permissions/p",
                &json!({"response": "reject"}),
                &json!({"reply": "once"}),
            ),
            parent,
            Asks::of("PATCH", "/config").differences(b"{}", b"not JSON"),
            differences(
                "/question/q/reply",
                &json!({"answers": [[1, 2], [3, 4]]}),
                &json!({"answers": [[5, 6], [7, 8]]}),
            ),
        ];
        insta::assert_snapshot!(found.map(|found| found.join("\n")).join("\n\n"));
    }

    #[test]
    fn a_clients_own_folder_is_the_recorded_one() {
        let mut request = ApiRequest {
            ticket: 1,
            method: "POST".into(),
            path: "/x".into(),
            query: vec![("directory".into(), "/srv/mine/w/".into())],
            directory_header: None,
            content_type: None,
            host: String::new(),
            body: br#"{"url":"file:///srv/mine/w/a.txt","at":"/srv/mine/w","not":"/srv/mine/wide"}"#[..]
                .into(),
            ..ApiRequest::default()
        };
        let moved = br#"{"url":"file:///tmp/r/a.txt","at":"/tmp/r","not":"/srv/mine/wide"}"#;
        assert_eq!(moved_body(&request, "/tmp/r"), moved[..]);
        request.query.clear();
        assert_eq!(moved_body(&request, "/tmp/r"), request.body);
    }

    proptest! {
        #[test]
        fn any_other_text_is_a_difference(one in ".{0,20}", other in ".{0,20}") {
            let body = |text: &str| json!({"parts": [{"type": "text", "text": text}]});
            let found = differences("/session/ses_1/message", &body(&one), &body(&other));
            prop_assert_eq!(found.is_empty(), one == other);
        }
    }
}
