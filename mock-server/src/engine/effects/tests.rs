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
    person.engine.model_says(id, vec![ModelNews::Delta(Delta::Text(text.to_owned()))], &|| 1000);
    let end = Finish { reason: FinishReason::Stop, usage: Usage::default() };
    told(&person.engine.model_says(id, vec![ModelNews::Delta(Delta::Finish(end))], &|| 1000))
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

/// Lets time pass, while the model says the next of these answers as soon as it is asked. Gives what is told, and when.
fn goes_on(person: &mut Person, acts: Vec<Act>, answers: &[Vec<Delta>]) -> Vec<(u64, String)> {
    let (mut heard, mut waits) = (Vec::new(), std::collections::BTreeSet::new());
    let (mut answers, mut fresh, mut now) = (answers.iter(), vec![(1000, acts)], 1000);
    loop {
        while let Some((at, acts)) = fresh.pop() {
            heard.extend(told(&acts).into_iter().map(|kind| (at, kind)));
            waits.extend(woken(&acts));
            for (id, purpose) in asked(&acts) {
                let answer = answers.next().filter(|_| purpose == ModelPurpose::Turn);
                for delta in answer.into_iter().flatten() {
                    fresh.insert(
                        0,
                        (at, person.engine.model_says(id, vec![ModelNews::Delta(delta.clone())], &|| at)),
                    );
                }
            }
        }
        let Some((at, number)) = waits.pop_first() else { return heard };
        now = now.max(at);
        fresh.push((now, person.engine.wake_at(number, &|| now)));
    }
}

fn finish(reason: FinishReason) -> Delta {
    Delta::Finish(Finish { reason, usage: Usage::default() })
}

#[test]
fn what_the_prompt_has_changed_is_told_behind_the_first_words_of_the_next_step() {
    let mut person = person(ServerKind::Opencode, PAUSE);
    let call = vec![
        Delta::ToolStart { index: 0, id: "call".to_owned(), name: "todowrite".to_owned() },
        Delta::ToolArguments { index: 0, text: r#"{"todos":[]}"#.to_owned() },
        finish(FinishReason::ToolCalls),
    ];
    let words = vec![Delta::Text("Done.".to_owned()), finish(FinishReason::Stop)];
    let acts = person.prompts();
    let heard = goes_on(&mut person, acts, &[Vec::new(), call, words]);
    let diffs = heard.iter().enumerate().filter(|(_, (_, kind))| kind == "session.diff");
    let (from, begun) = diffs.map(|(at, (ms, _))| (at, *ms)).nth(1).unwrap();
    let told_at = |ms: u64| {
        let of_then = heard[from..].iter().filter(|(at, _)| *at == begun + ms);
        of_then.map(|(_, kind)| kind.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(told_at(0), ["session.diff", "session.status"], "the step goes on: {heard:?}");
    assert!(told_at(PAUSE).contains(&"message.part.delta"), "the first words: {heard:?}");
    assert_eq!(told_at(PAUSE * 3 / 2), ["message.updated"], "the summary: {heard:?}");
    assert!(told_at(PAUSE + PAUSE * 3 / 4).contains(&"session.idle"), "the end: {heard:?}");
}
