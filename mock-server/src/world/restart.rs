//! The server ends and starts again over what it has kept: sessions as far as they were told, settings and keys. What
//! ran is gone, and nobody tells of it: a step stays without an end, a call stays as it was.

use super::{Output, World};
use serde_json::json;

impl World {
    pub(super) fn restart(&mut self, is_asked: bool) {
        let says_goodbye = is_asked && self.profile.says_goodbye;
        if says_goodbye {
            self.dispose_all();
        }
        for effect in std::mem::take(&mut self.waiting).into_keys() {
            self.outputs.push(Output::Drop(effect));
        }
        self.links.clear();
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
        let allowed = self.permissions.start_again();
        if self.profile.keeps_rules {
            let rules = self.config.kept.entry("permission").or_insert_with(|| json!({}));
            for rule in allowed {
                rules[rule.permission][rule.pattern] = json!(rule.action.word());
            }
        }
        self.shell_is_warm = false;
        self.has_old_files = true;
        self.outputs.push(Output::HangUp { politely: says_goodbye });
    }
}
