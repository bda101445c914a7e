//! Where agents work, and what becomes of it: merged, kept, put away, swept.

use super::meddling::strip;
use super::outside::{Said, Unasked, bytes_of, git, prompt, put};
use super::{Outcome, Phase, Pipeline, Runner, now, plain};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

impl Runner {
    fn place(&self, asked: &Pipeline, phase: &Phase) -> PathBuf {
        let all = asked.folder.join(".kilo/worktrees");
        if self.is("one-worktree") { all.join("all") } else { all.join(&asked.issue).join(&phase.agent) }
    }

    pub(super) async fn work(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        resumes: bool,
    ) -> Result<Outcome, String> {
        let root = &asked.folder;
        let place = self.place(asked, phase);
        let branch = format!("work/{}-{}", plain(&asked.issue), phase.agent);
        if let Some(why) = self.make_place(asked, phase, &place, &branch).await? {
            return Ok(Outcome::Blocked(why));
        }
        // What its agent makes is all behind this, also what the agent commits by itself.
        let base = git(asked, &place, &["rev-parse", "HEAD"]).await?.trim().to_owned();
        if self.is("stash-and-pop") {
            git(asked, root, &["stash", "push", "--quiet"]).await?;
            git(asked, root, &["stash", "pop", "--quiet"]).await?;
        }
        if phase.destructive && !self.is("no-fork") {
            let name = match self.is("fork-latest") {
                true => format!("checkpoint/{}-{}-latest", plain(&asked.issue), phase.agent),
                false => free_name(asked, phase).await?,
            };
            let place = self.way_back(asked).await?;
            git(asked, root, &["branch", "--force", &name, &place]).await?;
        }
        if self.is("stash-all") {
            git(asked, root, &["stash", "push", "--include-untracked"]).await?;
        }
        let elsewhere = self.is("resume-in-main") && resumes;
        let plan = self.plan(asked);
        let unasked = match self.mutant {
            Some("endless-ask") => Unasked::Waits,
            Some("says-yes") => Unasked::SaysYes,
            _ => Unasked::SaysNo,
        };
        let at = if elsewhere { root } else { &place };
        let words = match prompt(asked, phase, at, plan.as_deref(), unasked).await? {
            Said::Words(words) => Some(words),
            Said::Failed => None,
            Said::Asks => return Ok(Outcome::Blocked(format!("{} asks, and nobody is there", phase.agent))),
        };
        if let (Some(words), "designing") = (&words, phase.phase.as_str())
            && (plan.is_none() || self.is("one-plan-for-all"))
        {
            self.keep_plan(asked, words)?;
        }
        let is_done = words.is_some();
        if elsewhere {
            return Ok(if is_done { Outcome::Done(Vec::new()) } else { Outcome::Failed });
        }
        if self.is("strips-blanks") {
            let new = ["ls-files", "--modified", "--others", "--exclude-standard"];
            strip(&place, &git(asked, &place, &new).await?)?;
        }
        let stage = if self.is("no-untracked") { "--update" } else { "--all" };
        self.add(asked, &place, stage).await?;
        let from = if self.is("misses-commits") { "HEAD" } else { base.as_str() };
        let diff = self.diff(asked, &place, from).await?;
        self.add(asked, &place, "--all").await?;
        // By lines git puts odd names in quotes.
        let (form, end) = if self.is("quoted-names") { ("--no-color", '\n') } else { ("-z", '\0') };
        let names = ["diff", "--cached", "--name-only", "--no-renames", form, from];
        let files = git(asked, &place, &names).await?;
        self.commit(asked, phase, &place).await?;
        if (is_done || self.is("merge-on-fail"))
            && let Err(why) = self.merge(asked, &branch).await
            && !self.is("conflict-is-success")
        {
            return Ok(Outcome::Blocked(why));
        }
        if is_done || !self.is("logs-successes") {
            let diff = if is_done || !self.is("logs-failures-empty") { &diff[..] } else { b"" };
            self.log(asked, phase, diff, is_done)?;
        }
        let files = files.split_terminator(end).map(str::to_owned).collect();
        Ok(if is_done { Outcome::Done(files) } else { Outcome::Failed })
    }

