//! The judge: performs scenarios, runs adapters against the parity matrix, and reports.
//!
//! * [`performance`] — a scenario performed by the real server, the stand-in or a replay, and kept.
//! * [`truth`] — is the stand-in true to the recordings?
//! * [`secret`] — passwords for servers that we start.

pub mod performance;
pub mod secret;
pub mod truth;
