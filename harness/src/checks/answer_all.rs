//! When all that is asked is allowed at once: is each request answered by itself, and does one that fails stay open alone?

use super::escape::leads_out;
use super::questions::{answer_sent, said_in};
use super::{Check, Examined};
use crate::course::{Course, Exchange, What};
use crate::protocol::{Capability, PermissionAll, Reply, Request, Screen};
use serde_json::json;

pub(super) const CHECK: Check = Check {
    name: "answer-all",
    about: "Allowing all that a task asks answers each request by itself, once; what the server did not take is asked on, and \
            nothing else.",
    needs: &[Capability::AnswerAll],
    has_occasion: |course| all_at_once(course).iter().any(|all| all.open.len() > 1),
    examine,
};

/// The person has answered all at once.
pub(super) struct AllAtOnce<'a> {
    pub(super) asked: &'a PermissionAll,
    pub(super) line: usize,
    pub(super) at_us: u64,
    /// When the adapter has answered, and whether well.
    answered: Option<(usize, bool)>,
    /// What the screen asked then.
    pub(super) open: Vec<String>,
}

impl AllAtOnce<'_> {
    /// Was the person told that it was not done, or not whole?
    pub(super) fn is_refused(&self) -> bool {
        self.answered.is_some_and(|(_, is_good)| !is_good)
    }

    /// What the adapter sent for it, until it had an answer.
    pub(super) fn posts<'b>(
        &'b self,
        course: &'b Course<'_>,
    ) -> impl Iterator<Item = (&'b str, &'b Exchange)> {
        let until = self.answered.map_or(usize::MAX, |(line, _)| line);
        let then =
            course.exchanges.iter().filter(move |exchange| (self.line..until).contains(&exchange.line));
        let sent = then.filter_map(|exchange| Some((answer_sent(exchange)?, exchange)));
        sent.filter(|(id, _)| self.open.iter().any(|open| open == id))
    }
}

/// Each time that the person has answered all at once.
pub(super) fn all_at_once<'a>(course: &'a Course<'_>) -> Vec<AllAtOnce<'a>> {
    let mut screen = Screen::default();
    let mut found = Vec::new();
    for said in &course.said {
        match &said.what {
            What::Shows(update) => screen.apply(update),
            What::Asks(id, Request::PermissionAll(asked)) => {
                let answered = course.answer_to(id).map(|(said, outcome)| (said.line, outcome.is_ok()));
                let view = screen.tasks.get(&asked.task_id);
                let open = view.map(|view| &view.permissions).into_iter().flatten();
                let open = open.map(|asked| asked.permission_id.clone()).collect();
                found.push(AllAtOnce { asked, line: said.line, at_us: said.at_us, answered, open });
            }
            _ => {}
        }
    }
    found
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for all in all_at_once(course) {
        let Some((answered, is_good)) = all.answered else {
            examined.fact(false, || "nobody says what became of allowing all".to_owned());
            continue;
        };
        // What the server did not take, and what the guard has kept back.
        let (mut failed, mut kept) = (Vec::new(), Vec::new());
        for id in &all.open {
            let posts: Vec<&Exchange> =
                all.posts(course).filter(|(of, _)| of == id).map(|(_, post)| post).collect();
            examined.fact(posts.len() == 1, || {
                format!("all was allowed, and {id} was answered {} times", posts.len())
            });
            let Some(post) = posts.first() else { continue };
            let is_guards = all.asked.reply != Reply::Reject && leads_out(course, id);
            let wanted = if is_guards { json!("reject") } else { json!(all.asked.reply) };
            examined.fact(said_in(post) == wanted, || match is_guards {
                true => format!("{id} leads out of the workspace, and all that was asked was allowed"),
                false => format!("all was answered {wanted}, and {id} {}", said_in(post)),
            });
            if is_guards {
                kept.push(id.clone());
            }
            if !post.is_good() && post.status() != Some(404) {
                failed.push(id.clone());
            }
        }
        taken_away(course, &all, &kept, &mut examined);
        let vain: Vec<&str> = failed.iter().chain(&kept).map(String::as_str).collect();
        examined.fact(is_good == vain.is_empty(), || match is_good {
            true => format!(
                "the server did not take the answer to {}, and the person is told that all is well",
                vain.join(", ")
            ),
            false => "the server took every answer, and the person is told otherwise".to_owned(),
        });
        let asked = asked_at(course, answered, &all.asked.task_id);
        for id in &all.open {
            let (is_failed, is_asked) = (failed.contains(id), asked.contains(id));
            // What was taken may be on its way out.
            if is_failed {
                examined.fact(is_asked, || {
                    format!("the server did not take the answer to {id}, and nobody is asked for it any more")
                });
            } else {
                examined.fact(!is_asked, || format!("{id} is answered, and still asked"));
            }
        }
    }
    examined
}

/// The server takes a no for a no to all that is open: sent before a yes has come, it takes that away.
fn taken_away(course: &Course<'_>, all: &AllAtOnce<'_>, kept: &[String], examined: &mut Examined) {
    let is_kept = |id: &str| kept.iter().any(|kept| kept == id);
    let posts: Vec<(&str, &Exchange)> = all.posts(course).collect();
    let no = posts.iter().filter(|(id, _)| is_kept(id)).map(|(_, post)| post.line).min();
    let Some(no) = no else { return };
    for (id, yes) in posts.iter().filter(|(id, _)| !is_kept(id) && all.open.iter().any(|open| open == id)) {
        let is_vain = yes.status() == Some(404) && yes.answer.as_ref().is_some_and(|answer| answer.line > no);
        examined.fact(!is_vain, || {
            format!("{id} was allowed, and the no to what leads out of the workspace came before that and took it away")
        });
    }
}

/// What the screen asks when it was answered.
fn asked_at(course: &Course<'_>, line: usize, task: &str) -> Vec<String> {
    let mut screen = Screen::default();
    course.shown().filter(|(said, _)| said.line <= line).for_each(|(_, update)| screen.apply(update));
    let view = screen.tasks.remove(task).unwrap_or_default();
    view.permissions.into_iter().map(|asked| asked.permission_id).collect()
}
