//! Clients that get one thing wrong, each as a public client does. A check that no mutant turns red proves nothing.
//!
//! A mutant is the reference adapter with a strategy replaced. To add one: a file, its `mod` and its line in `ALL`; one that
//! knows all and shows it wrongly goes to [`shown`], one that starts and ends its server wrongly to [`living`], one whose guard of
//! paths or look at keys is wrong to [`guarding`], one that answers what is asked wrongly to [`answering`].

mod absent_stays_busy;
mod adds_behind_a_gap;
mod adds_behind_the_end;
mod adds_delta_beside;
mod adds_tools_silently;
mod all_to_first_task;
mod answering;
mod any_error_ends;
mod any_idle_ends;
mod arms_asides;
mod asks_a_refuser_again;
mod asks_aside_elsewhere;
mod asks_aside_in_the_task;
mod asks_for_all;
mod asks_for_another_session;
mod asks_for_something;
mod asks_from_a_page;
mod asks_of_the_main_folder;
mod asks_the_first;
mod bears_lost_questions;
mod believes_in_sending;
mod brings_old_words;
mod by_id_alone;
mod calls_all_connected;
mod calls_all_edits;
mod calls_all_ends_good;
mod calls_go_back;
mod calls_unread_unchanged;
mod caps_what_is_asked;
mod changed_words;
mod children;
mod closes_all;
mod closes_stream_with_task;
mod closes_whoever_asks;
mod copies_all;
mod counts_kinds;
mod counts_no_dates;
mod counts_wrong;
mod cuts_locales;
mod deaf_retry;
mod deaf_to_comments;
mod deaf_to_others;
mod decodes_each_chunk;
mod deltas_only;
mod dies_on_unknown_event;
mod draws_every_piece;
mod draws_seldom;
mod edits_all_the_same;
mod edits_at_work;
mod edits_behind;
mod edits_by_halves;
mod edits_images_away;
mod ends_a_line_at_a_separator;
mod ends_a_line_twice;
mod ends_all_well;
mod ends_no_line_at_a_return;
mod fails_always;
mod fails_open;
mod fails_silently;
mod fails_together;
mod fails_twice;
mod fails_with_its_child;
mod fetches_the_last;
mod forgets_early_deltas;
mod forgets_images;
mod gathers_images;
mod gives_up_on_prompts;
mod goes_back_elsewhere;
mod goes_back_too_little;
mod goes_on_after_closing;
mod goes_on_in_old_session;
mod goes_with_the_flag;
mod guarding;
mod hammers;
mod hammers_where_forbidden;
mod hears_only;
mod hears_the_first_line;
mod hides_all_at_once;
mod hides_before_answer;
mod hides_changes_without_lines;
mod hides_foreign_tools;
mod hides_questions_before_answer;
mod hides_refused_stops;
mod hides_unknown_parts;
mod hides_work;
mod highest_id_only;
mod ignores_the_flag;
mod ignores_unknown;
mod impatient;
mod infinitely_patient;
mod keeps_input_open;
mod keeps_old_changes;
mod keeps_own_tool_servers;
mod keeps_stale_question;
mod keeps_the_mark;
mod keeps_the_old_screen;
mod keeps_what_is_removed;
mod knows_eight;
mod knows_its_kinds;
mod knows_only_newlines;
mod leaves_asides;
mod leaves_failed_asides;
mod leaves_process_empty;
mod leaves_streams_open;
mod living;
mod loads_own_questions_alone;
mod loads_the_last_twenty;
mod loads_what_was_taken_back;
mod logs_bare_lines;
mod logs_elsewhere;
mod logs_payloads;
mod migrates_old_talks;
mod minds_dialogs_alone;
mod never_reconnects;
mod no_backoff;
mod no_watchdog;
mod offers_a_browser;
mod offers_a_process;
mod offers_leave_without_tools;
mod only_hides_dialogs;
mod own_sessions_only;
mod passes_locales_on;
mod piles_up_changes;
mod pretends_to_stop;
mod prints_unknown_parts;
mod reads_all_as_data;
mod reads_escapes;
mod resume_without_refresh;
mod retries_without_a_stream;
mod says_process_zero;
mod sends_again;
mod sends_empty_words;
mod sends_images_again;
mod sends_names_of_images;
mod sends_one_image;
mod sends_refused_images;
mod sessionless_to_all;
mod shown;
mod shows_a_part;
mod shows_changes_of_others;
mod shows_closed_tasks;
mod shows_headless_deltas;
mod shows_images_backwards;
mod shows_one_image;
mod shows_patches_alone;
mod shows_permission_again;
mod shows_progress_as_words;
mod shows_todos_of_a_child;
mod shows_todos_of_all;
mod shows_unknown;
mod shows_while_loading;
mod skips_nameless;
mod stops_at_the_flag;
mod stops_before_the_server;
mod stops_the_last;
mod stops_with_the_server;
mod swaps_counts;
mod takes_all_events;
mod takes_any_field;
mod takes_any_status;
mod takes_retry_for_rest;
mod takes_unknown_for_agents;
mod thoughts_as_words;
mod tidies_code;
mod trusts_any_shape;
mod trusts_names;
mod waits_for_echo;
mod waits_for_ever;
mod waits_for_every_answer;
mod writes_folders_once;
mod writes_folders_raw;

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

