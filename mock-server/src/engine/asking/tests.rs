//! Goal: a call of a model at an address begins when its own answer is over, and none waits for ever.

use super::*;
use crate::engine::person::{Person, told, woken};
use crate::model::{Finish, FinishReason, ModelNews, Usage};
use crate::performer::Performer;
use fixtures::ServerKind;
use fixtures::recording::ModelPurpose;

const LATE: u64 = 50;

/// Somebody who has prompted, with what the model was asked: for its work, and for a title.
fn prompted() -> (Person, u64, u64) {
    let mind = |_| Mind::Remote { url: "nowhere".to_owned(), call_wait_ms: LATE };
    let mut person = Person::new(ServerKind::Opencode, mind);
    let acts = person.prompts();
    let asked = |purpose: ModelPurpose| {
        let of = |act: &Act| match act {
            Act::Ask(id, request) if request.purpose() == purpose => Some(*id),
            _ => None,
        };
        acts.iter().find_map(of).unwrap()
    };
    (person, asked(ModelPurpose::Turn), asked(ModelPurpose::Title))
}

fn says(person: &mut Person, answer: u64, delta: Delta) -> Vec<Act> {
    person.engine.model_says(answer, vec![ModelNews::Delta(delta)], &|| 1000)
}

fn end(reason: FinishReason) -> Finish {
    Finish { reason, usage: Usage::default() }
}

/// The model wants a file to be written.
fn wants_a_file(person: &mut Person, answer: u64) -> Vec<Act> {
    let (id, name) = ("call-1".to_owned(), "write".to_owned());
    says(person, answer, Delta::ToolStart { index: 0, id, name });
    let text = r#"{"filePath":"new.txt","content":"new"}"#.to_owned();
    says(person, answer, Delta::ToolArguments { index: 0, text })
}

fn begins(acts: &[Act]) -> bool {
    told(acts).iter().any(|kind| kind == "file.edited")
}

#[test]
fn a_call_waits_for_its_own_answer_and_no_other() {
    let (mut person, work, title) = prompted();
    assert!(!begins(&wants_a_file(&mut person, work)));
    says(&mut person, title, Delta::Text("A title".to_owned()));
    assert!(
        !begins(&says(&mut person, title, Delta::Finish(end(FinishReason::Stop)))),
        "the title's answer is not the call's"
    );
    assert!(begins(&says(&mut person, work, Delta::Finish(end(FinishReason::ToolCalls)))));
}

#[test]
fn a_call_begins_after_a_moment_and_once() {
    let (mut person, work, _) = prompted();
    let acts = wants_a_file(&mut person, work);
    let (at, call) = woken(&acts)[0];
    assert_eq!(at, 1000 + LATE);
    assert!(begins(&person.engine.wake_at(call, &|| at)));
    assert!(!begins(&says(&mut person, work, Delta::Finish(end(FinishReason::ToolCalls)))), "it has begun");
}

/// What the model is told first, for its work and for each other errand.
fn openings(server: ServerKind, prompt: &'static str) -> Vec<(ModelPurpose, String)> {
    let mind = |_| Mind::Remote { url: "nowhere".to_owned(), call_wait_ms: LATE };
    let mut person = Person::new(server, mind);
    let acts = person.asks("POST", "/session/MAIN/prompt_async", prompt);
    let asked = |act: &Act| match act {
        Act::Ask(_, request) => {
            Some((request.purpose(), request.messages[0]["content"].as_str()?.to_owned()))
        }
        _ => None,
    };
    acts.iter().filter_map(asked).collect()
}

#[test]
fn the_model_is_told_who_it_is_and_what_the_prompt_says_of_that() {
    const CODER: &str = include_str!("../../profile/texts/introduction.txt");
    let explore = r#"{"parts":[{"type":"text","text":"say hello"}],"agent":"explore","system":"Be odd."}"#;
    let plain = r#"{"parts":[{"type":"text","text":"say hello"}]}"#;
    for (server, introduces_all) in [(ServerKind::Kilo, true), (ServerKind::Opencode, false)] {
        let told = openings(server, explore);
        let (_, work) = told.iter().find(|(of, _)| *of == ModelPurpose::Turn).unwrap();
        assert!(work.contains("file search") && work.ends_with("\nBe odd."), "{server}: {work}");
        assert_eq!(work.starts_with(CODER), introduces_all, "{server}: {work}");
        let told = openings(server, plain);
        assert!(told.contains(&(ModelPurpose::Turn, CODER.trim_end().to_owned())), "{told:?}");
        let of_title = told.iter().filter(|(of, _)| *of == ModelPurpose::Title);
        assert!(of_title.clone().all(|(_, text)| text.starts_with("You are a title")), "{server}: {told:?}");
        assert_eq!(of_title.count(), usize::from(server == ServerKind::Opencode), "{server}: {told:?}");
    }
}

#[test]
fn the_model_is_told_who_may_be_given_work() {
    let plan = r#"{"parts":[{"type":"text","text":"say hello"}],"agent":"plan"}"#;
    let plain = r#"{"parts":[{"type":"text","text":"say hello"}]}"#;
    for server in ServerKind::ALL {
        for (prompt, has_general) in [(plain, true), (plan, false)] {
            let mind = |_| Mind::Remote { url: "nowhere".to_owned(), call_wait_ms: LATE };
            let mut person = Person::new(server, mind);
            let acts = person.asks("POST", "/session/MAIN/prompt_async", prompt);
            let told = acts.iter().find_map(|act| match act {
                Act::Ask(_, request) => request.definitions.get("task")?["description"].as_str(),
                _ => None,
            });
            let (_, list) = told.unwrap().split_once("Available agent types").unwrap();
            let lines: Vec<&str> = list.lines().skip(1).collect();
            assert_eq!(lines.len(), 1 + usize::from(has_general), "{server}: {lines:?}");
            assert!(lines[0].starts_with("- explore: "), "{server}: {lines:?}");
            assert_eq!(lines.iter().any(|line| line.starts_with("- general: ")), has_general);
        }
    }
}
