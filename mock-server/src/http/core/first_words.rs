//! Who aborts a shell line that has only just begun hears its first words all the same: between an abort and the end of a
//! line the real servers take long enough for what the line prints at once; a line that they still take apart begins all
//! the same. So an abort waits until the youngest line has had its moment.

use super::Core;
use crate::world::ApiRequest;
use std::sync::PoisonError;

/// How old a line is before it is ended.
const MOMENT_MS: u64 = 50;

impl Core {
    /// Waits before an abort, where time passes and a line has only just begun.
    pub(super) async fn let_lines_speak(&self, request: &ApiRequest) {
        if !is_abort(request) || self.clock.is_logical() || self.clock.is_virtual() {
            return;
        }
        let begun_ms = {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.running.youngest_line().max(inner.performer.lines_begin_by())
        };
        let Some(begun_ms) = begun_ms else { return };
        self.clock.wait(self.clock.until(begun_ms.saturating_add(MOMENT_MS))).await;
    }
}

fn is_abort(request: &ApiRequest) -> bool {
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    request.method == "POST" && matches!(segments[..], ["session", _, "abort"])
}
