//! A server that the adapter starts by itself: how it is asked to, and what the person sees of the server's life.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters of `server/spawn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerSpawn {
    /// The program to start.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is added to the adapter's own environment.
    pub env: BTreeMap<String, String>,
    /// The variable that carries the password, which is the adapter's to choose, for each start anew.
    pub password_variable: String,
    /// User of Basic auth.
    pub username: String,
    /// The workspace folder: the server is started in it, and works in it.
    pub directory: String,
}

/// How the server is, as the person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// It was started, and does not answer yet.
    Starting,
    /// It answers as it should.
    Ready,
    /// It could not be started, and is not tried again unless the person says so.
    Failed,
    /// It has ended by itself, and is started again.
    Restarting,
    /// It has ended too often: no new task is begun with it.
    Disabled,
    /// It was ended.
    Stopped,
}

/// Why the server is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerReason {
    /// There is no such program, or it can't be started.
    NoProgram,
    /// It ended before it was ready.
    EarlyExit,
    /// Somebody else has the port.
    PortTaken,
    /// What it said in place of its address is no address.
    Garbled,
    /// It did not say that it listens.
    Silent,
    /// It says that it is not well, or does not answer.
    Unhealthy,
    /// It does not take the password that it was started with.
    Unauthorized,
    /// It answers, and not as this server does.
    WrongShape,
    /// It was ready, and has ended by itself.
    Crashed,
    /// It has done so too often.
    CrashLoop,
}
