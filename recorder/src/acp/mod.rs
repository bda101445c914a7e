//! Agents that speak ACP (Agent Client Protocol): JSON-RPC in lines on stdin and stdout.
//!
//! * [`process`] — an agent as a program, with its pipes as they are.
//! * [`wire`] — a client's end of the pipes: all bytes go on the tape, whole lines are read as messages.
//! * [`drive`] — does what the person of a scenario does, in calls of ACP.
//! * [`tee`] — stands between any client and any agent, and passes every byte on.

pub mod drive;
pub mod process;
pub mod tee;
pub mod wire;

#[cfg(test)]
mod tests;
