//! What is said of a request that has no place in the recording: what came instead of it, or what a question that is
//! settled answers.

use super::Replay;
use super::asks::Asks;
use crate::performer::WireReply;
use crate::world::ApiRequest;
use bytes::Bytes;
use serde_json::{Value, json};

impl Replay {
    pub(super) fn out_of_place(&self, request: &ApiRequest, asks: &Asks, awaited: &[usize]) -> WireReply {
        if let Asks::Permission(id) = asks
            && self.told.was_asked(id)
            && !self.told.is_open(id)
        {
            let message = format!("Permission request not found: {id}");
            let body = json!({"_tag": "PermissionNotFoundError", "requestID": id, "message": message});
            return json_reply(404, &body);
        }
        let next: Vec<String> = awaited
            .iter()
            .map(|index| &self.course.causes[*index])
            .map(|cause| format!("{} {}", cause.method, cause.path))
            .collect();
        let expected = if next.is_empty() { "nothing more".to_owned() } else { next.join(", or ") };
        let (method, path) = (&request.method, &request.path);
        near_miss(&format!("{method} {path} does not come next in the recording; {expected} does"))
    }
}

/// 501 and not 404: a client's own "not found" must not hide that the recording lacks something.
pub(super) fn near_miss(why: &str) -> WireReply {
    json_reply(501, &json!({"error": format!("standin replay: {why}")}))
}

pub(super) fn json_reply(status: u16, body: &Value) -> WireReply {
    let content_type = Some("application/json".to_owned());
    WireReply::new(status, content_type, Bytes::from(body.to_string()))
}
