//! Runs the servers of tools that the settings name: programs that read lines and write lines, until one side has enough.

use crate::group::{Group, search_path};
use crate::world::{Program, ProgramNews};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// A longer line is no answer of a server of tools.
const LINE_MAX: u64 = 64 * 1024 * 1024;

/// A program that runs; dropping it kills it and all that it has started.
pub(crate) struct Running {
    to_program: mpsc::Sender<String>,
    /// Only held.
    _group: Group,
}

impl Running {
    /// The program reads this line when it likes.
    pub(crate) fn tell(&self, line: String) {
        // Who has left hears nothing.
        self.to_program.send(line).ok();
    }
}

/// Starts a program, and two threads: one hears it until nobody wants to know any more, the other talks to it.
pub(crate) fn start(
    program: &Program,
    mut tell: impl FnMut(ProgramNews) -> bool + Send + 'static,
) -> Result<Running, String> {
    let (name, arguments) = program.command.split_first().ok_or_else(|| "no program is named".to_owned())?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .current_dir(&program.directory)
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", &program.home)
        .env("TERM", "dumb")
        .envs(program.environment.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().map_err(|error| failure(name, &error))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let group = Group::of(child);
    let (to_program, lines) = mpsc::channel::<String>();
    if let Some(mut input) = input {
        std::thread::spawn(move || {
            for line in lines {
                if input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).is_err() {
                    return;
                }
            }
        });
    }
    if let Some(output) = output {
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while matches!(output.by_ref().take(LINE_MAX).read_until(b'\n', &mut line), Ok(1..)) {
                let told = ProgramNews::Line(String::from_utf8_lossy(&line).into_owned());
                if !tell(told) {
                    return;
                }
                line.clear();
            }
            tell(ProgramNews::Ended);
        });
    }
    Ok(Running { to_program, _group: group })
}

/// Why it can't be started, in the servers' words.
fn failure(name: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if name.contains('/') => {
            format!("ENOENT: no such file or directory, posix_spawn '{name}'")
        }
        io::ErrorKind::NotFound => format!("Executable not found in $PATH: \"{name}\""),
        _ => format!("standin failed to start {name}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &[&str]) -> Program {
        Program {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            directory: "/".to_owned(),
            home: "/".to_owned(),
            environment: vec![("MANNER".to_owned(), "kind".to_owned())],
        }
    }

    #[test]
    fn a_program_is_told_lines_and_tells_lines() {
        let (sender, news) = mpsc::channel();
        let script = "read -r line; echo \"$MANNER $line\"; printf rest";
        let running = start(&program(&["sh", "-c", script]), move |news| sender.send(news).is_ok()).unwrap();
        running.tell("word".to_owned());
        let told: Vec<ProgramNews> = news.iter().collect();
        let line = |text: &str| ProgramNews::Line(text.to_owned());
        assert_eq!(told, [line("kind word\n"), line("rest"), ProgramNews::Ended]);
    }

    #[test]
    fn who_is_let_go_is_ended() {
        let (sender, news) = mpsc::channel();
        let running =
            start(&program(&["sh", "-c", "sleep 600 & sleep 600"]), move |news| sender.send(news).is_ok());
        drop(running.unwrap());
        assert_eq!(news.iter().collect::<Vec<_>>(), [ProgramNews::Ended]);
    }

    #[test]
    fn what_can_t_be_started_is_told_in_the_servers_words() {
        let failed = |command: &[&str]| start(&program(command), |_| true).err().unwrap();
        assert!(failed(&["/no/such"]).starts_with("ENOENT"));
        assert!(failed(&["nosuch", "x"]).ends_with("$PATH: \"nosuch\""));
    }
}
