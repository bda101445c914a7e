//! What is gathered or kept is played: items of a batch, answers that are good for a while.

use super::Stage;
use super::steps::Kept;
use crate::scene::Troubled;
use mock_server::endpoint::Reply;
use serde_json::json;

impl Stage<'_> {
    /// Items that are added at once: nobody waits for an answer before the next one comes.
    pub(super) async fn together(&mut self, items: &[String]) -> Result<(), Troubled> {
        let mut asked = Vec::new();
        for item in items {
            asked.push(self.scene.begin("batch/add", json!({"item": item, "fails": false})).await?);
        }
        for (nth, one) in asked.into_iter().enumerate() {
            // That it refuses is an answer: the checks know what it means.
            let _answer = self.scene.answer(one).await?;
            let is_last = nth + 1 == items.len();
            self.want("batch/add", if is_last { json!({"together": items}) } else { json!({}) });
        }
        Ok(())
    }

    /// Each answer that the host would give says something else, so it can be told which one was given.
    pub(super) async fn kept(&mut self, kept: &Kept) -> Result<(), Troubled> {
        self.scene.pass(kept.pass_ms).await?;
        let lane = format!("kept-{}", kept.key);
        let nth = self.asked.get("cache/get").copied().unwrap_or_default() + 1;
        let says = format!("answer-{nth}-of-{}", kept.key);
        self.endpoint.plan(&lane, vec![Reply::json(kept.status, &json!({"value": says}))]);
        let before = self.exchanges(&lane);
        let asked = json!({"key": kept.key, "url": self.endpoint.url(&lane)});
        let _answer = self.scene.ask("cache/get", asked).await?;
        let fetched = self.exchanges(&lane) - before;
        let wanted = json!({
            "about": kept.about, "lane": lane, "says": says, "status": kept.status,
            "fetches": kept.fetches, "fetched": fetched,
        });
        self.want("cache/get", wanted);
        Ok(())
    }
}
