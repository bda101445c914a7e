//! A task is played: the person says something, the model answers as it is planned, and is held until its words are shown.

use super::steps::{Hold, Task};
use super::{Stage, ground};
use crate::scene::{Troubled, witness};
use crate::story::Story;
use fixtures::recording::Line;
use harness::clock::within;
use mock_server::Journal;
use mock_server::endpoint::Porter;
use serde_json::json;
use std::time::Duration;

impl Stage<'_> {
    pub(super) async fn task(&mut self, task: &Task) -> Result<(), Troubled> {
        let lane = format!("model-{}", self.asked.get("task/send").copied().unwrap_or_default() + 1);
        let (replies, holds) = task.replies(&lane);
        self.endpoint.plan(&lane, replies);
        let (journal, limit) = (self.scene.journal().clone(), self.scene.limits().step);
        let begun = journal.lines().len();
        self.scene.person(format!("says to the task {}: {}", task.id, task.text));
        let lets_go = lets_go(journal.clone(), self.endpoint.porter(), limit, lane.clone(), begun, holds);
        let lets_go = tokio::spawn(lets_go);
        let url = self.endpoint.url(&lane);
        let asked =
            json!({"task": task.id, "text": task.words(), "url": url, "holdAtDone": task.killed_at_end});
        let asked = self.scene.begin("task/send", asked).await?;
        if task.killed_at_end {
            let is_done = journal
                .wait_until(|lines| Story::of(lines).updates_of("done").any(|told| told.at.line >= begun));
            // Who does not stop there answers, and is killed all the same.
            tokio::select! {
                biased;
                () = is_done => {}
                answer = self.scene.answer(asked) => { answer?.map_or_else(drop, drop); }
            }
            self.scene.person("kills the program");
            self.scene.kill().await;
            self.scene.restart().await?;
            self.configure().await?;
        } else {
            // That it refuses is an answer: the checks know what it means.
            let _answer = self.scene.answer(asked).await?;
        }
        lets_go.abort();
        self.want("task/send", task.wanted(&lane));
        ground::look(self.scene);
        Ok(())
    }
}

/// Opens each gate when the words before it are shown. Who never shows them is told so by what was shown then.
async fn lets_go(
    journal: Journal,
    porter: Porter,
    limit: Duration,
    lane: String,
    begun: usize,
    holds: Vec<Hold>,
) {
    for Hold { gate, request, words } in holds {
        journal.wait_until(|lines| asked_on(lines, &lane) >= request).await;
        let has_come = journal.wait_until(|lines| said(lines, begun).len() >= words.len());
        // Whether it came is told by what was shown.
        let _came = within(limit, has_come).await;
        let told = json!({"gate": gate, "words": words, "shown": said(&journal.lines(), begun)});
        witness(&journal, "let-go", &told);
        porter.open(&gate);
    }
}

fn asked_on(lines: &[Line], lane: &str) -> usize {
    lines.iter().filter(|line| matches!(line, Line::Request(it) if it.lane.as_deref() == Some(lane))).count()
}

/// What the person was shown of a model's words since a line.
fn said(lines: &[Line], since: usize) -> String {
    let story = Story::of(lines);
    let told = story.updates_of("says").filter(|told| told.at.line >= since);
    told.filter_map(|told| told.update["text"].as_str()).collect()
}
