//! The judge: performs scenarios, runs adapters against the parity matrix, and reports.
//!
//! From a case to a report:
//! * [`matrix`] — the requirements and cases, with checks that exist.
//! * [`gate`] — the cases of a phase, the mutants, the ledger; [`gate::run_cell`] is one cell.
//! * [`cells`] — one cell before and after it is judged, and many at once.
//! * [`runner`] — one case with one adapter and one server, from start to the saved history.
//! * [`subject`] — who is judged; [`handshake`] — the first words with it; `link` — the line channel to it, and
//!   `lines`, its bounds; `observer` — the harness's own eyes; [`net`] — the way to servers, `in_memory` where time is virtual.
//!   `lines`, its bounds; `observer` — the harness's own eyes.
//! * [`spawned`] — a server that the adapter starts by itself.
//! * [`against`] — cases in which nothing breaks, with the real server.
//! * [`blackbox`] — a client that is a command and has no adapter: journal, stdout and exit code.
//! * [`witness`] — what the harness itself has seen of the machine.
//! * [`virtual_time`] — a case without sockets and without waiting; [`sweep`] — a scenario with a fault at every place.
//! * [`protocol`] — what harness and adapters say to each other.
//! * [`history`] — questions to a history, `sight` to one that still grows; [`course`] — a history put in order; [`checks`] — pure functions on it; [`judge`] — a history → a verdict.
//! * [`report`] — what a gate or a check says, as data, and each format of it; [`baseline`] — what is known not to hold.
//!
//! Adapters of our own:
//! * [`reference`] — an adapter that keeps every promise.
//! * [`mutants`] — adapters that break one promise each.
//!
//! Is the stand-in true?
//! * [`performance`] — a scenario performed by the real server, the stand-in or a replay, and kept.
//! * [`stage`] — a server that plays a scenario for whoever comes.
//! * [`truth`] — the stand-in against the recordings.
//! * [`acp`] — the same for agents on stdin and stdout.
//! * [`walk`] — against the real servers, at random.
//!
//! [`probe`] says what agents are declared to do beside what a server lets them do.
//!
//! [`say`] writes lines that survive a reader who leaves. [`clock`], [`secret`] and [`machine`] own this crate's
//! waiting, its randomness and its look at the environment.

pub mod acp;
pub mod against;
pub mod baseline;
pub mod blackbox;
pub mod cells;
pub mod checks;
pub mod clock;
pub mod course;
pub mod gate;
pub mod handshake;
pub mod history;
mod in_memory;
pub mod judge;
mod lines;
pub mod link;
pub mod machine;
pub mod matrix;
pub mod mutants;
pub mod net;
mod observer;
pub mod performance;
pub mod probe;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod runner;
pub mod say;
pub mod secret;
mod sight;
pub mod spawned;
pub mod stage;
pub mod subject;
pub mod sweep;
pub mod truth;
pub mod virtual_time;
pub mod walk;
pub mod witness;
