//! The server ends and starts again over what it has kept: sessions as far as they were told, settings and keys. What
//! ran is gone, and nobody tells of it: a step stays without an end, a call stays as it was.

use super::alongside::Alongside;
use super::consent::Standing;
use super::permission::Pending;
use super::{Output, World, WorldConfig};
use crate::performer::Asked;
use fixtures::fault_plan::During;
use serde_json::{Map, Value, json};

impl World {
    /// As if it had never been there; ids go on.
    pub(super) fn forget(&mut self) {
        self.restart(false);
        let config = WorldConfig { kept: Map::new(), ..self.config.clone() };
        let mut fresh = Self::new(self.profile, config);
        std::mem::swap(&mut fresh.ids, &mut self.ids);
        fresh.next_effect = self.next_effect;
        fresh.keeping = self.unkept();
        fresh.now_ms = self.now_ms;
        fresh.outputs = std::mem::take(&mut self.outputs);
        *self = fresh;
    }

    /// Does this go on?
    pub(crate) fn holds(&self, during: During) -> bool {
        match during {
            During::PermissionPending => !self.permissions.pending.is_empty(),
            During::QuestionPending => !self.questions.is_empty(),
            During::Busy => self.sessions.values().any(|session| session.run.is_some()),
        }
    }

    /// The permissions that are asked for, the oldest first.
    pub(crate) fn asks(&self) -> Vec<Asked> {
        let asked = |pending: &Pending| {
            let session = self.sessions.get(&pending.session)?;
            Some(Asked { id: pending.id.clone(), directory: session.directory.clone() })
        };
        self.permissions.pending.iter().filter_map(asked).collect()
    }

    /// What stands under all settings when the server has started again after these rules were given.
    pub(super) fn kept_settings(&self, allowed: &[Standing]) -> Map<String, Value> {
        let mut kept = self.config.kept.clone();
        if self.profile.keeps_rules {
            let rules = kept.entry("permission").or_insert_with(|| json!({}));
            for Standing { rule, .. } in allowed {
                rules[&rule.permission][&rule.pattern] = json!(rule.action.word());
            }
        }
        kept
    }

    pub(super) fn restart(&mut self, is_asked: bool) {
        let says_goodbye = is_asked && self.profile.says_goodbye;
        if says_goodbye {
            self.dispose_all();
        }
        for effect in std::mem::take(&mut self.waiting).into_keys() {
            self.outputs.push(Output::Drop(effect));
        }
        self.links.clear();
        self.alongside = Alongside::default();
        self.instances.clear();
        self.obstacles.clear();
        self.next_files.clear();
        self.booted.clear();
        self.booted_next.clear();
        for session in self.sessions.values_mut() {
            session.run = None;
            session.queue.clear();
        }
        self.questions.clear();
        self.network_waits.clear();
        let allowed = self.permissions.start_again();
        self.config.kept = self.kept_settings(&allowed);
        self.grammar_from_ms = None;
        self.abroad.clear();
        self.old_files.insert(self.config.directory.clone());
        self.outputs.push(Output::HangUp { politely: says_goodbye });
    }
}
