//! Who is judged: the reference adapter or a mutant of it, in this process; or any program that speaks the protocol.

use crate::clock::within;
use crate::history::STDERR;
use crate::lines::Lines;
use crate::link::{Ear, Link, Overhears, of_the_chat};
use crate::net::Net;
use crate::{mutants, reference};
use fixtures::recording::{Line, Note};
use fixtures::redact::clean;
use mock_server::Journal;
use recorder::Group;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::process::Command;
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
pub struct Running {
    /// The channel to it.
    pub link: Link,
    process: Process,
}

enum Process {
    Task(JoinHandle<()>),
    /// With what keeps its words on stderr.
    Program(Box<Group>, JoinHandle<()>),
}

/// How much a pipe between tasks holds before the writer waits, as a pipe of the system would.
const PIPE_BYTES: usize = 64 * 1024;
/// The longest line of an adapter's stderr that is kept whole.
const LONGEST_WORDS: usize = 16 * 1024;
/// So much of an adapter's stderr is kept in a case; the rest is read and forgotten.
const MOST_WORDS: usize = 64 * 1024;
/// An adapter that is to be ended may have ended by itself a moment ago: its status is worth that moment.
const GRACE: Duration = Duration::from_millis(300);
/// For what a program has written before its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

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

    /// Starts it; one in this process goes to servers this way.
    pub(crate) fn start(&self, journal: Journal, net: Arc<dyn Net>) -> Result<Running, String> {
        match self {
            Self::Reference => Ok(in_process(reference::Strategies::default(), journal, net)),
            Self::Mutant(name) => {
                let mutant = mutants::find(name).ok_or_else(|| {
                    let known: Vec<&str> = mutants::all().iter().map(|mutant| mutant.name).collect();
                    format!("there is no mutant '{name}'; there are: {}", known.join(", "))
                })?;
                Ok(in_process((mutant.strategies)(), journal, net))
            }
            Self::Program { program, args } => start_program(program, args, journal, of_the_chat()),
        }
    }
}

fn in_process(strategies: reference::Strategies, journal: Journal, net: Arc<dyn Net>) -> Running {
    let serve = |reader, writer| async move {
        // It ends when its input ends or it is told to; the link notices if that is too early.
        let _ = reference::serve_over(net, strategies, BufReader::new(reader), writer).await;
    };
    start_task(serve, journal, of_the_chat())
}

/// Starts an adapter of our own in this process: a future that serves a pipe.
pub fn start_task<F>(
    serve: impl FnOnce(ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) -> F,
    journal: Journal,
    ear: Ear,
) -> Running
where
    F: Future<Output = ()> + Send + 'static,
{
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (their_reader, their_writer) = tokio::io::split(theirs);
    let (our_reader, our_writer) = tokio::io::split(ours);
    let task = tokio::spawn(serve(their_reader, their_writer));
    let link = Link::new(journal, BufReader::new(our_reader), our_writer, ear);
    Running { link, process: Process::Task(task) }
}

/// Starts an adapter that is a program.
///
/// # Errors
/// It can't be started.
pub fn start_program(program: &Path, args: &[String], journal: Journal, ear: Ear) -> Result<Running, String> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start_client(command)
        .map_err(|error| format!("failed to start the adapter {}: {error}", program.display()))?;
    let (Some(input), Some(output), Some(words)) =
        (group.take_stdin(), group.take_stdout(), group.take_stderr())
    else {
        return Err(format!("the adapter {} has no pipes", program.display()));
    };
    let words = tokio::spawn(keep_words(words, journal.clone(), ear.overhears.clone()));
    let link = Link::new(journal, BufReader::new(output), input, ear);
    Ok(Running { link, process: Process::Program(Box::new(group), words) })
}

/// Keeps what an adapter says on stderr, up to a bound, and reads on, so that it need not wait.
async fn keep_words(words: impl AsyncRead + Unpin, journal: Journal, overhears: Overhears) {
    let mut lines = Lines::new(BufReader::new(words), LONGEST_WORDS);
    let mut kept = 0;
    while let Some(piece) = lines.next().await {
        let said = overhears("stderr", &piece.text);
        let text = if kept > MOST_WORDS {
            continue;
        } else if kept + said.len() > MOST_WORDS {
            format!("{STDERR}more than {MOST_WORDS} bytes; the rest is not kept")
        } else {
            clean(&format!("{STDERR}{said}"))
        };
        kept += said.len() + 1;
        journal.push(|at_us| Line::Note(Note { at_us, text }));
    }
}

impl Running {
    /// The number of its process, if it is a program.
    #[must_use]
    pub fn program_number(&self) -> Option<i32> {
        match &self.process {
            Process::Task(_) => None,
            Process::Program(group, _) => Some(group.number()),
        }
    }

    /// Kills the adapter in the middle of whatever it does, with all that it has started; nothing more of it is heard.
    pub async fn kill(self) {
        match self.process {
            Process::Task(task) => {
                task.abort();
                // It is over when its task is.
                let _aborted = task.await;
            }
            // How it ended is known: it was killed.
            Process::Program(mut group, _) => drop(group.kill().await),
        }
        drop(self.link.close().await);
    }

    /// Closes the channel and waits for the adapter's end, up to `limit` if it was asked to end and has said that
    /// it will; then it is ended, with all that it has started. An error tells how it ended badly.
    ///
    /// # Errors
    /// It ended badly, or did not end by itself.
    pub async fn end(self, was_told: bool, limit: Duration) -> Result<(), String> {
        self.end_seen(was_told, limit, async {}).await
    }

    /// The same; `look` is done when it has ended, and what it has started has not been.
    ///
    /// # Errors
    /// As [`Running::end`].
    pub async fn end_seen(
        self,
        was_told: bool,
        limit: Duration,
        look: impl Future<Output = ()>,
    ) -> Result<(), String> {
        let babbled = self.link.has_babbled();
        let reader = self.link.close().await;
        let limit = if was_told { limit } else { GRACE.min(limit) };
        match self.process {
            Process::Task(mut task) => {
                let ended = within(limit, &mut task).await;
                look.await;
                reader.end(LAST_WORDS).await;
                if ended.is_none() {
                    task.abort();
                    return Err("the adapter did not end by itself".to_owned());
                }
                Ok(())
            }
            Process::Program(mut group, words) => {
                let by_itself = within(limit, group.ended()).await.is_some();
                look.await;
                // Also when it has ended: its children have its outputs and would live on.
                let status = group.kill().await;
                reader.end(LAST_WORDS).await;
                // Nobody else holds its stderr now: what it has said last is kept, too.
                let _kept = within(LAST_WORDS, words).await;
                match status {
                    // It was ended by us, or by writing where nobody reads: no news.
                    _ if babbled => Ok(()),
                    _ if !by_itself => Err("the adapter did not end by itself, and was killed".to_owned()),
                    Ok(status) if status.success() => Ok(()),
                    Ok(status) => Err(format!("the adapter ended with {status}")),
                    Err(error) => Err(format!("the adapter's end is not known: {error}")),
                }
            }
        }
    }
}
