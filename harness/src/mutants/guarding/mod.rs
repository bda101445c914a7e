//! Clients whose guard lets out what it should not, or in what it should, and who look wrongly at the file of keys.

mod allows_all_blindly;
mod believes_in_new_files;
mod believes_yes;
mod blind_to_links;
mod compares_beginnings;
mod copies_keys;
mod guards_by_prefix;
mod guards_from_the_tasks_folder;
mod guards_single_yeses;
mod keeps_all_out;
mod lets_all_in;
mod looks_at_the_link;
mod minds_readers_alone;
mod quotes_keys;
mod refuses_first;
mod rules_are_blind;
mod tells_case_on_windows;
mod trusts_any_mode;
mod trusts_any_place;
mod warns_always;

use super::Mutant;

/// In the order of their names.
pub(super) const ALL: &[Mutant] = &[
    allows_all_blindly::MUTANT,
    believes_in_new_files::MUTANT,
    believes_yes::MUTANT,
    blind_to_links::MUTANT,
    compares_beginnings::MUTANT,
    copies_keys::MUTANT,
    guards_by_prefix::MUTANT,
    guards_from_the_tasks_folder::MUTANT,
    guards_single_yeses::MUTANT,
    keeps_all_out::MUTANT,
    lets_all_in::MUTANT,
    looks_at_the_link::MUTANT,
    minds_readers_alone::MUTANT,
    quotes_keys::MUTANT,
    refuses_first::MUTANT,
    rules_are_blind::MUTANT,
    tells_case_on_windows::MUTANT,
    trusts_any_mode::MUTANT,
    trusts_any_place::MUTANT,
    warns_always::MUTANT,
];
