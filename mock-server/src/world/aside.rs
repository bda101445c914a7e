//! What the model is asked beside the work: a session's title, and words that a person wants. No history keeps it. A
//! provider that refuses for the moment is asked again, as often as the servers do for each.

use super::refusal::{CLOSED, Told, UNREACHABLE};
use super::words::{WordsKind, WordsWish};
use super::{Effect, EffectId, ModelFailure, Output, Purpose, World};
use crate::model::{ChatRequest, Delta};

/// How long a provider is left alone after its first refusal; after each further one twice as long.
const FIRST_WAIT_MS: u64 = 2_000;
/// A provider that wants to be left alone for longer than that is not listened to.
const LONGEST_WAIT_MS: u64 = 60_000;

/// A question to the model, and what has been said so far.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) wanted: Wanted,
    request: ChatRequest,
    said: String,
    /// How often it was refused.
    refused: u32,
}

/// What the answer is for.
#[derive(Debug)]
pub(super) enum Wanted {
    /// The title of a session.
    Title(String),
    /// Words for a person.
    Words(WordsWish),
}

impl Wanted {
    /// How often it is asked for again.
    fn retries(&self) -> u32 {
        match self {
            Self::Title(_) => 2,
            Self::Words(wish) => wish.kind.retries(),
        }
    }

    fn is_awaited_whole(&self) -> bool {
        matches!(self, Self::Words(WordsWish { kind: WordsKind::Prompt, .. }))
    }
}

impl World {
    pub(super) fn ask_aside(&mut self, wanted: Wanted, request: ChatRequest) {
        let aside = Aside { wanted, request, said: String::new(), refused: 0 };
        self.ask_aside_again(aside);
    }

    pub(super) fn ask_aside_again(&mut self, aside: Aside) {
        let ask = Effect::AskModel(aside.request.clone());
        self.effect(Purpose::Aside(Box::new(Aside { said: String::new(), ..aside })), ask);
    }

    /// The model says something of it.
    pub(super) fn aside_said(&mut self, effect: EffectId, delta: &Delta) {
        match (delta, self.waiting.get_mut(&effect)) {
            (Delta::Text(text), Some(Purpose::Aside(aside))) => aside.said.push_str(text),
            (Delta::Finish { .. }, Some(Purpose::Aside(_))) => {
                let Some(Purpose::Aside(aside)) = self.waiting.remove(&effect) else { return };
                self.aside_ended(&aside);
            }
            _ => {}
        }
    }

    fn aside_ended(&mut self, aside: &Aside) {
        match &aside.wanted {
            Wanted::Title(session) => self.title_found(session, &aside.said),
            Wanted::Words(wish) => self.words_found(wish, &aside.said),
        }
    }

    /// The answer does not come, or not whole.
    pub(super) fn aside_failed(&mut self, mut aside: Aside, failure: &ModelFailure) {
        let told = match failure {
            ModelFailure::Refused(refusal) => Told::of_refusal(self.profile, refusal),
            ModelFailure::NoAnswer(url) => Told::of_no_answer(url, CLOSED),
            ModelFailure::Unreachable(url) => Told::of_no_answer(url, UNREACHABLE),
            // What ends as if that were all is all, unless it comes as a whole.
            ModelFailure::Unfinished(_) if !aside.wanted.is_awaited_whole() => {
                return self.aside_ended(&aside);
            }
            _ => Told::of_cut_off(),
        };
        let is_refused = matches!(
            failure,
            ModelFailure::Refused(_) | ModelFailure::NoAnswer(_) | ModelFailure::Unreachable(_)
        );
        let may_come = is_refused && told.error["data"]["isRetryable"] == true;
        if may_come && aside.refused < aside.wanted.retries() {
            let usual = FIRST_WAIT_MS << aside.refused;
            let wished = told.wait_ms.filter(|wait| *wait < LONGEST_WAIT_MS.max(usual));
            aside.refused += 1;
            let until_ms = self.now_ms + wished.unwrap_or(usual);
            return self.effect(Purpose::AsideAgain(Box::new(aside)), Effect::Wait { until_ms });
        }
        if let Wanted::Words(wish) = &aside.wanted {
            let why = told.error["data"]["message"].as_str().unwrap_or_default();
            let tries = aside.refused + 1;
            let why = match (aside.refused, may_come) {
                (0, _) => why.to_owned(),
                (_, true) => format!("Failed after {tries} attempts. Last error: {why}"),
                (_, false) => format!("Failed after {tries} attempts with non-retryable error: '{why}'"),
            };
            self.words_missed(wish, &why);
        }
    }

    /// What waits for this comes no more.
    pub(super) fn drop_waiting(&mut self, is_meant: impl Fn(&Purpose) -> bool) {
        let meant = self.waiting.iter().filter(|(_, purpose)| is_meant(purpose));
        for id in meant.map(|(id, _)| *id).collect::<Vec<EffectId>>() {
            self.waiting.remove(&id);
            self.outputs.push(Output::Drop(id));
        }
    }
}
