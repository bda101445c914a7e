//! What the person wants done once, and the requests of the adapter in which that is done. No check of its own.

use super::Examined;
use crate::course::{Course, Exchange, Said};
use crate::protocol::{Request, RpcError};
use fixtures::recording::Line;
use serde_json::Value;

/// A request of the harness, and what the adapter did until it had answered.
pub(super) struct Errand<'a> {
    pub(super) said: &'a Said,
    pub(super) request: &'a Request,
    pub(super) answer: Option<&'a Result<Value, RpcError>>,
    until: usize,
}

/// All of them that are wanted.
pub(super) fn errands<'a>(course: &'a Course<'_>, is_wanted: fn(&Request) -> bool) -> Vec<Errand<'a>> {
    let asked = course.asked().filter(|(_, _, request)| is_wanted(request));
    let errand = |(said, id, request): (&'a Said, &'a str, &'a Request)| {
        let answered = course.answer_to(id);
        let until = answered.map_or(usize::MAX, |(said, _)| said.line);
        Errand { said, request, answer: answered.map(|(_, outcome)| outcome), until }
    };
    asked.map(errand).collect()
}

impl<'a> Errand<'a> {
    /// What the adapter asked of the server for it.
    pub(super) fn exchanges(
        &self,
        course: &'a Course<'_>,
    ) -> impl Iterator<Item = &'a Exchange> + use<'a, '_> {
        let window = self.said.line..self.until;
        course.exchanges.iter().filter(move |exchange| window.contains(&exchange.line))
    }

    /// All that happened meanwhile.
    pub(super) fn lines<'b>(&self, course: &Course<'b>) -> &'b [Line] {
        let until = self.until.min(course.lines.len());
        course.lines.get(self.said.line..until).unwrap_or_default()
    }

    /// Those of them with this method and path.
    pub(super) fn asked(&self, course: &'a Course<'_>, method: &str, path: &str) -> Vec<&'a Exchange> {
        self.exchanges(course).filter(|asked| asked.method == method && asked.path == path).collect()
    }

    /// Does the adapter say that it is done?
    pub(super) fn is_done(&self) -> bool {
        self.answer.is_some_and(Result::is_ok)
    }
}

/// Do these go to the folder in which the task works? In another one the server goes back in other files, and copies elsewhere.
pub(super) fn in_its_folder(course: &Course<'_>, task: &str, asked: &[&Exchange], examined: &mut Examined) {
    let Some(started) = course.tasks.iter().find(|started| started.task == task) else { return };
    let bare = |folder: &str| folder.trim_end_matches('/').to_owned();
    let own = bare(&started.folder);
    for exchange in asked {
        let place = bare(course.folder_of(exchange));
        examined.fact(place == own, || {
            let (method, path) = (&exchange.method, &exchange.path);
            format!("{task} works in {own}, and {method} {path} was asked in {place}")
        });
    }
}

/// The session of a task.
pub(super) fn session_of<'a>(course: &'a Course<'_>, task: &str) -> Option<&'a str> {
    course.tasks.iter().find(|started| started.task == task).map(|started| started.session.as_str())
}
