//! Clients that start their server, watch it or end it wrongly.

mod asks_no_health;
mod begins_tasks_all_the_same;
mod begins_tasks_in_a_loop;
mod believes_the_first_answer;
mod deaf_to_the_end;
mod ends_the_wrapper;
mod forgets_tasks_at_a_crash;
mod gives_up_early;
mod hides_crashes;
mod impatient_start;
mod keeps_password;
mod leaves_servers;
mod looks_at_the_server_first;
mod never_starts_again;
mod one_reason;
mod opens_to_the_network;
mod quotes_its_header;
mod quotes_the_server;
mod starts_for_ever;
mod starts_one_for_each;
mod stays_down;
mod stays_locked_out;
mod takes_hanging_for_silence;
mod tells_one_of_a_crash;
mod trusts_any_answer;
mod waits_for_ready;

use super::Mutant;

/// In the order of their names.
pub(super) const ALL: &[Mutant] = &[
    asks_no_health::MUTANT,
    begins_tasks_all_the_same::MUTANT,
    begins_tasks_in_a_loop::MUTANT,
    believes_the_first_answer::MUTANT,
    deaf_to_the_end::MUTANT,
    ends_the_wrapper::MUTANT,
    forgets_tasks_at_a_crash::MUTANT,
    gives_up_early::MUTANT,
    hides_crashes::MUTANT,
    impatient_start::MUTANT,
    keeps_password::MUTANT,
    leaves_servers::MUTANT,
    looks_at_the_server_first::MUTANT,
    never_starts_again::MUTANT,
    one_reason::MUTANT,
    opens_to_the_network::MUTANT,
    quotes_its_header::MUTANT,
    quotes_the_server::MUTANT,
    starts_for_ever::MUTANT,
    starts_one_for_each::MUTANT,
    stays_down::MUTANT,
    stays_locked_out::MUTANT,
    takes_hanging_for_silence::MUTANT,
    tells_one_of_a_crash::MUTANT,
    trusts_any_answer::MUTANT,
    waits_for_ready::MUTANT,
];
