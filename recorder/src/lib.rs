//! Launches a real server (or any program that behaves like one), performs the person's steps of a scenario
//! against it, and keeps all that crosses the wire on one time line.
//!
//! * [`real_servers`] — finds or installs the program of a real server.
//! * [`sandbox`] — a fresh workspace with one commit, and a fresh home.
//! * [`launch`] — starts a server in a sandbox and waits until it answers; [`process`] is the running program, and
//!   [`group`] ends it, or any other one, with its children; [`server_log`] keeps what it says. `guardian` ends them
//!   all when the recorder itself is killed.
//! * [`capture`] — a client that keeps what it sends and receives; [`events`] — a stream that is being kept.
//! * [`drive`] — does what the person of a scenario does.
//! * [`proxy`] — stands between any client and a running server ([`loopback`] is its address), and records both;
//!   [`ledger`] says how much of it is kept.
//! * [`acp`] — the same for agents on stdin and stdout: a tee, and a client that performs scenarios.
//! * [`attach`] — listens to the streams of a running server; [`identity`] is what such a server says that it is, and
//!   [`live`] the recording that grows until somebody ends it.
//! * [`scribe`] — writes a recording while it is made; [`keep`] — gives it its name, once it is known to hold no
//!   secret.
//! * [`drift`] — in what a release differs from another one, by their recordings and by what they say of themselves.
//! * [`tape`] — the time line; the calls of the model are pushed in by whoever plays the model.
//! * [`clock`] — every limit by its name, and the only file that reads a clock or waits for one.
//!
//! Absent on purpose: the model (it is given as an address), the environment and randomness (`main` reads them and
//! passes them on), and, but for drift, what a recording means.

pub mod acp;
pub mod attach;
mod background;
pub mod capture;
pub mod clock;
pub mod drift;
pub mod drive;
pub mod events;
pub mod group;
mod guardian;
pub mod identity;
pub mod keep;
pub mod launch;
pub mod ledger;
pub mod live;
pub mod loopback;
pub mod process;
pub mod proxy;
pub mod real_servers;
pub mod sandbox;
pub mod scribe;
pub mod server_log;
mod strays;
pub mod tape;
#[cfg(test)]
mod testing;

pub use capture::{Client, Credentials};
pub use clock::Limits;
pub use drive::{Performed, perform};
pub use group::Group;
pub use launch::{LaunchSpec, Server};
pub use loopback::Loopback;
pub use proxy::Proxy;
pub use sandbox::Sandbox;
pub use tape::Tape;
