//! Has each prompt that the person sent arrived once, or does the person know that it has not?

use super::termination::{of_task, sends};
use super::{Check, Examined};
use crate::course::Course;
use crate::history;
use crate::protocol::Update;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "sends",
    about: "Each prompt is taken by the server once, or the person sees that it failed and the server has none.",
    needs: &[],
    has_occasion: |course| course.tasks.iter().any(|task| sends(course, task).next().is_some()),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
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
            let arrived = prompts(&messages).filter(|prompt| *prompt == text).count();
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

/// What the person has said, as the server has it.
fn prompts(messages: &Value) -> impl Iterator<Item = &str> {
    let own = messages.as_array().into_iter().flatten().filter(|message| message["info"]["role"] == "user");
    own.filter_map(|message| {
        let parts = message["parts"].as_array().into_iter().flatten();
        parts
            .filter(|part| part["type"] == "text" && part["synthetic"] != true)
            .find_map(|part| part["text"].as_str())
    })
}
