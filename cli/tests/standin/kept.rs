//! Goal: with `--home` an agent goes on where another process of it has ended, however that ended; two of them share what
//! they keep; and a home that can't be used is told of before anything is answered.

use crate::STANDIN;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Agent {
    process: Child,
    says: BufReader<ChildStdout>,
    requests: u64,
}

impl Agent {
    fn start(profile: &str, folder: &Path) -> Self {
        let mut command = Command::new(STANDIN);
        command.args(["as", profile, "acp"]).current_dir(folder).env("STANDIN_HOME", folder.join("home"));
        command.env("STANDIN_SCENARIO", "text/plain").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        let mut agent = Self { process, says, requests: 0 };
        agent.ask("initialize", &json!({"protocolVersion": 1}));
        agent
    }

    /// The answer to a request, and what was told before it.
    fn ask(&mut self, method: &str, params: &Value) -> (Value, Vec<Value>) {
        self.requests += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params});
        writeln!(self.process.stdin.as_mut().unwrap(), "{request}").unwrap();
        let mut told = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.says.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.requests && message.get("method").is_none() {
                return (message, told);
            }
            told.push(message);
        }
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// What was said, by whom, as one text each.
fn said(told: &[Value]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for update in told.iter().map(|message| &message["params"]["update"]) {
        let (Some(kind), Some(text)) = (update["sessionUpdate"].as_str(), update["content"]["text"].as_str())
        else {
            continue;
        };
        match all.last_mut() {
            Some((of, whole)) if of == kind => whole.push_str(text),
            _ => all.push((kind.to_owned(), text.to_owned())),
        }
    }
    all
}

#[test]
fn an_agent_goes_on_where_another_process_was_killed() {
    for profile in ["kilo", "opencode"] {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().to_str().unwrap();
        let mut first = Agent::start(profile, folder.path());
        let (made, _) = first.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        let id = made["result"]["sessionId"].clone();
        let prompt = json!([{"type": "text", "text": "say hello"}]);
        let (_, answer) = first.ask("session/prompt", &json!({"sessionId": id, "prompt": prompt}));
        first.kill();

        let mut second = Agent::start(profile, folder.path());
        let load = json!({"cwd": cwd, "sessionId": id, "mcpServers": []});
        let (loaded, again) = second.ask("session/load", &load);
        assert!(loaded.get("result").is_some(), "{profile}: {loaded}");
        let again = said(&again);
        assert_eq!(again[0], ("user_message_chunk".to_owned(), "say hello".to_owned()), "{profile}");
        assert_eq!(again[1..], said(&answer)[..], "{profile}");
        let (listed, _) = second.ask("session/list", &json!({"cwd": cwd}));
        assert_eq!(listed["result"]["sessions"][0]["sessionId"], id, "{profile}: {listed}");

        // Beside it a third one is at work.
        let mut third = Agent::start(profile, folder.path());
        let (made, _) = third.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        let (listed, _) = second.ask("session/list", &json!({"cwd": cwd}));
        let ids: Vec<&Value> =
            listed["result"]["sessions"].as_array().unwrap().iter().map(|one| &one["sessionId"]).collect();
        assert_eq!(ids, [&made["result"]["sessionId"], &id], "{profile}");
        second.kill();
        third.kill();
    }
}

#[test]
fn a_home_that_can_not_be_used_is_told_of_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let told = |home: &Path, more: &[&str]| {
        let mut command = Command::new(STANDIN);
        command.args(["serve", "--port", "0", "--home"]).arg(home).args(more).env("HOME", folder.path());
        let done = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        let said = said.replace(folder.path().to_str().unwrap(), "HOME");
        (done.status.code().unwrap(), said.trim().to_owned())
    };
    let own = "standin: --home HOME is your own, and the stand-in writes there; give it a folder of its own";
    assert_eq!(told(folder.path(), &[]), (2, own.to_owned()));
    let (code, why) = told(&folder.path().join("home"), &["--clock", "logical"]);
    assert_eq!((code, why.contains("leave one out")), (2, true), "{why}");

    let store = folder.path().join("home/.local/share/kilo/standin");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("session-ses_0.json"), "{\"id\":").unwrap();
    let (code, why) = told(&folder.path().join("home"), &[]);
    let wanted = "HOME/home/.local/share/kilo/standin/session-ses_0.json can't be used: EOF while parsing a value at line 1 column 6; \
                  mend it, or take it away, or give another home";
    assert_eq!((code, why.contains(wanted)), (3, true), "{why}");
    std::fs::write(folder.path().join("file"), "").unwrap();
    let (code, why) = told(&folder.path().join("file"), &[]);
    assert_eq!((code, why.contains("HOME/file")), (3, true), "{why}");
}
