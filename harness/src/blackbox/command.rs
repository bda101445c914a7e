//! A command as a template, and the program that comes of it: in a folder of its own, without input, bounded, and ended
//! with all that it has started.

use crate::clock::within;
use recorder::Group;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command as Process;
use tokio::task::JoinHandle;

/// So much of what it prints is looked at; the rest is read and forgotten.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// For what it has printed before its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The words of a command with names in braces where the server's address, the prompt and so on belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    words: Vec<String>,
    /// It is ended when it takes longer.
    pub(super) limit: Duration,
}

/// What the names in braces stand for.
#[derive(Debug, Clone)]
pub(super) struct Filling<'a> {
    pub(super) url: &'a str,
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    pub(super) prompt: &'a str,
    /// The folder that the server works in.
    pub(super) workspace: &'a str,
    /// The command's own folder.
    pub(super) folder: &'a str,
}

/// The names in braces.
const NAMES: [&str; 6] = ["url", "user", "password", "prompt", "workspace", "folder"];
/// Those without which no client finds the server, or says what the person wants.
const NEEDED: [&str; 2] = ["url", "prompt"];

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) ending: Ending,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal,
    /// Not within its limit.
    TooLong,
}

impl Command {
    /// Reads a template: words separated by spaces. A word stays one word, whatever is put into it.
    ///
    /// # Errors
    /// A name in braces that stands for nothing, or a needed one that is missing.
    pub fn parse(text: &str, limit: Duration) -> Result<Self, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err("--command names no program".to_owned());
        }
        for word in &words {
            if let Some(wrong) = names_in(word).find(|name| !NAMES.contains(name)) {
                let why = fixtures::near_names::unknown("name", wrong, &NAMES);
                return Err(format!("--command: {why}"));
            }
        }
        for needed in NEEDED {
            if !words.iter().any(|word| names_in(word).any(|name| name == needed)) {
                return Err(format!("--command says nowhere {{{needed}}}: where does it belong?"));
            }
        }
        Ok(Self { words, limit })
    }

    /// As it was written.
    #[must_use]
    pub fn name(&self) -> String {
        self.words.join(" ")
    }

    /// Does it say that it gives leave by itself?
    pub(super) fn gives_leave(&self) -> bool {
        self.words.iter().any(|word| word == "--auto")
    }

    fn filled(&self, with: &Filling<'_>) -> Vec<String> {
        let values = [with.url, with.user, with.password, with.prompt, with.workspace, with.folder];
        self.words.iter().map(|word| fill(word, &values)).collect()
    }

    /// Starts it, waits for its end or its limit, and ends what is left of it. `meanwhile` goes on beside it.
    pub(super) async fn run(
        &self,
        with: &Filling<'_>,
        meanwhile: impl Future<Output = ()>,
    ) -> Result<Ran, String> {
        let words = self.filled(with);
        let mut process = Process::new(&words[0]);
        process.args(&words[1..]).current_dir(Path::new(with.folder));
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start_client(process)
            .map_err(|error| format!("failed to start the command {}: {error}", words[0]))?;
        let (stdout, stderr) = (printed(group.take_stdout()), printed(group.take_stderr()));
        let ended = async {
            tokio::select! {
                () = group.ended() => {}
                () = async { meanwhile.await; std::future::pending::<()>().await } => {}
            }
        };
        let by_itself = within(self.limit, ended).await.is_some();
        // Also when it has ended: its children have its outputs and would live on.
        let status = group.kill().await;
        let ending = match status {
            _ if !by_itself => Ending::TooLong,
            Ok(status) => status.code().map_or(Ending::Signal, Ending::Code),
            Err(error) => return Err(format!("the command's end is not known: {error}")),
        };
        Ok(Ran { stdout: text(stdout).await, stderr: text(stderr).await, ending })
    }
}

/// The names in braces of a word: small letters alone, so that JSON in a word is no name.
fn names_in(word: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    word.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).filter(is_name)
}

/// Each name is put in once: what a value says in braces stays as it is.
fn fill(word: &str, values: &[&str; NAMES.len()]) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = NAMES.iter().zip(values).find_map(|(name, value)| {
            let after = rest.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, after))
        });
        match found {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn printed(from: Option<impl AsyncRead + Unpin + Send + 'static>) -> JoinHandle<Vec<u8>> {
    tokio::spawn(async move {
        let Some(mut from) = from else { return Vec::new() };
        let (mut kept, mut piece) = (Vec::new(), vec![0; 16 * 1024]);
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            let room = MOST_BYTES - kept.len();
            kept.extend_from_slice(&piece[..count.min(room)]);
        }
        kept
    })
}

async fn text(printed: JoinHandle<Vec<u8>>) -> String {
    let bytes = within(LAST_WORDS, printed).await.and_then(Result::ok).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    fn filling(prompt: &str) -> Filling<'_> {
        let (url, user, password) = ("http://127.0.0.1:1", "kilo", "p{prompt}");
        Filling { url, user, password, prompt, workspace: "/w", folder: "/tmp" }
    }

    #[test]
    fn names_stand_for_values_and_nothing_in_a_value_does() {
        let command =
            Command::parse("c --at={url}/x {password} {prompt} {\"a\":1} {workspace}", LIMIT).unwrap();
        assert_eq!(
            command.filled(&filling("say {url}  twice")),
            ["c", "--at=http://127.0.0.1:1/x", "p{prompt}", "say {url}  twice", "{\"a\":1}", "/w"]
        );
        assert!(!command.gives_leave());
        assert!(Command::parse("c --auto {url} {prompt}", LIMIT).unwrap().gives_leave());
    }

    #[test]
    fn a_template_that_can_not_work_is_refused() {
        let told = |text: &str| Command::parse(text, LIMIT).unwrap_err();
        assert_eq!(told(" "), "--command names no program");
        assert_eq!(told("c {url}"), "--command says nowhere {prompt}: where does it belong?");
        assert!(told("c {url} {promt}").contains("there is no name 'promt'; did you mean 'prompt'?"));
    }

    async fn ran(script: &str, limit: Duration) -> Ran {
        let command = Command { words: vec!["sh".into(), "-c".into(), script.into()], limit };
        command.run(&filling("x"), std::future::ready(())).await.unwrap()
    }

    #[tokio::test]
    async fn its_words_and_its_end_are_kept_and_it_is_ended_at_its_limit() {
        let both = Ran { stdout: "out\n".into(), stderr: "err\n".into(), ending: Ending::Code(3) };
        assert_eq!(ran("echo out; echo err >&2; exit 3", LIMIT).await, both);
        assert_eq!(ran("kill -9 $$", LIMIT).await.ending, Ending::Signal);
        assert_eq!(ran("cat; echo over", LIMIT).await.stdout, "over\n", "its input has ended");
        let late = ran("echo begun; sleep 1000", Duration::from_millis(300)).await;
        assert_eq!((late.stdout.as_str(), late.ending), ("begun\n", Ending::TooLong));
    }
}
