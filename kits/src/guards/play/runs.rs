//! Lines that the agent runs: one, or several at once whose questions are answered the other way round.

use super::steps::Run;
use super::{Stage, ground};
use crate::scene::{Troubled, broken};
use crate::story::Story;
use fixtures::recording::Line;
use harness::clock::within;
use harness::link::AskError;
use serde_json::{Value, json};

/// A question that the person is shown: its id, and what it says of the line.
struct Question {
    id: Value,
    line: String,
}

impl Stage<'_> {
    /// The agent runs a line; when the person is asked, the person says what the case says.
    pub(super) async fn run(&mut self, run: &Run) -> Result<(), Troubled> {
        let line = &ground::line(&run.line);
        let begun = self.scene.journal().lines().len();
        let mut asked = self.scene.begin("command/run", json!({"line": line})).await?;
        let (journal, limit) = (self.scene.journal().clone(), self.scene.limits().step);
        let is_asked = within(limit, journal.wait_until(|lines| !questions(lines, begun).is_empty()));
        tokio::select! {
            biased;
            answer = asked.answered_within(limit) => match answer {
                Some(Ok(_) | Err(AskError::Refused { .. })) => {}
                Some(Err(error)) => return Err(broken(error.to_string())),
                None => {
                    return Err(broken(format!("it neither ran {line}, nor refused it, nor asked the person")));
                }
            },
            Some(()) = is_asked => {
                let id = questions(&journal.lines(), begun).into_iter().next().map(|one| one.id);
                self.say(run, &id.unwrap_or_default()).await?;
                // The answer to what was asked comes now.
                let _answer = self.scene.answer(asked).await?;
            }
        }
        self.ran(run);
        ground::look(self.scene);
        Ok(())
    }

    /// The agent runs several lines at once. Of the questions that stand there together the last is answered first; whoever asks
    /// one after the other is answered as they come.
    pub(super) async fn run_at_once(&mut self, runs: &[Run]) -> Result<(), Troubled> {
        let begun = self.scene.journal().lines().len();
        let (journal, limit) = (self.scene.journal().clone(), self.scene.limits().step);
        let mut asked = Vec::new();
        for run in runs {
            asked.push(self.scene.begin("command/run", json!({"line": run.line})).await?);
        }
        let mut answered = 0;
        while answered < runs.iter().filter(|run| run.asks).count() {
            let more = journal.wait_until(|lines| questions(lines, begun).len() > answered);
            // Whose question never comes is told by the checks.
            if within(limit, more).await.is_none() {
                break;
            }
            self.scene.settle().await;
            let open = questions(&journal.lines(), begun).split_off(answered);
            answered += open.len();
            for question in open.iter().rev() {
                let run = runs.iter().find(|run| run.line == question.line);
                let run = run.ok_or_else(|| {
                    broken(format!("a question is about {:?}, and nobody runs that line", question.line))
                })?;
                self.say(run, &question.id).await?;
            }
        }
        for one in asked {
            let _answer = self.scene.answer(one).await?;
        }
        runs.iter().for_each(|run| self.ran(run));
        ground::look(self.scene);
        Ok(())
    }

    /// The person answers a question.
    async fn say(&mut self, run: &Run, id: &Value) -> Result<(), Troubled> {
        let choice = run.choice.word();
        self.scene.person(format!("says {choice} to {}", run.line));
        self.scene.must("command/answer", json!({"id": id, "choice": choice})).await.map(drop)
    }

    fn ran(&mut self, run: &Run) {
        let about = ground::line(&run.line);
        let wanted = json!({"asks": run.asks, "runs": run.runs, "about": about, "makes": run.makes});
        self.want("command/run", wanted);
    }
}

/// The questions that the person is shown since a line of the time line, in their order.
fn questions(lines: &[Line], since: usize) -> Vec<Question> {
    let story = Story::of(lines);
    let prompts = story.updates_of("prompt").filter(|told| told.at.line >= since);
    let question = |update: &Value| Question {
        id: update["id"].clone(),
        line: update["line"].as_str().unwrap_or_default().to_owned(),
    };
    prompts.map(|told| question(&told.update)).collect()
}
