//! Prompts on their way: a real server takes a moment before it begins with one, in which a client that listens only
//! when it has prompted still comes in time. The stand-in's moment is as long as its model's pause.

use super::Engine;
use crate::performer::Act;
use crate::world::{ApiRequest, Input};
use std::collections::VecDeque;

/// What begins a turn.
const TURNS: &[&str] = &["message", "prompt_async", "command", "shell", "init", "summarize"];

/// From here on a number is that of a prompt and not of an effect.
const FIRST: u64 = 1 << 63;

fn begins_a_turn(request: &ApiRequest) -> bool {
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    matches!(segments[..], ["session", _, last] if request.method == "POST" && TURNS.contains(&last))
}

impl Engine {
    /// Takes a request, or lets a prompt wait for its moment. Nothing that may change something overtakes a prompt.
    pub(super) fn take_in_time(&mut self, request: ApiRequest, now: &dyn Fn() -> u64) -> Vec<Act> {
        let mut inputs = VecDeque::new();
        if request.method != "GET" {
            inputs.extend(std::mem::take(&mut self.coming).into_values().map(Input::Request));
        }
        if self.model_pause_ms == 0 || !begins_a_turn(&request) {
            inputs.push_back(Input::Request(request));
            return self.settle(inputs, now);
        }
        let mut acts = if inputs.is_empty() { Vec::new() } else { self.settle(inputs, now) };
        let number = FIRST + self.prompts;
        self.prompts += 1;
        self.coming.insert(number, request);
        acts.push(Act::WakeAt(now() + self.model_pause_ms, number));
        acts
    }

    /// Begins with a prompt whose moment is over; none if that is not what the wait was for.
    pub(super) fn moment_over(&mut self, number: u64, now: &dyn Fn() -> u64) -> Option<Vec<Act>> {
        if number < FIRST {
            return None;
        }
        // Something has begun it already when it is not there.
        let request = self.coming.remove(&number).map(Input::Request);
        Some(self.settle(request.into_iter().collect(), now))
    }
}

#[cfg(test)]
mod tests;
