//! The model is asked: a script of this process, or one at an address.

use super::{Engine, Mind};
use crate::model::{Beat, ChatRequest, Delta, Reply};
use crate::performer::Act;
use crate::world::{EffectId, Input, ModelFailure};
use fixtures::recording::ModelCall;
use fixtures::scenario::BreakOff;
use std::collections::VecDeque;

impl Engine {
    pub(super) fn ask(
        &mut self,
        id: EffectId,
        mut request: ChatRequest,
        now_ms: u64,
        queue: &mut VecDeque<Input>,
        acts: &mut Vec<Act>,
    ) {
        let answer = match &mut self.mind {
            Mind::Script(script) => script.answer(&request),
            Mind::Remote { url, .. } => {
                let answered = format!("the model at {url}");
                acts.push(Act::Asked(Box::new(self.model_call(&request, answered))));
                self.pages.exhibits.define(&request.tools, &mut request.definitions);
                request.name_helpers();
                acts.push(Act::Ask(id, request));
                self.answering.insert(id);
                return;
            }
        };
        acts.push(Act::Asked(Box::new(self.model_call(&request, answer.answered))));
        match answer.reply {
            Reply::Beats(beats) if breaks_off_unsent(&beats) => {
                queue.push_back(Input::ModelFailed(id, ModelFailure::no_answer()));
            }
            Reply::Beats(beats) => {
                queue.push_back(Input::Model(id, Delta::BEGIN));
                self.play(id, beats.into(), queue);
            }
            Reply::Refused(fail) => {
                queue.push_back(Input::ModelFailed(id, ModelFailure::refused(&fail, now_ms)));
            }
            Reply::Unscripted(why) => {
                queue.push_back(Input::ModelFailed(id, ModelFailure::unscripted(&why, now_ms)));
            }
        }
    }

    fn model_call(&mut self, request: &ChatRequest, answered: String) -> ModelCall {
        self.model_calls += 1;
        ModelCall {
            at_us: 0,
            call: self.model_calls,
            purpose: request.purpose(),
            messages: request.reduced_messages(),
            tools: request.tools.clone(),
            terms: Some(request.terms.clone()),
            answered,
        }
    }
}

/// What breaks off before anything else has to be waited for is never sent over HTTP.
fn breaks_off_unsent(beats: &[Beat]) -> bool {
    let waits = |beat: &Beat| matches!(beat, Beat::Gate(_));
    let is_broken = matches!(beats.last(), Some(Beat::BreakOff(BreakOff::Truncated | BreakOff::Reset)));
    is_broken && !beats.iter().any(waits)
}

#[cfg(test)]
mod tests;
