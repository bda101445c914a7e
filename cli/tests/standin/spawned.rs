//! Goal: who starts `kilo serve` or `opencode serve` gets what the real command gives: lines, signals, exit codes, settings;
//! and the failed start that a plan asks for. Method: the binary under those names, and as `standin as`.

use crate::STANDIN;
use recorder::clock::within;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder with a link to the binary under the name of each server, and a workspace.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["kilo", "opencode"] {
            std::os::unix::fs::symlink(STANDIN, folder.path().join(name)).unwrap();
        }
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command that a spawner would run.
    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.0.path().join(name));
        command.args(arguments).current_dir(self.0.path().join("ws")).env_clear();
        command.env("TMPDIR", self.0.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A server that was started.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    lines: Vec<String>,
    pub(crate) url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it, and reads what it says until it says where it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, stdout, lines: Vec::new(), url: String::new() };
        while server.url.is_empty() {
            let line = server.line();
            assert!(!line.is_empty(), "it says no more than {:?}", server.lines);
            server.url = line.split_once("listening on ").map(|(_, url)| url.to_owned()).unwrap_or_default();
            server.lines.push(line);
        }
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: &str) {
        send(signal, self.child.id().to_string().as_str());
    }

    /// What it says on stderr until it has ended, and how it ended.
    fn ended(mut self) -> (String, ExitStatus) {
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (stderr, self.child.wait().unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        within(PATIENCE, reqwest::get(format!("{}{path}", self.url)))
            .await
            .unwrap()
            .unwrap()
            .json()
            .await
            .unwrap()
    }
}

fn send(signal: &str, to: &str) {
    assert!(Command::new("kill").args([signal, "--", to]).status().unwrap().success());
}

