//! Does the screen offer nothing that can't work?

use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Affordance, Capability, Offered, Request};
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "affordances",
    about: "What the screen offers can work: no browser, no process by its number, nothing that the client can't do, \
            no leave to give while tools are off.",
    needs: &[Capability::Affordances],
    has_occasion: |course| course.asked().any(|(_, _, request)| matches!(request, Request::Affordances(_))),
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut tools = true;
    for said in &course.said {
        let What::Asks(id, request) = &said.what else { continue };
        if let Request::Settings(settings) = request {
            tools = settings.tools;
        }
        let Request::Affordances(task) = request else { continue };
        let answer = course.answer_to(id).and_then(|(_, outcome)| outcome.as_ref().ok());
        let offered = answer.and_then(|answer| serde_json::from_value::<Offered>(answer.clone()).ok());
        let Some(Offered { offers }) = offered else {
            examined.findings.push(format!("nothing was said of what {} offers", task.task_id));
            continue;
        };
        let each: BTreeSet<Affordance> = offers.iter().copied().collect();
        examined.fact(each.len() == offers.len(), || "something is offered twice".to_owned());
        for offer in each {
            let why = cannot(course, offer, tools);
            examined.fact(why.is_none(), || format!("{offer:?} is offered, and {}", why.unwrap_or_default()));
        }
    }
    examined
}

/// Why something can't work; nothing if it can.
fn cannot(course: &Course<'_>, offer: Affordance, tools: bool) -> Option<String> {
    let needs = match offer {
        Affordance::Browser => return Some("these sessions have no browser (decision 5)".to_owned()),
        Affordance::Process => return Some("no server says the number of a process".to_owned()),
        Affordance::Permissions | Affordance::AutoApprove if !tools => {
            return Some("tools are off, so that nobody asks for leave".to_owned());
        }
        Affordance::Permissions => Capability::Permissions,
        Affordance::AutoApprove => Capability::AutoApprove,
        Affordance::Stop => Capability::Abort,
        Affordance::Retry => Capability::Retry,
        Affordance::Questions => Capability::Questions,
        Affordance::Todos => Capability::Todos,
        // Who can write when is for `input`.
        Affordance::Input => Capability::Chat,
    };
    (!course.can.contains(&needs)).then(|| format!("the client does not declare {}", needs.word()))
}
