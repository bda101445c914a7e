//! Goal: a test in any language starts a cloud, breaks it and learns who called. Method: the binary, as such a test
//! runs it.

use crate::STANDIN;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Running {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(STANDIN);
        let mut child = command.arg("cloud").args(args).stdout(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(url: &str, token: &str) -> String {
    let host = url.strip_prefix("http://").unwrap();
    let mut socket = TcpStream::connect(host).unwrap();
    let head = "GET /api/users/notifications HTTP/1.1\r\nconnection: close";
    write!(socket, "{head}\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_program_is_told_when_it_is_ready_and_of_each_call() {
    let mut cloud = Running::start(&[
        "--format",
        "json",
        "--token",
        "mine",
        "--answer",
        "status=503",
        "--answer",
        "news",
    ]);
    let ready: Value = serde_json::from_str(&cloud.line()).unwrap();
    let url = ready["ready"]["url"].as_str().unwrap();
    assert!(ask(url, "mine").starts_with("HTTP/1.1 503 "));
    assert!(ask(url, "mine").contains("news-1"));
    assert!(ask(url, "yours").starts_with("HTTP/1.1 401 "));
    let told: Vec<Value> = (0..3)
        .map(|_| {
            let call = &serde_json::from_str::<Value>(&cloud.line()).unwrap()["call"];
            json!([call["number"], call["bearer"], call["answer"]])
        })
        .collect();
    assert_eq!(
        json!(told),
        json!([[1, "right", "status=503"], [2, "right", "news"], [3, "wrong", "status=401"]])
    );
}

#[test]
fn an_answer_that_can_not_be_is_refused() {
    for (args, expected) in [
        (&["--answer", "redirekt"][..], "--answer: there is no answer 'redirekt'; did you mean 'redirect'?"),
        (&["--answer", "news", "--answer", "refuse"], "--answer refuse: nobody listens from the beginning"),
    ] {
        let output = Command::new(STANDIN).arg("cloud").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}
