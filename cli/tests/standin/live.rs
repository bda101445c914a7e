//! Goal: what nobody planned is recorded as it was, with a summary, and plays again. Method: the binary between a
//! stand-in and a client that does what a scenario's person does; and the binary as a listener.

use crate::STANDIN;
use crate::programs::SCENARIO;
use fixtures::recording::{HowEnded, Line, Recording};
use fixtures::{ServerKind, catalog};
use harness::performance::Piece;
use harness::stage::Stage;
use harness::truth::{differences, stand_in_limits};
use mock_server::Options;
use recorder::{Client, Tape};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// The recorder, and what it says.
struct Recorder {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Recorder {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(STANDIN);
        command.arg("record").args(arguments).current_dir(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the line on stderr that says that it has begun.
    fn begun(&mut self) {
        let mut stderr = BufReader::new(self.child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("recording "), "{line}");
        self.child.stderr = Some(stderr.into_inner());
    }

    /// As Ctrl-C does; the rest of what it says, and its exit code.
    fn end(mut self, signal: &str) -> (String, Option<i32>) {
        let told = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

async fn stage(server: ServerKind) -> Stage {
    Stage::of_stand_in(Options::scenario(server, catalog::scenario(SCENARIO).unwrap())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_through_the_proxy_is_recorded_as_without_it_and_the_recording_plays_again() {
    for (server, signal) in [(ServerKind::Kilo, "-INT"), (ServerKind::Opencode, "-TERM")] {
        let folder = tempfile::tempdir().unwrap();
        let stage = stage(server).await;
        let password = stage.credentials.password.clone();
        let arguments = ["--proxy", "--upstream", &stage.url, "--password", &password, "--out", "one.jsonl"];
        let mut recorder = Recorder::start(folder.path(), &arguments);
        let ready = recorder.line();
        let url = ready.strip_prefix(&format!("{server} server listening on ")).expect(&ready);

        let scenario = catalog::scenario(SCENARIO).unwrap();
        let client = Client::new(url, stage.credentials.clone(), Tape::new()).unwrap();
        let limits = stand_in_limits();
        recorder::perform(&scenario, &stage.workspace, &client, &limits, &stage).await.unwrap();
        let (said, code) = recorder.end(signal);
        assert_eq!(code, Some(0), "{said}");
        let version = server.pinned_version();
        assert!(
            said.starts_with(&format!("{server} {version}: 12 requests on 12 connections, 2 streams with ")),
            "{said}"
        );
        assert!(said.ends_with("\none.jsonl\n") && !said.contains("not whole"), "{said}");

        let path = folder.path().join("one.jsonl");
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&password));
        assert!(!folder.path().join("one.jsonl.partial").exists());
        let mut kept = Recording::read(&path).unwrap();
        assert_eq!(kept.header.workspace, stage.workspace);
        // The person's steps are not seen on the wire, nor is what the server asks its model.
        let floats = catalog::floats(server).unwrap();
        let mut real = catalog::recording(&server.release(), SCENARIO).unwrap();
        real.lines.retain(|line| !matches!(line, Line::Model(_) | Line::User(_)));
        // To the recorder's own client `/doc` is no part of a recording.
        for line in &mut kept.lines {
            if let Line::Response(response) = line
                && response.body.json().is_some_and(|body| body.get("openapi").is_some())
            {
                response.body = fixtures::recording::Body::Empty;
            }
        }
        assert_eq!(differences(&real, &kept, &floats), [], "{server}");

        let piece = Piece { name: SCENARIO.into(), scenario, server };
        let mut again = piece.by_replay(&kept, &limits).await.unwrap().recording;
        again.lines.retain(|line| !matches!(line, Line::User(_)));
        assert_eq!(differences(&kept, &again, &floats), [], "{server}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_keeps_both_streams_and_the_doc_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stage = stage(ServerKind::Kilo).await;
    let password = stage.credentials.password.clone();
    for number in ["1", "2"] {
        let arguments =
            ["--attach", &stage.url, "--password", &password, "--out", "kept", "--format", "json"];
        let mut recorder = Recorder::start(folder.path(), &arguments);
        recorder.begun();
        let path = folder.path().join(format!("kept/kilo-7.7.7/live/{number}.jsonl"));
        let partial = path.with_extension("jsonl.partial");
        let both_speak = || {
            let text = std::fs::read_to_string(&partial).unwrap_or_default();
            text.matches("server.connected").count() == 2
        };
        recorder::clock::until(both_speak).await;
        let (said, code) = recorder.end("-INT");
        assert_eq!(code, Some(0), "{said}");
        let summary: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&summary["streams"], &summary["not_whole"]), (&2.into(), &0.into()));
        let kept = Recording::read(&path).unwrap();
        let ends = kept
            .lines
            .iter()
            .filter(|line| matches!(line, Line::End(end) if end.how == HowEnded::ClosedByClient));
        assert_eq!(ends.count(), 2);
        assert_eq!(kept.header.workspace, stage.workspace);
    }
    let doc = std::fs::read(folder.path().join("kept/kilo-7.7.7/doc.json")).unwrap();
    assert_eq!(Some(&doc[..]), catalog::doc("kilo-7.7.7"));
}

#[test]
fn what_can_not_be_recorded_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{nobody}");
    for (arguments, code, expected) in [
        (&["--proxy"][..], 2, "--upstream"),
        (&["--upstream", "http://127.0.0.1:1"], 2, "--proxy"),
        (&["--proxy", "--upstream", "http://example.com"], 2, "this is not on this machine"),
        (
            &["--attach", "127.0.0.1"],
            2,
            "this is no address; an address such as http://127.0.0.1:4096 is wanted",
        ),
        (&["--attach", "http://127.0.0.1:1", "--scenario", "text/plain"], 2, "cannot be used with"),
        (&["--proxy", "--upstream", &nobody], 3, "can't be reached: "),
        (&["--attach", &nobody], 3, "can't be reached: "),
    ] {
        let output =
            Command::new(STANDIN).arg("record").args(arguments).current_dir(&folder).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}
