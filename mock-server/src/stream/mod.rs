//! Event streams: the bus that hands frames to subscribers, and the body that writes them to one.

pub(crate) mod body;
pub(crate) mod bus;
