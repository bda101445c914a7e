//! Clients that answer wrongly what the agent asks, in the person's place or for them.

mod allows_the_first;
mod always_says_yes;
mod answers_in_main_folder;
mod answers_permission_twice;
mod answers_questions_in_main_folder;
mod answers_until_told;
mod approves_and_asks;
mod approves_at_once;
mod approves_everything;
mod approves_for_ever;
mod asks_twice;
mod asks_without_tools;
mod cannot_be_held;
mod forgets_holds_in_a_gap;
mod forgets_its_rules;
mod never_suggests;
mod rules_outlive_a_stop;
mod rules_outlive_an_error;
mod sends_a_bare_no;
mod stops_at_a_failure;
mod suggests_at_once;
mod suggests_the_first_alone;
mod suggests_while_typing;

use super::Mutant;

/// In the order of their names.
pub(super) const ALL: &[Mutant] = &[
    allows_the_first::MUTANT,
    always_says_yes::MUTANT,
    answers_in_main_folder::MUTANT,
    answers_permission_twice::MUTANT,
    answers_questions_in_main_folder::MUTANT,
    answers_until_told::MUTANT,
    approves_and_asks::MUTANT,
    approves_at_once::MUTANT,
    approves_everything::MUTANT,
    approves_for_ever::MUTANT,
    asks_twice::MUTANT,
    asks_without_tools::MUTANT,
    cannot_be_held::MUTANT,
    forgets_holds_in_a_gap::MUTANT,
    forgets_its_rules::MUTANT,
    never_suggests::MUTANT,
    rules_outlive_a_stop::MUTANT,
    rules_outlive_an_error::MUTANT,
    sends_a_bare_no::MUTANT,
    stops_at_a_failure::MUTANT,
    suggests_at_once::MUTANT,
    suggests_the_first_alone::MUTANT,
    suggests_while_typing::MUTANT,
];
