//! How far an issue is; a file of an agent's diff, taken back.

use super::outside::git;
use super::{Pipeline, Runner};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

impl Runner {
    /// Where a resume would begin.
    pub(super) fn status(&self, asked: &Pipeline) -> Value {
        let mut at = self.first_undone(asked);
        if self.is("status-of-the-last") {
            at = at.saturating_sub(1);
        }
        let Some(phase) = asked.phases.get(at) else {
            return json!({"phase": null, "agent": null, "status": "success"});
        };
        let says = self.read(asked, phase).unwrap_or_default();
        json!({"phase": phase.phase, "agent": phase.agent, "status": says["status"].as_str().unwrap_or("pending")})
    }

    /// The agent's own changes to a file, and nobody else's.
    pub(super) async fn take_back(&self, asked: &Pipeline) -> Result<Value, String> {
        let Pipeline { folder, agent, file, .. } = asked;
        let is_within = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        if self.is("reverts-anywhere") {
            std::fs::write(folder.join(file), "").map_err(|error| error.to_string())?;
            return Ok(json!({}));
        }
        if !is_within {
            return Err(format!("'{file}' is no file of the repository"));
        }
        let _alone = self.checkout.lock().await;
        if self.is("checks-out-the-base") {
            let first = git(asked, folder, &["rev-list", "--max-parents=0", "HEAD"]).await?;
            let before = git(asked, folder, &["show", &format!("{}:{file}", first.trim())]).await?;
            std::fs::write(folder.join(file), before).map_err(|error| error.to_string())?;
            return Ok(json!({}));
        }
        if self.is("checks-out-before-it")
            && let Some(phase) = asked.phases.iter().find(|phase| phase.agent == *agent)
        {
            let words = format!("--grep={}: {}", asked.issue, phase.phase);
            let own = git(asked, folder, &["log", "--format=%H", &words]).await?;
            let before = git(asked, folder, &["show", &format!("{}^:{file}", own.trim())]).await?;
            std::fs::write(folder.join(file), before).map_err(|error| error.to_string())?;
            return Ok(json!({}));
        }
        let patch = self.patch(asked, agent, "");
        let only = format!("--include={file}");
        let mut words = vec!["apply", "--reverse", "--binary", &only, &patch];
        if self.is("reverts-all") {
            words.retain(|word| *word != only);
        } else {
            let touched = git(asked, folder, &["apply", "--numstat", "-z", &only, &patch]).await?;
            if touched.is_empty() {
                return Err(format!("{agent} has not changed {file}"));
            }
        }
        git(asked, folder, &words).await?;
        if self.is("reverts-to-plain-files") && folder.join(file).exists() {
            let plain = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(folder.join(file), plain).map_err(|error| error.to_string())?;
        }
        if self.is("stages-the-revert") {
            git(asked, folder, &["add", "--all", "--", file]).await?;
        }
        Ok(json!({}))
    }
}
