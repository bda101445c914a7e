//! Is the server asked to go back, to take that back and to copy, each for the right message?

use super::errands::{Errand, errands, in_its_folder, session_of};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::history;
use crate::protocol::{Capability, Request};

pub(super) const CHECK: Check = Check {
    name: "checkpoints",
    about: "Going back, taking that back and copying are asked of the server once, for the right message, in the task's folder, and \
            the screen shows nothing that the server has gone back from.",
    needs: &[Capability::Checkpoints],
    has_occasion: |course| !wanted(course).is_empty(),
    examine,
};

fn wanted<'a>(course: &'a Course<'_>) -> Vec<Errand<'a>> {
    errands(course, |request| {
        matches!(request, Request::TaskRevert(_) | Request::TaskUnrevert(_) | Request::TaskFork(_))
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for errand in wanted(course) {
        let (task, what, message) = match errand.request {
            Request::TaskRevert(to) => (&to.task_id, "revert", Some(&to.message_id)),
            Request::TaskUnrevert(task) => (&task.task_id, "unrevert", None),
            Request::TaskFork(fork) => (&fork.task_id, "fork", Some(&fork.message_id)),
            _ => continue,
        };
        let Some(session) = session_of(course, task) else { continue };
        let posts = errand.asked(course, "POST", &format!("/session/{session}/{what}"));
        examined.fact(posts.len() == 1, || {
            format!("{what} was asked of the server {} times for {task}", posts.len())
        });
        in_its_folder(course, task, &posts, &mut examined);
        let Some(post) = posts.first() else { continue };
        if let Some(message) = message {
            let named = &post.body["messageID"];
            examined.fact(*named == message.as_str(), || {
                format!("{message} was meant, and {what} names {named}")
            });
        }
        examined.fact(errand.is_done() == post.is_good(), || match post.is_good() {
            true => format!("the server has done the {what}, and the person is told that it has not"),
            false => format!("the server has not done the {what}, and the person is told that it has"),
        });
        if let (Request::TaskFork(_), Some(Ok(answer))) = (errand.request, errand.answer) {
            let copy = post.answer.as_ref().map(|answer| &answer.body["id"]);
            examined.fact(copy == Some(&answer["sessionId"]), || {
                format!(
                    "the copy is {}, and the new task is said to be {}",
                    copy.cloned().unwrap_or_default(),
                    answer["sessionId"]
                )
            });
        }
        if let Request::TaskRevert(to) = errand.request {
            gone(course, &errand, &to.task_id, post, &mut examined);
        }
    }
    examined
}

/// What the server has gone back from is not on the screen in the end, unless that was taken back or gone on from.
fn gone(course: &Course<'_>, errand: &Errand<'_>, task: &str, post: &Exchange, examined: &mut Examined) {
    let goes_on = course.asked().any(|(said, _, request)| {
        said.line > errand.said.line
            && match request {
                Request::TaskUnrevert(of) => of.task_id == task,
                Request::TaskRevert(of) => of.task_id == task,
                Request::TaskSend(of) => of.task_id == task,
                Request::TaskEdit(of) => of.task_id == task,
                _ => false,
            }
    });
    let from = post.answer.as_ref().and_then(|answer| answer.body["revert"]["messageID"].as_str());
    let Some(from) = from.filter(|_| !goes_on) else { return };
    let screen = history::screen(course.lines);
    let items = screen.tasks.get(task).map(|view| &view.items).into_iter().flatten();
    let left = items.filter(|item| item.message_id.as_str() >= from).count();
    examined.fact(left == 0, || {
        format!("{task} has gone back to before {from}, and {left} rows from there on are on the screen")
    });
}
