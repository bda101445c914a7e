//! A server of tools, as the world speaks of it: a program, or one at an address.

/// Who serves tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolServer {
    /// A program of this machine.
    Program(Program),
    /// Somebody who is asked over HTTP.
    Address(Address),
}

/// A program that reads lines and writes lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name or path, and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: String,
    /// What it takes for its person's own folder.
    pub home: String,
    /// What else it finds in its environment.
    pub environment: Vec<(String, String)>,
}

/// Where lines are taken and given over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL.
    pub url: String,
    /// What each request says beside its own headers.
    pub headers: Vec<(String, String)>,
}

/// What a server of tools tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramNews {
    /// It has said this line.
    Line(String),
    /// It says nothing any more.
    Ended,
    /// It could not be started, or reached.
    Failed(String),
    /// It would not take a line.
    Refused {
        /// The line.
        line: String,
        /// Why.
        why: String,
    },
}
