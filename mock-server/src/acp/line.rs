//! The way out: every message becomes a line here, one after the other. What is to break breaks here.

use super::dialect::seed_names::Names;
use super::pieces::{self, Unread};
use super::watch::{Process, Seen, Strain};
use serde_json::Value;
use std::sync::Arc;
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

/// Where an agent says what it has to say. Clones are the same line.
#[derive(Debug, Clone)]
pub(super) struct Out {
    sender: mpsc::UnboundedSender<Word>,
    /// The dialect's own names, if it has any.
    names: Option<Arc<Names>>,
}

/// Where an agent says what is not for its client.
pub type Stderr = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// What is said.
#[derive(Debug)]
enum Word {
    Message(Value, Option<String>),
    /// All before it has been written.
    Fence(oneshot::Sender<()>),
}

/// What becomes of messages on their way.
pub trait Breaks: Send {
    /// The bytes in place of a message's line; what comes back in order is written in pieces, each by itself.
    /// `answers` is the method of the request that it answers.
    fn line(&mut self, message: &Value, answers: Option<&str>, line: Vec<u8>) -> Broken;

    /// What waits to be read, where that can be known: a piece waits until the one before it has been read.
    fn unread(&self) -> Option<Unread> {
        None
    }
}

/// What is written in place of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Broken {
    /// Each is written and flushed by itself.
    pub pieces: Vec<Vec<u8>>,
    /// What goes to stderr before.
    pub stderr: Vec<u8>,
    /// What happens then.
    pub then: Then,
    /// What becomes of the agent's process, while its words go on.
    pub process: Vec<Strain>,
}

/// What happens behind a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Then {
    /// All goes on.
    #[default]
    GoOn,
    /// Nothing more is ever said.
    Mute,
    /// The agent ends with this code.
    Exit(u8),
    /// The agent dies of this signal.
    Die(i32),
}

/// Nothing breaks.
#[derive(Debug)]
pub struct Whole;

impl Breaks for Whole {
    fn line(&mut self, _: &Value, _: Option<&str>, line: Vec<u8>) -> Broken {
        Broken { pieces: vec![line], ..Broken::default() }
    }
}

/// How the way out ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Everybody who could say something has gone.
    Quietly,
    /// Nobody reads any more.
    Unread,
    /// A fault ended the agent with this code.
    Exit(u8),
    /// A fault had it die of this signal.
    Die(i32),
}

impl Out {
    pub(super) fn new(names: Option<Arc<Names>>) -> (Self, Way) {
        let (sender, words) = mpsc::unbounded_channel();
        (Self { sender, names }, Way { words })
    }

    /// Says a message; who has nobody to listen says it in vain.
    pub(super) fn say(&self, message: Value) {
        self.sender.send(Word::Message(self.named(message), None)).ok();
    }

    /// Says the answer to a request of this method.
    pub(super) fn answer(&self, method: &str, message: Value) {
        self.sender.send(Word::Message(self.named(message), Some(method.to_owned()))).ok();
    }

    fn named(&self, message: Value) -> Value {
        match &self.names {
            Some(names) => names.told(message),
            None => message,
        }
    }

    /// Waits until all that was said before is written.
    pub(super) async fn written(&self) {
        let (sender, written) = oneshot::channel();
        if self.sender.send(Word::Fence(sender)).is_ok() {
            written.await.ok();
        }
    }
}

/// The other end of [`Out`].
#[derive(Debug)]
pub(super) struct Way {
    words: mpsc::UnboundedReceiver<Word>,
}

impl Way {
    /// Writes until nobody has anything to say.
    pub(super) async fn write(
        mut self,
        mut stdout: impl AsyncWrite + Unpin,
        stderr: Stderr,
        mut breaks: Box<dyn Breaks>,
        process: Process,
    ) -> Left {
        let unread = breaks.unread();
        while let Some(word) = self.words.recv().await {
            let (message, answers) = match word {
                Word::Fence(written) => {
                    written.send(()).ok();
                    continue;
                }
                Word::Message(message, answers) => (message, answers),
            };
            let broken = breaks.line(&message, answers.as_deref(), format!("{message}\n").into_bytes());
            if !broken.stderr.is_empty() {
                stderr(&broken.stderr);
            }
            for strain in broken.process {
                process.bear(strain);
            }
            let lines = broken.pieces.iter().map(Vec::as_slice);
            let see = |piece: &[u8]| process.see(Seen::Stdout(piece));
            if pieces::write(&mut stdout, lines, unread.as_ref(), see).await.is_err() {
                return Left::Unread;
            }
            match broken.then {
                Then::GoOn => {}
                Then::Mute => std::future::pending().await,
                Then::Exit(code) => return Left::Exit(code),
                Then::Die(signal) => return Left::Die(signal),
            }
        }
        Left::Quietly
    }
}