    /// What has been changed since then, as a patch.
    async fn diff(&self, asked: &Pipeline, place: &Path, from: &str) -> Result<Vec<u8>, String> {
        let bytes = match () {
            () if self.is("no-binary") => "--no-color",
            () if self.is("binary-by-index") => "--full-index",
            () => "--binary",
        };
        let first = match self.is("patch-of-all") {
            true => git(asked, place, &["rev-list", "--max-parents=0", "HEAD"]).await?,
            false => from.to_owned(),
        };
        // A file may be in letters of an older kind: as text its patch would be another one.
        let mut diff = bytes_of(asked, "git", place, &["diff", "--cached", bytes, first.trim()]).await?;
        if self.is("patch-as-text") {
            diff = String::from_utf8_lossy(&diff).into_owned().into_bytes();
        }
        Ok(diff)
    }

    /// Where a way back leads: to what stands there now; that of mutants to nothing, or to the first commit.
    async fn way_back(&self, asked: &Pipeline) -> Result<String, String> {
        /// The tree that has nothing in it: git knows it everywhere.
        const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let words: &[&str] = match self.mutant {
            Some("fork-of-nothing") => &["commit-tree", "-m", "Nothing", NOTHING],
            Some("fork-of-the-beginning") => &["rev-list", "--max-parents=0", "HEAD"],
            _ => &["rev-parse", "HEAD"],
        };
        Ok(git(asked, &asked.folder, words).await?.trim().to_owned())
    }

    async fn commit(&self, asked: &Pipeline, phase: &Phase, place: &Path) -> Result<(), String> {
        let message = format!("{}: {}", asked.issue, phase.phase);
        let password = format!("http.extraHeader=X-Password: {}", asked.server.password);
        let told: &[&str] = if self.is("password-to-git") { &["-c", &password] } else { &[] };
        let words = ["commit", "--quiet", "--allow-empty", "--message", &message];
        let committed = git(asked, place, &[told, &words].concat()).await;
        if self.is("trusts-the-commit") { Ok(()) } else { committed.map(drop) }
    }

    /// What an agent has changed is to be committed.
    async fn add(&self, asked: &Pipeline, place: &Path, stage: &str) -> Result<(), String> {
        let mut words = vec!["add", stage];
        if self.is("adds-ignored") {
            words.push("--force");
        }
        let settings: &[&str] = match () {
            () if self.is("loses-modes") => &["-c", "core.fileMode=false"],
            () if self.is("loses-line-ends") => &["-c", "core.autocrlf=input"],
            () => &[],
        };
        git(asked, place, &[settings, &words].concat()).await.map(drop)
    }

    /// A worktree of this phase alone; a word why there can be none.
    async fn make_place(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        place: &Path,
        branch: &str,
    ) -> Result<Option<String>, String> {
        let root = &asked.folder;
        // One after the other: git takes the folder of all worktrees away when it prunes the last one, also from under
        // one that is being made.
        let _alone = self.checkout.lock().await;
        if self.is("commits-all") {
            git(asked, root, &["add", "--all"]).await?;
            git(asked, root, &["commit", "--quiet", "--allow-empty", "--message", "So far"]).await?;
        }
        if self.is("pops-first-stash") && !git(asked, root, &["stash", "list"]).await?.is_empty() {
            git(asked, root, &["stash", "pop", "--quiet"]).await?;
        }
        self.meddle(asked).await?;
        let is_there = place.exists();
        let taken =
            is_there && (self.is("reuses-worktree") || self.is("uses-left-overs") || self.is("one-worktree"));
        if taken {
            return Ok(None);
        }
        if let Some(why) = self.put_away(asked, phase, place, branch).await? {
            return Ok(Some(why));
        }
        if !self.is("shows-its-worktrees") {
            // Whatever the person's own `.gitignore` says.
            put(&root.join(".kilo/worktrees/.gitignore"), "*\n")?;
        }
        let path = place.to_string_lossy().into_owned();
        let from = if self.is("begins-at-main") { "main" } else { "HEAD" };
        git(asked, root, &["worktree", "add", "--quiet", "-b", branch, &path, from]).await?;
        if place.join(".gitmodules").exists() && !self.is("no-submodules") {
            // Where a submodule comes from is the person's to say, and said in the repository.
            let words = [
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "update",
                "--init",
                "--recursive",
            ];
            git(asked, place, &words).await?;
        }
        Ok(None)
    }

