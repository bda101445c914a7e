//! A program that serves tools, as the world speaks of it.

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

/// What a program tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramNews {
    /// It has written this line.
    Line(String),
    /// It writes nothing any more.
    Ended,
    /// It could not be started.
    Failed(String),
}
