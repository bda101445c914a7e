//! Goal: when the pipe ends, nothing is left, and nothing of others is touched. Method: processes that would rather
//! stay, and a guardian whose recorder is gone.

use super::*;
use crate::clock;
use crate::testing::{is_running, path_env};
use std::io::{BufRead as _, BufReader};
use std::time::Duration;

fn guardian(below: &Path) -> (Guardian, PathBuf) {
    let (guardian, folder) = Guardian::start(below, &path_env()).unwrap();
    std::fs::create_dir(folder.join("home")).unwrap();
    (guardian, folder)
}

/// A process in a group of its own, and the `count` numbers that are said: its own, and what `script` echoes.
fn stays(script: &str, count: usize, home: &Path) -> (Child, Vec<Pid>) {
    let mut child = Command::new("/bin/sh")
        .args(["-c", &format!("trap '' TERM HUP INT; {script}; echo $$; exec sleep 1000")])
        .env("HOME", home)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(count);
    let numbers = lines.map(|line| Pid::from_raw(line.unwrap().parse().unwrap()).unwrap()).collect();
    (child, numbers)
}

async fn gone(pid: Pid) {
    let patience = Duration::from_secs(20);
    assert!(clock::within(patience, clock::until(|| !is_running(pid))).await.is_some(), "{pid:?} still runs");
}

#[tokio::test]
async fn a_watched_group_ends_with_the_recorder() {
    let below = tempfile::tempdir().unwrap();
    let (guardian, folder) = guardian(below.path());
    // Its home is another: only the group tells that it belongs here.
    let (mut child, numbers) = stays("sleep 1000 & echo $!", 2, Path::new("/nonexistent"));
    guardian.watch(Pid::from_child(&child)).unwrap();
    drop(guardian);
    child.wait().unwrap();
    for number in numbers {
        gone(number).await;
    }
    assert!(!folder.exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_has_left_the_group_is_known_by_its_home() {
    let below = tempfile::tempdir().unwrap();
    let (guardian, folder) = guardian(below.path());
    let home = folder.canonicalize().unwrap().join("home");
    // A double fork into a session of its own, whose parents are gone.
    let escape = "(setsid sh -c 'echo $$; exec sleep 1000' &); sleep 1000 & echo $!";
    let (mut child, numbers) = stays(escape, 3, &home);
    drop(guardian);
    child.wait().unwrap();
    for number in numbers {
        gone(number).await;
    }
}

#[tokio::test]
async fn what_is_forgotten_and_what_lives_elsewhere_stays() {
    let below = tempfile::tempdir().unwrap();
    let (guardian, folder) = guardian(below.path());
    let home = folder.canonicalize().unwrap().join("home-of-another");
    let (mut child, numbers) = stays("true", 1, &home);
    guardian.watch(numbers[0]).unwrap();
    guardian.forget(numbers[0]);
    drop(guardian);
    assert!(is_running(numbers[0]));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn folders_without_rights_go_too_and_the_neighbours_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let below = tempfile::tempdir().unwrap();
    let neighbour = below.path().join("standin-neighbour");
    std::fs::create_dir(&neighbour).unwrap();
    let (guardian, folder) = guardian(below.path());
    std::os::unix::fs::symlink(&neighbour, folder.join("link")).unwrap();
    let closed = folder.join("home/closed");
    std::fs::create_dir_all(closed.join("in")).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o0)).unwrap();
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    drop(guardian);
    assert!(!folder.exists() && neighbour.is_dir());
}

#[test]
fn what_is_sent_to_the_group_of_the_recorder_does_not_reach_it() {
    let below = tempfile::tempdir().unwrap();
    let (guardian, _folder) = guardian(below.path());
    let shell = Pid::from_child(&guardian.shell);
    assert_eq!(rustix::process::getpgid(Some(shell)).unwrap(), shell);
}

#[test]
fn a_folder_that_can_not_be_made_is_told() {
    let error = Guardian::start(Path::new("/nonexistent"), &path_env()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent/standin-"), "{error}");
}

#[test]
fn a_guardian_that_is_gone_does_not_listen() {
    let below = tempfile::tempdir().unwrap();
    let (mut guardian, folder) = guardian(below.path());
    guardian.shell.kill().unwrap();
    guardian.shell.wait().unwrap();
    let error = guardian.watch(Pid::from_child(&guardian.shell)).unwrap_err().to_string();
    assert!(error.starts_with("the guardian does not listen: "), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
