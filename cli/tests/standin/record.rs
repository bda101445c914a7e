//! Goal: `standin record` records a program, says what it did, tells each way of failing apart, and takes nothing of
//! the user's along. Method: the binary with programs that serve, or that don't, in a home full of bait.

use crate::STANDIN;
use crate::programs::{SCENARIO, program, record, serving};
use fixtures::ServerKind;
use fixtures::recording::Recording;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use walkdir::WalkDir;

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(!stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'), "colours in a pipe: {stdout}{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    (stdout, stderr)
}

#[test]
fn a_program_is_recorded_and_the_summary_says_what() {
    for server in ServerKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let bin = program(folder.path(), &serving(server));
        let output = record(folder.path(), &bin, server).args(["--keep-server-log", "log"]).output().unwrap();
        let (stdout, stderr) = said(&output);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let kept = format!("standin-recordings/{}/{SCENARIO}.jsonl", server.release());
        let (first, last) = stdout.split_once('\n').unwrap();
        assert!(first.starts_with(&format!("{server} {} performed {SCENARIO}: ", server.pinned_version())));
        assert!(first.ends_with(" events, 12 exchanges, 0 model calls"), "{first}");
        assert_eq!(last.trim_end(), kept);
        let recording = Recording::read(&folder.path().join(&kept)).unwrap();
        assert_eq!(recording.header.scenario, SCENARIO);
        assert!(!recording.torn);
        let doc = folder.path().join("standin-recordings").join(server.release()).join("doc.json");
        assert_eq!(Some(&std::fs::read(doc).unwrap()[..]), fixtures::catalog::doc(&server.release()));
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains(&format!("{server} server listening on")), "{log}");
        let steps: Vec<&str> = stderr.lines().collect();
        assert_eq!(
            steps[..2],
            [format!("starting {server}"), format!("{server} {} answers", server.pinned_version())]
        );
        assert_eq!(steps[2..].len(), 4, "{stderr}");
    }
}

#[test]
fn a_program_reads_the_summary_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let bin = program(folder.path(), &serving(ServerKind::Kilo));
    let mut command = record(folder.path(), &bin, ServerKind::Kilo);
    let output = command.args(["--format", "json", "--out", "deep/one.jsonl"]).output().unwrap();
    let (stdout, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let summary: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(summary["file"], "deep/one.jsonl");
    assert_eq!([&summary["version"], &summary["note"]], [&"7.7.7".into(), &serde_json::Value::Null]);
    assert_eq!(summary["exchanges"], 12);
    assert!(summary["events"].as_u64().unwrap() > 50);
    let left: Vec<_> = std::fs::read_dir(folder.path().join("deep")).unwrap().collect();
    assert_eq!(left.len(), 1, "no .partial beside it");
}

#[test]
fn of_several_scenarios_each_is_performed_whatever_becomes_of_another() {
    let folder = tempfile::tempdir().unwrap();
    // The first one that starts ends at once.
    let script = format!(
        "mkdir '{0}/begun' 2> /dev/null && exit 4; {1}",
        folder.path().display(),
        serving(ServerKind::Kilo)
    );
    let bin = program(folder.path(), &script);
    let mut command = record(folder.path(), &bin, ServerKind::Kilo);
    let output = command
        .args(["--scenario", "text/code", "--scenario", "text/long", "--format", "json"])
        .output()
        .unwrap();
    let (stdout, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(&format!("{SCENARIO}: ")) && stderr.contains("(exit status: 4)"), "{stderr}");
    let names: Vec<_> = stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["scenario"].clone())
        .collect();
    assert_eq!(names, ["text/code", "text/long"]);
    for name in ["text/code", "text/long"] {
        assert!(
            folder
                .path()
                .join(format!("standin-recordings/{}/{name}.jsonl", ServerKind::Kilo.release()))
                .exists()
        );
    }
}

