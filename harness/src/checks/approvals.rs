//! Do rules answer what they cover, once, in their time, and nothing else?

use super::escape::leads_out;
use super::fail_closed::is_closed;
use super::given::{stops, times};
use super::questions::{answer_sent, is_set, owner_of, said_in, tools_are_off};
use super::{Check, Examined, unknown};
use crate::course::{Course, Exchange, Said, Sent, What};
use crate::protocol::{AutoApprove, Capability, Request, Update};
use serde_json::json;

pub(super) const CHECK: Check = Check {
    name: "approvals",
    about: "A rule gives leave for what it covers, once and not before its time, unless the person answers or stops \
            it, and for nothing that leads out of the workspace; for anything else the person is asked.",
    needs: &[Capability::AutoApprove],
    has_occasion: |course| {
        let ruled = course.asked().any(|(_, _, request)| rule_in(request).is_some_and(|rule| rule.is_some()));
        ruled && course.events.iter().any(|sent| sent.kind() == "permission.asked")
    },
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for sent in course.events.iter().filter(|sent| sent.kind() == "permission.asked") {
        let properties = &sent.event["properties"];
        let (Some(id), Some(kind)) = (properties["id"].as_str(), properties["permission"].as_str()) else {
            continue;
        };
        let is_ours = owner_of(course, id).is_some_and(|session| course.task_of(&session).is_some());
        if is_ours {
            // Without tools there is nothing to give leave for, whatever the rule says.
            let has_tools = !tools_are_off(course, sent.line);
            let rule = rule_at(course, sent.line).filter(|rule| has_tools && rule.covers(kind));
            one(course, sent, id, rule, &mut examined);
        }
    }
    examined
}

/// One request for leave.
fn one(course: &Course<'_>, sent: &Sent, id: &str, rule: Option<&AutoApprove>, examined: &mut Examined) {
    let answers = course.exchanges.iter().filter(|post| answer_sent(post) == Some(id));
    let posts: Vec<&Exchange> = answers.filter(|post| !is_set(course, post)).collect();
    let held = course.asked().filter_map(|(said, _, request)| match request {
        Request::PermissionHold(held) if held.permission_id == id => Some(said.at_us),
        _ => None,
    });
    let persons = times(course, id);
    let shown = course.said.iter().any(|said| shows(said, id));
    let Some(rule) = rule else {
        examined.fact(posts.len() <= persons.len(), || {
            format!("{id} was answered, and no rule covers it and nobody has answered it")
        });
        return;
    };
    if leads_out(course, id) {
        // No rule gives leave for that: the guard tells the agent no, or the person is asked first.
        let yes = posts.iter().filter(|post| said_in(post) != json!("reject")).count();
        examined.fact(yes == 0, || format!("{id} leads out of the workspace, and leave was given for it"));
        examined.fact(shown || !posts.is_empty(), || {
            format!("{id} leads out of the workspace, and is neither refused nor asked")
        });
        return;
    }
    let due_us = told_us(course, sent, id).saturating_add(scaled_us(course, rule.delay_ms));
    // Who says so just when it is due may be late.
    let stopped = held.chain(persons.iter().copied()).min().is_some_and(|at_us| at_us < due_us);
    if stopped {
        examined.fact(posts.len() <= persons.len(), || {
            format!("the rule has answered {id}, and the person had stopped it")
        });
        return;
    }
    if let Some(was_done) = stopped_by(course, sent, id, due_us) {
        // Who could not stop the agent may let the rule go on.
        examined.fact(!was_done || posts.len() <= persons.len(), || {
            format!("the rule has answered {id}, and the person had stopped the agent")
        });
        return;
    }
    if cannot_go_on(course, sent, due_us) {
        examined.fact(posts.len() <= persons.len(), || {
            format!("the rule has answered {id}, and its task had said that it can't go on")
        });
        return;
    }
    let by_rule = posts.len().saturating_sub(persons.len());
    examined.fact(by_rule == 1, || format!("a rule covers {id}, and has answered it {by_rule} times"));
    if let Some(post) = posts.first() {
        examined.fact(said_in(post) == json!("once"), || {
            format!("the rule says {} to {id}, and was to give leave this once", said_in(post))
        });
        let early = due_us.saturating_sub(post.at_us) / 1000;
        examined.fact(early == 0, || format!("the rule has answered {id} {early} ms too early"));
    }
    let wanted = rule.delay_ms > 0;
    examined.fact(shown == wanted, || match wanted {
        true => format!("a rule was to answer {id} in a while, and the person could not see that"),
        false => format!("a rule answers {id} at once, and the person was asked"),
    });
}

