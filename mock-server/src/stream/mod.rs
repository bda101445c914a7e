//! Event streams: the bus that hands frames to subscribers, the queue of each, and the body that writes them to one.

pub(crate) mod body;
pub(crate) mod bus;
pub(crate) mod queue;
