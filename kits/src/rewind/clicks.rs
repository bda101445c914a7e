//! What the user does: clicks, once or twice, and opens another task meanwhile; and when the adapter is killed in the midst of that.

use super::ground::{ASKED, Ground};
use super::play::{Editing, Part, first_words};
use crate::scene::{Scene, Troubled, broken};
use crate::story::is_seen;
use fixtures::histories::Case as History;
use fixtures::recording::Line;
use harness::clock::within;
use serde_json::{Value, json};
use std::time::Duration;

/// An adapter that is to stop at a write has done so by then, or has come to its end.
const HELD_BY: Duration = Duration::from_secs(5);
/// Signs that some escape, a tab, a letter in two parts that some put together, and one beyond the first plane.
const ODD_WORDS: &str = ", or <else> & \"more\":\tcafe\u{301} f\u{fc}r \u{1f44b}";

impl Editing {
    /// What stays of each click, where they are on two messages; nothing where all are on one.
    pub(super) fn clicked(&self, history: &History) -> Value {
        let cuts = [history.expected(), history.prompt_before().map(|(_, cut)| cut)];
        let cuts = cuts.into_iter().flatten().map(|cut| json!({"user": cut.user, "model": cut.model}));
        if self.elsewhere { cuts.collect() } else { Value::Null }
    }

    pub(super) async fn edit(
        &self,
        scene: &mut Scene,
        ground: &Ground,
        history: &History,
    ) -> Result<(), Troubled> {
        let mut asked = Vec::new();
        for click in 0..self.clicks {
            let text = match click {
                0 if self.spaces => format!("\n  {}{ODD_WORDS}\n\n", history.edit.text),
                0 => first_words(history),
                more => format!("{}, or else, click {}", history.edit.text, more + 1),
            };
            scene.person(format!("edits a message: {text}"));
            let before = history.prompt_before().filter(|_| self.elsewhere && click > 0);
            let ts = before.map_or(Some(history.edit.ts), |(prompt, _)| prompt.ts);
            let mut params = json!({"taskId": "task-1", "ts": ts, "text": text});
            for (name, value) in [
                ("place", json!(history.edit.place)),
                ("images", json!(self.edit_images)),
                ("revert", json!(self.restoring().map(|_| true))),
            ] {
                if !value.is_null() {
                    params[name] = value;
                }
            }
            asked.push(scene.begin("message/edit", params).await?);
        }
        if self.is_killed() && self.kill_in != Some(Part::Done) {
            let journal = scene.journal().clone();
            let mut asked = asked;
            let first = asked.remove(0);
            tokio::select! {
                biased;
                _ = within(HELD_BY, journal.wait_until(|lines| lines.iter().any(|line| self.has_come(line)))) => {}
                answer = scene.answer(first) => { answer?.map_or_else(drop, drop); }
            }
            return Ok(());
        }
        if self.opens_meanwhile {
            self.open_another(scene, ground).await?;
        }
        for one in asked {
            scene.answer(one).await?.map_or_else(drop, drop);
        }
        scene.settle().await;
        Ok(())
    }

    /// Has the moment come at which the adapter is killed?
    fn has_come(&self, line: &Line) -> bool {
        match (self.kill_in, line) {
            (Some(Part::Model), Line::Note(note)) => is_seen(note, ASKED),
            (part, Line::Adapter(said)) => {
                let update = &said.message["params"]["update"];
                match part {
                    Some(part) => update["name"] == json!(part) && update["state"] == "begin",
                    None => update["state"] == "held",
                }
            }
            _ => false,
        }
    }

    /// The model has been asked and has not answered; the user goes to another task, and then the answer comes.
    async fn open_another(&self, scene: &mut Scene, ground: &Ground) -> Result<(), Troubled> {
        let is_asked = |line: &Line| matches!(line, Line::Note(note) if is_seen(note, ASKED));
        if !scene.comes(is_asked).await? {
            return Err(broken(
                "the model is never asked with the edited message, and neither is there an answer",
            ));
        }
        scene.person("opens another task, while the model answers");
        scene.must("task/open", json!({"taskId": "task-2"})).await?;
        ground.answer();
        Ok(())
    }
}
