//! What the models have used in a session and all that belong to it: its ancestors' whole offspring.

use super::World;
use super::tokens::Tokens;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a model has used.
#[derive(Default, Clone, Copy)]
struct Use {
    steps: u64,
    tokens: Tokens,
}

impl Use {
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.tokens.add(other.tokens);
    }

    fn wire(self) -> Value {
        json!({"steps": self.steps, "cost": self.tokens.wire_cost(), "tokens": self.tokens.wire()})
    }
}

impl World {
    /// What a session and its family have used; the dearest model first.
    pub(super) fn model_usage(&self, session: &str) -> Value {
        let mut family = vec![self.oldest_ancestor(session)];
        let mut at = 0;
        while let Some(parent) = family.get(at).cloned() {
            family.extend(self.children_of(&parent));
            at += 1;
        }
        family.sort();
        let mut by_model: BTreeMap<(String, String), Use> = BTreeMap::new();
        for session in family.iter().filter_map(|id| self.sessions.get(id)) {
            for message in session.messages.iter().filter(|message| message.role() == "assistant") {
                for part in message.parts.iter().filter(|part| part["type"] == "step-finish") {
                    let name = |key: &str| {
                        part["model"][key].as_str().or_else(|| message.info[key].as_str()).map(str::to_owned)
                    };
                    if let (Some(provider), Some(model)) = (name("providerID"), name("modelID")) {
                        let used = Use { steps: 1, tokens: Tokens::of_part(part) };
                        by_model.entry((provider, model)).or_default().add(used);
                    }
                }
            }
        }
        let mut totals = Use::default();
        by_model.values().for_each(|used| totals.add(*used));
        let mut models: Vec<_> = by_model.into_iter().collect();
        models.sort_by(|(_, a), (_, b)| b.tokens.cost().total_cmp(&a.tokens.cost()));
        let told = models.into_iter().map(|((provider, model), used)| {
            let mut told = json!({"providerID": provider, "modelID": model});
            super::session::merge(&mut told, used.wire());
            told
        });
        json!({"sessionIDs": family, "totals": totals.wire(), "models": told.collect::<Vec<_>>()})
    }

    fn oldest_ancestor(&self, session: &str) -> String {
        let mut oldest = session.to_owned();
        while let Some(parent) = self.sessions.get(&oldest).and_then(|session| session.parent.clone()) {
            if !self.knows_session(&parent) {
                break;
            }
            oldest = parent;
        }
        oldest
    }
}
