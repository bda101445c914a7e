//! A careful runner, and mutants of it. It knows git, docker and a server's REST; of the stand-in it knows nothing.
//!
//! * `worktrees` — where agents work, and what becomes of it. * `containers` — what they work beside. * `asks` — what they ask.
//! * `wishes` — a status, a file taken back. * `outside` — git, docker, the server, the disk. * `mutants` — the switches.
//! * `meddling` — those that touch what is the person's.

mod asks;
mod containers;
mod meddling;
mod mutants;
mod outside;
mod wishes;
mod worktrees;

pub(super) use mutants::MUTANTS;

use crate::adapter::{Adapter, Screen};
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use outside::put;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Runner {
    mutant: Option<&'static str>,
    /// Whoever changes the person's checkout, or the list of its worktrees: two at once are none.
    checkout: tokio::sync::Mutex<()>,
    /// Plans of one who keeps them nowhere else.
    plans: Mutex<BTreeMap<String, String>>,
    /// The issues that are worked on.
    running: Mutex<BTreeSet<String>>,
}

/// An issue that is worked on, until this is gone.
struct Running<'a>(&'a Runner, String);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Pipeline {
    issue: String,
    folder: PathBuf,
    #[serde(default)]
    server: Server,
    #[serde(default)]
    phases: Vec<Phase>,
    /// The `PATH` for what is started.
    path: Option<String>,
    /// Whose change is taken back.
    #[serde(default)]
    agent: String,
    /// Of which file.
    #[serde(default)]
    file: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Server {
    url: String,
    user: String,
    password: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Phase {
    phase: String,
    agent: String,
    destructive: bool,
    /// It works beside a container of this image.
    image: Option<String>,
}

/// What came of a phase.
enum Outcome {
    /// These files were changed, and are in the checkout.
    Done(Vec<String>),
    /// Its agent has failed.
    Failed,
    /// Somebody has to look at it.
    Blocked(String),
}

impl Adapter for Runner {
    fn introduce(&self) -> Value {
        let can = [
            "checkpoint",
            "resume",
            "fork",
            "difflog",
            "worktree",
            "together",
            "plan",
            "submodule",
            "container",
            "unattended",
            "status",
            "revert",
        ];
        json!({
            "name": "reference runner", "clock": "real",
            "capabilities": can.map(|word| format!("pipeline.{word}")),
            "declares": {"policy": "careful", "failed": "rerun"},
        })
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        _screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            let known =
                ["pipeline/run", "pipeline/resume", "pipeline/cleanup", "pipeline/status", "diff/revertFile"];
            if !known.contains(&method.as_str()) {
                return Err(RpcError::unsupported(&method));
            }
            let asked: Pipeline = serde_json::from_value(params)
                .map_err(|error| RpcError::invalid_params(error.to_string()))?;
            let is_plain =
                asked.issue.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_'));
            let stays = self.is("issue-within-kilo") && stays_in_kilo(&asked.issue);
            let is_name = is_plain
                && (self.is("takes-reserved-names")
                    || self.is("tidies-reserved-names")
                    || !is_of_a_device(&asked.issue));
            if !self.is("unsafe-issue") && !stays && (asked.issue.is_empty() || !is_name) {
                return Err(RpcError::failed(format!("'{}' is no name for an issue", asked.issue)));
            }
            let tidied = self
                .is("tidies-reserved-names")
                .then(|| asked.folder.join(".kilo/worktrees").join(&asked.issue));
            let done = match method.as_str() {
                "pipeline/cleanup" => self.sweep(&asked).await,
                "pipeline/status" => Ok(self.status(&asked)),
                "diff/revertFile" => self.take_back(&asked).await,
                _ => self.go(&asked, method == "pipeline/resume").await,
            };
            if let Some(folder) = tidied {
                let _may_be_full = fs::remove_dir(folder);
            }
            done.map_err(RpcError::failed)
        })
    }
}

