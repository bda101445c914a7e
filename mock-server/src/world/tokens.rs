//! What a session or a message cost.

use super::session::Message;
use crate::model::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Tokens, as the servers count them: each stands in one place only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    input: u64,
    pub(crate) output: u64,
    reasoning: u64,
    /// Those of the request that the provider had kept.
    cached: u64,
    /// The sum, where the model has told of any.
    total: Option<u64>,
    /// What they cost in money.
    cost: f64,
}

/// So many digits of a price count.
const DIGITS: u32 = 18;

impl Tokens {
    /// Those of an answer.
    pub(crate) fn of(usage: Usage) -> Self {
        Self {
            input: usage.input.saturating_sub(usage.cached),
            output: usage.output.saturating_sub(usage.reasoning),
            reasoning: usage.reasoning,
            cached: usage.cached,
            total: usage.is_told.then_some(usage.input + usage.output),
            cost: 0.0,
        }
    }

    /// The same with what they cost; `prices` are those of the configuration, for a million tokens each.
    pub(crate) fn priced(self, prices: &Value) -> Self {
        let sum: i128 = [
            (self.input, "input"),
            (self.output, "output"),
            (self.cached, "cache_read"),
            (self.reasoning, "output"),
        ]
        .iter()
        .map(|(tokens, kind)| i128::from(*tokens).saturating_mul(scaled(&prices[kind])))
        .sum();
        // Exact until here, as the servers reckon; the last step is to the nearest number that there is.
        let unit = 10_i128.pow(DIGITS + 6);
        let width = usize::try_from(DIGITS + 6).unwrap_or_default();
        let written = format!("{}.{:0width$}", sum / unit, sum % unit);
        Self { cost: written.parse().unwrap_or_default(), ..self }
    }

    pub(crate) fn cost(self) -> f64 {
        self.cost
    }

    /// What they cost, as it is told.
    pub(crate) fn wire_cost(self) -> Value {
        if self.cost == 0.0 { json!(0) } else { json!(self.cost) }
    }

    /// The same for a message that may have been charged with another agent's work.
    pub(crate) fn cost_on(self, charged: &Value) -> Value {
        Self { cost: charged.as_f64().unwrap_or_default() + self.cost, ..self }.wire_cost()
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

    /// What a conversation takes of a model's room: the sum that the model told, or what it thought does not count; or all
    /// that is counted, before its sum is looked at.
    pub(crate) fn taken(self, with_thoughts: bool) -> u64 {
        let told = self.total.filter(|total| *total > 0);
        let counted = self.input + self.output + self.cached;
        match with_thoughts {
            true if counted + self.reasoning == 0 => told.unwrap_or(0),
            true => counted + self.reasoning,
            false => told.unwrap_or(counted),
        }
    }

    fn counted(told: &Value) -> Self {
        let count_of = |pointer: &str| told.pointer(pointer).and_then(Value::as_u64);
        let count = |pointer: &str| count_of(pointer).unwrap_or_default();
        Self {
            input: count("/tokens/input"),
            output: count("/tokens/output"),
            reasoning: count("/tokens/reasoning"),
            cached: count("/tokens/cache/read"),
            total: count_of("/tokens/total"),
            cost: told["cost"].as_f64().unwrap_or_default(),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.cached += other.cached;
        self.cost += other.cost;
    }

    pub(crate) fn take(&mut self, other: Self) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.reasoning = self.reasoning.saturating_sub(other.reasoning);
        self.cached = self.cached.saturating_sub(other.cached);
        self.cost = (self.cost - other.cost).max(0.0);
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

/// A price in its smallest unit. What is no price, or less than nothing, is nothing.
fn scaled(price: &Value) -> i128 {
    if price.as_f64().is_none_or(|price| price <= 0.0) {
        return 0;
    }
    let written = price.to_string();
    let (digits, power) = written.split_once(['e', 'E']).unwrap_or((written.as_str(), "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (Ok(all), Ok(power)) = (format!("{whole}{fraction}").parse::<i128>(), power.parse::<i32>()) else {
        return 0;
    };
    let places =
        i32::try_from(DIGITS).unwrap_or_default() + power - i32::try_from(fraction.len()).unwrap_or_default();
    match u32::try_from(places) {
        Ok(up) => 10_i128.checked_pow(up).and_then(|unit| all.checked_mul(unit)).unwrap_or_default(),
        Err(_) => 10_i128.checked_pow(places.unsigned_abs()).map_or(0, |unit| all / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_cost_what_the_servers_reckon() {
        let usage = Usage { input: 1234, output: 567, reasoning: 89, cached: 1000, ..Usage::default() };
        let prices = json!({"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75});
        assert_eq!(Tokens::of(usage).priced(&prices).wire_cost(), json!(0.009507));
        let small = json!({"input": 1e-7, "output": "dear"});
        assert_eq!(Tokens::of(usage).priced(&small).wire_cost(), json!(2.34e-11));
        assert_eq!(Tokens::of(usage).priced(&Value::Null).wire_cost(), json!(0));
    }
}
