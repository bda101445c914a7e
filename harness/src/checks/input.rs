//! Is the input closed while the person is asked for leave, and open otherwise?

use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Affordance, Capability, Offered, Request, Screen};

pub(super) const CHECK: Check = Check {
    name: "input",
    about: "While a task asks for leave nobody can write in it; after the answer, everybody can.",
    needs: &[Capability::Affordances, Capability::Permissions],
    has_occasion: |course| looks(course).iter().any(Look::is_asked),
    examine,
};

/// Somebody has looked what can be done in a task.
struct Look {
    task: String,
    /// Where the adapter has answered.
    until: usize,
    /// Whether the screen asked for leave when it was looked at, and after each change until the answer: what the answer is
    /// true of is one of them.
    asked: Vec<bool>,
    /// And offers to write.
    offers: Option<bool>,
}

impl Look {
    fn is_asked(&self) -> bool {
        self.asked.contains(&true)
    }
}

fn looks(course: &Course<'_>) -> Vec<Look> {
    let mut screen = Screen::default();
    let mut looks: Vec<Look> = Vec::new();
    let asks =
        |screen: &Screen, task: &str| screen.tasks.get(task).is_some_and(|view| !view.permissions.is_empty());
    for said in &course.said {
        match &said.what {
            What::Shows(update) => {
                screen.apply(update);
                for look in looks.iter_mut().filter(|look| said.line < look.until) {
                    look.asked.push(asks(&screen, &look.task));
                }
            }
            What::Asks(id, Request::Affordances(task)) => {
                let answered = course.answer_to(id);
                let answer = answered.and_then(|(_, outcome)| outcome.as_ref().ok());
                let offered =
                    answer.and_then(|answer| serde_json::from_value::<Offered>(answer.clone()).ok());
                looks.push(Look {
                    task: task.task_id.clone(),
                    until: answered.map_or(0, |(answered, _)| answered.line),
                    asked: vec![asks(&screen, &task.task_id)],
                    offers: offered.map(|offered| offered.offers.contains(&Affordance::Input)),
                });
            }
            _ => {}
        }
    }
    looks
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for look in looks(course) {
        let is_true = look.offers.is_none_or(|offers| look.asked.contains(&!offers));
        examined.fact(is_true, || match look.is_asked() {
            true => format!("{} asks for leave, and its input is open", look.task),
            false => format!("{} asks for nothing, and its input is closed", look.task),
        });
    }
    examined
}