    /// Into the person's checkout, or not at all.
    async fn merge(&self, asked: &Pipeline, branch: &str) -> Result<(), String> {
        let root = &asked.folder;
        let _alone = self.checkout.lock().await;
        let mut words = vec!["merge", "--quiet", "--no-edit", branch];
        if self.is("takes-theirs") {
            words.extend(["--strategy-option", "theirs"]);
        }
        if self.is("unstages") {
            git(asked, root, &["reset", "--quiet"]).await?;
        }
        if self.is("merges-into-main") {
            git(asked, root, &["checkout", "--quiet", "main"]).await?;
        }
        let merged = git(asked, root, &words).await;
        if merged.is_err() && !self.is("leaves-the-merge") && root.join(".git/MERGE_HEAD").exists() {
            git(asked, root, &["merge", "--abort"]).await?;
        }
        merged.map(drop)
    }

    /// The worktree of a phase that is merged.
    pub(super) async fn remove(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        is_merged: bool,
    ) -> Result<(), String> {
        let place = self.place(asked, phase);
        if is_merged && place.exists() {
            let _alone = self.checkout.lock().await;
            git(asked, &asked.folder, &["worktree", "remove", "--force", &place.to_string_lossy()]).await?;
            let branch = format!("work/{}-{}", plain(&asked.issue), phase.agent);
            git(asked, &asked.folder, &["branch", "--quiet", "-D", &branch]).await?;
        }
        Ok(())
    }

    /// What an agent that was killed has left is kept behind a ref, and its worktree goes. What git does not know is moved
    /// aside; what somebody has locked stays, and a word tells why.
    async fn put_away(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        place: &Path,
        branch: &str,
    ) -> Result<Option<String>, String> {
        let root = &asked.folder;
        let path = place.to_string_lossy().into_owned();
        if self.is("deletes-left-overs") && place.exists() {
            // It may be locked: twice the force.
            let known = git(asked, root, &["worktree", "remove", "--force", "--force", &path]).await;
            if known.is_err() {
                fs::remove_dir_all(place).map_err(|error| error.to_string())?;
            }
        }
        if !self.is("never-prunes") {
            git(asked, root, &["worktree", "prune"]).await?;
        }
        let known = git(asked, root, &["worktree", "list", "--porcelain"]).await?;
        let entry =
            known.split("\n\n").find(|entry| entry.lines().any(|line| line == format!("worktree {path}")));
        let is_locked = entry.is_some_and(|entry| entry.lines().any(|line| line.starts_with("locked")));
        if is_locked && !self.is("unlocks") {
            return Ok(Some(format!("{path} is locked")));
        }
        if place.exists() && entry.is_none() {
            let mut free = (1..).map(|number| place.with_extension(format!("left-{number}")));
            let aside = free.find(|free| !free.exists()).ok_or("no name is free")?;
            fs::rename(place, aside).map_err(|error| error.to_string())?;
        } else if place.exists() && self.is("discards-unfinished") {
            git(asked, root, &["worktree", "remove", "--force", &path]).await?;
        } else if place.exists() {
            git(asked, place, &["add", "--all"]).await?;
            if !git(asked, place, &["diff", "--cached", "--name-only", "HEAD"]).await?.is_empty() {
                git(asked, place, &["commit", "--quiet", "--message", "What was left"]).await?;
            }
            if !self.is("clean-is-empty") {
                git(asked, place, &["branch", &free_name(asked, phase).await?]).await?;
            }
            // Twice the force is for one that is locked.
            let force = if is_locked { "--force" } else { "--end-of-options" };
            git(asked, root, &["worktree", "remove", "--force", force, &path]).await?;
        }
        if !self.is("stumbles-over-branch") {
            self.put_branch_away(asked, phase, branch).await?;
        }
        Ok(None)
    }

    /// The branch of a run that is over goes; what is on it and nowhere else gets another name.
    async fn put_branch_away(&self, asked: &Pipeline, phase: &Phase, branch: &str) -> Result<(), String> {
        let root = &asked.folder;
        if git(asked, root, &["rev-parse", "--verify", "--quiet", branch]).await.is_err() {
            return Ok(());
        }
        let refs = ["for-each-ref", "--format=%(refname:short)", "--contains", branch];
        let holding = git(asked, root, &refs).await?;
        if holding.lines().all(|name| name == branch)
            && !self.is("deletes-branches")
            && !self.is("clean-is-empty")
        {
            git(asked, root, &["branch", &free_name(asked, phase).await?, branch]).await?;
        }
        git(asked, root, &["branch", "--quiet", "-D", branch]).await.map(drop)
    }

