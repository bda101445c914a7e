//! What an agent works beside. A container has a label that tells whose it is, so that the next run finds what a kill has left.

use super::outside::{put, said};
use super::{Outcome, Phase, Pipeline, Runner};
use std::path::PathBuf;

impl Runner {
    /// The work of a phase, beside its container if it has one.
    pub(super) async fn beside(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        resumes: bool,
    ) -> Result<Outcome, String> {
        if let Some(image) = &phase.image {
            let name = match self.is("one-container") {
                true => "pipeline-tools".to_owned(),
                false => format!("pipeline-{}-{}", asked.issue, phase.agent),
            };
            let label = format!("pipeline={}", asked.issue);
            let password = format!("SERVER_PASSWORD={}", asked.server.password);
            let mut begin = vec!["run", "--detach", "--rm", "--name", &name, "--label", &label, image];
            if self.is("stops-containers") {
                begin.retain(|word| *word != "--rm");
            }
            if self.is("password-to-docker") {
                begin.splice(1..1, ["--env", &password]);
            }
            let begun = said(asked, "docker", &asked.folder, &begin).await;
            // What runs already under that name is taken for its own.
            let may_fail = self.is("works-without") || self.is("one-container");
            if let Err(why) = begun
                && !may_fail
            {
                return Ok(Outcome::Blocked(why));
            }
            if self.is("notes-containers-late") {
                put(&self.noted(asked), &name)?;
            }
        }
        let secrets = asked.folder.join(".kilo/compose.yaml");
        let has_file = phase.image.is_some() && self.is("password-in-a-file");
        if has_file {
            put(&secrets, format!("environment:\n  SERVER_PASSWORD: {}\n", asked.server.password))?;
        }
        let done = self.work(asked, phase, resumes).await;
        if has_file {
            std::fs::remove_file(&secrets).map_err(|error| error.to_string())?;
        }
        if done.is_err() && phase.image.is_some() {
            self.remove_containers(asked).await?;
        }
        done
    }

    /// Is a container wanted, and does nobody answer who could begin one?
    pub(super) async fn is_engine_down(&self, asked: &Pipeline) -> bool {
        let wanted = asked.phases.iter().any(|phase| phase.image.is_some());
        wanted && said(asked, "docker", &asked.folder, &["ps"]).await.is_err()
    }

    /// Behind the checkpoint: one that can't be removed leaves nobody's work to be done twice.
    pub(super) async fn end_containers(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        done: &Outcome,
    ) -> Result<(), String> {
        let is_over = match done {
            Outcome::Done(_) => true,
            Outcome::Failed => !self.is("leaks-on-fail"),
            Outcome::Blocked(_) => !self.is("leaks-on-fail") && !self.is("leaks-on-kill"),
        };
        if phase.image.is_some() && is_over && !self.is("leaks-containers") && !self.is("works-without") {
            self.remove_containers(asked).await?;
        }
        Ok(())
    }

    /// Where a mutant notes its container.
    fn noted(&self, asked: &Pipeline) -> PathBuf {
        asked.folder.join(".kilo/containers").join(&asked.issue)
    }

    /// Those of this issue; where no phase has one, docker is not asked.
    pub(super) async fn remove_containers(&self, asked: &Pipeline) -> Result<(), String> {
        if asked.phases.iter().all(|phase| phase.image.is_none()) {
            return Ok(());
        }
        let filter = match self.mutant {
            Some("sweeps-containers") => format!("name=pipeline-{}", asked.issue),
            Some("sweeps-containers-of-all") => "label=pipeline".to_owned(),
            Some("notes-containers-late") => match std::fs::read_to_string(self.noted(asked)) {
                Ok(name) => format!("name={name}"),
                Err(_) => return Ok(()),
            },
            _ => format!("label=pipeline={}", asked.issue),
        };
        // When nobody tells what there is, there is nothing that could be removed.
        let Ok(listed) =
            said(asked, "docker", &asked.folder, &["ps", "--all", "--quiet", "--filter", &filter]).await
        else {
            return Ok(());
        };
        for name in listed.lines() {
            let words: &[&str] =
                if self.is("stops-containers") { &["stop", name] } else { &["rm", "--force", name] };
            let removed = said(asked, "docker", &asked.folder, words).await;
            self.looked_at(removed)?;
        }
        Ok(())
    }
}
