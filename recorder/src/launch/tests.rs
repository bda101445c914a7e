//! Programs that fail to become servers, each in its own way, and one that becomes one.

use super::*;
use crate::testing::{fake_server, is_running, path_env, scenario};
use fixtures::redact::Secrets;
use rustix::process::Pid;

const PASSWORD: &str = "a-password-of-the-tests";

/// A shell script in the place of the server; it finds the port in `$5` and its home in `$HOME`.
fn spec(script: &str) -> LaunchSpec {
    LaunchSpec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into(), "sh".into()],
        server: ServerKind::Kilo,
        model_url: "http://127.0.0.1:9".into(),
        password: PASSWORD.into(),
        env: vec![],
        path_env: path_env(),
        log: None,
    }
}

fn impatient() -> Limits {
    Limits { ready: Duration::from_millis(300), ..Limits::default() }
}

async fn failure(spec: LaunchSpec, limits: Limits) -> LaunchError {
    let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
    Server::launch(&spec, &sandbox, &limits).await.unwrap_err()
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let missing = LaunchSpec { program: "/nonexistent/kilo".into(), ..spec("") };
    insta::assert_snapshot!(
        failure(missing, Limits::default()).await,
        @"there is no program /nonexistent/kilo: install it, or name it by its absolute path"
    );
}

