//! Who was gathered lately. A server that starts again in the same place, as in the thousands of runs of a sweep, has the
//! same agents: to put their rules together once more is a third of what such a run costs.

use super::{Agent, Agents, Places};
use fixtures::ServerKind;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// So many are remembered, the latest.
const MOST: usize = 16;

static KNOWN: Mutex<VecDeque<Known>> = Mutex::new(VecDeque::new());

/// All that decides who there is, and who there is.
struct Known {
    server: ServerKind,
    /// In words, since the order of rules decides.
    settings: String,
    places: Places,
    all: Arc<[Agent]>,
}

/// Those who work with these settings in these places.
pub(super) fn known(agents: &Agents) -> Arc<[Agent]> {
    let (server, settings) = (agents.profile.server, Value::Object(agents.settings.clone()).to_string());
    let is_it =
        |known: &Known| (known.server, &known.places, &known.settings) == (server, &agents.places, &settings);
    let lately = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lately().iter().find(|known| is_it(known)) {
        return known.all.clone();
    }
    let all: Arc<[Agent]> = agents.gathered().into();
    let mut lately = lately();
    lately.truncate(MOST - 1);
    lately.push_front(Known { server, settings, places: agents.places.clone(), all: all.clone() });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use serde_json::json;

    fn agents(server: ServerKind, settings: &Value, top: &str) -> Agents {
        let places = Places { top: top.to_owned(), ..Places::default() };
        Agents::new(Profile::of(server), settings.as_object().cloned().unwrap(), places)
    }

    #[test]
    fn who_asks_the_same_gets_the_same_and_who_does_not_gets_its_own() {
        let (plain, other) = (json!({}), json!({"permission": {"bash": "ask", "*": "deny"}}));
        let reordered = json!({"permission": {"*": "deny", "bash": "ask"}});
        let one = known(&agents(ServerKind::Opencode, &plain, "/a"));
        assert!(Arc::ptr_eq(&one, &known(&agents(ServerKind::Opencode, &plain, "/a"))));
        for agents in [
            agents(ServerKind::Kilo, &plain, "/a"),
            agents(ServerKind::Opencode, &other, "/a"),
            agents(ServerKind::Opencode, &reordered, "/a"),
            agents(ServerKind::Opencode, &plain, "/b"),
        ] {
            assert!(!Arc::ptr_eq(&one, &known(&agents)), "{agents:?}");
            let wires = |all: &[Agent]| all.iter().map(|agent| agent.wire().to_string()).collect::<Vec<_>>();
            assert_eq!(wires(&known(&agents)), wires(&agents.gathered()));
        }
    }

    #[test]
    fn only_the_latest_are_remembered() {
        for at in 0..2 * MOST {
            known(&agents(ServerKind::Opencode, &json!({}), &format!("/many/{at}")));
        }
        assert!(KNOWN.lock().unwrap().len() <= MOST);
    }
}
