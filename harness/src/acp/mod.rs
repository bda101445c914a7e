//! Scenarios performed with agents that speak ACP, and their performances compared.
//!
//! * [`performance`] — by a real agent in a sandbox, with the scripted model beside it; and by the stand-in.
//! * [`truth`] — the stand-in's agent held against every recording of a real one.

pub mod performance;
pub mod truth;
