//! Goal: a prompt begins after its moment, once, and in its place among what else is asked; what comes a moment after a
//! turn is not read before.

use super::*;
use crate::engine::Mind;
use crate::engine::person::{Person, reply, told, woken};
use crate::performer::Performer;
use fixtures::ServerKind;

fn person() -> Person {
    let mut person = Person::new(ServerKind::Kilo, |script| Mind::Script(Box::new(script)));
    person.engine.model_pause_ms = 80;
    person
}

#[test]
fn a_prompt_begins_after_its_moment_and_once() {
    let mut person = person();
    let acts = person.prompts();
    let (at, number) = woken(&acts)[0];
    assert_eq!((acts.len(), at), (1, 1080), "nothing but the wait: {acts:?}");
    let listed = person.asks("GET", "/session/MAIN/message", "");
    assert_eq!(listed.iter().find_map(reply).unwrap(), serde_json::json!([]), "who looks does not begin it");
    let begun = person.engine.wake_at(number, &|| 1080);
    assert!(told(&begun).contains(&"message.updated".to_owned()), "{begun:?}");
    assert_eq!(told(&person.engine.wake_at(number, &|| 1080)), Vec::<String>::new());
}

#[test]
fn what_may_change_something_does_not_overtake_a_prompt() {
    let mut person = person();
    let (_, number) = woken(&person.prompts())[0];
    let acts = person.asks("POST", "/session/MAIN/abort", "");
    let kinds = told(&acts);
    let place = |kind: &str| kinds.iter().position(|told| told == kind);
    assert!(place("message.updated").unwrap() < place("session.error").unwrap(), "{kinds:?}");
    assert_eq!(told(&person.engine.wake_at(number, &|| 1080)), Vec::<String>::new());
}

#[test]
fn two_prompts_begin_in_the_order_in_which_they_were_sent() {
    let mut person = person();
    let first = woken(&person.prompts())[0];
    let acts = person.prompts();
    assert!(told(&acts).contains(&"message.updated".to_owned()), "the first has begun: {acts:?}");
    let second = woken(&acts).into_iter().find(|(_, number)| *number > FIRST).unwrap();
    assert_ne!(first.1, second.1);
}

/// The servers write the only summary of such a prompt a moment after its turn.
#[test]
fn who_reads_at_once_finds_no_summary_of_a_prompt_that_sums_up() {
    for (server, is_there) in [(ServerKind::Kilo, true), (ServerKind::Opencode, false)] {
        let mut person = Person::new(server, |script| Mind::Script(Box::new(script)));
        person.prompts();
        person.asks("POST", "/session/MAIN/summarize", r#"{"providerID":"fake","modelID":"fake"}"#);
        let summaries = |acts: Vec<Act>| -> Vec<bool> {
            let list = acts.iter().find_map(reply).unwrap();
            let prompts = list.as_array().unwrap().iter().filter(|message| message["info"]["role"] == "user");
            prompts.map(|message| message["info"].get("summary").is_some()).collect()
        };
        let at_once = person.asks("GET", "/session/MAIN/message", "");
        assert_eq!(summaries(at_once).last(), Some(&is_there), "{server}");
        let later = person.asks_at(2000, "GET", "/session/MAIN/message", "");
        assert!(summaries(later).into_iter().all(|is_there| is_there), "{server}");
    }
}
