//! A random walk: what no scenario thinks of. A seed makes a person who prompts, forks, reverts, renames, deletes and
//! misspells, in any order; the walk is a scenario, so a real server and the stand-in can both perform it, and a
//! difference can be looked at again.
//!
//! * `person` — what the person knows, and how a step is written; `agent` — what can be said to the agent.
//! * `steps` — which steps there are: `turns` let somebody work, `changes` change what is there, `reads` do not.

mod agent;
mod changes;
mod person;
mod reads;
mod steps;
mod turns;

use fixtures::scenario::Scenario;
use fixtures::{FileError, ServerKind};
use person::Person;
use std::path::Path;

/// A walk.
#[derive(Debug, Clone)]
pub struct Walk {
    /// What it is called.
    pub name: String,
    /// The text of its scenario.
    pub text: String,
    /// Its scenario.
    pub scenario: Scenario,
}

impl Walk {
    /// The walk of this seed with this server, of about so many steps.
    pub fn of(seed: u64, steps: usize, server: ServerKind) -> Result<Self, FileError> {
        let name = format!("walk/{seed}");
        let text = Person::new(seed, server).walk(steps);
        let scenario = Scenario::parse(Path::new(&format!("{name}.toml")), &text)?;
        Ok(Self { name, text, scenario })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_walk_is_a_scenario_and_a_seed_is_one_walk() {
        let of = |seed| Walk::of(seed, 40, ServerKind::ALL[usize::from(seed % 2 == 0)]);
        for seed in 0..200 {
            let walk = of(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!(walk.scenario.user.steps.len() >= 40, "seed {seed}");
            assert_eq!(walk.text, of(seed).unwrap().text);
        }
        assert_ne!(of(1).unwrap().text, of(3).unwrap().text);
    }
}
