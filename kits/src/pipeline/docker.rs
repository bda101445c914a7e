//! A `docker` that has no machines: it writes down which containers there would be, as files of a folder. It says what it
//! was told, removes what was begun with `--rm` when that stops, and can refuse to begin or to remove anything.

use super::shim::{Gate, path_behind, put_program};
use crate::scene::{Troubled, our_fault};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// How it is with containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Engine {
    /// They can be begun.
    Runs,
    /// There is a `docker`, and nothing behind it.
    IsDown,
    /// They can be begun, and nobody can remove them.
    Keeps,
}

/// A folder to be put before all others on the `PATH`, and a docker in it.
pub(super) struct Docker {
    folder: tempfile::TempDir,
    path: String,
}

/// A docker that hangs behind each container that it has begun. It works again when this is gone.
pub(super) struct Hanging {
    gate: Gate,
    place: PathBuf,
}

impl Hanging {
    /// Waits until a container runs and nobody was told; gives its name.
    pub(super) async fn holds(&mut self) -> Result<String, Troubled> {
        self.gate.holds().await
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        for name in ["told", "hold"] {
            let _gone = fs::remove_file(self.place.join(name));
        }
    }
}

/// What is somebody else's; its name begins as those of the issue 7 may.
const STRANGER: &str = "pipeline-70-checker";

/// `@place@` is filled in. A container is a file: its image, whether it goes when it stops, whether it runs, and
/// its labels.
const PROGRAM: &str = include_str!("docker.sh");

impl Docker {
    pub(super) fn make(engine: Engine) -> Result<Self, Troubled> {
        let failed = |error: std::io::Error| our_fault(format!("failed to make a docker: {error}"));
        let folder = tempfile::Builder::new().prefix("standin-docker-").tempdir().map_err(failed)?;
        let place = folder.path().join("state");
        fs::create_dir_all(place.join("containers")).map_err(failed)?;
        let text = PROGRAM.replace("@place@", &place.to_string_lossy());
        let programs = folder.path().join("bin");
        fs::create_dir_all(&programs).map_err(failed)?;
        put_program(&programs, "docker", &text)?;
        let stranger = "image=database\nauto=\nruns=1\nlabels=\n";
        fs::write(place.join("containers").join(STRANGER), stranger).map_err(failed)?;
        let path = path_behind(&programs)?;
        let docker = Self { folder, path };
        docker.is(engine)?;
        Ok(docker)
    }

    /// How it is from now on.
    pub(super) fn is(&self, engine: Engine) -> Result<(), Troubled> {
        for (name, which) in [("down", Engine::IsDown), ("keeps", Engine::Keeps)] {
            let mark = self.folder.path().join("state").join(name);
            let done = match engine == which {
                true => fs::write(&mark, ""),
                false => fs::remove_file(&mark).or_else(|error| match error.kind() {
                    ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                }),
            };
            done.map_err(|error| our_fault(format!("failed to change a docker: {error}")))?;
        }
        Ok(())
    }

    /// As long as this gate is there, whoever begins a container is not told that it runs: `docker` hangs behind it.
    pub(super) fn hangs(&self) -> Result<Hanging, Troubled> {
        let place = self.folder.path().join("state");
        Ok(Hanging { gate: Gate::make(&place)?, place })
    }

    /// Can containers not be removed just now?
    pub(super) fn keeps(&self) -> bool {
        self.folder.path().join("state/keeps").exists()
    }

    /// The `PATH` that a runner is to use for what it starts.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// What there is, whether somebody else's is among it, and which of its commands were told one of these words.
    pub(super) fn seen(&self, secrets: &[String]) -> Value {
        let folder = self.folder.path().join("state");
        let told = |name: &str| {
            let text = fs::read_to_string(folder.join("containers").join(name)).unwrap_or_default();
            let of = |key: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
                line.unwrap_or_default().to_owned()
            };
            json!({"name": name, "image": of("image"), "runs": of("runs") == "1"})
        };
        let names = super::repository::names(&folder.join("containers"));
        let (strangers, own): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.as_str() == STRANGER);
        let begun = fs::read_to_string(folder.join("journal")).unwrap_or_default();
        let says = |line: &&str| secrets.iter().any(|secret| line.contains(secret));
        let saying: Vec<&str> =
            begun.lines().filter(says).filter_map(|line| line.split(' ').next()).collect();
        json!({
            "own": own.into_iter().map(|name| told(name)).collect::<Vec<_>>(), "stranger": !strangers.is_empty(),
            "saying": saying, "keeps": self.keeps(),
            "begun": begun.lines().filter(|line| line.starts_with("run ")).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn docker(docker: &Docker, line: &str) -> (bool, String) {
        let mut command = Command::new("/bin/sh");
        let output =
            command.args(["-c", &format!("docker {line}")]).env("PATH", docker.path()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn own(docker: &Docker) -> Vec<String> {
        let seen = docker.seen(&[]);
        seen["own"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn containers_come_run_and_go() {
        let it = Docker::make(Engine::Runs).unwrap();
        assert_eq!(
            docker(&it, "run -d --rm --name a --label issue=7 -v /a:/b tools serve"),
            (true, "a".to_owned())
        );
        assert_eq!(docker(&it, "run --detach --name=b --label=issue=70 tools"), (true, "b".to_owned()));
        assert!(docker(&it, "run --rm tools true").0);
        assert_eq!(own(&it), ["a", "b"]);
        assert_eq!(docker(&it, "ps -aq --filter label=issue=7").1, "a");
        assert_eq!(docker(&it, "ps -a --format '{{.Names}}' --filter name=pipeline-7").1, STRANGER);
        assert!(!docker(&it, "run -d --name a tools").0, "a name is taken once");
        assert!(!docker(&it, "rm b").0, "what runs is removed by force alone");
        assert!(docker(&it, "stop a b").0);
        assert_eq!(own(&it), ["b"]);
        assert_eq!(docker(&it, "ps -q").1, STRANGER);
        assert!(!docker(&it, "rm -f b nobody").0);
        assert_eq!(own(&it), Vec::<String>::new());
        assert_eq!(it.seen(&[])["stranger"], true);
        assert_eq!(it.seen(&[])["begun"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn one_that_is_down_begins_nothing() {
        let it = Docker::make(Engine::IsDown).unwrap();
        assert!(!docker(&it, "run -d --name a tools").0);
        assert!(!docker(&it, "ps -aq").0);
        assert_eq!(own(&it), Vec::<String>::new());
    }

    #[test]
    fn one_that_keeps_them_removes_none_until_it_is_another() {
        let it = Docker::make(Engine::Keeps).unwrap();
        assert!(docker(&it, "run -d --name a -e KEY=word tools").0);
        assert!(!docker(&it, "rm --force a").0);
        assert!(!docker(&it, "stop a").0);
        assert_eq!(own(&it), ["a"]);
        assert_eq!(it.seen(&["word".to_owned()])["saying"], json!(["run"]));
        it.is(Engine::Runs).unwrap();
        assert!(docker(&it, "rm --force a").0);
        assert_eq!(own(&it), Vec::<String>::new());
    }
}
