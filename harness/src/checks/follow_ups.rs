//! Does a countdown answer what the agent asks: once, at its end, with what it suggests, and only if nobody else does?

use super::approvals::{cannot_go_on, scaled_us, stopped_by, told_us};
use super::given::times;
use super::questions::{answer_sent, owner_of, said_in};
use super::{Check, Examined};
use crate::course::{Course, Exchange, Sent};
use crate::protocol::{Capability, FollowUp, Request};
use serde_json::{Value, json};

pub(super) const CHECK: Check = Check {
    name: "follow-ups",
    about: "A countdown beside a question sends its suggestion once, at its end; typing and answering call it off.",
    needs: &[Capability::FollowUps],
    has_occasion: |course| asked(course).any(|(_, countdown)| countdown.is_some()),
    examine,
};

/// The questions of our tasks, each with the countdown that was set then.
fn asked<'a>(course: &'a Course<'_>) -> impl Iterator<Item = (&'a Sent, Option<FollowUp>)> {
    let questions = course.events.iter().filter(|sent| sent.kind() == "question.asked");
    questions.filter_map(|sent| {
        let id = sent.event["properties"]["id"].as_str()?;
        owner_of(course, id).and_then(|session| course.task_of(&session).cloned())?;
        let before = course.asked().filter(|(said, ..)| said.line < sent.line);
        let set = before.filter_map(|(_, _, request)| match request {
            Request::Settings(settings) => Some(settings.follow_up),
            _ => None,
        });
        Some((sent, set.last().flatten()))
    })
}

/// What is suggested: to each question its first label.
fn suggestion(sent: &Sent) -> Value {
    let questions = sent.event["properties"]["questions"].as_array().into_iter().flatten();
    questions.map(|asked| json!([asked["options"][0]["label"]])).collect()
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for (sent, countdown) in asked(course) {
        let id = sent.event["properties"]["id"].as_str().unwrap_or_default();
        let posts: Vec<&Exchange> =
            course.exchanges.iter().filter(|post| answer_sent(post) == Some(id)).collect();
        let persons = times(course, id);
        let typed = course.asked().filter_map(|(said, _, request)| match request {
            Request::QuestionHold(held) if held.question_id == id => Some(said.at_us),
            _ => None,
        });
        let Some(countdown) = countdown else {
            examined.fact(posts.len() <= persons.len(), || {
                format!("{id} was answered, and nobody was asked to do that")
            });
            continue;
        };
        let due_us = told_us(course, sent, id).saturating_add(scaled_us(course, countdown.delay_ms));
        if typed.chain(persons.iter().copied()).any(|at_us| at_us < due_us) {
            examined.fact(posts.len() <= persons.len(), || {
                format!("the countdown has answered {id}, and the person had begun to answer it")
            });
            continue;
        }
        if let Some(was_done) = stopped_by(course, sent, id, due_us) {
            examined.fact(!was_done || posts.len() <= persons.len(), || {
                format!("the countdown has answered {id}, and the person had stopped the agent")
            });
            continue;
        }
        if cannot_go_on(course, sent, due_us) {
            examined.fact(posts.len() <= persons.len(), || {
                format!("the countdown has answered {id}, and its task had said that it can't go on")
            });
            continue;
        }
        let by_itself = posts.len().saturating_sub(persons.len());
        examined.fact(by_itself == 1, || {
            format!("nobody answers {id}, and its countdown has done so {by_itself} times")
        });
        if let Some(post) = posts.first() {
            let (said, suggested) = (said_in(post), suggestion(sent));
            examined.fact(said == suggested, || {
                format!("{suggested} is suggested for {id}, and {said} was sent")
            });
            let early = due_us.saturating_sub(post.at_us) / 1000;
            examined.fact(early == 0, || format!("the countdown has answered {id} {early} ms too early"));
        }
    }
    examined
}

/// Does a countdown answer this question, so that nobody else has to?
pub(super) fn is_by_countdown(course: &Course<'_>, id: &str) -> bool {
    asked(course).any(|(sent, countdown)| countdown.is_some() && sent.event["properties"]["id"] == id)
}
