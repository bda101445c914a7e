//! What a session or a message cost.

use super::session::Message;
use crate::model::Usage;
use serde_json::{Value, json};

/// Tokens, as the servers count them: each stands in one place only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    input: u64,
    pub(crate) output: u64,
    reasoning: u64,
    /// Those of the request that the provider had kept.
    cached: u64,
    /// The sum, where the model has told of any.
    total: Option<u64>,
}

impl Tokens {
    /// Those of an answer.
    pub(crate) fn of(usage: Usage) -> Self {
        Self {
            input: usage.input.saturating_sub(usage.cached),
            output: usage.output.saturating_sub(usage.reasoning),
            reasoning: usage.reasoning,
            cached: usage.cached,
            total: usage.is_told.then_some(usage.input + usage.output),
        }
    }

    /// What a part cost, if it tells.
    pub(crate) fn of_part(part: &Value) -> Self {
        if part["type"] != "step-finish" {
            return Self::default();
        }
        Self::counted(part)
    }

    /// What an answer cost.
    pub(crate) fn of_message(message: &Message) -> Self {
        Self::counted(&message.info)
    }

    /// All of them.
    pub(crate) fn all(self) -> u64 {
        self.input + self.output + self.reasoning + self.cached
    }

    fn counted(told: &Value) -> Self {
        let count = |pointer: &str| told.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        Self {
            input: count("/tokens/input"),
            output: count("/tokens/output"),
            reasoning: count("/tokens/reasoning"),
            cached: count("/tokens/cache/read"),
            total: None,
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.cached += other.cached;
    }

    pub(crate) fn take(&mut self, other: Self) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.reasoning = self.reasoning.saturating_sub(other.reasoning);
        self.cached = self.cached.saturating_sub(other.cached);
    }

    /// Those that the model has written.
    pub(crate) fn written(self) -> u64 {
        self.output + self.reasoning
    }

    /// Without their sum.
    pub(crate) fn wire(self) -> Value {
        let cache = json!({"read": self.cached, "write": 0});
        json!({"input": self.input, "output": self.output, "reasoning": self.reasoning, "cache": cache})
    }

    pub(crate) fn wire_with_total(self) -> Value {
        let mut wire = json!({});
        if let Some(total) = self.total {
            wire["total"] = json!(total);
        }
        super::session::merge(&mut wire, self.wire());
        wire
    }
}
