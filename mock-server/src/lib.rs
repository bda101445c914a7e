//! The stand-in: a server that real clients can't tell from the real one.
//!
//! From the inside out:
//! * [`world`] — the state of a server, sans-IO.
//! * [`profile`] — what differs between the servers.
//! * [`model`] — the scripted model, which plays the agent's part of a scenario.
//! * [`workspace`] — the agent's folder.
//! * [`engine`] — drives a world: performs its effects in order, turns its outputs into bytes.
//! * [`providers`] — the providers and models that a release knows.
//! * [`exhibits`] — what a server says about itself, as it was recorded.
//! * `roster` — the agents and commands of a release.
//! * [`replay`] — a recording, played again.
//! * [`performer`] — what the shell needs of whoever answers: an engine or a replay.
//! * `doc` — the operations of a release, and what a request for one must be.
//! * `http`, `stream` — the shell: lanes, credentials, bodies, subscribers.
//! * `javascript` — lengths, numbers and dictionaries as the servers have them.
//! * `no_json` — why a text is no JSON; `target` — a request's path, taken apart.
//! * `ignored` — the patterns of `.gitignore`; `surroundings` — the machine around the sessions.
//! * `socket` — connections of the scripted model that can be reset.
//! * `project_files` — what the files of a workspace say before anything happens.
//! * [`acp`] — an agent on stdin and stdout in front of all that.
//! * [`fault`] — what breaks, one behaviour a file.
//! * [`cloud`] — the cloud that tells a user the news, and breaks on cue.
//! * [`endpoint`] — any other host: lanes that answer as a plan says, on the time line.
//! * [`paths`] — the corpus of paths on a disk, with canaries around the workspace.
//! * [`control`] — the same, told over HTTP while it runs.
//! * [`journal`], [`clock`] — what happened, and when.
//! * `options` — what a stand-in is to be; [`standin`] — the front door; `builder` — the same in the words of a test; `verify` — what a test would not notice.

pub mod acp;
mod addresses;
mod builder;
mod clients;
pub mod clock;
pub mod cloud;
pub mod control;
mod doc;
pub mod endpoint;
pub mod engine;
pub mod exhibits;
pub mod fault;
mod fetch;
mod forgotten_agent;
mod formatters;
mod frames;
mod glob;
mod group;
mod http;
mod ignored;
mod javascript;
pub mod journal;
mod market;
mod mistakes;
pub mod model;
mod no_json;
mod options;
pub mod paths;
pub mod performer;
pub mod profile;
mod programs;
mod project_files;
pub mod providers;
pub mod replay;
mod roster;
mod screens;
mod shell;
mod socket;
pub mod standin;
mod stream;
mod surroundings;
mod target;
mod tui_settings;
mod verify;
pub mod workspace;
mod worktrees;
pub mod world;

pub use builder::{Builder, WELCOME};
pub use clients::Client;
pub use clock::ClockKind;
pub use http::in_memory;
pub use journal::Journal;
pub use options::{MODEL_PAUSE, Options, Play, Standing, StartError};
pub use project_files::{Elsewhere, read_settings};
pub use standin::{StandIn, why_not_virtual};
pub use verify::{Broken, Call, Calls, Unmet, UnmetCall, UnmetCalls};

/// The README's program is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
