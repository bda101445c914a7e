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
    /// What the answers of a session have cost, with what they have given away.
    pub(crate) fn spent_in(&self, session: &str) -> f64 {
        let messages = self.sessions.get(session).map(|owner| owner.messages.as_slice()).unwrap_or_default();
        messages.iter().filter_map(|message| message.info.get("cost")?.as_f64()).sum()
    }

    /// What another agent's work has cost is charged to the message that gave it away, where a server does so.
    pub(crate) fn charge(&mut self, session: &str, child: &str, before: f64) {
        let cost = self.spent_in(child) - before;
        if !self.profile.charges_giver || cost <= 0.0 {
            return;
        }
        let Some(message) = self.run_mut(session).map(|run| run.message.clone()) else { return };
        let Some(giver) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message)) else {
            return;
        };
        giver.info["cost"] = json!(giver.info["cost"].as_f64().unwrap_or_default() + cost);
        self.emit_message(session, &message);
    }

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
