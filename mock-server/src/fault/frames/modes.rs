//! What a connection has been told to do from some frame on.

use super::dialect::Dialect;
use super::ids::Ids;
use super::passing::Passing;
use crate::frames::COMMENT;
use bytes::Bytes;
use fixtures::fault_plan::Action;
use fixtures::fault_plan::action::{DialectWord, HeartbeatWord, IdsWord};

/// A heartbeat's type.
const HEARTBEAT: &str = "server.heartbeat";

/// All that lasts.
#[derive(Debug, Default)]
pub(super) struct Modes {
    dialects: Vec<Dialect>,
    ids: Option<Ids>,
    heartbeat: Option<HeartbeatWord>,
}

impl Modes {
    pub(super) fn is_empty(&self) -> bool {
        self.dialects.is_empty() && self.ids.is_none() && self.heartbeat.is_none()
    }

    /// Has the connection been told so already?
    pub(super) fn have(&self, action: &Action) -> bool {
        match action {
            Action::Ids(wanted) => self.ids.as_ref().is_some_and(|ids| ids.how == wanted.ids),
            Action::Dialect(wanted) => self.dialects.iter().any(|dialect| dialect.which == wanted.dialect),
            Action::Heartbeat(wanted) => self.heartbeat == Some(wanted.heartbeat),
            _ => false,
        }
    }

    pub(super) fn apply(&mut self, passing: &mut Passing<'_>) {
        for dialect in &mut self.dialects {
            dialect.apply(passing);
        }
        if let Some(ids) = &mut self.ids {
            ids.apply(passing);
        }
        self.beat_now(passing);
    }

    fn beat_now(&self, passing: &mut Passing<'_>) {
        if *passing.frame.kind != *HEARTBEAT {
            return;
        }
        match self.heartbeat {
            Some(HeartbeatWord::Off) => passing.bytes = None,
            Some(HeartbeatWord::Comment) => passing.bytes = Some(Bytes::from_static(COMMENT.as_bytes())),
            _ => {}
        }
    }

    /// From this frame on.
    pub(super) fn number(&mut self, how: IdsWord, passing: &mut Passing<'_>) {
        let mut ids = Ids::new(how);
        ids.apply(passing);
        self.ids = Some(ids);
    }

    pub(super) fn speak(&mut self, which: DialectWord, passing: &mut Passing<'_>) {
        let mut dialect = Dialect::new(which);
        dialect.apply(passing);
        self.dialects.push(dialect);
    }

    pub(super) fn beat(&mut self, how: HeartbeatWord, passing: &mut Passing<'_>) {
        self.heartbeat = Some(how);
        if let HeartbeatWord::Every(ms) = how {
            passing.beat_every = Some(ms);
        }
        self.beat_now(passing);
    }
}
