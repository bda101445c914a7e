//! Runs the agent's shell lines. A line leads a process group of its own, and whatever is left of the group when the line
//! is over, forgotten or too late is killed.

mod which;

pub(crate) use which::of;

use crate::clock::Clock;
use crate::group::{Group, search_path};
use crate::profile::Profile;
use crate::world::{ShellEnd, ShellLine, ShellNews};
use fixtures::ServerKind;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How long a line may go on that was told to end, and how long its output is awaited when it has ended.
const GRACE: Duration = Duration::from_secs(3);
/// What is printed within such a while is told as one.
const AT_ONCE: Duration = Duration::from_millis(4);

/// Runs a line to its end; what it tells is told as it comes.
pub(crate) async fn run(line: ShellLine, clock: &Clock, mut tell: impl FnMut(ShellNews)) {
    let (send_printed, mut printed) = mpsc::unbounded_channel();
    let (send_ended, mut ended) = oneshot::channel();
    let heard = move |piece| send_printed.send(piece).is_ok();
    let mut group = match start(&line, heard, move || {
        send_ended.send(()).ok();
    }) {
        Ok(group) => group,
        Err(error) => return tell(ShellNews::Failed(failure(&line, &error))),
    };
    let mut text = Utf8::default();
    let mut end = None;
    let mut patience = Box::pin(clock.wait(Duration::from_millis(line.timeout_ms)));
    loop {
        tokio::select! {
            biased;
            Some(piece) = printed.recv() => {
                clock.wait(AT_ONCE).await;
                let more = std::iter::from_fn(|| printed.try_recv().ok());
                for bytes in at_once(piece, more) {
                    tell_printed(text.add(&bytes), &mut tell);
                }
            }
            _ = &mut ended => break,
            () = &mut patience => {
                if end.replace(ShellEnd::TimedOut).is_some() {
                    break;
                }
                group.signal(Signal::TERM);
                patience = Box::pin(clock.wait(GRACE));
            }
        }
    }
    // Whoever it left behind may still hold its output.
    let grace = clock.wait(GRACE);
    tokio::pin!(grace);
    loop {
        tokio::select! {
            biased;
            piece = printed.recv() => match piece {
                Some(piece) => {
                    clock.wait(AT_ONCE).await;
                    let more = std::iter::from_fn(|| printed.try_recv().ok());
                    for bytes in at_once(piece, more) {
                    tell_printed(text.add(&bytes), &mut tell);
                }
                }
                None => break,
            },
            () = &mut grace => break,
        }
    }
    let code = group.end();
    tell(ShellNews::Ended(end.unwrap_or(ShellEnd::Exited(code))));
}

/// Runs a line to its end at once: where time passes only by looking at it, nothing can come between.
pub(crate) fn run_at_once(line: &ShellLine) -> Vec<ShellNews> {
    let (send_printed, printed) = std::sync::mpsc::channel::<Piece>();
    let (send_ended, ended) = std::sync::mpsc::channel();
    let heard = move |piece| send_printed.send(piece).is_ok();
    let mut group = match start(line, heard, move || {
        send_ended.send(()).ok();
    }) {
        Ok(group) => group,
        Err(error) => return vec![ShellNews::Failed(failure(line, &error))],
    };
    let is_late = ended.recv_timeout(Duration::from_millis(line.timeout_ms)).is_err();
    let code = group.end();
    let (mut news, mut text) = (Vec::new(), Utf8::default());
    while let Ok(piece) = printed.recv() {
        let more = std::iter::from_fn(|| printed.recv_timeout(AT_ONCE).ok());
        for bytes in at_once(piece, more) {
            tell_printed(text.add(&bytes), &mut |told| news.push(told));
        }
    }
    news.push(ShellNews::Ended(if is_late { ShellEnd::TimedOut } else { ShellEnd::Exited(code) }));
    news
}

/// What a line prints, and whether to its second output.
type Piece = (bool, Vec<u8>);

/// Of what is printed at once to both outputs, all of one is told before the other: the one that was printed to first.
fn at_once(piece: Piece, more: impl Iterator<Item = Piece>) -> Vec<Vec<u8>> {
    let (output, mut first) = piece;
    let mut second = Vec::new();
    for (is_second, bytes) in more {
        if is_second == output { &mut first } else { &mut second }.extend(bytes);
    }
    if second.is_empty() { vec![first] } else { vec![first, second] }
}

fn tell_printed(text: String, tell: &mut impl FnMut(ShellNews)) {
    if !text.is_empty() {
        tell(ShellNews::Printed(text));
    }
}

/// What a server says of itself in the environment of what it runs.
pub(crate) fn said_by(server: ServerKind) -> Vec<(&'static str, String)> {
    let yes = || "1".to_owned();
    let number = std::process::id().to_string();
    let mut all = vec![("AGENT", yes()), ("OPENCODE", yes())];
    match server {
        ServerKind::Opencode => all.push(("OPENCODE_PID", number)),
        ServerKind::Kilo => all.extend([
            ("KILO", yes()),
            ("KILO_PID", number),
            ("KILO_PROCESS_ROLE", "main".to_owned()),
            ("KILOCODE_FEATURE", "unknown".to_owned()),
            ("KILOCODE_VERSION", Profile::of(server).version.to_owned()),
        ]),
    }
    all
}

fn failure(line: &ShellLine, error: &io::Error) -> String {
    if !Path::new(&line.directory).exists() {
        return format!("NotFound: FileSystem.access ({})", line.directory);
    }
    if error.kind() == io::ErrorKind::NotADirectory {
        return format!("ENOTDIR: not a directory, posix_spawn '{}'", which::for_line(line));
    }
    format!("standin failed to run a shell line in {}: {error}", line.directory)
}

