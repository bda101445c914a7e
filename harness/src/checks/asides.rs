//! Has what is asked beside a task a session of its own, which leaves nothing behind?

use super::errands::{errands, session_of};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::history;
use crate::protocol::{Capability, Request};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "asides",
    about: "What is asked beside a task is asked in a session of its own, of which nothing comes into the task and nothing is \
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
        let said: Option<String> =
            prompt.answer.as_ref().filter(|_| prompt.is_good()).map(|answer| words(&answer.body));
        if let (Some(said), Some(Ok(answer))) = (&said, errand.answer) {
            examined.fact(answer["text"] == said.as_str(), || {
                format!("the agent has answered {said:?}, and the person is told {}", answer["text"])
            });
        }
        if is_own {
            let sessions = history::last_read(course.lines, "/session").unwrap_or_default();
            let is_left = sessions.as_array().into_iter().flatten().any(|known| known["id"] == session);
            examined.fact(!is_left, || {
                format!("{session}, in which {:?} was asked aside, is still there", aside.text)
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

/// What the agent says in a message.
fn words(message: &Value) -> String {
    let parts = message["parts"].as_array().into_iter().flatten();
    let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
    texts.filter_map(|part| part["text"].as_str()).collect()
}
