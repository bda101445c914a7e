//! The binary as its users run it: one crate, so that what its tests share is written once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod acp_clients;
mod adapter_process;
mod agents;
mod checked;
mod ci;
mod cloud;
mod commands;
mod corpus;
mod documents;
mod door;
mod drift;
mod environment;
mod kept;
// `/proc` says whose a process is.
#[cfg(target_os = "linux")]
mod killed;
mod live;
mod messages;
mod probe;
mod programs;

mod record;
mod recorder;
mod spawned;
mod strangers;

/// The binary.
const STANDIN: &str = env!("CARGO_BIN_EXE_standin");
