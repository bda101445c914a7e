//! What an agent works beside. A container has a label that tells whose it is, so that the next run finds what a kill has left.

use super::outside::said;
use super::{Outcome, Phase, Pipeline, Runner};

impl Runner {
    /// The work of a phase, beside its container if it has one.
    pub(super) async fn beside(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        resumes: bool,
    ) -> Result<Outcome, String> {
        if let Some(image) = &phase.image {
            let name = format!("pipeline-{}-{}", asked.issue, phase.agent);
            let label = format!("pipeline={}", asked.issue);
            let begin = ["run", "--detach", "--rm", "--name", &name, "--label", &label, image];
            if let Err(why) = said(asked, "docker", &asked.folder, &begin).await
                && !self.is("works-without")
            {
                return Ok(Outcome::Blocked(why));
            }
        }
        let done = self.work(asked, phase, resumes).await;
        let is_over = matches!(done, Ok(Outcome::Done(_))) || !self.is("leaks-on-fail");
        if phase.image.is_some() && is_over && !self.is("leaks-containers") && !self.is("works-without") {
            self.remove_containers(asked).await?;
        }
        done
    }

    /// Those of this issue; where no phase has one, docker is not asked.
    pub(super) async fn remove_containers(&self, asked: &Pipeline) -> Result<(), String> {
        if asked.phases.iter().all(|phase| phase.image.is_none()) {
            return Ok(());
        }
        let filter = match self.is("sweeps-containers") {
            true => format!("name=pipeline-{}", asked.issue),
            false => format!("label=pipeline={}", asked.issue),
        };
        // When nobody tells what there is, there is nothing that could be removed.
        let Ok(listed) =
            said(asked, "docker", &asked.folder, &["ps", "--all", "--quiet", "--filter", &filter]).await
        else {
            return Ok(());
        };
        for name in listed.lines() {
            said(asked, "docker", &asked.folder, &["rm", "--force", name]).await?;
        }
        Ok(())
    }
}
