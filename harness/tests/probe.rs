//! What the stand-ins let agents do, beside what their files declare: the same as the real servers do, which the tests
//! with the real ones hold.

#![allow(clippy::unwrap_used, reason = "a test may: its failure is its answer")]

use fixtures::ServerKind;
use fixtures::redact::Secrets;
use harness::performance::Program;
use harness::probe::folder::AgentFolder;
use harness::probe::{Probe, Row, Subject};
use recorder::Limits;
use std::path::Path;

/// Each has rules that servers and people read differently. `cargo xtask probe` asks the real servers about them, too.
const AGENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/probed/agents");

fn folder(place: &Path, server: ServerKind) -> AgentFolder {
    let own = place.join(format!(".{}", server.word()));
    let agents = own.join("agents");
    std::fs::create_dir_all(&agents).unwrap();
    for file in std::fs::read_dir(AGENTS).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), agents.join(file.file_name())).unwrap();
    }
    AgentFolder::read(&own, server).unwrap()
}

async fn probed(server: ServerKind) -> Probe {
    let place = tempfile::tempdir().unwrap();
    let subject = Subject { folder: folder(place.path(), server), server, agents: Vec::new() };
    let mut probe = subject.ask(None, &Limits::default()).await.unwrap();
    let own = place.path().to_string_lossy().into_owned();
    probe.folder = probe.folder.replace(&own, "");
    for row in &mut probe.rows {
        row.at = row.at.take().map(|at| at.replace(&own, ""));
    }
    for finding in &mut probe.findings {
        finding.file = finding.file.replace(&own, "");
    }
    probe
}

fn row<'a>(probe: &'a Probe, agent: &str, about: &str) -> &'a Row {
    probe.rows.iter().find(|row| row.agent == agent && row.about == about).unwrap()
}

#[tokio::test]
async fn kilo_takes_the_task_tool_away_from_whoever_was_given_work() {
    let probe = probed(ServerKind::Kilo).await;
    assert_eq!(row(&probe, "coder", "tool task").effective, "hidden");
    assert_eq!(row(&probe, "nester", "tool task").holds, Some(false));
    assert_eq!(row(&probe, "orchestrator", "tool task").effective, "offered");
    assert_eq!(row(&probe, "delegates", "task coder").effective, "allow");
    assert!(row(&probe, "stopped", "task coder").effective.contains("not offered"));
    insta::assert_snapshot!(probe.text(true));
}

#[tokio::test]
async fn opencode_offers_the_task_tool_where_a_narrow_deny_stands_last() {
    let probe = probed(ServerKind::Opencode).await;
    assert_eq!(row(&probe, "coder", "tool task").effective, "offered");
    assert!(row(&probe, "nester", "task coder").effective.contains("depth limit reached (1)"));
    assert_eq!(row(&probe, "fixer", "effort").effective, "xhigh");
    assert_eq!(
        (
            row(&probe, "coder", "effort").effective.as_str(),
            row(&probe, "orchestrator", "bash").effective.as_str()
        ),
        ("none", "ask")
    );
    insta::assert_snapshot!(probe.text(true));
}

#[tokio::test]
async fn one_agent_alone_is_asked_and_one_that_is_not_there_is_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = folder(place.path(), ServerKind::Kilo);
    let subject = |name: &str| Subject {
        folder: folder.clone(),
        server: ServerKind::Kilo,
        agents: vec![name.to_owned()],
    };
    let probe = subject("stopped").ask(None, &Limits::default()).await.unwrap();
    assert!(!probe.rows.is_empty() && probe.rows.iter().all(|row| row.agent == "stopped"));
    assert_eq!(subject("fixer").read().unwrap().rows, []);
    let error = subject("stoped").read().unwrap_err().to_string();
    assert!(error.contains("did you mean 'stopped'?"), "{error}");
}

/// What nobody declares is no difference, and what cannot be read is one.
#[tokio::test]
async fn agents_that_the_server_refuses_are_a_difference() {
    let place = tempfile::tempdir().unwrap();
    let agents = place.path().join(".opencode/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("bad.md"), "---\nmode: sub\n---\nBad.\n").unwrap();
    let folder = AgentFolder::read(&place.path().join(".opencode"), ServerKind::Opencode).unwrap();
    let subject = Subject { folder, server: ServerKind::Opencode, agents: Vec::new() };
    let probe = subject.ask(None, &Limits::default()).await.unwrap();
    assert_eq!(probe.differences(), 1);
    assert!(probe.rows[0].effective.contains("ConfigInvalidError"), "{:?}", probe.rows);
    assert_eq!(probe.findings[0].rule, "mode");
}

#[tokio::test]
async fn what_could_not_be_seen_is_no_row_that_holds() {
    let place = tempfile::tempdir().unwrap();
    let folder = folder(place.path(), ServerKind::Kilo);
    let subject = Subject { folder, server: ServerKind::Kilo, agents: Vec::new() };
    let never = std::time::Duration::ZERO;
    let probe = subject.ask(None, &Limits { idle: never, ready: never, ..Limits::default() }).await.unwrap();
    assert_eq!(row(&probe, "", "all tools").effective, "not seen: no answer within 0 s", "{:?}", probe.rows);
    assert_eq!((probe.unseen() > 1, row(&probe, "coder", "bash").holds), (true, None));
    assert!(probe.text(false).contains("not seen"), "{}", probe.text(false));
}

/// A program in the server's place: it keeps the settings that it is given, and ends.
fn keeps_settings(place: &Path) -> Program {
    use std::os::unix::fs::PermissionsExt as _;
    let path = place.join("server");
    let kept = place.join("kept.json");
    std::fs::write(&path, format!("#!/bin/sh\ncat kilo.json > '{}'\nexit 1\n", kept.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Program {
        path,
        args: Vec::new(),
        path_env: "/usr/bin:/bin".into(),
        model_pause: std::time::Duration::ZERO,
        server_log: None,
        secrets: Secrets::default(),
    }
}

#[tokio::test]
async fn a_real_server_never_sees_settings_that_start_a_strangers_programs() {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let program = keeps_settings(place.path());
    let kept = place.path().join("kept.json");
    let ask = async |settings: &str| {
        std::fs::write(project.join("kilo.json"), settings).unwrap();
        let folder = AgentFolder::read(&project, ServerKind::Kilo).unwrap();
        let subject = Subject { folder, server: ServerKind::Kilo, agents: Vec::new() };
        subject.ask(Some(&program), &Limits::default()).await.unwrap_err().to_string()
    };
    let error = ask("{\n\"agent\": {\"a\": {}},\n\"agent\": {}, \"plugin\": [\"p\"]}").await;
    assert!(error.contains("kilo.json:3") && error.contains("no server is started"), "{error}");
    assert!(!kept.exists(), "it was started");
    ask("{\"agent\": {\"a\": {}}, \"plugin\": [\"p\"], \"mcp\": {\"s\": {\"command\": [\"x\"]}}}").await;
    let kept = std::fs::read_to_string(kept).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&kept).unwrap().to_string(),
        r#"{"agent":{"a":{}}}"#
    );
}