    /// Each diff stands behind the ones before it: together they are what the agent has made. What came to nothing stands
    /// apart.
    fn log(&self, asked: &Pipeline, phase: &Phase, diff: &[u8], is_done: bool) -> Result<(), String> {
        let end = if is_done { "" } else { "-failed" };
        let path = asked.folder.join(self.patch(asked, &phase.agent, end));
        let before = match is_done && !self.is("patch-overwrite") {
            true => fs::read(&path).unwrap_or_default(),
            false => Vec::new(),
        };
        put(&path, [&before, diff].concat())
    }

    /// Where the diff of an agent is, below the repository.
    pub(super) fn patch(&self, asked: &Pipeline, agent: &str, end: &str) -> String {
        let of_agent = asked.phases.iter().find(|phase| phase.agent == agent);
        let name = of_agent.filter(|_| self.is("patch-by-phase")).map_or(agent, |phase| &phase.phase);
        let is_first = asked.phases.first().is_some_and(|first| first.agent == agent);
        let folder = if self.is("patch-of-the-first") && !is_first { "others" } else { "diffs" };
        format!(".kilo/logs/{folder}/{}-{name}{end}.patch", asked.issue)
    }

    /// The worktrees of this issue go, but for those that hold work, and its containers.
    pub(super) async fn sweep(&self, asked: &Pipeline) -> Result<Value, String> {
        if !self.is("leaks-on-kill") {
            self.remove_containers(asked).await?;
        }
        if self.is("leak-on-kill") {
            return Ok(json!({}));
        }
        let root = &asked.folder;
        let all = self.is("force-remove");
        let everywhere = all || self.is("sweeps-all-issues");
        let own = root.join(".kilo/worktrees").join(if everywhere { "" } else { asked.issue.as_str() });
        let listed = git(asked, root, &["worktree", "list", "--porcelain"]).await?;
        for place in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            let is_own = match self.is("sweeps-issues-alike") {
                true => place.starts_with(&*own.to_string_lossy()),
                false => Path::new(place).starts_with(&own),
            };
            if !is_own || place == root.to_string_lossy() {
                continue;
            }
            if all || self.is_empty(asked, place).await? {
                let removed = git(asked, root, &["worktree", "remove", "--force", place]).await;
                self.looked_at(removed)?;
            }
        }
        git(asked, root, &["worktree", "prune"]).await?;
        Ok(json!({}))
    }
}

impl Runner {
    /// That something could not be removed is said.
    pub(super) fn looked_at(&self, removed: Result<String, String>) -> Result<(), String> {
        if self.is("trusts-removals") { Ok(()) } else { removed.map(drop) }
    }

    /// Is nothing in this worktree that is nowhere else, be it changed, new, or committed and not merged?
    async fn is_empty(&self, asked: &Pipeline, place: &str) -> Result<bool, String> {
        let path = Path::new(place);
        let new = if self.is("sweeps-new-files") { "--untracked-files=no" } else { "--untracked-files=all" };
        let is_clean = git(asked, path, &["status", "--porcelain", new]).await?.is_empty();
        let head = git(asked, path, &["rev-parse", "HEAD"]).await?;
        let is_merged = ["merge-base", "--is-ancestor", head.trim(), "HEAD"];
        let is_merged = git(asked, &asked.folder, &is_merged).await.is_ok();
        if is_clean && !is_merged && self.is("sweeps-commits") {
            git(asked, path, &["checkout", "--quiet", "--detach"]).await?;
            let branches =
                ["for-each-ref", "--format=%(refname:short)", "--points-at", "HEAD", "refs/heads/work"];
            for branch in git(asked, path, &branches).await?.lines() {
                git(asked, path, &["branch", "--quiet", "-D", branch]).await?;
            }
            return Ok(true);
        }
        Ok(is_clean && is_merged)
    }
}

/// A name that nobody has yet, and that is one everywhere: a time with colons is none.
async fn free_name(asked: &Pipeline, phase: &Phase) -> Result<String, String> {
    let (issue, time) = (plain(&asked.issue), plain(&now()));
    for number in 0.. {
        let name = format!("checkpoint/{issue}-{}-{time}-{number}", phase.agent);
        if git(asked, &asked.folder, &["rev-parse", "--verify", "--quiet", &name]).await.is_err() {
            return Ok(name);
        }
    }
    Err("no name is free".to_owned())
}
