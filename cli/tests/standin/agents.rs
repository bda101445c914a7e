//! Goal: whoever starts an agent with the address of a socket in its environment learns what it was started with, what it
//! read and wrote, and how it ended; and what a fault does to its process happens to the process.

use crate::STANDIN;
use fixtures::recording::{Line, PipeName};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

const INITIALIZE: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";

/// An agent, and who hears of it.
struct Heard {
    listener: TcpListener,
    agent: Child,
    reports: Lines<BufReader<TcpStream>>,
    /// Below it the agent makes its own folders.
    folder: tempfile::TempDir,
}

fn start(arguments: &[&str], faults: Option<&str>) -> Heard {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, faults.unwrap_or_default()).unwrap();
    let mut command = Command::new(STANDIN);
    command.args(arguments).current_dir(folder.path());
    let address = listener.local_addr().unwrap().to_string();
    // Another command's stand-in is told by its environment alone.
    match arguments {
        ["acp"] => command.arg(format!("--report={address}")),
        _ => command.env("STANDIN_REPORT", address),
    };
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    command.env("TMPDIR", own).env("KIRO_LOG_LEVEL", "debug");
    if faults.is_some() {
        command.env("STANDIN_FAULTS", &plan);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let agent = command.spawn().unwrap();
    let reports = BufReader::new(listener.accept().unwrap().0).lines();
    let mut heard = Heard { listener, agent, reports, folder };
    // The plan is read before anything is answered.
    heard.agent.stdin.as_mut().unwrap().write_all(INITIALIZE.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(heard.agent.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("protocolVersion") || faults.is_some(), "{answer}");
    heard
}

fn read(line: std::io::Result<String>) -> Line {
    serde_json::from_str(&line.unwrap()).unwrap()
}

/// What the lines tell, in words.
fn words(lines: impl Iterator<Item = Line>) -> Vec<String> {
    let word = |line: Line| match line {
        Line::Note(note) => note.text.split(" {").next().unwrap().to_owned(),
        Line::Pipe(pipe) if pipe.of == PipeName::Stdin => {
            format!("read {}", String::from_utf8(pipe.bytes()).unwrap().len())
        }
        Line::Pipe(_) => "wrote".to_owned(),
        Line::PipeEnd(_) => "stdin ended".to_owned(),
        Line::Exit(exit) => format!("ended {:?} {:?}", exit.code, exit.signal),
        other => panic!("{other:?}"),
    };
    lines.map(word).collect()
}

#[test]
fn an_agent_tells_whoever_listens_what_it_reads_and_writes() {
    let mut heard = start(&["as", "kiro-cli", "acp"], None);
    drop(heard.agent.stdin.take());
    assert!(heard.agent.wait().unwrap().success());
    let lines: Vec<Line> = heard.reports.map(read).collect();
    let Line::Note(start) = &lines[0] else { panic!("{:?}", lines[0]) };
    assert!(start.text.contains("\"KIRO_LOG_LEVEL\":\"debug\""), "{}", start.text);
    let read = format!("read {}", INITIALIZE.len());
    assert_eq!(
        words(lines.into_iter()),
        ["agent start", &read, "wrote", "stdin ended", "ended Some(0) None"]
    );
}

#[test]
fn an_agent_in_text_tells_it_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(STANDIN);
    command.args(["as", "kiro-cli", "chat", "--trust-all-tools"]).current_dir(folder.path());
    command.env("STANDIN_REPORT", listener.local_addr().unwrap().to_string());
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    agent.stdin.as_mut().unwrap().write_all(b"hello\n/quit\n").unwrap();
    let mut screen = String::new();
    agent.stdout.as_mut().unwrap().read_to_string(&mut screen).unwrap();
    assert!(agent.wait().unwrap().success());
    assert!(screen.replace("\u{1b}[0m", "").contains("I stand in for an agent."), "{screen}");
    let told = words(BufReader::new(listener.accept().unwrap().0).lines().map(read));
    assert!(
        told.iter().any(|word| word.starts_with("read")) && told.contains(&"wrote".to_owned()),
        "{told:?}"
    );
    assert_eq!(told.last().map(String::as_str), Some("ended Some(0) None"));
}

#[test]
fn an_agent_ends_with_who_listens_to_its_report() {
    let plan = "[[acp]]\nwhen = { answer_to = \"initialize\" }\ndo = { linger = true }\n";
    let Heard { listener, mut agent, reports, folder } = start(&["acp"], Some(plan));
    // Nobody closes its stdin, and nobody sends a signal.
    let stdin = agent.stdin.take();
    drop((listener, reports));
    agent.wait().unwrap();
    drop(stdin);
    let left = std::fs::read_dir(folder.path().join("own")).unwrap().count();
    assert_eq!(left, 0, "it takes its folders away");
}

#[test]
fn an_agent_outlives_its_stdin_and_polite_signals_and_its_child_outlives_it() {
    let plan = "[[acp]]\nwhen = { answer_to = \"initialize\" }\ndo = { linger = true }\n\
        [[acp]]\nwhen = { answer_to = \"initialize\" }\ndo = { child = true }\n";
    let mut heard = start(&["acp"], Some(plan));
    let child = heard.listener.accept().unwrap().0;
    let mut child = BufReader::new(child).lines();
    assert_eq!(words(child.by_ref().take(2).map(read)), ["agent start", "agent child"]);
    let id = Pid::from_child(&heard.agent);
    drop(heard.agent.stdin.take());
    kill_process(id, Signal::TERM).unwrap();
    // It still sees that its stdin has ended; then nothing is heard of it until it is killed.
    let told = words(heard.reports.by_ref().map(read).take(5));
    assert_eq!(told[4], "wrote");
    assert!(told.contains(&"agent strain \"Linger\"".to_owned()), "{told:?}");
    assert_eq!(words(heard.reports.by_ref().map(read).take(1)), ["stdin ended"]);
    assert!(heard.agent.try_wait().unwrap().is_none());
    kill_process(id, Signal::KILL).unwrap();
    heard.agent.wait().unwrap();
    assert!(heard.reports.next().is_none(), "a killed agent has no last words");
    // The child holds the pipe that the agent wrote to; it ends when nobody listens to it any more.
    drop(child);
    drop(heard.listener);
    let mut rest = Vec::new();
    heard.agent.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
}