#[test]
fn each_way_of_failing_has_its_message_and_its_exit_code() {
    let listening = "echo \"kilo server listening on http://127.0.0.1:$5\"";
    for (script, code, expected) in [
        (
            "echo 'no licence' >&2; exit 4",
            3,
            "ended before it was ready (exit status: 4); its last words:\nno licence",
        ),
        ("printf '\\033[91mred\\033[0m' >&2; exit 1", 3, "its last words:\nred"),
        (
            "echo listening somewhere; exec sleep 1000",
            3,
            "said \"listening somewhere\", where 'kilo server listening on",
        ),
        (&format!("{listening}; exec sleep 1000"), 3, "/global/health could not be asked: "),
        (&format!("{listening}; sleep 1000 & exit 0"), 3, "/global/health could not be asked: "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let bin = program(folder.path(), script);
        let output = record(folder.path(), &bin, ServerKind::Kilo).output().unwrap();
        let (_, stderr) = said(&output);
        assert_eq!(output.status.code(), Some(code), "{script}: {stderr}");
        assert!(stderr.contains(expected), "{script}: {stderr}");
        assert_eq!(WalkDir::new(folder.path().join("tmp")).min_depth(1).into_iter().count(), 0, "{script}");
    }
}

#[test]
fn what_can_not_be_is_told_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let bin = program(at, "echo started > started; exit 1");
    std::fs::write(at.join("plain"), "").unwrap();
    std::fs::create_dir(at.join("folder.jsonl")).unwrap();
    std::fs::write(at.join("s.toml"), "about = \"x\"\nagnet = []\n").unwrap();
    for (arguments, code, expected) in [
        (&["--bin", "./none"][..], 2, "there is no program "),
        (&["--bin", "no-such-program"], 2, "there is no program no-such-program: install it"),
        (&["--bin", "./plain"], 2, "plain is not an executable file: give it the right to run"),
        (
            &["--out", "plain"],
            2,
            "failed to write in plain: it is a file, and a folder is wanted; name another",
        ),
        (&["--out", "plain/x.jsonl"], 2, "failed to write in plain: it is a file"),
        (
            &["--out", "plain/deep/x.jsonl"],
            2,
            "plain/deep: a part of its path is a file, not a folder; name another",
        ),
        (&["--out", "folder.jsonl"], 2, "failed to write folder.jsonl: it is a folder, and a file is wanted"),
        (
            &["--keep-server-log", "plain/log"],
            2,
            "failed to write in plain: it is a file, and a folder is wanted",
        ),
        (&["--keep-server-log", "folder.jsonl"], 2, "failed to write folder.jsonl: it is a folder"),
        (
            &["--scenario", "text/plain", "--scenario", "no/such"],
            2,
            "there is no scenario 'no/such'; there are: ",
        ),
        (
            &["--scenario", "text/plain", "--scenario", "text/plain"],
            2,
            "two scenarios have the name text/plain",
        ),
        (
            &["--scenario", "text/plain", "--scenario", "text/code", "--out", "x.jsonl"],
            2,
            "--out is a file, and several scenarios are to be recorded: name a folder",
        ),
        (
            &["--scenario", "text/plain", "--scenario", "text/code", "--keep-server-log", "x"],
            2,
            "--keep-server-log keeps the log of one scenario: name one",
        ),
        (&["--scenario", "no/such"], 2, "there is no scenario 'no/such'; there are: "),
        (&["--scenario", "s.toml"], 2, "s.toml:2: unknown field `agnet`"),
        (&["--server", "vim"], 2, "there is no server 'vim'; there are: kilo, opencode"),
        (&["--bin", "x", "--npm-dir", "y"], 2, "cannot be used with"),
    ] {
        let mut command = std::process::Command::new(STANDIN);
        command.arg("record").args(arguments).current_dir(at);
        for (flag, value) in
            [("--server", "kilo"), ("--scenario", SCENARIO), ("--bin", bin.to_str().unwrap())]
        {
            if !arguments.contains(&flag) {
                command.args([flag, value]);
            }
        }
        let output = command.output().unwrap();
        let (_, stderr) = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(!at.join("started").exists(), "{arguments:?}");
    }
}

