//! Clients that get one thing wrong, each as a public client does. A check that no mutant turns red proves nothing.
//!
//! A mutant is the reference adapter with a strategy replaced. To add one: a file, its `mod` and its line in [`all`].

mod all_to_first_task;
mod answers_permission_twice;
mod dies_on_unknown_event;
mod never_reconnects;
mod resume_without_refresh;
mod sessionless_to_all;
mod shows_headless_deltas;
mod shows_permission_again;

use crate::reference::Strategies;

/// A client with one mistake.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// The public mistake that it stands for.
    pub about: &'static str,
    /// The strategies of the reference adapter, one of them replaced.
    pub strategies: fn() -> Strategies,
}

/// All mutants.
#[must_use]
pub fn all() -> Vec<Mutant> {
    vec![
        all_to_first_task::MUTANT,
        answers_permission_twice::MUTANT,
        dies_on_unknown_event::MUTANT,
        never_reconnects::MUTANT,
        resume_without_refresh::MUTANT,
        sessionless_to_all::MUTANT,
        shows_headless_deltas::MUTANT,
        shows_permission_again::MUTANT,
    ]
}

/// The mutant of this name.
#[must_use]
pub fn find(name: &str) -> Option<Mutant> {
    all().into_iter().find(|mutant| mutant.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_mutant_says_what_it_stands_for() {
        let mut names: Vec<_> = all().iter().map(|mutant| mutant.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        assert!(all().iter().all(|mutant| mutant.about.ends_with('.')));
        assert!(find("resume_without_refresh").is_some());
        assert!(find("none").is_none());
    }
}