impl Runner {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        Self {
            mutant,
            checkout: tokio::sync::Mutex::new(()),
            plans: Mutex::default(),
            running: Mutex::default(),
        }
    }

    fn is(&self, name: &str) -> bool {
        self.mutant == Some(name)
    }

    /// Who comes second to an issue would take the worktree from under the agent of the first.
    fn begin(&self, issue: &str) -> Result<Option<Running<'_>>, String> {
        if self.is("runs-twice") {
            return Ok(None);
        }
        match self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(issue.to_owned()) {
            true => Ok(Some(Running(self, issue.to_owned()))),
            false => Err(format!("the issue {issue} is worked on already")),
        }
    }

    async fn go(&self, asked: &Pipeline, resumes: bool) -> Result<Value, String> {
        let _running = self.begin(&asked.issue)?;
        if (resumes || self.is("sweeps-containers-of-all")) && !self.is("leaks-on-kill") {
            self.remove_containers(asked).await?;
        }
        let is_torn = |phase| self.read(asked, phase).is_some_and(|says| says.is_null());
        if self.is("stops-without-a-word") && asked.phases.iter().any(is_torn) {
            return Err("expected value at line 1".to_owned());
        }
        if self.is("begins-nothing") && self.is_engine_down(asked).await {
            return Ok(json!({"status": "success"}));
        }
        if self.is("logs-the-password") {
            let Server { url, user, password } = &asked.server;
            put(&asked.folder.join(".kilo/logs/requests.log"), format!("POST {url} as {user}:{password}\n"))?;
        }
        let from = if resumes { self.first_undone(asked) } else { 0 };
        if self.is("fails-when-done") && from == asked.phases.len() {
            return Err("nothing is to be done".to_owned());
        }
        for (at, phase) in asked.phases.iter().enumerate().skip(from) {
            let next = asked.phases.get(at + 1).map(|next| next.agent.as_str());
            if self.is("checkpoint-before-work") {
                self.checkpoint(asked, phase, "success", &[], next)?;
            }
            let done = self.beside(asked, phase, resumes).await?;
            if self.is("late-removal") {
                self.remove_containers(asked).await?;
            }
            if self.is("late-checkpoint") {
                self.remove(asked, phase, matches!(done, Outcome::Done(_))).await?;
            }
            // Between the merge and this nothing else is done: a kill there would do the work twice.
            let (status, files, next) = match &done {
                Outcome::Done(files) => ("success", &files[..], next),
                Outcome::Failed if self.is("calls-failures-blocked") => {
                    ("blocked", &[][..], Some(phase.agent.as_str()))
                }
                Outcome::Failed => ("fail", &[][..], Some(phase.agent.as_str())),
                Outcome::Blocked(_) if self.is("calls-blocks-failures") => {
                    ("fail", &[][..], Some(phase.agent.as_str()))
                }
                Outcome::Blocked(_) => ("blocked", &[][..], Some(phase.agent.as_str())),
            };
            self.checkpoint(asked, phase, status, files, next)?;
            self.end_containers(asked, phase, &done).await?;
            match done {
                Outcome::Done(_) => self.remove(asked, phase, true).await?,
                Outcome::Blocked(_) if self.is("goes-on-blocked") => {}
                Outcome::Failed | Outcome::Blocked(_) if self.is("always-content") => break,
                Outcome::Failed => return Ok(json!({"status": "fail", "phase": phase.phase})),
                Outcome::Blocked(why) => {
                    return Ok(json!({"status": "blocked", "phase": phase.phase, "why": why}));
                }
            }
        }
        Ok(json!({"status": "success"}))
    }

    /// The first phase that no whole checkpoint of this issue calls a success.
    fn first_undone(&self, asked: &Pipeline) -> usize {
        if self.is("restart-from-first") {
            return 0;
        }
        if self.is("newest-by-file") {
            let time =
                |phase: &Phase| fs::metadata(self.kept_at(asked, phase)).and_then(|it| it.modified()).ok();
            let newest = (0..asked.phases.len()).filter(|at| time(&asked.phases[*at]).is_some());
            return newest.max_by_key(|at| time(&asked.phases[*at])).map_or(0, |at| at + 1);
        }
        if self.is("newest-by-time") {
            let time = |phase: &Phase| self.read(asked, phase).map(|it| it["timestamp"].to_string());
            let newest = (0..asked.phases.len()).filter(|at| time(&asked.phases[*at]).is_some());
            return newest.max_by_key(|at| time(&asked.phases[*at])).map_or(0, |at| at + 1);
        }
        if self.is("by-next-agent") {
            let told = |phase: &Phase| self.read(asked, phase).filter(|says| says["status"] == "success");
            let Some(last) = asked.phases.iter().rev().find_map(told) else { return 0 };
            let next = asked.phases.iter().position(|phase| last["next_agent"] == phase.agent.as_str());
            return next.unwrap_or(asked.phases.len());
        }
        let is_done = |phase: &Phase| match self.read(asked, phase) {
            Some(says) => {
                self.is("skip-failed")
                    || self.is("torn-is-done") && says.is_null()
                    || says["status"] == "success" && says["phase"] == phase.phase.as_str()
            }
            None => false,
        };
        asked.phases.iter().position(|phase| !is_done(phase)).unwrap_or(asked.phases.len())
    }

    /// The file of a phase's checkpoint.
    fn kept_at(&self, asked: &Pipeline, phase: &Phase) -> PathBuf {
        asked.folder.join(".kilo/logs/checkpoints").join(format!("{}-{}.json", asked.issue, phase.phase))
    }

    /// The checkpoint of a phase; one that can't be read is null.
    fn read(&self, asked: &Pipeline, phase: &Phase) -> Option<Value> {
        let folder = asked.folder.join(".kilo/logs/checkpoints");
        let own = format!("{}-{}.json", asked.issue, phase.phase);
        let mut names: Vec<String> = vec![own];
        if self.is("wrong-issue") {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            names.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
            names.retain(|name| {
                name.starts_with(&asked.issue) && name.ends_with(&format!("-{}.json", phase.phase))
            });
        }
        let text = names.iter().find_map(|name| fs::read_to_string(folder.join(name)).ok())?;
        Some(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Whole or not at all: a file of another name first.
    fn checkpoint(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        status: &str,
        files: &[String],
        next: Option<&str>,
    ) -> Result<(), String> {
        let next = if self.is("next-is-itself") { Some(phase.agent.as_str()) } else { next };
        let now = now();
        let time = match () {
            () if self.is("local-time") => now.trim_end_matches('Z'),
            () if self.is("time-of-nothing") => "1970-01-01T00:00:00Z",
            () => &now,
        };
        let files = if self.is("no-files") { &[] } else { files };
        let mut says = json!({
            "issue_number": asked.issue, "phase": phase.phase, "agent_name": phase.agent, "files_modified": files,
            "status": status, "timestamp": time, "next_agent": next,
        });
        if self.is("missing-field") {
            says.as_object_mut().map(|says| says.remove("next_agent"));
        }
        let path = self.kept_at(asked, phase);
        if self.is("writes-over") && path.exists() {
            return fs::write(&path, says.to_string()).map_err(|error| error.to_string());
        }
        put(&path, says.to_string())
    }

    /// What the first agent has said last is the plan for all behind it, word for word, whoever is killed meanwhile.
    fn plan(&self, asked: &Pipeline) -> Option<String> {
        let plan = match self.is("forgets-the-plan") {
            true => self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(&asked.issue).cloned(),
            false => fs::read_to_string(self.plan_of(asked)).ok(),
        }?;
        Some(match () {
            () if self.is("one-line-plan") => plan.split_whitespace().collect::<Vec<_>>().join(" "),
            () if self.is("cuts-the-plan") => plan.chars().take(2000).collect(),
            () if self.is("trims-the-plan") => plan.trim().to_owned(),
            () if self.is("trims-the-plans-lines") => {
                plan.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
            }
            () => plan,
        })
    }

    fn plan_of(&self, asked: &Pipeline) -> PathBuf {
        let name = if self.is("one-plan-for-all") { "plan" } else { &asked.issue };
        asked.folder.join(".kilo/plans/by-issue").join(format!("{name}.md"))
    }

    fn keep_plan(&self, asked: &Pipeline, words: &str) -> Result<(), String> {
        if self.is("forgets-the-plan") {
            let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
            plans.insert(asked.issue.clone(), words.to_owned());
            return Ok(());
        }
        put(&self.plan_of(asked), words)
    }
}

/// Does a checkpoint of this issue, two folders below `.kilo`, stay in it?
fn stays_in_kilo(issue: &str) -> bool {
    issue.split('/').filter(|part| *part == "..").count() <= 2
}

/// Is this what Windows calls a device? A folder of that name can't be checked out there.
fn is_of_a_device(issue: &str) -> bool {
    let name = issue.to_ascii_lowercase();
    let is_numbered = |kind: &str| name.strip_prefix(kind).is_some_and(|end| end.len() == 1 && end != "0");
    ["con", "prn", "aux", "nul"].contains(&name.as_str()) || is_numbered("com") || is_numbered("lpt")
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn plain(text: &str) -> String {
    text.chars().filter(|it| it.is_ascii_alphanumeric()).collect()
}
