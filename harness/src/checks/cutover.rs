//! Does the flag decide about new tasks and nothing else, and begins each of the server's with a session of its own?

use super::{Check, Examined};
use crate::course::{Course, Exchange, Started, What};
use crate::protocol::{Backend, Capability, Request};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const FLAG: Check = Check {
    name: "flag",
    about: "While the flag is off nothing is asked of the server for new tasks, and the ones that run go on.",
    needs: &[Capability::Cutover],
    has_occasion: |course| course.asked().any(|(_, _, request)| backend(request) == Some(Backend::Local)),
    examine: flag,
};

pub(super) const FRESH: Check = Check {
    name: "fresh",
    about: "A task of the server begins with a new session, and nothing that was said before comes into it.",
    needs: &[Capability::Cutover],
    has_occasion: |course| {
        course.asked().any(|(_, _, request)| backend(request) == Some(Backend::Local))
            && course.tasks.len() > 1
    },
    examine: fresh,
};

/// In the paths of operations that bring talks from elsewhere: Kilo's `/kilocode/migrate/…`, `/kilocode/session-import/…` and
/// `/kilo/cloud/session/import`, and `/sync/replay`.
const BRINGING: [&str; 4] = ["migrate", "session-import", "import", "replay"];

fn backend(request: &Request) -> Option<Backend> {
    match request {
        Request::Settings(settings) => Some(settings.backend),
        _ => None,
    }
}

/// Was the flag off at this line: are new tasks the old backend's?
pub(super) fn is_off(course: &Course<'_>, line: usize) -> bool {
    let settings = course.asked().filter(|(said, ..)| said.line < line);
    settings.filter_map(|(_, _, request)| backend(request)).last() == Some(Backend::Local)
}

/// The tasks that were started while the flag was off, each with the answer to that; and what they were told.
struct Local<'a> {
    begun: Vec<(&'a str, Option<&'a Value>)>,
    words: Vec<&'a str>,
    /// From where to where the flag was off.
    off: Vec<(usize, usize)>,
}

fn local<'a>(course: &'a Course<'_>) -> Local<'a> {
    let mut found = Local { begun: Vec::new(), words: Vec::new(), off: Vec::new() };
    let mut since = None;
    for said in &course.said {
        let What::Asks(id, request) = &said.what else { continue };
        match (backend(request), since) {
            (Some(Backend::Local), None) => since = Some(said.line),
            (Some(Backend::Server), Some(from)) => {
                found.off.push((from, said.line));
                since = None;
            }
            _ => {}
        }
        match request {
            Request::TaskStart(start) if since.is_some() => {
                let answer = course.answer_to(id).and_then(|(_, outcome)| outcome.as_ref().ok());
                found.begun.push((&start.task_id, answer));
            }
            Request::TaskSend(send) if found.begun.iter().any(|(task, _)| *task == send.task_id) => {
                found.words.push(&send.text);
            }
            _ => {}
        }
    }
    found.off.extend(since.map(|from| (from, usize::MAX)));
    found
}

fn flag(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let local = local(course);
    for (task, answer) in &local.begun {
        examined.fact(answer.is_some_and(|answer| answer["sessionId"].is_null()), || match answer {
            Some(_) => {
                format!("{task} began while the flag was off, and is said to have a session of the server")
            }
            None => format!("the flag is off, and {task} was refused: the old backend is there"),
        });
    }
    for (from, to) in &local.off {
        let creates = |exchange: &&Exchange| exchange.method == "POST" && exchange.path == "/session";
        let created = course
            .exchanges
            .iter()
            .filter(|asked| (*from..*to).contains(&asked.line))
            .filter(creates)
            .count();
        examined.fact(created == 0, || format!("the flag was off, and {created} sessions were asked for"));
    }
    told_to_the_server(course, &local, &mut examined);
    for Started { task, session, .. } in &course.tasks {
        let path = format!("/session/{session}/abort");
        let stopped = course.exchanges.iter().any(|asked| asked.path == path);
        let wanted = course.asked().any(|(_, _, request)| match request {
            Request::TaskAbort(of) => of.task_id == *task,
            Request::TaskEdit(of) => of.task_id == *task,
            _ => false,
        });
        examined.fact(wanted || !stopped, || format!("{task} was stopped, and nobody wanted that"));
    }
    examined
}

/// What the old backend's tasks were told is nobody else's.
fn told_to_the_server(course: &Course<'_>, local: &Local<'_>, examined: &mut Examined) {
    for words in &local.words {
        let told = course.exchanges.iter().find(|asked| asked.body.to_string().contains(words));
        examined.fact(told.is_none(), || {
            let path = told.map(|asked| asked.path.clone()).unwrap_or_default();
            format!("a task of the old backend was told {words:?}, and so was the server: {path}")
        });
    }
}

fn fresh(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut known = BTreeSet::new();
    for started in &course.tasks {
        let asked = course.asked().find(|(_, _, request)| match request {
            Request::TaskStart(start) => start.task_id == started.task,
            Request::TaskFork(fork) => fork.new_task_id == started.task,
            _ => false,
        });
        let from = asked.map_or(0, |(said, ..)| said.line);
        let is_its = |exchange: &&Exchange| {
            let answer = exchange.answer.as_ref();
            exchange.method == "POST"
                && (exchange.path == "/session" || exchange.path.ends_with("/fork"))
                && answer.is_some_and(|answer| answer.body["id"] == started.session.as_str())
        };
        let is_new = course.exchanges.iter().filter(is_its).any(|exchange| exchange.line > from);
        examined.fact(is_new && known.insert(&started.session), || {
            format!("{} goes on in {}, which was there before", started.task, started.session)
        });
        let prompts = course
            .exchanges
            .iter()
            .filter(|asked| asked.path.starts_with(&format!("/session/{}/", started.session)));
        let mut said: Vec<&str> = Vec::new();
        for (_, _, request) in course.asked() {
            match request {
                Request::TaskSend(send) if send.task_id == started.task => said.push(&send.text),
                Request::TaskEdit(edit) if edit.task_id == started.task => said.push(&edit.text),
                _ => {}
            }
        }
        let parts = prompts.flat_map(|asked| asked.body["parts"].as_array().into_iter().flatten());
        for text in parts.filter_map(|part| part["text"].as_str()) {
            examined.fact(said.contains(&text), || {
                format!("{} was told {text:?}, and nobody has said that in it", started.task)
            });
        }
    }
    nothing_brought(course, &mut examined);
    told_to_the_server(course, &local(course), &mut examined);
    examined
}

/// Old talks stay where they are: none is brought into the server.
fn nothing_brought(course: &Course<'_>, examined: &mut Examined) {
    let brings = |asked: &&Exchange| {
        asked.method != "GET" && asked.path.split('/').any(|word| BRINGING.contains(&word))
    };
    let brought = course.exchanges.iter().find(brings);
    examined.fact(brought.is_none(), || {
        let asked = brought.map(|asked| format!("{} {}", asked.method, asked.path)).unwrap_or_default();
        format!("what was said before is brought into the server: {asked}")
    });
}
