//! Goal: a client can't tell the tee from the agent, and what is kept is what passed. Method: shell scripts as agents,
//! with every byte of both directions compared.

use super::process::Ended;
use super::tee::{ClientEnds, pass};
use crate::tape::Tape;
use crate::testing::path_env;
use fixtures::recording::{Line, PipeName};
use std::ffi::OsString;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

/// Keeps what is written.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

fn command(script: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", script].map(OsString::from).to_vec()
}

/// How it ended, what the client heard on both pipes, and the tape.
async fn passed(script: &str, stdin: impl Read + Send + 'static) -> (Ended, Vec<u8>, Vec<u8>, Vec<Line>) {
    let (stdout, stderr, tape) = (Sink::default(), Sink::default(), Tape::new());
    let client = ClientEnds {
        stdin: Box::new(stdin),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
    };
    let ended = pass(&command(script), &path_env(), client, &tape).await.unwrap();
    (ended, stdout.bytes(), stderr.bytes(), tape.lines())
}

fn kept(lines: &[Line], of: PipeName) -> Vec<u8> {
    let pipes = lines.iter().filter_map(|line| match line {
        Line::Pipe(pipe) if pipe.of == of => Some(pipe.bytes()),
        _ => None,
    });
    pipes.flatten().collect()
}

#[tokio::test]
async fn every_byte_passes_and_is_kept_whatever_it_is() {
    let mut bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    bytes.extend(b"{\"no\":\"line end\"}");
    let (ended, stdout, stderr, lines) = passed("tee /dev/stderr; exit 7", Cursor::new(bytes.clone())).await;
    assert_eq!(ended, Ended { code: Some(7), signal: None });
    assert!(stdout == bytes && stderr == bytes);
    for of in PipeName::ALL {
        assert!(kept(&lines, of) == bytes, "{of:?}");
    }
    let ends = lines.iter().filter(|line| matches!(line, Line::PipeEnd(_))).count();
    assert_eq!((ends, matches!(lines.last(), Some(Line::Exit(exit)) if exit.code == Some(7))), (3, true));
}

#[tokio::test]
async fn an_agent_that_dies_of_a_signal_is_told_so() {
    let (ended, stdout, _, _) = passed("printf said; kill -9 $$", io::empty()).await;
    assert_eq!(ended, Ended { code: None, signal: Some(9) });
    assert_eq!(stdout, b"said");
}

#[tokio::test]
async fn the_end_of_the_clients_words_ends_the_agents_stdin() {
    let (ended, stdout, ..) =
        passed("while read -r line; do echo \"$line!\"; done; echo over", Cursor::new("a\nb\n")).await;
    assert_eq!((ended.code, stdout.as_slice()), (Some(0), b"a!\nb!\nover\n".as_slice()));
}

/// Takes one piece, and then nothing for ever.
struct Stuck(Arc<Mutex<usize>>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.0.lock().unwrap() += bytes.len();
        loop {
            std::thread::park();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn who_does_not_read_holds_up_who_writes() {
    // Its client is stuck for ever, and so is the thread that writes to it: the runtime must not wait for it.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!(
        "i=0; while [ $i -lt 400 ]; do head -c 10000 /dev/zero; i=$((i+1)); echo $i >{}; done",
        count.display()
    );
    let tape = Tape::new();
    let client = ClientEnds {
        stdin: Box::new(io::empty()),
        stdout: Box::new(Stuck(Arc::default())),
        stderr: Box::new(io::sink()),
    };
    let path = path_env();
    let command = command(&script);
    let is_over = runtime.block_on(async {
        let passing = pass(&command, &path, client, &tape);
        crate::clock::within(std::time::Duration::from_secs(2), passing).await.is_some()
    });
    runtime.shutdown_background();
    let written: usize =
        std::fs::read_to_string(&count).unwrap_or_default().trim().parse().unwrap_or_default();
    assert!(!is_over && written < 40, "{written} of 400 were written");
}
