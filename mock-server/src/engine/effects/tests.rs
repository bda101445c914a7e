//! Goal: the model is asked for a title while the first step is prepared, so that the faster of the two is told first,
//! as the real OpenCode does it; and a server that takes no time asks for both at once.

use super::*;
use crate::engine::person::{Person, told, woken};
use crate::model::{Delta, Finish, FinishReason, ModelNews, Usage};
use crate::performer::Performer;
use fixtures::ServerKind;

const PAUSE: u64 = 80;

fn person(server: ServerKind, model_pause_ms: u64) -> Person {
    let mut person = Person::new(server, |_| Mind::Remote { url: "nowhere".to_owned(), call_wait_ms: 1 });
    person.engine.model_pause_ms = model_pause_ms;
    person
}

fn asked(acts: &[Act]) -> Vec<(u64, ModelPurpose)> {
    let of = |act: &Act| match act {
        Act::Ask(id, request) => Some((*id, request.purpose())),
        _ => None,
    };
    acts.iter().filter_map(of).collect()
}

/// Lets the one moment that these acts wait for pass.
fn passes(person: &mut Person, acts: &[Act]) -> Vec<Act> {
    let waits = woken(acts);
    assert_eq!(waits.len(), 1, "{acts:?}");
    let (at, number) = waits[0];
    person.engine.wake_at(number, &|| at)
}

fn answers(person: &mut Person, id: u64, text: &str) -> Vec<String> {
    person.engine.model_says(id, ModelNews::Delta(Delta::Text(text.to_owned())), &|| 1000);
    let end = Finish { reason: FinishReason::Stop, usage: Usage::default() };
    told(&person.engine.model_says(id, ModelNews::Delta(Delta::Finish(end)), &|| 1000))
}

#[test]
fn a_title_is_asked_for_before_the_first_step_is_prepared() {
    let mut person = person(ServerKind::Opencode, PAUSE);
    let acts = person.prompts();
    let begun = passes(&mut person, &acts);
    let [(title, ModelPurpose::Title)] = asked(&begun)[..] else { panic!("{begun:?}") };
    assert!(!told(&begun).contains(&"session.diff".to_owned()), "the step is not ready: {:?}", told(&begun));
    assert_eq!(answers(&mut person, title, "A title"), ["session.updated"]);
    let prepared = passes(&mut person, &begun);
    assert!(told(&prepared).contains(&"session.diff".to_owned()), "{:?}", told(&prepared));
    assert_eq!(asked(&prepared), [], "the model has a moment yet");
    let at_last = passes(&mut person, &prepared);
    assert!(matches!(asked(&at_last)[..], [(_, ModelPurpose::Turn)]), "{at_last:?}");
}

#[test]
fn a_later_step_has_no_title_beside_it() {
    let mut person = person(ServerKind::Opencode, PAUSE);
    let acts = person.prompts();
    let begun = passes(&mut person, &acts);
    let prepared = passes(&mut person, &begun);
    let [(work, _)] = asked(&passes(&mut person, &prepared))[..] else { panic!("{prepared:?}") };
    answers(&mut person, work, "Hello.");
    let acts = person.prompts();
    let again = passes(&mut person, &acts);
    assert!(
        told(&again).contains(&"session.diff".to_owned()),
        "though the title is still looked for: {:?}",
        told(&again)
    );
}

#[test]
fn who_ends_the_turn_meanwhile_ends_what_waits() {
    let mut person = person(ServerKind::Opencode, PAUSE);
    let acts = person.prompts();
    let begun = passes(&mut person, &acts);
    let (at, number) = woken(&begun)[0];
    person.asks("POST", "/session/MAIN/abort", "");
    assert_eq!(told(&person.engine.wake_at(number, &|| at)), Vec::<String>::new());
}

#[test]
fn who_takes_no_time_asks_for_both_at_once() {
    let purposes = |server| {
        let asked = asked(&person(server, 0).prompts());
        asked.into_iter().map(|(_, purpose)| purpose).collect::<Vec<_>>()
    };
    assert_eq!(purposes(ServerKind::Opencode), [ModelPurpose::Title, ModelPurpose::Turn]);
    assert_eq!(purposes(ServerKind::Kilo), [ModelPurpose::Turn], "its title comes after the work");
}