/// In the order of their names, but for those of [`answering`], [`guarding`], [`living`] and [`shown`].
const ALL: &[Mutant] = &[
    absent_stays_busy::MUTANT,
    adds_behind_a_gap::MUTANT,
    adds_behind_the_end::MUTANT,
    adds_delta_beside::MUTANT,
    adds_tools_silently::MUTANT,
    all_to_first_task::MUTANT,
    any_error_ends::MUTANT,
    any_idle_ends::MUTANT,
    arms_asides::MUTANT,
    asks_a_refuser_again::MUTANT,
    asks_aside_elsewhere::MUTANT,
    asks_aside_in_the_task::MUTANT,
    asks_for_all::MUTANT,
    asks_for_another_session::MUTANT,
    asks_for_something::MUTANT,
    asks_from_a_page::MUTANT,
    asks_of_the_main_folder::MUTANT,
    asks_the_first::MUTANT,
    bears_lost_questions::MUTANT,
    believes_in_sending::MUTANT,
    brings_old_words::MUTANT,
    by_id_alone::MUTANT,
    calls_all_connected::MUTANT,
    calls_all_edits::MUTANT,
    calls_all_ends_good::MUTANT,
    calls_go_back::MUTANT,
    calls_unread_unchanged::MUTANT,
    caps_what_is_asked::MUTANT,
    closes_all::MUTANT,
    closes_stream_with_task::MUTANT,
    closes_whoever_asks::MUTANT,
    copies_all::MUTANT,
    counts_kinds::MUTANT,
    counts_no_dates::MUTANT,
    counts_wrong::MUTANT,
    cuts_locales::MUTANT,
    deaf_retry::MUTANT,
    deaf_to_comments::MUTANT,
    deaf_to_others::MUTANT,
    decodes_each_chunk::MUTANT,
    deltas_only::MUTANT,
    dies_on_unknown_event::MUTANT,
    draws_every_piece::MUTANT,
    draws_seldom::MUTANT,
    edits_all_the_same::MUTANT,
    edits_at_work::MUTANT,
    edits_behind::MUTANT,
    edits_by_halves::MUTANT,
    edits_images_away::MUTANT,
    ends_a_line_at_a_separator::MUTANT,
    ends_a_line_twice::MUTANT,
    ends_all_well::MUTANT,
    ends_no_line_at_a_return::MUTANT,
    fails_always::MUTANT,
    fails_open::MUTANT,
    fails_silently::MUTANT,
    fails_together::MUTANT,
    fails_twice::MUTANT,
    fails_with_its_child::MUTANT,
    fetches_the_last::MUTANT,
    forgets_early_deltas::MUTANT,
    forgets_images::MUTANT,
    gathers_images::MUTANT,
    gives_up_on_prompts::MUTANT,
    goes_back_elsewhere::MUTANT,
    goes_back_too_little::MUTANT,
    goes_on_after_closing::MUTANT,
    goes_on_in_old_session::MUTANT,
    goes_with_the_flag::MUTANT,
    hammers::MUTANT,
    hammers_where_forbidden::MUTANT,
    hears_the_first_line::MUTANT,
    hides_all_at_once::MUTANT,
    hides_before_answer::MUTANT,
    hides_changes_without_lines::MUTANT,
    hides_foreign_tools::MUTANT,
    hides_questions_before_answer::MUTANT,
    hides_refused_stops::MUTANT,
    hides_unknown_parts::MUTANT,
    hides_work::MUTANT,
    highest_id_only::MUTANT,
    ignores_the_flag::MUTANT,
    ignores_unknown::MUTANT,
    impatient::MUTANT,
    infinitely_patient::MUTANT,
    keeps_input_open::MUTANT,
    keeps_old_changes::MUTANT,
    keeps_own_tool_servers::MUTANT,
    keeps_stale_question::MUTANT,
    keeps_the_mark::MUTANT,
    keeps_the_old_screen::MUTANT,
    keeps_what_is_removed::MUTANT,
    knows_eight::MUTANT,
    knows_its_kinds::MUTANT,
    knows_only_newlines::MUTANT,
    leaves_asides::MUTANT,
    leaves_failed_asides::MUTANT,
    leaves_process_empty::MUTANT,
    leaves_streams_open::MUTANT,
    loads_own_questions_alone::MUTANT,
    loads_the_last_twenty::MUTANT,
    loads_what_was_taken_back::MUTANT,
    logs_bare_lines::MUTANT,
    logs_elsewhere::MUTANT,
    logs_payloads::MUTANT,
    migrates_old_talks::MUTANT,
    minds_dialogs_alone::MUTANT,
    never_reconnects::MUTANT,
    no_backoff::MUTANT,
    no_watchdog::MUTANT,
    offers_a_browser::MUTANT,
    offers_a_process::MUTANT,
    offers_leave_without_tools::MUTANT,
    only_hides_dialogs::MUTANT,
    own_sessions_only::MUTANT,
    passes_locales_on::MUTANT,
    piles_up_changes::MUTANT,
    pretends_to_stop::MUTANT,
    prints_unknown_parts::MUTANT,
    reads_all_as_data::MUTANT,
    reads_escapes::MUTANT,
    resume_without_refresh::MUTANT,
    retries_without_a_stream::MUTANT,
    says_process_zero::MUTANT,
    sends_again::MUTANT,
    changed_words::STRIPS,
    changed_words::ESCAPES,
    changed_words::FIRST_LINE,
    changed_words::ASCII,
    sends_empty_words::MUTANT,
    sends_images_again::MUTANT,
    sends_names_of_images::MUTANT,
    sends_one_image::MUTANT,
    sends_refused_images::MUTANT,
    sessionless_to_all::MUTANT,
    shows_a_part::MUTANT,
    shows_changes_of_others::MUTANT,
    shows_closed_tasks::MUTANT,
    shows_headless_deltas::MUTANT,
    shows_images_backwards::MUTANT,
    shows_one_image::MUTANT,
    shows_patches_alone::MUTANT,
    shows_permission_again::MUTANT,
    shows_progress_as_words::MUTANT,
    shows_todos_of_a_child::MUTANT,
    shows_todos_of_all::MUTANT,
    shows_unknown::MUTANT,
    shows_while_loading::MUTANT,
    skips_nameless::MUTANT,
    stops_at_the_flag::MUTANT,
    stops_before_the_server::MUTANT,
    stops_the_last::MUTANT,
    stops_with_the_server::MUTANT,
    swaps_counts::MUTANT,
    takes_all_events::MUTANT,
    takes_any_field::MUTANT,
    takes_any_status::MUTANT,
    takes_retry_for_rest::MUTANT,
    takes_unknown_for_agents::MUTANT,
    thoughts_as_words::MUTANT,
    tidies_code::MUTANT,
    trusts_any_shape::MUTANT,
    trusts_names::MUTANT,
    waits_for_echo::MUTANT,
    waits_for_ever::MUTANT,
    waits_for_every_answer::MUTANT,
    writes_folders_once::MUTANT,
    writes_folders_raw::MUTANT,
];

/// All mutants, in the order of their names.
#[must_use]
pub fn all() -> Vec<Mutant> {
    let mut all = [ALL, answering::ALL, guarding::ALL, living::ALL, shown::ALL].concat();
    all.sort_unstable_by_key(|mutant| mutant.name);
    all
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
