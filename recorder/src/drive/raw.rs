//! Requests in the person's own words: what stands in them, and what is kept of their answers for later steps.

use super::Problem;
use super::person::Person;
use super::waiting::timed;
use fixtures::scenario::{RawRequest, fill_in_words, first_found, found_at};
use serde_json::Value;
use std::collections::BTreeMap;

impl Person<'_> {
    /// Sends a request as it stands; whatever the answer is, it is what the server has to say.
    pub(super) async fn request(&mut self, session: &str, request: &RawRequest) -> Result<(), Problem> {
        let at = self.session(session).await?;
        let filled = request.filled_in(&|word| self.meaning(word));
        if request.in_background {
            let client = self.client.clone();
            self.sessions[at].unanswered += 1;
            self.prompts.spawn(async move {
                let reply = client.exchange_raw(&filled).await;
                (at, reply.map(drop).map_err(Problem::from))
            });
            return Ok(());
        }
        let what = format!("the answer to {} {}", filled.method, filled.target);
        let reply = timed(&what, self.limits.exchange, self.client.exchange_raw(&filled)).await??;
        let body = reply.json().unwrap_or_default();
        for (word, places) in &request.save {
            let header = |place: &str| reply.header(place).map(str::to_owned);
            let found = first_found(places, |place| found_at(&body, place).or_else(|| header(place)));
            let found = found.ok_or_else(|| {
                Problem::Unusable(format!("{what} has nothing at {places} to save as {word}"))
            })?;
            self.saved.insert(word.clone(), found);
        }
        Ok(())
    }

    /// A text with what its words stand for.
    pub(super) fn filled_in(&self, text: &str) -> String {
        fill_in_words(text, &|word| self.meaning(word))
    }

    fn meaning(&self, word: &str) -> Option<String> {
        if word == "workspace" {
            return Some(self.workspace.clone());
        }
        let session = self.sessions.iter().find(|session| session.name == word);
        session.map(|session| session.id.clone()).or_else(|| self.saved.get(word).cloned())
    }

    /// Keeps what later steps name.
    pub(super) fn save(
        &mut self,
        save: &BTreeMap<String, String>,
        from: &Value,
        what: &str,
    ) -> Result<(), Problem> {
        for (word, pointer) in save {
            let found = found_at(from, pointer).ok_or_else(|| {
                Problem::Unusable(format!("{what} has nothing at {pointer} to save as {word}"))
            })?;
            self.saved.insert(word.clone(), found);
        }
        Ok(())
    }
}
