//! Is an edit what it has to be: stop, go back, prompt, each after the other; and nothing when one fails?

use super::errands::{Errand, errands, in_its_folder, session_of};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::protocol::{Capability, Request, TaskEdit};

pub(super) const CHECK: Check = Check {
    name: "edits",
    about: "To edit a message is to stop an agent at work, to go back to the message, and to prompt anew, in this order; when \
            one of them fails nothing more is done, what was done is taken back, and the person learns it. All in its folder.",
    needs: &[Capability::Editing],
    has_occasion: |course| !edits(course).is_empty(),
    examine,
};

fn edits<'a>(course: &'a Course<'_>) -> Vec<Errand<'a>> {
    errands(course, |request| matches!(request, Request::TaskEdit(_)))
}

/// Is the agent at work there?
fn is_busy(course: &Course<'_>, session: &str, line: usize) -> bool {
    let told = course.events.iter().filter(|sent| sent.line < line && sent.session() == Some(session));
    let states = told.filter_map(|sent| match sent.kind() {
        "session.status" => Some(sent.event["properties"]["status"]["type"] != "idle"),
        "session.idle" => Some(false),
        _ => None,
    });
    states.fold(false, |_, state| state)
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for errand in edits(course) {
        let Request::TaskEdit(edit) = errand.request else { continue };
        if let Some(session) = session_of(course, &edit.task_id) {
            one(course, &errand, edit, session, &mut examined);
        }
    }
    examined
}

fn one<'a>(
    course: &'a Course<'_>,
    errand: &Errand<'a>,
    edit: &TaskEdit,
    session: &str,
    examined: &mut Examined,
) {
    let posts = |what: &str| errand.asked(course, "POST", &format!("/session/{session}/{what}"));
    let (stops, backs, takes) = (posts("abort"), posts("revert"), posts("unrevert"));
    let prompts = [posts("prompt_async"), posts("message")].concat();
    let said = &edit.text;
    in_its_folder(course, &edit.task_id, &[&*stops, &*backs, &*takes, &*prompts].concat(), examined);
    let mut before: Option<&Exchange> = None;
    let mut holds = true;
    if is_busy(course, session, errand.said.line) {
        let stop = stops.first().copied();
        examined.fact(stop.is_some(), || {
            format!("the agent was at work when {said:?} was edited, and was not stopped first")
        });
        holds = stop.is_some_and(Exchange::is_good);
        before = stop;
    }
    step(&backs, "gone back", (holds, before), said, examined);
    for back in &backs {
        let to = &back.body["messageID"];
        examined.fact(*to == edit.message_id.as_str(), || {
            format!("{said:?} stands in {}, and the task has gone back to {to}", edit.message_id)
        });
    }
    let back = backs.first().copied();
    holds = back.is_some_and(Exchange::is_good);
    step(&prompts, "prompted", (holds, back), said, examined);
    for prompt in &prompts {
        let is_it =
            prompt.body["parts"].as_array().into_iter().flatten().any(|part| part["text"] == said.as_str());
        examined.fact(is_it, || format!("{said:?} was edited, and something else was prompted"));
    }
    let prompt = prompts.first().copied();
    let failed = holds && prompt.is_some_and(|prompt| !prompt.is_good());
    if failed {
        let is_taken = takes.first().is_some_and(|take| take.is_good());
        examined.fact(is_taken, || {
            format!("the prompt {said:?} failed, and the task was left where it had gone back to")
        });
    }
    let is_well = holds && !failed;
    examined.fact(errand.is_done() == is_well, || match is_well {
        true => format!("{said:?} was edited and prompted, and the person is told that it was not"),
        false => format!("the edit {said:?} failed, and the person is told that it did not"),
    });
}

/// A step is done once when the one before it has succeeded, after it; and never when it has not.
fn step(
    done: &[&Exchange],
    what: &str,
    (holds, before): (bool, Option<&Exchange>),
    said: &str,
    examined: &mut Examined,
) {
    let wanted = usize::from(holds);
    examined.fact(done.len() == wanted, || {
        format!("for the edit {said:?} it was {what} {} times, and {wanted} were right", done.len())
    });
    if let (Some(first), Some(before)) = (done.first(), before) {
        let is_after = before.answer.as_ref().is_some_and(|answer| answer.line < first.line);
        examined.fact(is_after, || {
            format!("for the edit {said:?} it was {what} before the server had answered the step before")
        });
    }
}