/// Starts a line, and two threads: one reads what it prints until nobody wants it, the other waits for its end.
fn start(
    line: &ShellLine,
    heard: impl FnMut(Piece) -> bool + Send + 'static,
    ended: impl FnOnce() + Send + 'static,
) -> io::Result<Group> {
    let (first, to_first) = io::pipe()?;
    let (second, to_second) = io::pipe()?;
    let shell = which::for_line(line);
    let mut command = Command::new(&shell);
    command
        .args(which::words(&shell, line))
        .current_dir(&line.directory)
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", &line.home)
        .envs(line.shell_name.iter().map(|_| ("TERM", "dumb")))
        .envs(said_by(line.server))
        .envs(which::named(line).map(|path| ("SHELL", path)))
        .stdin(Stdio::null())
        .stdout(to_first)
        .stderr(to_second)
        .process_group(0);
    let child = command.spawn()?;
    // The command holds the writing ends of the pipes, too.
    drop(command);
    let group = Group::of(child);
    let leader = group.leader;
    std::thread::spawn(move || listen([first, second], heard));
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(leader), options), Err(rustix::io::Errno::INTR)) {}
        ended();
    });
    Ok(group)
}

/// Reads both outputs until they end: whichever has something, the first one first.
fn listen(outputs: [io::PipeReader; 2], mut heard: impl FnMut(Piece) -> bool) {
    let [first, second] = outputs;
    let mut open = vec![(false, first), (true, second)];
    let mut buffer = vec![0; 64 * 1024];
    while !open.is_empty() {
        let mut waiting: Vec<PollFd<'_>> =
            open.iter().map(|(_, output)| PollFd::new(output, PollFlags::IN)).collect();
        match poll(&mut waiting, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        let ready: Vec<bool> = waiting.iter().map(|waiting| !waiting.revents().is_empty()).collect();
        let mut ended = Vec::new();
        for (at, (is_second, output)) in open.iter_mut().enumerate().filter(|(at, _)| ready[*at]) {
            match output.read(&mut buffer) {
                Ok(count) if count > 0 => {
                    if !heard((*is_second, buffer[..count].to_vec())) {
                        return;
                    }
                }
                _ => ended.push(at),
            }
        }
        ended.into_iter().rev().for_each(|at| drop(open.remove(at)));
    }
}

/// Bytes as text, where a letter may come in two pieces.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    rest: Vec<u8>,
}

impl Utf8 {
    pub(crate) fn add(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.rest) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.rest.clear();
                    return text;
                }
                Err(error) => {
                    let (good, bad) = self.rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(good));
                    let Some(length) = error.error_len() else {
                        self.rest = bad.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.rest = bad[length..].to_vec();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockKind;

    fn line(text: &str, timeout_ms: u64) -> (tempfile::TempDir, ShellLine) {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().to_string_lossy().into_owned();
        let home = directory.clone();
        let line = text.to_owned();
        (
            folder,
            ShellLine {
                line,
                directory,
                home,
                server: ServerKind::Kilo,
                timeout_ms,
                shells: Vec::new(),
                shell_name: None,
                screen: None,
            },
        )
    }

    fn printed(news: &[ShellNews]) -> String {
        let texts = news.iter().filter_map(|news| match news {
            ShellNews::Printed(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    async fn all(line: ShellLine) -> Vec<ShellNews> {
        let mut news = Vec::new();
        run(line, &Clock::new(ClockKind::Real), |told| news.push(told)).await;
        news
    }

    #[tokio::test]
    async fn a_line_tells_what_it_prints_and_how_it_ends() {
        let (_folder, line) = line("echo one; echo two >&2; exit 3", 60_000);
        let news = all(line.clone()).await;
        assert_eq!(printed(&news), "one\ntwo\n");
        assert_eq!(news.last(), Some(&ShellNews::Ended(ShellEnd::Exited(Some(3)))));
        let at_once = run_at_once(&line);
        assert_eq!(at_once[..2], ["one\n", "two\n"].map(|text| ShellNews::Printed(text.into())));
        assert_eq!(at_once.last(), news.last());
    }

    #[tokio::test]
    async fn a_line_that_takes_too_long_is_ended() {
        let (_folder, line) = line("echo $$; sleep 600", 300);
        let news = all(line).await;
        assert_eq!(news.last(), Some(&ShellNews::Ended(ShellEnd::TimedOut)));
        assert!(is_gone(&printed(&news)));
    }

    #[test]
    fn what_a_line_leaves_behind_is_ended() {
        for text in ["sleep 600 & echo begun", "sleep 600 & echo begun; sleep 600"] {
            let (_folder, line) = line(text, 300);
            // It reads until nobody holds the output any more.
            assert_eq!(printed(&run_at_once(&line)), "begun\n");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_forgotten_is_ended() {
        let (_folder, line) = line("echo $$; sleep 600", 60_000);
        let (sender, mut heard) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            run(line, &Clock::new(ClockKind::Real), |news| sender.send(news).unwrap()).await;
        });
        let first = heard.recv().await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(is_gone(&printed(&[first])));
    }

    #[test]
    fn a_letter_in_two_pieces_is_one() {
        let mut text = Utf8::default();
        assert_eq!(text.add(b"a\xc3"), "a");
        assert_eq!(text.add(b"\xa9\xffb"), "\u{e9}\u{fffd}b");
    }

    /// No process is in the group any more.
    fn is_gone(number: &str) -> bool {
        let leader = rustix::process::Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        rustix::process::test_kill_process_group(leader).is_err()
    }
}
