//! Has each prompt that the person sent arrived once, or does the person know that it has not?

use super::termination::{of_task, sends};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::history;
use crate::protocol::{Request, Update};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "sends",
    about: "Each prompt is taken by the server once, or the person sees that it failed and the server has none; and for each \
            task that is wanted a session is asked for once.",
    needs: &[],
    has_occasion: |course| course.tasks.iter().any(|task| sends(course, task).next().is_some()),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    sessions(course, &mut examined);
    for task in &course.tasks {
        let Some(messages) = history::last_read(course.lines, &format!("/session/{}/message", task.session))
        else {
            continue;
        };
        let mut texts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for send in sends(course, task) {
            let told = of_task(course, task).find(|(said, update)| {
                said.line > send.line && matches!(update, Update::Error { .. } | Update::Terminal { .. })
            });
            let failed = send.refused || matches!(told, Some((_, Update::Error { .. })));
            let (sent, known) = texts.entry(send.text).or_default();
            *sent += 1;
            *known += usize::from(failed);
        }
        for (text, (sent, failed)) in texts {
            let gone =
                gone_from(course, &task.session, &messages).iter().filter(|prompt| **prompt == text).count();
            let arrived = prompts(&messages).filter(|prompt| *prompt == text).count() + gone;
            examined.fact(arrived <= sent, || {
                format!("{text:?} was sent {sent} times, and the server has it {arrived} times")
            });
            examined.fact(arrived + failed >= sent, || {
                format!(
                    "{text:?} was sent {sent} times, the server has it {arrived} times, and nobody was told"
                )
            });
            let refused = sends(course, task).filter(|send| send.refused && send.text == text).count();
            examined.fact(arrived + refused <= sent, || {
                format!("the person was told that {text:?} was not accepted, and the server has it")
            });
        }
    }
    examined
}

/// A session that could not be had is told, and no other one is asked for unasked: the first may be there all the same.
fn sessions(course: &Course<'_>, examined: &mut Examined) {
    let count = |is: fn(&Request) -> bool| course.asked().filter(|(_, _, request)| is(request)).count();
    // What is asked beside a task may have a session of its own.
    if count(|request| matches!(request, Request::TaskAside(_))) > 0 {
        return;
    }
    let begun = count(|request| matches!(request, Request::TaskStart(_)));
    let asked = || course.exchanges.iter().filter(|post| post.method == "POST" && post.path == "/session");
    let made = asked().count();
    if made <= begun && asked().all(Exchange::is_good) {
        return;
    }
    examined.fact(made <= begun, || {
        format!("{begun} tasks were wanted, and the server was asked for a session {made} times")
    });
}

/// What the person has said, and the server had until the task went back.
fn gone_from<'a>(course: &'a Course<'_>, session: &str, messages: &Value) -> Vec<&'a str> {
    let told = |kind: &'static str| {
        let of_session = course.events.iter().filter(move |sent| sent.session() == Some(session));
        of_session.filter(move |sent| sent.kind() == kind).map(|sent| &sent.event["properties"])
    };
    let is_here =
        |id: &Value| messages.as_array().into_iter().flatten().any(|message| message["info"]["id"] == *id);
    let mut gone = std::collections::BTreeMap::new();
    let removed: Vec<&Value> = told("message.removed").map(|told| &told["messageID"]).collect();
    let persons: Vec<&Value> = told("message.updated")
        .filter(|told| told["info"]["role"] == "user")
        .map(|told| &told["info"]["id"])
        .collect();
    for part in told("message.part.updated").map(|told| &told["part"]) {
        let of = &part["messageID"];
        let is_gone = removed.contains(&of) && persons.contains(&of) && !is_here(of);
        if let (true, "text", Some(text)) = (
            is_gone && part["synthetic"] != true,
            part["type"].as_str().unwrap_or_default(),
            part["text"].as_str(),
        ) {
            gone.entry(of.to_string()).or_insert(text);
        }
    }
    gone.into_values().collect()
}

/// What the person has said, as the server has it.
pub(super) fn prompts(messages: &Value) -> impl Iterator<Item = &str> {
    let own = messages.as_array().into_iter().flatten().filter(|message| message["info"]["role"] == "user");
    own.map(|message| {
        let parts = message["parts"].as_array().into_iter().flatten();
        // An image may say all.
        parts
            .filter(|part| part["type"] == "text" && part["synthetic"] != true)
            .find_map(|part| part["text"].as_str())
            .unwrap_or_default()
    })
}
