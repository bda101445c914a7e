//! Turns as a plain client on loopback sees them, where no recording shows the whole of it. Each file says its goal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod afar;
mod again;
mod alongside;
mod boards;
mod commands;
mod consents;
mod ends;
mod haste;
mod moments;
mod naming;
mod outside;
mod plans;
mod questions;
mod recall;
mod shell;
mod stage;
mod tool_servers;
