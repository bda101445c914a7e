//! Answers reads: as recorded where that still holds, from what has been told where it does not, and as nearly as
//! was recorded where events tell nothing of it.

use super::course::{BAD_REQUEST, Read};
use super::resource::{Resource, other_folder, telling};
use super::told::Answer;
use super::{Replay, json_reply, near_miss};
use crate::performer::WireReply;
use crate::world::ApiRequest;
use bytes::Bytes;
use serde_json::json;

type Query = [(String, String)];

/// The parameter of lists that are asked for from a time on.
const SINCE: &str = "start";

/// A recorded read whose place has been passed.
#[derive(Debug)]
pub(super) struct Passed {
    /// Which one.
    index: usize,
    /// What had been told of it then.
    told: Option<Answer>,
}

impl Passed {
    pub(super) fn index(&self) -> usize {
        self.index
    }
}

impl Replay {
    /// The place of a recorded read is passed.
    pub(super) fn pass(&mut self, index: usize) {
        let resource = self.course.reads[index].resource.as_ref();
        let told = resource.map(|resource| self.told.answer(resource));
        self.passed.push(Passed { index, told });
    }

    pub(super) fn read(&mut self, request: &ApiRequest) -> WireReply {
        match (request.path.as_str(), self.doc) {
            ("/global/health", _) => {
                return json_reply(200, &json!({"healthy": true, "version": self.version}));
            }
            ("/doc", Some(doc)) => {
                let content_type = Some("application/json".to_owned());
                return WireReply::new(200, content_type, Bytes::from_static(doc));
            }
            _ => {}
        }
        let folder = other_folder(&request.query, request.directory_header.as_deref(), &self.workspace);
        let query = telling(&request.query, folder.filter(|folder| self.course.folders.contains(folder)));
        let place = self.read_in_place(&request.path, &query);
        let resource = Resource::of(&request.path, &query);
        let is_refused = |read: &Read| {
            read.reply.status == BAD_REQUEST && read.path == request.path && read.query == query
        };
        let resource = resource.filter(|_| !self.course.reads.iter().any(is_refused));
        let resource = resource.filter(|resource| self.is_told(resource));
        let reply = match (place, resource) {
            (Some((index, true)), _) | (Some((index, _)), None) => self.course.reads[index].reply.clone(),
            (_, Some(resource)) => self.told_reply(&resource),
            (None, None) => self.nearest(&request.path, &query),
        };
        leading_here(reply, &request.host)
    }

    /// Do the events tell it from its beginning?
    fn is_told(&self, resource: &Resource) -> bool {
        let course = &self.course;
        match resource.session() {
            // Events don't tell which folder a list is about.
            None if !course.folders.is_empty() && matches!(resource, Resource::Sessions { .. }) => false,
            Some(session) => course.created.contains(session),
            None => course.mentioned.is_subset(&course.created),
        }
    }

    fn told_reply(&self, resource: &Resource) -> WireReply {
        let now = self.told.answer(resource);
        let same = |passed: &&Passed| {
            self.course.reads[passed.index].resource.as_ref() == Some(resource)
                && passed.told.as_ref() == Some(&now)
        };
        if let Some(passed) = self.passed.iter().rfind(same) {
            return self.course.reads[passed.index].reply.clone();
        }
        let missing = match now {
            Answer::Is(body) => return json_reply(200, &body),
            Answer::NoSession(id) => format!("Session not found: {id}"),
            Answer::NoMessage(id) => format!("Message not found: {id}"),
        };
        json_reply(404, &json!({"name": "NotFoundError", "data": {"message": missing}}))
    }

    /// What was recorded last before now; else what was recorded first.
    fn nearest(&self, path: &str, query: &[(String, String)]) -> WireReply {
        let reads = &self.course.reads;
        let find = |is_same: fn(&Query, &Query) -> bool| {
            let fits = |index: &usize| reads[*index].path == path && is_same(&reads[*index].query, query);
            let passed = self.passed.iter().map(|passed| passed.index).rfind(fits);
            passed.or_else(|| (0..reads.len()).find(fits))
        };
        match find(|then, now| then == now).or_else(|| find(is_as_long_ago)) {
            Some(index) => reads[index].reply.clone(),
            None => {
                let asked: Vec<String> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let mark = if asked.is_empty() { "" } else { "?" };
                let mut known: Vec<&str> = reads.iter().map(|read| read.path.as_str()).collect();
                known.sort_unstable();
                known.dedup();
                near_miss(&format!(
                    "the recording has no GET {path}{mark}{}; it has GET {}, and what events tell of its sessions",
                    asked.join("&"),
                    known.join(", ")
                ))
            }
        }
    }
}

/// Its links lead to this server, not to the recorded one.
fn leading_here(mut reply: WireReply, host: &str) -> WireReply {
    for (_, link) in reply.headers.iter_mut().filter(|(name, _)| name == "link") {
        let Some((scheme, rest)) = link.split_once("://").filter(|_| !host.is_empty()) else { continue };
        let Some((_, path)) = rest.split_once('/') else { continue };
        *link = format!("{scheme}://{host}/{path}");
    }
    reply
}

/// Are both the same, but for a time from which on something is asked for? Clients count it back from their own now.
fn is_as_long_ago(recorded: &Query, query: &Query) -> bool {
    let is_time = |value: &str| value.parse::<u64>().is_ok();
    let is_same = |(then, now): (&(String, String), &(String, String))| {
        then == now || then.0 == now.0 && then.0 == SINCE && is_time(&then.1) && is_time(&now.1)
    };
    recorded.len() == query.len() && recorded.iter().zip(query).all(is_same)
}
