//! A countdown beside the agent's questions: at its end what it suggests is the answer, unless the person has begun one.

use super::call::Call;
use super::commands::encoded;
use super::core::Core;
use super::io::Timer;
use crate::protocol::{Question, Update};
use serde_json::json;

impl Core {
    /// Questions are shown: the countdown of each begins, once, where there is one.
    pub(super) fn count_down(&mut self, task_id: &str, update: &Update) {
        let countdown = self.settings.follow_up;
        let Some(wait) = countdown.and_then(|set| self.strategies.features.suggests_after_ms(set)) else {
            return;
        };
        let shown: Vec<String> = match update {
            Update::Question { question_id, .. } => vec![question_id.clone()],
            Update::Timeline { view, .. } => {
                view.questions.iter().map(|asked| asked.question_id.clone()).collect()
            }
            _ => return,
        };
        let is_stopped = self.stopped.contains(task_id);
        for question in shown {
            if is_stopped {
                self.typed.insert(question);
            } else if self.counting.insert(question.clone()) {
                let wait = self.scaled(wait);
                self.start_timer(Timer::Suggest(task_id.to_owned(), question), wait);
            }
        }
    }

    /// The countdown is over.
    pub(super) fn suggest_in_time(&mut self, task_id: &str, question_id: &str) {
        let is_typed = self.typed.contains(question_id) && self.strategies.features.typing_stops();
        // It may have been turned off meanwhile.
        if is_typed || self.settings.follow_up.is_none() || self.is_question_being_answered(question_id) {
            return;
        }
        let Some(task) = self.tasks.get(task_id) else { return };
        if task.stale && self.strategies.features.waits_when_closed() {
            // Once the task is loaded anew, it begins anew.
            self.counting.remove(question_id);
            return;
        }
        let live = task.questions().iter().find(|live| live.question_id == question_id);
        let Some(answers) = live.and_then(suggestion) else { return };
        let answers = self.strategies.features.suggests(answers);
        let directory = task.directory().to_owned();
        let path = format!("/question/{}/reply", encoded(question_id));
        let request = self.http(&directory, "POST", &path, Some(json!({ "answers": answers })));
        let (task_id, question_id) = (task_id.to_owned(), question_id.to_owned());
        self.calls.insert(request, Call::FollowUp { task_id, question_id });
    }

    fn is_question_being_answered(&self, question_id: &str) -> bool {
        self.calls.values().any(|call| match call {
            Call::Question { question_id: other, .. } | Call::FollowUp { question_id: other, .. } => {
                other == question_id
            }
            _ => false,
        })
    }
}

/// What a countdown answers: to each question its first label. Without labels there is nothing to suggest.
fn suggestion(question: &Question) -> Option<Vec<Vec<String>>> {
    question.questions.iter().map(|asked| asked.options.first().map(|first| vec![first.clone()])).collect()
}
