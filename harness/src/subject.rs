//! Who is judged: the reference adapter or a mutant of it, in this process; or any program that speaks the protocol.

use crate::clock::within;
use crate::link::Link;
use crate::{mutants, reference};
use fixtures::recording::{Line, Note};
use fixtures::redact::clean;
use mock_server::Journal;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// An adapter that can be started, as often as there are cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The reference adapter, in this process.
    Reference,
    /// A mutant of it, by its name.
    Mutant(String),
    /// A program that speaks the protocol on stdin and stdout.
    Program {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// A started adapter.
pub(crate) struct Running {
    pub(crate) link: Link,
    process: Process,
}

enum Process {
    Task(JoinHandle<()>),
    Child(Box<Child>),
}

/// How much a pipe between tasks holds before the writer waits, as a pipe of the system would.
const PIPE_BYTES: usize = 64 * 1024;

impl Subject {
    /// How the subject is named in reports, and on the command line.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Reference => "reference".to_owned(),
            Self::Mutant(name) => name.clone(),
            Self::Program { program, args } => {
                let words = std::iter::once(program.display().to_string()).chain(args.iter().cloned());
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// What follows `standin check` to run exactly this subject.
    #[must_use]
    pub fn flag(&self) -> String {
        match self {
            Self::Reference => String::new(),
            Self::Mutant(name) => format!(" --mutant {name}"),
            Self::Program { .. } => format!(" --adapter '{}'", self.name()),
        }
    }

    pub(crate) fn start(&self, journal: Journal) -> Result<Running, String> {
        match self {
            Self::Reference => Ok(in_process(reference::Strategies::default(), journal)),
            Self::Mutant(name) => {
                let mutant = mutants::find(name).ok_or_else(|| {
                    let known: Vec<&str> = mutants::all().iter().map(|mutant| mutant.name).collect();
                    format!("there is no mutant '{name}'; there are: {}", known.join(", "))
                })?;
                Ok(in_process((mutant.strategies)(), journal))
            }
            Self::Program { program, args } => start_program(program, args, journal),
        }
    }
}

fn in_process(strategies: reference::Strategies, journal: Journal) -> Running {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (their_reader, their_writer) = tokio::io::split(theirs);
    let (our_reader, our_writer) = tokio::io::split(ours);
    let task = tokio::spawn(async move {
        // It ends when its input ends or it is told to; the link notices if that is too early.
        let _ = reference::serve(strategies, BufReader::new(their_reader), their_writer).await;
    });
    let link = Link::new(journal, BufReader::new(our_reader), our_writer);
    Running { link, process: Process::Task(task) }
}

fn start_program(program: &PathBuf, args: &[String], journal: Journal) -> Result<Running, String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("failed to start the adapter {}: {error}", program.display()))?;
    let (Some(input), Some(output), Some(words)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(format!("the adapter {} has no pipes", program.display()));
    };
    let noted = journal.clone();
    tokio::spawn(async move {
        let mut lines = BufReader::new(words).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let text = clean(&format!("the adapter's stderr: {line}"));
            noted.push(|at_us| Line::Note(Note { at_us, text }));
        }
    });
    let link = Link::new(journal, BufReader::new(output), input);
    Ok(Running { link, process: Process::Child(Box::new(child)) })
}

impl Running {
    /// Closes the channel and waits for the adapter's end; an error tells how it ended badly.
    pub(crate) async fn end(self, limit: Duration) -> Result<(), String> {
        self.link.close(limit).await;
        match self.process {
            Process::Task(mut task) => {
                if within(limit, &mut task).await.is_none() {
                    task.abort();
                    return Err("the adapter did not end after 'shutdown'".to_owned());
                }
                Ok(())
            }
            Process::Child(mut child) => match within(limit, child.wait()).await {
                Some(Ok(status)) if status.success() => Ok(()),
                Some(Ok(status)) => Err(format!("the adapter ended with {status}")),
                Some(Err(error)) => Err(format!("the adapter's end is not known: {error}")),
                None => Err("the adapter did not end after 'shutdown', and was killed".to_owned()),
            },
        }
    }
}
