//! What the world answers, as bytes: some of it is filled in from what was recorded.

use super::Pages;
use crate::performer::WireReply;
use crate::world::{ApiReply, ReplyBody};
use bytes::Bytes;
use fixtures::catalog;
use serde_json::{Value, json};

pub(super) fn wire_reply(reply: ApiReply, pages: &Pages) -> WireReply {
    let (content_type, body) = match reply.body {
        ReplyBody::Empty => (None, Bytes::new()),
        ReplyBody::Json(value) => (Some("application/json".to_owned()), Bytes::from(value.to_string())),
        ReplyBody::Text(text) => (Some("text/plain".to_owned()), Bytes::from(text)),
        ReplyBody::Configured { request, directory, over } => {
            if let Some(recorded) = pages.exhibits.within(&directory).configured(&request, &over) {
                return recorded;
            }
            (Some("application/json".to_owned()), Bytes::from(Value::Object(over).to_string()))
        }
        ReplyBody::NextList { request, directory, files } => {
            return pages.exhibits.next_list(&request, &directory, &files);
        }
        ReplyBody::Sources { request, global, project } => {
            return pages.exhibits.sources(&request, global.as_deref(), project);
        }
        ReplyBody::Overlay(told) => return pages.exhibits.within(&told.directory).overlay(*told),
        ReplyBody::Providers { directory, access, all, by_key } => {
            let told = pages.exhibits.within(&directory).providers(&access, all, by_key);
            (Some("application/json".to_owned()), Bytes::from(told))
        }
        ReplyBody::Bytes(kind, bytes) => (Some(kind), Bytes::from(bytes)),
        ReplyBody::NotPlayed { directory, words, operation, request } => {
            if let Some(recorded) = pages.exhibits.within(&directory).answer_in(&request, &directory) {
                return recorded;
            }
            let message = format!("the stand-in does not play {words} ({operation})");
            let body = json!({"name": "NotPlayed", "data": {"message": message, "operation": operation}});
            (Some("application/json".to_owned()), Bytes::from(body.to_string()))
        }
        ReplyBody::WebPage { is_head } => {
            let release = pages.release.as_deref().filter(|_| !is_head);
            let page = release.and_then(catalog::web_page).unwrap_or_default();
            (Some("text/html".to_owned()), Bytes::from_static(page.as_bytes()))
        }
    };
    let headers = reply.headers.into_iter().map(|(name, value)| (name.into(), value)).collect();
    WireReply { headers, ..WireReply::new(reply.status, content_type, body) }
}
