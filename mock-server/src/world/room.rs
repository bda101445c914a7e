//! How much a model can be told, and what the settings say of that: when a conversation is too long for it, and how much
//! of the end of one that is summed up stays as it is.

use super::World;
use super::tokens::Tokens;
use crate::providers::Providers;
use serde_json::{Value, json};

/// What a model may say at most, whatever its settings allow, or when they say nothing.
const ANSWER_MOST: u64 = 32_000;
/// What is left free beside it of a model that takes less than it keeps in mind, unless the settings say how much.
const FREE_MOST: u64 = 20_000;
/// What the scripted model keeps in mind, and what it may say: so its server is set up for a recording.
const SCRIPTED: [(&str, u64); 2] = [("context", 100_000), ("output", 10_000)];
/// How much of the end may stay as it is.
const TAIL_LEAST: u64 = 2_000;
const TAIL_MOST: u64 = 15_000;

/// What a model's settings say of its room; nothing is told as nought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    context: u64,
    input: u64,
    output: u64,
}

impl Limits {
    /// What it may say at most.
    pub(super) fn answer(self) -> u64 {
        if self.output == 0 { ANSWER_MOST } else { self.output.min(ANSWER_MOST) }
    }

    /// What it can be told; `free` is what the settings want left free.
    fn usable(self, free: Option<u64>) -> u64 {
        match self.input {
            _ if self.context == 0 => 0,
            0 => self.context.saturating_sub(self.answer()),
            input => input.saturating_sub(free.unwrap_or(FREE_MOST.min(self.answer()))),
        }
    }
}

impl World {
    /// The settings say what they say; of the rest a release knows some.
    pub(super) fn limits_of(&self, directory: &str, provider: &str, model: &str) -> Limits {
        let said = self.said_of_model(directory, provider, model);
        let known = match (provider, model) {
            ("fake", "fake") => SCRIPTED.iter().map(|(key, most)| ((*key).to_owned(), json!(most))).collect(),
            ("fake", _) => Value::Null,
            _ => Providers::of(self.profile.server).limits(provider, model),
        };
        let limit = |key: &str| {
            said.pointer(&format!("/limit/{key}")).or_else(|| known.get(key)).and_then(Value::as_u64)
        };
        let [context, input, output] = ["context", "input", "output"].map(|key| limit(key).unwrap_or(0));
        Limits { context, input, output }
    }

    /// What the settings say of conversations that are summed up.
    pub(super) fn compaction_settings(&self, directory: &str) -> Value {
        self.settings_in(directory).get("compaction").cloned().unwrap_or_default()
    }

    /// Do the settings let a conversation be summed up when nobody asks for it?
    pub(super) fn sums_up_by_itself(&self, directory: &str) -> bool {
        self.compaction_settings(directory)["auto"] != false
    }

    /// What a model's limits are, and what they leave for a conversation.
    fn room_of(&self, directory: &str, model: &Value) -> (Limits, u64) {
        let word = |key: &str| model[key].as_str().unwrap_or_default();
        let limits = self.limits_of(directory, word("providerID"), word("modelID"));
        (limits, limits.usable(self.compaction_settings(directory)["reserved"].as_u64()))
    }

    /// Has an answer of so many tokens left a model no room? One without limits has always some.
    pub(super) fn is_too_much(&self, directory: &str, tokens: Tokens, model: &Value) -> bool {
        let (limits, usable) = self.room_of(directory, model);
        limits.context > 0
            && self.sums_up_by_itself(directory)
            && tokens.taken(self.profile.thoughts_take_room) >= usable
    }

    /// How much of the end of a conversation stays as it is, for this model.
    pub(super) fn tail_budget(&self, directory: &str, model: &Value) -> u64 {
        let (_, usable) = self.room_of(directory, model);
        let said = self.compaction_settings(directory)["preserve_recent_tokens"].as_u64();
        said.unwrap_or((usable / 4).clamp(TAIL_LEAST, TAIL_MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_what_the_limits_leave() {
        let usable = |context, input, output, free| Limits { context, input, output }.usable(free);
        assert_eq!(usable(100_000, 0, 10_000, Some(1)), 90_000, "what is left free is not asked for");
        assert_eq!(usable(300_000, 0, 64_000, None), 268_000);
        assert_eq!(usable(300_000, 20_000, 8_000, None), 12_000);
        assert_eq!(usable(300_000, 90_000, 64_000, None), 70_000);
        assert_eq!(usable(300_000, 20_000, 8_000, Some(5_000)), 15_000);
        assert_eq!(usable(0, 20_000, 8_000, None), 0);
        assert_eq!(usable(9_000, 0, 10_000, None), 0);
    }
}