/// When the server has asked this first, to the harness's eyes or to the adapter: each is told on a stream of its own,
/// and on a busy machine one long after the other.
pub(super) fn told_us(course: &Course<'_>, sent: &Sent, id: &str) -> u64 {
    heard_us(course, sent, id).map_or(sent.at_us, |heard_us| heard_us.min(sent.at_us))
}

/// Did the person stop the agent while it waited for this, before somebody was to answer in their place; and was it done,
/// by a client that knew of it?
pub(super) fn stopped_by(course: &Course<'_>, sent: &Sent, id: &str, due_us: u64) -> Option<bool> {
    let known_us = heard_us(course, sent, id);
    let stops = stops(course, id).into_iter().filter(|(at_us, _)| (sent.at_us..due_us).contains(at_us));
    stops
        .map(|(at_us, was_done)| was_done && known_us.is_some_and(|known_us| known_us <= at_us))
        .reduce(|one, other| one || other)
}

/// Has the task of this said, before somebody was to answer in the person's place, that it can't go on, of an event that
/// nobody understands; and was it never loaded anew?
pub(super) fn cannot_go_on(course: &Course<'_>, sent: &Sent, due_us: u64) -> bool {
    let Some(task) = sent.session().and_then(|session| course.task_of(session)) else { return false };
    let of_task = |of: &str| *of == task.task;
    let strange = unknown::sent(course)
        .filter(|other| {
            other.session().and_then(|session| course.task_of(session)).is_some_and(|of| of_task(&of.task))
        })
        .map(|other| other.line)
        .min();
    let Some(strange) = strange else { return false };
    let closed = course
        .shown()
        .find(|(said, update)| said.line > strange && said.at_us < due_us && is_closed(update, &task.task));
    let Some((closed, _)) = closed else { return false };
    let pressed = course.asked().any(|(said, _, request)| {
        said.line > closed.line && matches!(request, Request::TaskRetry(of) if of_task(&of.task_id))
    });
    let anew = course.shown().any(|(said, update)| {
        said.line > closed.line && matches!(update, Update::Timeline { task_id, .. } if of_task(task_id))
    });
    !pressed && !anew
}

/// When the adapter was told first what is asked here.
fn heard_us(course: &Course<'_>, sent: &Sent, id: &str) -> Option<u64> {
    let to_adapter = course.streams().flat_map(|stream| &stream.events);
    let asks = to_adapter.filter(|told| told.kind() == sent.kind() && told.event["properties"]["id"] == id);
    asks.map(|told| told.at_us).min()
}

pub(super) fn scaled_us(course: &Course<'_>, ms: u64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "waits are seconds"
    )]
    let scaled = (ms as f64 * course.time_scale * 1000.0) as u64;
    scaled
}

fn shows(said: &Said, id: &str) -> bool {
    match &said.what {
        What::Shows(Update::PermissionRequest { permission_id, .. }) => permission_id == id,
        What::Shows(Update::Timeline { view, .. }) => {
            view.permissions.iter().any(|asked| asked.permission_id == id)
        }
        _ => false,
    }
}

/// The rule that these settings have; nothing when they are none.
fn rule_in(request: &Request) -> Option<Option<&AutoApprove>> {
    match request {
        Request::Settings(settings) => Some(settings.auto_approve.as_ref()),
        _ => None,
    }
}

/// The rule in force at a line.
fn rule_at<'a>(course: &'a Course<'_>, line: usize) -> Option<&'a AutoApprove> {
    let before = course.asked().filter(|(said, ..)| said.line < line);
    before.filter_map(|(_, _, request)| rule_in(request)).last().flatten()
}

/// Does a rule answer this request, so that nobody else has to?
pub(super) fn is_by_rule(course: &Course<'_>, id: &str) -> bool {
    course.events.iter().any(|sent| {
        let properties = &sent.event["properties"];
        let kind = properties["permission"].as_str().unwrap_or_default();
        sent.kind() == "permission.asked"
            && properties["id"] == id
            && rule_at(course, sent.line).is_some_and(|rule| rule.covers(kind))
    })
}