fn ended(mut command: Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[tokio::test]
async fn kilo_that_is_asked_to_end_tells_its_streams_and_has_no_error() {
    let place = Place::new();
    for signal in ["-TERM", "-INT", "-HUP"] {
        let server = Server::start(place.command("kilo", &["serve", "--port", "0"]));
        let warning = "Warning: KILO_SERVER_PASSWORD is not set; server is unsecured.";
        assert_eq!(server.lines[0], warning);
        assert!(
            server.lines[1].starts_with("kilo server listening on http://127.0.0.1:"),
            "{:?}",
            server.lines
        );
        let mut stream = reqwest::get(format!("{}/event", server.url)).await.unwrap();
        let mut heard = String::new();
        // An instance that nobody has used has nothing to end.
        server.get("/session").await;
        while !heard.contains("indexing.status") {
            heard += std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap();
        }
        server.signal(signal);
        // The body has its last chunk: it is an end, and no break.
        while let Some(chunk) = within(PATIENCE, stream.chunk()).await.unwrap().unwrap() {
            heard += std::str::from_utf8(&chunk).unwrap();
        }
        assert!(heard.contains("server.instance.disposed"), "{signal}: {heard}");
        assert_eq!(server.ended().1.code(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn opencode_dies_of_the_signal() {
    let place = Place::new();
    for (signal, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let mut command = place.command("opencode", &["serve"]);
        command.env("OPENCODE_SERVER_PASSWORD", "secret-of-a-test");
        let server = Server::start(command);
        assert_eq!(server.lines.len(), 1, "with a password it warns of nothing: {:?}", server.lines);
        let refused = reqwest::get(format!("{}/session", server.url)).await.unwrap();
        assert_eq!(refused.status(), 401);
        server.signal(signal);
        assert_eq!(server.ended().1.signal(), Some(number));
    }
    let left = std::fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(left, 3, "two links and the workspace: what it has made is gone");
}

#[tokio::test]
async fn settings_credentials_and_the_folder_come_from_whoever_starts_it() {
    let place = Place::new();
    let journal = place.0.path().join("journal.jsonl");
    let mut command = Command::new(STANDIN);
    command.args(["as", "--journal", journal.to_str().unwrap(), "kilo", "serve", "--port", "0"]);
    command.current_dir(place.0.path().join("ws")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("KILO_CONFIG_CONTENT", r#"{"username": "me", "permission": {"edit": "ask", "bash": "ask"}}"#);
    command.env("KILO_PERMISSION", r#"{"bash": "deny"}"#);
    command.env("KILO_SERVER_USERNAME", "somebody").env("KILO_SERVER_PASSWORD", "secret-of-a-test");
    let server = Server::start(command);
    let config = async |patch: Option<Value>| -> Value {
        let (client, url) = (reqwest::Client::new(), format!("{}/config", server.url));
        let asked = patch.map_or_else(|| client.get(&url), |patch| client.patch(&url).json(&patch));
        asked.basic_auth("somebody", Some("secret-of-a-test")).send().await.unwrap().json().await.unwrap()
    };
    let said = config(None).await;
    assert_eq!(said["username"], "me");
    assert_eq!(said["permission"], json!({"edit": "ask", "bash": "deny"}));
    config(Some(json!({"username": "somebody else", "permission": {"bash": "allow"}}))).await;
    let again = config(None).await;
    assert_eq!((&again["username"], &again["permission"]["bash"]), (&json!("me"), &json!("deny")));
    let asked = reqwest::Client::new().get(format!("{}/path", server.url));
    let path: Value =
        asked.basic_auth("somebody", Some("secret-of-a-test")).send().await.unwrap().json().await.unwrap();
    let here = place.0.path().join("ws").canonicalize().unwrap();
    assert_eq!(path["directory"].as_str().map(Path::new), Some(here.as_path()));
    assert_eq!(path["worktree"], "/", "it belongs to no repository");
    server.signal("-TERM");
    assert_eq!(server.ended().1.code(), Some(0));
    let journal = std::fs::read_to_string(&journal).unwrap();
    assert!(journal.contains("/config") && !journal.contains("secret-of-a-test"), "{journal}");
}

#[test]
fn what_the_command_does_not_know_is_said_on_stderr() {
    let place = Place::new();
    let (stdout, stderr, code) = ended(place.command("kilo", &["serve", "--nonsense"]));
    assert_eq!((stdout.as_str(), code), ("", Some(1)));
    assert!(stderr.contains("--nonsense is no flag of this command"), "{stderr}");
    assert_eq!(ended(place.command("opencode", &["--version"])).0, "1.18.33\n");
    let (_, stderr, code) = ended(place.command("opencode", &["run", "hello"]));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("'opencode run' is not played, only 'opencode serve'"), "{stderr}");
    let mut command = place.command("kilo", &["serve"]);
    let (_, stderr, code) = ended({
        command.env("KILO_PERMISSION", "{");
        command
    });
    assert_eq!(code, Some(2));
    assert!(stderr.contains("KILO_PERMISSION is no JSON object"), "{stderr}");
}

#[tokio::test]
async fn settings_are_found_where_the_environment_says() {
    let place = Place::new();
    place.file("own.json", r#"{"username": "own", "instructions": ["own.md"]}"#);
    std::fs::create_dir_all(place.0.path().join("folder/agent")).unwrap();
    place.file("folder/opencode.json", r#"{"small_model": "of/folder", "share": "manual"}"#);
    place.file("folder/agent/helper.md", "---\ndescription: helps\nmode: subagent\n---\nYou help.\n");
    let started = |more: &[(&str, &str)]| {
        let mut command = place.command("opencode", &["serve", "--port", "0"]);
        let at = |name: &str| place.0.path().join(name);
        command.env("OPENCODE_CONFIG", at("own.json")).env("OPENCODE_CONFIG_DIR", at("folder"));
        command.envs(more.iter().copied());
        Server::start(command)
    };
    let server = started(&[
        ("OPENCODE_CONFIG_CONTENT", "{\"share\": \"disabled\"} // mine"),
        ("OPENCODE_PERMISSION", "{\"bash\": \"deny\"}"),
        ("OPENCODE_DISABLE_AUTOCOMPACT", "1"),
    ]);
    let config = server.get("/config").await;
    assert_eq!(config["username"], "own");
    assert_eq!(config["small_model"], "of/folder");
    assert_eq!((&config["share"], &config["compaction"]["auto"]), (&json!("disabled"), &json!(false)));
    assert_eq!(config["permission"]["bash"], "deny");
    assert_eq!(config["agent"]["helper"]["prompt"], "You help.");
    let agents = server.get("/agent").await;
    assert!(agents.as_array().unwrap().iter().any(|agent| agent["name"] == "helper"), "{agents}");
    let server = started(&[("OPENCODE_CONFIG_CONTENT", "{")]);
    let refused = server.get("/config").await;
    assert_eq!(
        (&refused["name"], &refused["data"]["path"]),
        (&json!("ConfigJsonError"), &json!("OPENCODE_CONFIG_CONTENT"))
    );
}

#[tokio::test]
async fn kilo_ends_with_the_program_that_it_was_started_for() {
    let place = Place::new();
    let mut parent = Command::new("sleep").arg("1000").spawn().unwrap();
    let mut command = place.command("kilo", &["serve", "--port", "0"]);
    command.env("KILO_PARENT_PID", parent.id().to_string());
    let server = Server::start(command);
    server.get("/session").await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(server.ended().1.code(), Some(0));
}

#[tokio::test]
async fn a_start_goes_wrong_as_the_plan_says() {
    let place = Place::new();
    let with = |plan: &str| {
        let mut command = place.command("kilo", &["serve", "--port", "0"]);
        command.env("STANDIN_FAULTS", place.file("plan.toml", plan));
        command
    };
    let (stdout, stderr, code) =
        ended(with("[[start]]\ndo = { exit = 3, stderr = \"Error: the database is locked\" }"));
    assert_eq!((stderr.as_str(), code), ("Error: the database is locked\n", Some(3)));
    assert!(!stdout.contains("listening"), "{stdout}");

    let mut never = with("[[start]]\ndo = { ready = \"never\" }").spawn().unwrap();
    let mut first = BufReader::new(never.stdout.take().unwrap());
    first.read_line(&mut String::new()).unwrap();
    send("-TERM", &never.id().to_string());
    let mut rest = String::new();
    first.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), never.wait().unwrap().code()), ("", Some(0)));

    let garbled = Server::start(with("[[start]]\ndo = { ready = \"garbled\" }"));
    assert_eq!(garbled.lines[1], "kilo server listening on http://");
    let late = Server::start(with("[[start]]\ndo = { ready = \"late\", ms = 1 }"));
    late.get("/session").await;
    let (_, how) = Server::start(with("[[start]]\ndo = { crash_after_ms = 1 }")).ended();
    assert_eq!(how.signal(), Some(9));
    let (_, how) = Server::start(with("[[start]]\ndo = { crash_after_ms = 1, exit = 4 }")).ended();
    assert_eq!(how.code(), Some(4));
}

/// Performs the start of a plan that Standin carries; what can be seen of it from outside, in a few words.
async fn seen_of(place: &Place, name: &str) -> String {
    let mut command = place.command("kilo", &["serve", "--port", "0"]);
    command.env("STANDIN_FAULTS", name).process_group(0);
    match name {
        "start/ends-first" => {
            let (stdout, stderr, code) = ended(command);
            assert!(!stdout.contains("listening"), "{stdout}");
            format!("{stderr:?}, code {}", code.unwrap())
        }
        "start/never" | "start/late" => {
            let mut silent = command.spawn().unwrap();
            let mut stdout = BufReader::new(silent.stdout.take().unwrap());
            // The warning comes before it would listen; whoever asks it to end then has no line of readiness.
            stdout.read_line(&mut String::new()).unwrap();
            send("-TERM", &silent.id().to_string());
            let mut rest = String::new();
            stdout.read_to_string(&mut rest).unwrap();
            format!("{rest:?}, code {}", silent.wait().unwrap().code().unwrap())
        }
        "start/garbled" => {
            let server = Server::start(command);
            let line = server.lines[1].clone();
            server.signal("-TERM");
            format!("{line:?}, code {}", server.ended().1.code().unwrap())
        }
        "start/crashes" => {
            let server = Server::start(command);
            server.get("/session").await;
            format!("listens, signal {}", server.ended().1.signal().unwrap())
        }
        "start/orphans" => {
            let mut killed = Server::start(command);
            let group = format!("-{}", killed.child.id());
            killed.signal("-KILL");
            killed.child.wait().unwrap();
            killed.get("/session").await;
            send("-TERM", &group);
            killed.stdout.read_to_string(&mut String::new()).unwrap();
            "serves when its wrapper is killed".to_owned()
        }
        other => panic!("{other} is a new plan of starts: say here what is seen of it"),
    }
}

#[tokio::test]
async fn every_start_that_standin_carries_goes_wrong_as_it_says() {
    let place = Place::new();
    let mut seen = Vec::new();
    for name in fixtures::catalog::fault_plan_names() {
        let (_, text) = fixtures::catalog::fault_plan_text(&name).unwrap();
        if text.contains("[[start]]") {
            seen.push(format!("{name}: {}", seen_of(&place, &name).await));
        }
    }
    assert_eq!(
        seen,
        [
            "start/crashes: listens, signal 9",
            "start/ends-first: \"error: failed to start\\n\", code 1",
            "start/garbled: \"kilo server listening on http://\", code 0",
            "start/late: \"\", code 0",
            "start/never: \"\", code 0",
            "start/orphans: serves when its wrapper is killed",
        ]
    );
}

#[tokio::test]
async fn the_starts_that_a_plan_names_go_wrong_and_no_other() {
    let place = Place::new();
    let plan = "starts_file = \"starts\"\n[[start]]\nnth = [1, 3]\ndo = { exit = 5 }";
    let file = place.file("plan.toml", plan);
    let with = || {
        let mut command = place.command("opencode", &["serve", "--port", "0"]);
        command.env("STANDIN_FAULTS", &file);
        command
    };
    assert_eq!(ended(with()).2, Some(5));
    Server::start(with()).get("/session").await;
    assert_eq!(ended(with()).2, Some(5));
    Server::start(with()).get("/session").await;
    assert_eq!(std::fs::read(place.0.path().join("starts")).unwrap().len(), 4);
}

#[tokio::test]
async fn a_wrapper_hands_signals_on_and_leaves_its_server_behind_when_it_is_killed() {
    let place = Place::new();
    let with = || {
        let mut command = place.command("kilo", &["serve", "--port", "0"]);
        command.env("STANDIN_FAULTS", place.file("plan.toml", "[[start]]\ndo = { wrapper = \"orphans\" }"));
        command.process_group(0);
        command
    };
    let asked = Server::start(with());
    asked.get("/session").await;
    asked.signal("-TERM");
    assert_eq!(asked.ended().1.code(), Some(0));

    let mut killed = Server::start(with());
    let group = format!("-{}", killed.child.id());
    killed.signal("-KILL");
    assert_eq!(killed.child.wait().unwrap().signal(), Some(9));
    killed.get("/session").await;
    send("-TERM", &group);
    // Its end of the pipe closes when it is gone.
    let mut rest = String::new();
    killed.stdout.read_to_string(&mut rest).unwrap();
    assert!(reqwest::get(format!("{}/session", killed.url)).await.is_err());
}
