//! Clients that know what they should, and show it wrongly.

mod adds_reload_behind;
mod adds_up_output;
mod asks_blankly_after_a_gap;
mod calls_itself_connected;
mod clears_todos_at_prompts;
mod closes_what_was_asked;
mod commands_done_at_once;
mod cuts_outputs;
mod deaf_after_a_failure;
mod deaf_after_a_stop;
mod deaf_once_stopped;
mod forgets_todos;
mod keeps_trying_silently;
mod logs_short_secrets;
mod logs_what_is_said;
mod logs_without_task;
mod piles_up_todos;
mod redraws_for_every_piece;
mod says_offline_and_no_end;
mod tells_errors_as_objects;
mod tells_no_images_of_its_own;
mod times_nothing;

use super::Mutant;

/// In the order of their names.
pub(super) const ALL: &[Mutant] = &[
    adds_reload_behind::MUTANT,
    adds_up_output::MUTANT,
    asks_blankly_after_a_gap::MUTANT,
    calls_itself_connected::MUTANT,
    clears_todos_at_prompts::MUTANT,
    closes_what_was_asked::MUTANT,
    commands_done_at_once::MUTANT,
    cuts_outputs::MUTANT,
    deaf_after_a_failure::MUTANT,
    deaf_after_a_stop::MUTANT,
    deaf_once_stopped::MUTANT,
    forgets_todos::MUTANT,
    keeps_trying_silently::MUTANT,
    logs_short_secrets::MUTANT,
    logs_what_is_said::MUTANT,
    logs_without_task::MUTANT,
    piles_up_todos::MUTANT,
    redraws_for_every_piece::MUTANT,
    says_offline_and_no_end::MUTANT,
    tells_errors_as_objects::MUTANT,
    tells_no_images_of_its_own::MUTANT,
    times_nothing::MUTANT,
];
