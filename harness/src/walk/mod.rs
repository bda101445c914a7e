//! A random walk: what no scenario thinks of. A seed makes a person who prompts, forks, reverts, renames, deletes and
//! misspells, in any order; the walk is a scenario, so a real server and the stand-in can both perform it, and a
//! difference can be looked at again.
//!
//! * `person` — which steps there are, and which are possible now.

mod person;

use fixtures::FileError;
use fixtures::scenario::Scenario;
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
    /// The walk of this seed, of about so many steps.
    pub fn of(seed: u64, steps: usize) -> Result<Self, FileError> {
        let name = format!("walk/{seed}");
        let text = Person::new(seed).walk(steps);
        let scenario = Scenario::parse(Path::new(&format!("{name}.toml")), &text)?;
        Ok(Self { name, text, scenario })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_walk_is_a_scenario_and_a_seed_is_one_walk() {
        for seed in 0..200 {
            let walk = Walk::of(seed, 40).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert!(walk.scenario.user.steps.len() >= 40, "seed {seed}");
            assert_eq!(walk.text, Walk::of(seed, 40).unwrap().text);
        }
        assert_ne!(Walk::of(1, 40).unwrap().text, Walk::of(2, 40).unwrap().text);
    }
}
