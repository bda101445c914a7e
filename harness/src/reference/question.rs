//! The person's answer to a question of the agent's, or that there is none.

use super::call::Call;
use super::commands::encoded;
use super::core::Core;
use crate::protocol::Id;
use serde_json::Value;

impl Core {
    pub(super) fn answer_question(
        &mut self,
        id: Id,
        task_id: String,
        question_id: String,
        how: &str,
        body: Value,
    ) {
        let Some((_, own)) = self.session_of_task(&id, &task_id) else { return };
        let main = self.server.as_ref().map(|server| server.directory.clone()).unwrap_or_default();
        let directory = self.strategies.asking.question_directory(&own, &main).to_owned();
        let path = format!("/question/{}/{how}", encoded(&question_id));
        let request = self.http(&directory, "POST", &path, Some(body.clone()));
        if self.strategies.asking.question_goes_early() {
            self.question_settled(&task_id, question_id.clone());
        }
        let sent = Box::new((directory, path, body));
        self.calls.insert(request, Call::Question { id, task_id, question_id, sent });
    }
}
