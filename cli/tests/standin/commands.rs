//! Goal: nonsense gets one clear message and the right exit code; sense works. Method: the binary, as a user runs it,
//! in an empty folder: everything that it needs travels in it.

use crate::STANDIN;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

fn standin(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(STANDIN).args(args).current_dir(folder.path()).output().unwrap()
}

/// Exit code and stderr.
fn refused(args: &[&str]) -> (i32, String) {
    let output = standin(args);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn misuse_is_told_with_its_mend() {
    for (args, expected) in [
        (&["serve", "--scenario", "no/such"][..], "there is no scenario 'no/such'; there are: abort/"),
        (&["serve", "--replay", "no/such"], "there is no recording of kilo-7.7.7 'no/such'; there are:"),
        (&["serve", "--hostname", "0.0.0.0"], "standin listens on 127.0.0.1 only"),
        (&["serve", "--faults", "none.toml"], "none.toml: failed to read it"),
        (&["serve", "--profile", "vim"], "there is no server 'vim'; there are: kilo, opencode"),
        (&["check", "--case", "no/such"], "there is no case 'no/such'; there are: abort/"),
        (&["check", "--mutant", "godzilla"], "there is no mutant 'godzilla'; there are: "),
        (&["gate", "--phase", "9"], "there is no phase 9; there are: 0, 1, 2, 3, 4, 5, or all"),
        (&["judge", "none.jsonl"], "none.jsonl: failed to read it"),
        (&["compare", "a", "b"], "a: failed to read it"),
        (&["sing"], "unrecognized subcommand"),
    ] {
        let (code, stderr) = refused(args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn what_can_not_be_played_again_is_refused_by_name() {
    let release = fixtures::ServerKind::Opencode.release();
    let recording = fixtures::catalog::recording(&release, "text/plain").unwrap().render().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let whole = file("whole.jsonl", &recording);
    let torn = file("torn.jsonl", &recording[..recording.len() - 40]);
    let history =
        file("history.jsonl", &recording.replacen("\"kind\":\"recording\"", "\"kind\":\"history\"", 1));
    for (args, expected) in [
        (vec!["--replay", &torn], "torn.jsonl: this recording is torn"),
        (vec!["--replay", &history], "history.jsonl: this file is a history, not a recording"),
        (
            vec!["--replay", &whole, "--profile", "kilo"],
            "this is a recording of opencode; leave --profile kilo out",
        ),
        (vec!["--replay", &whole, "--workspace", "."], "cannot be used with"),
    ] {
        let (code, stderr) = refused(&[&["serve"][..], &args].concat());
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}

#[test]
fn only_a_history_can_be_judged() {
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fixtures/recordings/kilo-7.7.7/permission/write-allowed-once.jsonl"
    );
    let (code, stderr) = refused(&["judge", recording]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("this is no history: it is a recording"), "{stderr}");
}

#[test]
fn a_history_in_which_nothing_can_be_examined_is_no_pass() {
    let release = fixtures::ServerKind::Kilo.release();
    let mut history = fixtures::catalog::recording(&release, "text/plain").unwrap();
    // No adapter is in it, and nobody read the server's state.
    history.header.kind = fixtures::recording::FileKind::History;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    std::fs::write(&path, history.render().unwrap()).unwrap();
    let judged = standin(&["judge", path.to_str().unwrap()]);
    assert_eq!(judged.status.code(), Some(3), "{judged:?}");
    assert!(String::from_utf8(judged.stdout).unwrap().ends_with("untestable\n"));
}

#[test]
fn a_model_that_was_asked_in_vain_ends_with_that() {
    for (prompt, code) in [("say hello", 0), ("sing", 1)] {
        let mut command = Command::new(STANDIN);
        command.args(["model", "--scenario", "text/plain"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut model = command.spawn().unwrap();
        let mut ready = String::new();
        let mut stdout = BufReader::new(model.stdout.take().unwrap());
        stdout.read_line(&mut ready).unwrap();
        let address = ready.trim().strip_prefix("standin model listening on http://").unwrap();
        let address = address.strip_suffix("/v1").unwrap();
        let body = format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{prompt}\"}}]}}");
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close";
        let mut socket = TcpStream::connect(address).unwrap();
        write!(socket, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.starts_with("HTTP/1.1 200 OK"), code == 0, "{answer}");
        assert!(Command::new("kill").arg(model.id().to_string()).status().unwrap().success());
        let output = model.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("asked for in vain: no turn answers"), code == 1, "{said}");
    }
}

#[test]
fn a_port_in_use_could_not_be_had() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, stderr) = refused(&["serve", "--port", &port]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains(&format!("failed to listen on 127.0.0.1:{port}")), "{stderr}");
    // Who stands in for a command says it as the real one does.
    for server in ["kilo", "opencode"] {
        let (code, stderr) = refused(&["as", server, "serve", "--port", &port]);
        assert_eq!((code, stderr.as_str()), (1, "Error: Unexpected error\n\nServeError\n"), "{server}");
    }
}

#[test]
fn a_mistake_in_a_file_names_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    std::fs::write(&file, "about = \"x\"\nagnet = []\n").unwrap();
    let (code, stderr) = refused(&["serve", "--scenario", file.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(stderr.contains("s.toml:2: unknown field `agnet`"), "{stderr}");
}

#[test]
fn a_case_is_checked_and_its_history_judged_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| Command::new(STANDIN).args(args).current_dir(folder.path()).output().unwrap();
    let case = ["--case", "reconnect/cut-in-mid-turn", "--server", "kilo", "--histories", "h"];
    let passed = run(&[&["check"][..], &case].concat());
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    let failed = run(&[&["check", "--mutant", "resume_without_refresh"][..], &case].concat());
    assert_eq!(failed.status.code(), Some(1));
    let told = String::from_utf8(failed.stdout).unwrap();
    assert!(told.contains("not on the screen: the text \"Done.\""), "{told}");
    assert!(told.contains(
        "again: standin check --case reconnect/cut-in-mid-turn --server kilo --mutant resume_without_refresh"
    ));
    for (adapter, code) in [("reference", 0), ("resume_without_refresh", 1)] {
        let history = format!("h/reconnect/cut-in-mid-turn.kilo.{adapter}.jsonl");
        let judged = run(&["judge", &history]);
        assert_eq!(judged.status.code(), Some(code), "{judged:?}");
    }
}

#[test]
fn the_gate_holds_and_leaves_its_reports() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(STANDIN)
        // CI runs the gate of all phases by itself.
        .args(["gate", "--phase", "0", "--out", "out", "--format", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let gate = &report["gates"][0];
    assert_eq!(gate["toothless"], serde_json::json!([]));
    for phase in gate["phases"].as_array().unwrap() {
        let result = phase["result"].as_str().unwrap();
        assert!(result.starts_with("PASS"), "{phase}");
    }
    assert_eq!(std::fs::read(folder.path().join("out/report.json")).unwrap(), output.stdout);
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("PASS") && page.contains("through-a-link"));
}