#[tokio::test]
async fn a_file_that_is_no_program_is_told_apart_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kilo");
    std::fs::write(&file, "exit 0").unwrap();
    for program in [file.as_path(), folder.path(), Path::new("kilo")] {
        let path_env = folder.path().into();
        let error = failure(LaunchSpec { program: program.into(), path_env, ..spec("") }, Limits::default());
        match error.await {
            LaunchError::NotExecutable { program } => assert!(program.starts_with(folder.path())),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_port_that_went_to_somebody_else_is_told() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
    let spec = spec("echo \"no $5\" >&2; exit 1");
    let launched = Server::launch_on(port, &spec, &sandbox, &Limits::default()).await;
    let error = launched.unwrap_err().to_string();
    let expected = format!("port {port}, which was free a moment before, is taken by another program");
    assert!(error.contains(&expected) && error.ends_with(&format!("\nno {port}")), "{error}");
    drop(taken);
    let launched = Server::launch_on(port, &spec, &sandbox, &Limits::default()).await;
    assert!(matches!(launched, Err(LaunchError::Ended { .. })), "the port is free again");
}

#[tokio::test]
async fn a_release_without_a_health_is_asked_on_the_command_line() {
    for (says, expected) in [("1.0.185", Some("1.0.185")), ("usage: none", None)] {
        let url = fake_server::serve(move |_, out| {
            out.send(fake_server::whole(404, "")).unwrap();
        })
        .await;
        let listens = format!("echo 'kilo server listening on {url}'; exec sleep 1000");
        let spec = spec(&format!("case $1 in --version) echo '{says}';; *) {listens};; esac"));
        let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
        match (Server::launch(&spec, &sandbox, &Limits::default()).await, expected) {
            (Ok(server), Some(expected)) => assert_eq!(server.version(), expected),
            (Err(LaunchError::NotHealthy { problem, .. }), None) => {
                assert_eq!(problem, "answered 404 Not Found")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn health_is_an_answer_with_a_version() {
    let credentials = Credentials { user: "kilo".into(), password: PASSWORD.into() };
    for (status, body, expected) in [
        (200, r#"{"healthy":true,"version":"7.7.7-rc.1"}"#, Ok("7.7.7-rc.1")),
        (401, "", Err("answered 401 Unauthorized")),
        (404, "", Err("answered 404 Not Found")),
        (200, "<html>", Err("answered <html>, where")),
        (200, r#"{"healthy":false,"version":"7.7.7"}"#, Err("answered {\"healthy\":false")),
        (200, r#"{"healthy":true}"#, Err("is it this server?")),
        (200, r#"{"healthy":true,"version":"../../7"}"#, Err("answered {\"healthy\":true,\"version\":\"..")),
        (200, r#"{"healthy":true,"version":"7/7"}"#, Err("is it this server?")),
        (200, PASSWORD, Err("answered redacted-")),
    ] {
        let url = fake_server::serve(move |_, out| {
            out.send(fake_server::whole(status, body)).unwrap();
        })
        .await;
        let health = healthy_version(&url, &credentials, Limits::default().health).await;
        match (health.map_err(Unhealthy::problem), expected) {
            (Ok(version), Ok(expected)) => assert_eq!(version, expected),
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            other => panic!("{other:?}"),
        }
    }
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let health = healthy_version(&url, &credentials, Duration::from_millis(50)).await;
    assert_eq!(health.unwrap_err().problem(), "did not answer within 0.05 s");
}

#[tokio::test]
async fn a_kept_log_holds_what_was_said_but_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut secrets = Secrets::default();
    secrets.add(PASSWORD);
    let log = ServerLog::create(&path, &secrets).unwrap();
    let script = "echo \"$*: $KILO_SERVER_PASSWORD\" >&2; echo out; exit 3";
    failure(LaunchSpec { log: Some(log), ..spec(script) }, Limits::default()).await;
    let said = std::fs::read_to_string(&path).unwrap();
    assert!(said.contains(" --print-logs: redacted-") && said.contains("out\n"), "{said}");
    assert!(!said.contains(PASSWORD));
}

#[tokio::test]
async fn an_early_end_shows_status_and_last_words_but_no_password() {
    let script = "echo \"bad password $KILO_SERVER_PASSWORD\" >&2; echo 'giving up' >&2; exit 3";
    insta::assert_snapshot!(failure(spec(script), Limits::default()).await, @r"
    /bin/sh ended before it was ready (exit status: 3); its last words:
    bad password redacted-redacted-redac
    giving up
    ");
}

#[tokio::test]
async fn silence_has_a_limit() {
    insta::assert_snapshot!(failure(spec("echo starting; exec sleep 1000"), impatient()).await, @r"
    /bin/sh did not say 'kilo server listening on http://127.0.0.1:PORT' within 0.3 s: is it this server? Its last words:
    (none)
    ");
}

#[tokio::test]
async fn a_ready_line_must_be_the_servers_own_and_name_a_loopback_port() {
    for line in [
        "opencode server listening on http://127.0.0.1:4096",
        "kilo server listening on http://0.0.0.0:4096",
        "kilo server listening on http://127.0.0.1",
        "kilo server listening on http://127.0.0.1:0",
        "kilo server listening on http://127.0.0.1:99999",
        "kilo server listening on http://127.0.0.1:4096/ or so",
    ] {
        let script = format!("echo '{line}'; exec sleep 1000");
        match failure(spec(&script), Limits::default()).await {
            LaunchError::Garbled { line: said, .. } => assert_eq!(said, line),
            other => panic!("{line}: {other}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_ready() {
    let script = "echo \"kilo server listening on http://127.0.0.1:$5\"; exec sleep 1000";
    let error = failure(spec(script), Limits::default()).await.to_string();
    assert!(error.contains("/global/health could not be asked: "), "{error}");
    assert!(!error.contains(PASSWORD), "{error}");
}

#[tokio::test]
async fn a_failed_launch_leaves_no_process_behind() {
    let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
    let script = "sleep 1000 & echo $! > \"$HOME/child\"; echo listening; wait";
    let error = Server::launch(&spec(script), &sandbox, &Limits::default()).await.unwrap_err();
    assert!(matches!(error, LaunchError::Garbled { .. }), "{error}");
    let child = std::fs::read_to_string(sandbox.home().join("child")).unwrap();
    let child = Pid::from_raw(child.trim().parse().unwrap()).unwrap();
    assert!(clock::within(Duration::from_secs(20), clock::until(|| !is_running(child))).await.is_some());
}

#[tokio::test]
async fn the_environment_is_the_sandboxs_alone() {
    let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
    let dump = LaunchSpec {
        env: vec![("EXTRA".into(), "1".into())],
        ..spec("pwd >&2; echo \"$*\" >&2; env >&2; exit 1")
    };
    let error = Server::launch(&dump, &sandbox, &Limits::default()).await.unwrap_err().to_string();
    let root = sandbox.workspace().parent().unwrap().to_str().unwrap();
    let port = error.split("--port ").nth(1).unwrap().lines().next().unwrap();
    let mut shown: Vec<String> = error
        .lines()
        .filter(|line| {
            !["PATH=", "PWD=", "OLDPWD=", "SHLVL=", "_="].iter().any(|name| line.starts_with(name))
        })
        .map(|line| line.replace(root, "${sandbox}").replace(port, "PORT"))
        .collect();
    shown[3..].sort();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn the_scenarios_configuration_wins() {
    let config = server_config("http://127.0.0.1:1", &scenario().workspace.config);
    assert_eq!(config["share"], "manual");
    assert_eq!(config["permission"], json!({ "edit": "ask" }));
    assert_eq!(config["provider"]["fake"]["options"]["baseURL"], "http://127.0.0.1:1/v1");
    let mut into = json!({ "a": { "b": 1, "c": [1] }, "d": 2 });
    merge(&mut into, &json!({ "a": { "c": [2] }, "d": { "e": 3 } }));
    assert_eq!(into, json!({ "a": { "b": 1, "c": [2] }, "d": { "e": 3 } }));
}
