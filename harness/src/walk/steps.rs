//! The steps of a walk, and how often each is taken, against the others.

use super::person::Person;

/// A step.
type Step = fn(&mut Person);

pub(super) const STEPS: &[(Step, u32)] = &[
    (Person::prompts, 16),
    (Person::commands, 2),
    (Person::runs_a_line, 2),
    (Person::sums_up, 2),
    (Person::notes_without_answer, 2),
    (Person::aborts, 1),
    (Person::makes_a_session, 2),
    (Person::changes_a_session, 4),
    (Person::forks, 3),
    (Person::reverts, 5),
    (Person::takes_a_revert_back, 3),
    (Person::deletes_a_message, 2),
    (Person::changes_a_part, 2),
    (Person::deletes_a_session, 1),
    (Person::reads_a_session, 10),
    (Person::reads_the_server, 6),
    (Person::is_wrong, 3),
];
