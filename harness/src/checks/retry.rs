//! Is what can't be loaded one hard error with Retry, does Retry work, and is there no such error without a cause?

use super::refresh::{Window, windows};
use super::{Check, Examined};
use crate::course::{Course, Exchange, Said, What};
use crate::protocol::{Capability, Request, Update};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "retry",
    about: "A task that can't be loaded again shows one error with Retry, Retry loads it, and nothing else offers it.",
    needs: &[Capability::Retry, Capability::Reconnect],
    has_occasion: |course| course.shown().any(|(_, u)| is_retry(u)) || could_not_load(course),
    examine,
};

/// Did a task have to be loaded again, and could not be? A stream that ends takes with it what was read for it.
fn could_not_load(course: &Course<'_>) -> bool {
    windows(course).filter(|window| window.until.is_none()).any(|window| {
        course.exchanges.iter().any(|exchange| exchange.line > window.from && is_failed_read(exchange))
    })
}

fn is_retry(update: &Update) -> bool {
    matches!(update, Update::Error { retry: true, .. })
}

fn is_of(update: &Update, task: &str) -> bool {
    update.task_id().is_none_or(|of| of == task)
}

/// A read of what a refresh has to read, that brought nothing.
pub(super) fn is_failed_read(exchange: &Exchange) -> bool {
    let what = ["/message", "/todo", "/permission", "/question", "/status", "/session"];
    exchange.method == "GET"
        && what.iter().any(|end| exchange.path.ends_with(end))
        && (exchange.is_torn()
            || exchange
                .answer
                .as_ref()
                .is_none_or(|answer| answer.status >= 400 || is_unreadable(&exchange.path, &answer.body)))
}

/// Is it another thing than what is read there: a map of sessions, messages with their parts, a list?
fn is_unreadable(path: &str, body: &Value) -> bool {
    let is_message = |one: &Value| one["info"].is_object() && one["parts"].is_array();
    let words: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match words[..] {
        ["session", "status"] => !body.is_object(),
        ["session", _, "message"] => !body.as_array().is_some_and(|messages| messages.iter().all(is_message)),
        ["session"] | ["permission"] | ["question"] | ["session", _, "todo"] => !body.is_array(),
        // Other routes answer in other shapes.
        _ => !body.is_array() && !body.is_object(),
    }
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for window in windows(course) {
        hard_error(course, &window, &mut examined);
    }
    let retries = course.asked().filter_map(|(said, _, request)| match request {
        Request::TaskRetry(task) => Some((said.line, &task.task_id)),
        _ => None,
    });
    for (line, task) in retries {
        let again = course.said.iter().filter(|said| said.line > line).find_map(|said| match &said.what {
            What::Shows(update @ (Update::Timeline { .. } | Update::Error { retry: true, .. }))
                if is_of(update, task) =>
            {
                Some(!is_retry(update))
            }
            _ => None,
        });
        let fails_again =
            course.exchanges.iter().any(|exchange| exchange.line > line && is_failed_read(exchange));
        examined.fact(again == Some(true) || (again == Some(false) && fails_again), || {
            format!("Retry was pressed in {task}, and it was not loaded again")
        });
    }
    for (said, update) in course.shown().filter(|(_, update)| is_retry(update)) {
        examined.fact(has_cause(course, said), || {
            let what = crate::report::timeline::seen(update);
            format!("nothing that was read, sent or opened had failed, and Retry is offered: {what}")
        });
    }
    examined
}

/// In the time after a reconnect: what could not be read is told once.
fn hard_error(course: &Course<'_>, window: &Window<'_>, examined: &mut Examined) {
    let pressed = course.asked().find(|(said, _, request)| {
        said.line > window.from
            && matches!(request, Request::TaskRetry(task) if task.task_id == window.task.task)
    });
    let until = pressed.map(|(said, ..)| said.line).or(window.until).unwrap_or(usize::MAX);
    let is_in = |line: usize| line > window.from && line < until;
    let messages = format!("/session/{}/message", window.task.session);
    let in_vain = |path: &str| {
        let is_of_task =
            |exchange: &&Exchange| path == messages || course.folder_of(exchange) == window.task.folder;
        let reads = course.exchanges.iter().filter(|exchange| exchange.path == path && is_in(exchange.line));
        let (good, failed): (Vec<&Exchange>, Vec<&Exchange>) =
            reads.filter(is_of_task).partition(|exchange| !is_failed_read(exchange));
        !failed.is_empty() && good.is_empty()
    };
    // Who shows no questions misses none.
    let needed = [
        (&*messages, Capability::Chat),
        ("/session/status", Capability::Chat),
        ("/permission", Capability::Permissions),
        ("/question", Capability::Questions),
    ];
    let mut needed =
        needed.into_iter().filter(|(_, for_what)| course.can.contains(for_what)).map(|(path, _)| path);
    // A stream that ends takes its refresh with it.
    if !needed.any(in_vain) || (pressed.is_none() && window.until.is_some()) {
        return;
    }
    let told = |said: &&Said| match &said.what {
        What::Shows(update) => is_in(said.line) && is_retry(update) && is_of(update, &window.task.task),
        _ => false,
    };
    let count = course.said.iter().filter(told).count();
    examined.fact(count == 1, || {
        format!("{} could not be loaded again, and {count} errors with Retry say so", window.task.task)
    });
}

/// Had anything failed that the adapter could know of?
fn has_cause(course: &Course<'_>, said: &Said) -> bool {
    let before = || course.exchanges.iter().filter(|exchange| exchange.line < said.line);
    let is_strange = |exchange: &Exchange| {
        exchange.is_stream() && exchange.events.iter().any(|sent| super::unknown::is_unknown(&sent.event))
    };
    before().any(|exchange| has_failed(exchange) || is_strange(exchange))
}

/// Something that the adapter wanted, and has not had.
pub(super) fn has_failed(exchange: &Exchange) -> bool {
    let refused = exchange.answer.as_ref().is_none_or(|answer| answer.status >= 400);
    is_failed_read(exchange) || (refused && (exchange.is_stream() || exchange.method != "GET"))
}
