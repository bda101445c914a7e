//! When a program that was left running is ready: it has printed something, or listens at a port; or nobody waits any longer.

use super::Due;
use super::process_calls::Waiter;
use super::processes::Step;
use crate::world::surroundings::{PlaceAsk, PlaceWish};
use crate::world::{Effect, EffectId, Purpose, World};
use fancy_regex::Regex;
use serde_json::{Value, json};

/// What is known of that.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    pattern: Option<Regex>,
    port: Option<u64>,
    is_ready: bool,
    limit: Option<EffectId>,
    probe: Option<EffectId>,
    waiter: Option<Waiter>,
}

/// So long somebody waits who does not say how long.
const LIMIT_MS: u64 = 30_000;
/// A port is looked at so often.
const PROBE_MS: u64 = 250;

impl Readiness {
    pub(super) fn of(ready: &Value) -> Self {
        let pattern = ready["pattern"].as_str().filter(|pattern| !pattern.is_empty());
        let pattern = pattern.and_then(|pattern| Regex::new(pattern).ok());
        Self { pattern, port: ready["port"].as_u64(), ..Self::default() }
    }

    /// Does what was printed say so, for the first time?
    pub(super) fn is_said(&self, output: &str) -> bool {
        let says = |pattern: &Regex| pattern.is_match(output).unwrap_or_default();
        !self.is_ready && self.pattern.as_ref().is_some_and(says)
    }

    pub(super) fn take_waiter(&mut self) -> Option<Waiter> {
        self.waiter.take()
    }

    /// What is on its way.
    pub(super) fn due(&self) -> impl Iterator<Item = EffectId> + use<> {
        [self.limit, self.probe].into_iter().flatten()
    }
}

/// Why a pattern is none, in the words of the servers' language.
pub(super) fn no_pattern(pattern: &str) -> Option<String> {
    Regex::new(pattern).err()?;
    let mut open = 0_i32;
    let mut in_class = false;
    let mut letters = pattern.chars();
    let mut why = None;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => why = Some("\\ at end of pattern"),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => open += 1,
            ')' if !in_class && open == 0 => why = why.or(Some("unmatched parentheses")),
            ')' if !in_class => open -= 1,
            _ => {}
        }
    }
    let why = why.unwrap_or(match (in_class, open) {
        (true, _) => "missing terminating ] for character class",
        (false, 1..) => "missing )",
        _ => "nothing to repeat",
    });
    Some(format!("Invalid ready pattern: Invalid regular expression: {why}"))
}

impl World {
    pub(super) fn wait_until_ready(&mut self, id: &str, waiter: Waiter) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id) else { return };
        let ready = process.wish.ready.clone();
        if process.readiness.pattern.is_none() && process.readiness.port.is_none() {
            return self.process_settled(&waiter, id);
        }
        process.readiness.waiter = Some(waiter);
        let until_ms = now + ready["timeout"].as_u64().unwrap_or(LIMIT_MS);
        let due = Purpose::Alongside(Due::Process(id.to_owned(), Step::Limit));
        let limit = self.named_effect(due, Effect::Wait { until_ms });
        if let Some(process) = self.process_mut(id) {
            process.readiness.limit = Some(limit);
        }
        self.look_at_port(id);
    }

    pub(super) fn look_at_port(&mut self, id: &str) {
        let Some(process) = self.process_mut(id) else { return };
        process.readiness.probe = None;
        let waits = process.readiness.waiter.is_some() && !process.readiness.is_ready;
        if let Some(port) = process.readiness.port.filter(|_| waits && !process.has_ended()) {
            self.ask_place(PlaceAsk::ReadyPort(id.to_owned()), PlaceWish::Port(port));
        }
    }

    /// It is known whether something listens there.
    pub(in crate::world) fn port_seen(&mut self, id: &str, is_taken: bool) {
        let until_ms = self.now_ms + PROBE_MS;
        let Some(process) = self.process(id) else { return };
        let (has_ended, waits) = (process.has_ended(), process.readiness.waiter.is_some());
        if has_ended || !waits {
            return;
        }
        if is_taken {
            return self.process_is_ready(id);
        }
        let due = Purpose::Alongside(Due::Process(id.to_owned(), Step::Probe));
        let probe = self.named_effect(due, Effect::Wait { until_ms });
        if let Some(process) = self.process_mut(id) {
            process.readiness.probe = Some(probe);
        }
    }

    pub(super) fn process_is_ready(&mut self, id: &str) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id) else { return };
        process.readiness.is_ready = true;
        let info = &mut process.info;
        info["ready"] = json!(true);
        info["status"] = json!("ready");
        info["time"]["updated"] = json!(now);
        if let Some(port) = process.readiness.port {
            process.info["ports"] = json!([port]);
        }
        let waiter = process.readiness.take_waiter();
        let due: Vec<EffectId> = process.readiness.due().collect();
        due.into_iter().for_each(|effect| self.forget_effect(effect));
        self.tell_process(id);
        if let Some(waiter) = waiter {
            self.process_settled(&waiter, id);
        }
    }

    /// Whoever waits has waited long enough; the program goes on.
    pub(super) fn not_ready_in_time(&mut self, id: &str) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id) else { return };
        let waiter = process.readiness.take_waiter();
        if process.info["status"] == "starting" {
            process.info["status"] = json!("running");
            process.info["time"]["updated"] = json!(now);
            self.tell_process(id);
        }
        if let Some(waiter) = waiter {
            self.process_settled(&waiter, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::no_pattern;

    #[test]
    fn why_a_pattern_is_none_is_said_in_the_servers_words() {
        let said = |pattern: &str| {
            no_pattern(pattern)
                .map(|why| why.replace("Invalid ready pattern: Invalid regular expression: ", ""))
        };
        assert_eq!(said("Local: (?!x)"), None);
        assert_eq!(said("("), Some("missing )".to_owned()));
        assert_eq!(said(")"), Some("unmatched parentheses".to_owned()));
        assert_eq!(said("[a"), Some("missing terminating ] for character class".to_owned()));
        assert_eq!(said("*a"), Some("nothing to repeat".to_owned()));
        assert_eq!(said("a\\"), Some("\\ at end of pattern".to_owned()));
    }
}
