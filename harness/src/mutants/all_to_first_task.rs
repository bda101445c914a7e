//! Shows whatever comes on the stream, as a client does that has one conversation in mind: the stream carries the
//! events of all sessions of the folder, those of other windows among them.

use super::Mutant;
use crate::reference::strategy::{Routing, Strategies};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "all_to_first_task",
    about: "Shows the events of every session in its first task, as clients do that forget that others share the \
            server (opencode#38008).",
    strategies: || Strategies { routing: Box::new(ToFirst), ..Strategies::default() },
};

struct ToFirst;

impl Routing for ToFirst {
    fn sessions_of(&self, _event: &Value, ours: &[&str]) -> Vec<String> {
        ours.iter().take(1).map(|&first| first.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_two_tasks_the_first_gets_everything() {
        let of_the_second = json!({ "type": "session.idle", "properties": { "sessionID": "ses_2" } });
        assert_eq!(ToFirst.sessions_of(&of_the_second, &["ses_1", "ses_2"]), ["ses_1"]);
    }
}
