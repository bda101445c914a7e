//! Is the input closed while the person is asked for leave, and open otherwise?

use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Affordance, Capability, Offered, Request, Screen, Update};

pub(super) const CHECK: Check = Check {
    name: "input",
    about: "While a task asks for leave nobody can write in it; after the answer, everybody can.",
    needs: &[Capability::Affordances, Capability::Permissions],
    has_occasion: |course| looks(course).iter().any(|look| look.is_asked),
    examine,
};

/// Somebody has looked what can be done in a task.
struct Look {
    task: String,
    /// The screen asks for leave just then.
    is_asked: bool,
    /// And offers to write.
    offers: Option<bool>,
}

fn looks(course: &Course<'_>) -> Vec<Look> {
    let mut screen = Screen::default();
    let mut looks = Vec::new();
    for said in &course.said {
        match &said.what {
            What::Shows(update) => screen.apply(update),
            What::Asks(id, Request::Affordances(task)) => {
                let answer = course.answer_to(id).and_then(|(_, outcome)| outcome.as_ref().ok());
                let offered =
                    answer.and_then(|answer| serde_json::from_value::<Offered>(answer.clone()).ok());
                let view = screen.tasks.get(&task.task_id);
                if course
                    .answer_to(id)
                    .is_some_and(|(answered, _)| is_changed(course, said.line, answered.line, &task.task_id))
                {
                    // It may have been looked at before or after that.
                    continue;
                }
                looks.push(Look {
                    task: task.task_id.clone(),
                    is_asked: view.is_some_and(|view| !view.permissions.is_empty()),
                    offers: offered.map(|offered| offered.offers.contains(&Affordance::Input)),
                });
            }
            _ => {}
        }
    }
    looks
}

/// Does the screen of a task ask for something else in between?
fn is_changed(course: &Course<'_>, from: usize, until: usize, task: &str) -> bool {
    let mut between = course.shown().filter(|(said, _)| (from..until).contains(&said.line));
    between.any(|(_, update)| {
        let is_about = matches!(
            update,
            Update::PermissionRequest { .. } | Update::PermissionResolved { .. } | Update::Timeline { .. }
        );
        is_about && update.task_id().is_some_and(|of| of == task)
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for Look { task, is_asked, offers } in looks(course) {
        examined.fact(offers != Some(is_asked), || match is_asked {
            true => format!("{task} asks for leave, and its input is open"),
            false => format!("{task} asks for nothing, and its input is closed"),
        });
    }
    examined
}
