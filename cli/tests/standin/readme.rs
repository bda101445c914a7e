//! Goal: what the README says to type works as written. Method: every `cargo run --bin standin -- …` line of its
//! shell blocks is run; a server is asked until it answers, then ended.

use crate::STANDIN;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const PREFIX: &str = "cargo run --bin standin -- ";

fn lines() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let mut inside = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ => lines.extend(line.strip_prefix(PREFIX).filter(|_| inside).map(str::to_owned)),
        }
    }
    lines
}

#[test]
fn every_standin_line_of_the_readme_works() {
    let lines = lines();
    assert!(lines.len() >= 3, "{lines:?}");
    for line in lines {
        // A test's binary may stand elsewhere than a user's.
        let script = format!("exec '{STANDIN}' {}", line.replace("target/debug/standin", STANDIN));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]).stdout(Stdio::piped()).stderr(Stdio::piped());
        if line.starts_with("serve") {
            let mut server = command.spawn().unwrap();
            let mut ready = String::new();
            BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
            server.kill().unwrap();
            server.wait().unwrap();
            assert!(ready.starts_with("kilo server listening on http://127.0.0.1:"), "{line}: {ready}");
            continue;
        }
        let output = command.output().unwrap();
        // The README says of the mutant that it shows a failure.
        let expected = i32::from(line.contains("--mutant"));
        assert_eq!(output.status.code(), Some(expected), "{line}: {output:?}");
    }
}
