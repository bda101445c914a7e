//! Has what is asked beside a task a session of its own, which leaves nothing behind?

use super::errands::{errands, in_its_folder, session_of};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::history;
use crate::protocol::{Capability, Request};
use fixtures::recording::{Line, ModelCall, ModelPurpose};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "asides",
    about: "What is asked beside a task is asked in a session of its own in the task's folder, of which nothing comes into the task and nothing is \
            left.",
    needs: &[Capability::Asides],
    has_occasion: |course| course.asked().any(|(_, _, request)| matches!(request, Request::TaskAside(_))),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for errand in errands(course, |request| matches!(request, Request::TaskAside(_))) {
        let Request::TaskAside(aside) = errand.request else { continue };
        let asks = |asked: &&Exchange| {
            let parts = asked.body["parts"].as_array().into_iter().flatten();
            asked.method == "POST" && parts.into_iter().any(|part| part["text"] == aside.text.as_str())
        };
        let prompts: Vec<&Exchange> = errand.exchanges(course).filter(asks).collect();
        examined.fact(prompts.len() == 1, || format!("{:?} was asked {} times", aside.text, prompts.len()));
        let Some(prompt) = prompts.first() else { continue };
        let session = prompt.path.split('/').nth(2).unwrap_or_default();
        let is_own = course.tasks.iter().all(|task| task.session != session);
        examined.fact(is_own, || {
            let of = session_of(course, &aside.task_id).unwrap_or_default();
            format!("{:?} was to be asked aside, and was asked in the task itself, {of}", aside.text)
        });
        let answered = prompt.answer.as_ref().filter(|_| prompt.is_good());
        let has_failed = answered.is_some_and(|answer| !answer.body["info"]["error"].is_null());
        if has_failed {
            examined.fact(!errand.is_done(), || {
                format!("the agent has failed at {:?}, and the person is told that all is well", aside.text)
            });
        }
        let said: Option<String> = answered.filter(|_| !has_failed).map(|answer| words(&answer.body));
        if let (Some(said), Some(Ok(answer))) = (&said, errand.answer) {
            examined.fact(answer["text"] == said.as_str(), || {
                format!("the agent has answered {said:?}, and the person is told {}", answer["text"])
            });
        }
        let created = |asked: &&Exchange| {
            let made = asked.answer.as_ref().map(|answer| &answer.body["id"]);
            asked.method == "POST" && made.is_some_and(|made| *made == session)
        };
        let of_it: Vec<&Exchange> = errand.exchanges(course).filter(created).chain([*prompt]).collect();
        in_its_folder(course, &aside.task_id, &of_it, &mut examined);
        if is_own {
            let sessions = history::last_read(course.lines, "/session").unwrap_or_default();
            let is_left = sessions.as_array().into_iter().flatten().any(|known| known["id"] == session);
            examined.fact(!is_left, || {
                format!("{session}, in which {:?} was asked aside, is still there", aside.text)
            });
        }
        for tools in offered(errand.lines(course), &aside.text) {
            examined.fact(tools.is_empty(), || {
                format!("{:?} was asked aside, and the agent may use {}", aside.text, tools.join(", "))
            });
        }
        let shown = course.shown().any(|(_, update)| {
            let text = crate::report::timeline::seen(update);
            said.as_ref().is_some_and(|said| !said.is_empty() && text.contains(said.as_str()))
        });
        examined
            .fact(!shown, || format!("{:?} was asked aside, and its answer is shown in a task", aside.text));
    }
    examined
}

/// The tools that the model was offered for these words.
fn offered<'a>(lines: &'a [Line], text: &str) -> impl Iterator<Item = &'a [String]> {
    let is_asked = move |call: &&ModelCall| {
        let of_person = call.messages.iter().rfind(|message| message["role"] == "user");
        let content = of_person.map(|message| &message["content"]);
        let mut parts = content.and_then(Value::as_array).into_iter().flatten();
        let is_said =
            content.is_some_and(|content| content == text) || parts.any(|part| part["text"] == text);
        call.purpose == ModelPurpose::Turn && is_said
    };
    let calls = lines.iter().filter_map(|line| match line {
        Line::Model(call) => Some(call),
        _ => None,
    });
    calls.filter(is_asked).map(|call| call.tools.as_slice())
}

/// What the agent says in a message.
fn words(message: &Value) -> String {
    let parts = message["parts"].as_array().into_iter().flatten();
    let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
    texts.filter_map(|part| part["text"].as_str()).collect()
}
