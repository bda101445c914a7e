//! What is no agent: here features by name alone, which go on whatever becomes of the server and of the flag.

use super::channel::Phase;
use super::core::Core;
use crate::protocol::{Backend, Id, PlatformFeatures};

/// What the client has beside the agent.
const FEATURES: [&str; 3] = ["autocomplete", "code-actions", "commit-messages"];

impl Core {
    pub(super) fn platform_features(&mut self, id: Id) {
        let features = &self.strategies.features;
        let has_server = self.channels.values().any(|channel| matches!(channel.phase, Phase::Live));
        let lacks_server = features.need_the_server() && !has_server;
        let lacks_flag = features.go_with_the_flag() && self.settings.backend == Backend::Local;
        let works = |name: &&str| ((*name).to_owned(), !lacks_server && !lacks_flag);
        let features = FEATURES.iter().map(works).collect();
        self.answer(id, PlatformFeatures { features });
    }
}
