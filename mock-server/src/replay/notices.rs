//! What a client tells the server when it thinks fit: how often and when is not the recording's business, and nothing
//! waits for it.

use super::Replay;
use super::asks::{Asks, moved_body};
use super::course::Cause;
use crate::performer::WireReply;
use crate::world::ApiRequest;

/// What was recorded of it.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) cause: Cause,
    /// Somebody has said it again.
    is_said: bool,
}

impl From<Cause> for Notice {
    fn from(cause: Cause) -> Self {
        Self { cause, is_said: false }
    }
}

impl Replay {
    /// The answer to a notice: that to the recorded one that says the same, else that to any which was taken.
    pub(super) fn noticed(&mut self, request: &ApiRequest) -> Option<WireReply> {
        let asks = Asks::of(&request.method, &request.path);
        if !asks.is_notice() {
            return None;
        }
        let body = moved_body(request, &self.workspace);
        let notices = &mut self.course.notices;
        let is_same = |notice: &Notice| {
            notice.cause.asks == asks && asks.differences(&notice.cause.body, &body).is_empty()
        };
        let is_taken = |notice: &Notice| {
            let status = notice.cause.answer.as_ref().map(|answer| answer.status);
            notice.cause.asks == asks && status.is_some_and(|status| status < 300)
        };
        let found = notices.iter().position(|notice| is_same(notice) && !notice.is_said);
        let found = found.or_else(|| notices.iter().rposition(is_same));
        let found = found.or_else(|| notices.iter().position(is_taken))?;
        notices[found].is_said = true;
        notices[found].cause.answer.clone()
    }
}
