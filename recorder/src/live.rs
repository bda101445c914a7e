//! A recording of what nobody planned: it is written while it grows, and gets its name when somebody ends it.

use crate::keep::{KeepError, keep};
use crate::scribe::{Scribe, dictation};
use crate::tape::Tape;
use fixtures::FileError;
use fixtures::recording::{Header, Line, Recording};
use fixtures::redact::Secrets;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A recording that grows.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    header: Header,
    tape: Tape,
    scribe: Scribe,
}

impl Live {
    /// Begins it: from now on `path` stands there with `.partial` behind its name. `secrets` are those that are known
    /// now.
    pub fn begin(path: &Path, header: Header, secrets: Secrets) -> Result<Self, FileError> {
        let (dictation, dictated) = dictation();
        let dictates = dictation.clone();
        let tape = Tape::heard_by(Box::new(move |line| dictates.hear(line)));
        let scribe = Scribe::begin(path, &header, secrets, (dictation, dictated))?;
        Ok(Self { path: path.to_owned(), header, tape, scribe })
    }

    /// Where it is while it grows.
    #[must_use]
    pub fn partial(&self) -> &Path {
        self.scribe.partial()
    }

    /// Whoever records writes here.
    #[must_use]
    pub fn tape(&self) -> Tape {
        self.tape.clone()
    }

    /// An agent has said what it is.
    pub fn identify(&mut self, name: &str, version: &str) {
        self.header.version = version.to_owned();
        self.header.provenance.agent = Some(format!("{name} {version}"));
    }

    /// Gives it its name, without these secrets.
    pub fn finish(self, secrets: &Secrets) -> Result<(), KeepError> {
        // What was recorded stands on disk, whatever else goes wrong.
        self.scribe.end()?;
        let lines = self.tape.take();
        let mut header = self.header;
        if header.workspace.is_empty() {
            header.workspace = workspace(&lines).unwrap_or_default();
        }
        keep(&Recording { header, lines, torn: false }, secrets, &self.path)
    }
}

/// The folder that clients worked in: the one that they named most often; else the one in which the server says that it
/// works.
fn workspace(lines: &[Line]) -> Option<String> {
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    let mut told = None;
    let mut asked_for_path = Vec::new();
    for line in lines {
        match line {
            Line::Request(request) => {
                let is_header = |name: &str| name.starts_with("x-") && name.ends_with("-directory");
                let header = request.headers.iter().find(|(name, _)| is_header(name));
                let query =
                    request.query.split('&').filter_map(|pair| pair.strip_prefix("directory=")).next();
                match query.or(header.map(|(_, value)| value.as_str())) {
                    Some(folder) => *named.entry(decoded(folder)).or_default() += 1,
                    None if request.path == "/path" => asked_for_path.push(request.exchange),
                    None => {}
                }
            }
            Line::Response(response) if asked_for_path.contains(&response.exchange) => {
                let folder = response.body.json();
                told = told.or(folder.and_then(|path| path.get("directory")?.as_str().map(str::to_owned)));
            }
            Line::Response(response) if told.is_none() => {
                told = response.body.json().as_ref().and_then(session_folder);
            }
            _ => {}
        }
    }
    named.into_iter().max_by_key(|(_, count)| *count).map(|(folder, _)| folder).or(told)
}

/// Of a session that was made or read.
fn session_folder(answer: &Value) -> Option<String> {
    let is_session = answer.get("id")?.as_str()?.starts_with("ses");
    answer.get("directory")?.as_str().filter(|_| is_session).map(str::to_owned)
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header;
    use fixtures::recording::{Body, Note, Request, Response};
    use serde_json::json;

    fn request(exchange: u64, path: &str, query: &str, headers: &[(&str, &str)]) -> Line {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Line::Request(Request {
            at_us: 1,
            exchange,
            lane: None,
            method: "GET".into(),
            path: path.into(),
            query: query.into(),
            headers,
            body: Body::Empty,
        })
    }

    fn response(exchange: u64, body: Value) -> Line {
        Line::Response(Response {
            at_us: 1,
            exchange,
            status: 200,
            headers: Vec::new(),
            body: Body::Json(body),
        })
    }

    #[test]
    fn the_folder_is_the_one_that_clients_name_or_the_servers() {
        let named = [
            request(1, "/a", "x=y&directory=%2Fsrv%2Fmy+w", &[]),
            request(2, "/b", "", &[("x-kilo-directory", "/srv/my%20w")]),
            request(3, "/c", "directory=/other", &[]),
        ];
        assert_eq!(workspace(&named).as_deref(), Some("/srv/my w"));
        let told = [request(1, "/path", "", &[]), response(1, json!({"directory": "/srv/w"}))];
        assert_eq!(workspace(&told).as_deref(), Some("/srv/w"));
        let made =
            [request(1, "/session", "", &[]), response(1, json!({"id": "ses_1", "directory": "/srv/w"}))];
        assert_eq!(workspace(&made).as_deref(), Some("/srv/w"));
        assert_eq!(workspace(&[request(1, "/doc", "", &[]), response(1, json!({"id": 1}))]), None);
    }

    #[test]
    fn it_is_there_while_it_grows_and_named_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let live =
            Live::begin(&path, Header { workspace: String::new(), ..header() }, Secrets::default()).unwrap();
        let partial = live.partial().to_owned();
        live.tape().push(|at_us| Line::Note(Note { at_us, text: "the secret is password-12".into() }));
        assert!(partial.exists() && !path.exists());
        let mut secrets = Secrets::default();
        secrets.add("password-12");
        live.finish(&secrets).unwrap();
        assert!(!partial.exists());
        let kept = Recording::read(&path).unwrap();
        let [Line::Note(note)] = &kept.lines[..] else { panic!("{kept:?}") };
        assert!(
            !note.text.contains("password-12") && note.text.starts_with("the secret is "),
            "{}",
            note.text
        );
    }
}