#[test]
fn a_workspace_that_can_not_be_made_and_an_npm_that_is_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let bin = program(folder.path(), "exit 1");
    let mut command = record(folder.path(), &bin, ServerKind::Kilo);
    let output = command.env("TMPDIR", folder.path().join("none")).output().unwrap();
    let (_, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("none: failed to make a folder in it: "), "{stderr}");

    let output = std::process::Command::new(STANDIN)
        .args(["record", "--server", "opencode", "--scenario", SCENARIO, "--npm-dir", "npm"])
        .current_dir(folder.path())
        .env("PATH", folder.path())
        .output()
        .unwrap();
    let (_, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("failed to run npm, which brings the real servers: "), "{stderr}");
}

/// Path → content, with times, of everything below.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    WalkDir::new(folder)
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            let content = std::fs::read(entry.path()).unwrap_or_default();
            (entry.path().to_owned(), (content, entry.metadata().unwrap().modified().unwrap()))
        })
        .collect()
}

#[test]
fn nothing_of_the_users_home_or_environment_reaches_the_server() {
    const BAIT: &str = "bait-that-nobody-may-take";
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("users-home");
    for file in [
        ".local/share/kilo/auth.json",
        ".local/share/opencode/auth.json",
        ".config/kilo/config.json",
        ".config/opencode/opencode.json",
        ".netrc",
        ".npmrc",
        ".gitconfig",
        ".git-credentials",
        ".ssh/id_ed25519",
    ] {
        let file = home.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        // As a git configuration it is broken: git stops when it reads it.
        std::fs::write(file, format!("[{BAIT}")).unwrap();
    }
    let before = state(&home);
    let dump = folder.path().join("dump");
    let script = format!(
        "env > '{0}'; git config --list >> '{0}' 2>&1; {1}",
        dump.display(),
        serving(ServerKind::Kilo)
    );
    let bin = program(folder.path(), &script);
    let mut command = record(folder.path(), &bin, ServerKind::Kilo);
    command.env("HOME", &home).env("GIT_CONFIG_GLOBAL", home.join(".gitconfig"));
    for folder in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(folder, home.join(".config"));
    }
    let names = "KILO_SERVER_PASSWORD KILO_API_KEY KILO_CONFIG KILO_CONFIG_CONTENT KILO_AUTH_CONTENT OPENCODE_CONFIG \
        OPENCODE_AUTH_CONTENT OPENCODE_SERVER_PASSWORD ANTHROPIC_API_KEY OPENAI_API_KEY AWS_SECRET_ACCESS_KEY \
        GITHUB_TOKEN NPM_TOKEN SSH_AUTH_SOCK NODE_OPTIONS_BAIT HTTP_PROXY HTTPS_PROXY http_proxy ALL_PROXY \
        GIT_AUTHOR_NAME";
    for name in names.split_whitespace() {
        command.env(name, BAIT);
    }
    let output = command.output().unwrap();
    let (stdout, stderr) = said(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let got = std::fs::read_to_string(&dump).unwrap();
    assert!(
        got.contains("KILO_SERVER_PASSWORD=") && got.contains("core.bare=false"),
        "the dump is one: {got}"
    );
    assert!(!got.contains(BAIT) && !got.contains("users-home"), "{got}");
    let known = "HOME LANG PATH TMPDIR GIT_CONFIG_NOSYSTEM KILO_CONFIG_CONTENT KILO_SERVER_PASSWORD \
        KILO_DISABLE_MODELS_FETCH KILO_TELEMETRY_LEVEL OPENCODE_DISABLE_MODELS_FETCH npm_config_offline \
        XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME PWD OLDPWD SHLVL _";
    for line in got.lines().take_while(|line| !line.starts_with("core.")) {
        let name = line.split('=').next().unwrap();
        assert!(known.split_whitespace().any(|known| known == name), "{name}");
    }
    assert_eq!(state(&home), before);
    let kept = folder.path().join(stdout.lines().last().unwrap());
    let password = got.lines().find_map(|line| line.strip_prefix("KILO_SERVER_PASSWORD=")).unwrap();
    let kept = std::fs::read_to_string(kept).unwrap();
    assert!(!kept.contains(BAIT) && !kept.contains(password));
}
