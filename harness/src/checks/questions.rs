//! Is each question asked once and in its own task, and answered once, as the person said and where it belongs?
//!
//! Permissions and the agent's own questions alike. A question that comes back in a timeline is not a second one:
//! what stands on the screen in the end is for `convergence`. Here it is about what pops up, and about what is sent.

use super::answer_all::{AllAtOnce, all_at_once};
use super::approvals::is_by_rule;
use super::escape::leads_out;
use super::follow_ups::is_by_countdown;
use super::given::{self, given};
use super::{Check, Examined, as_asked};
use crate::course::{Course, Exchange, Said, Sent, What};
use crate::protocol::{Capability, Reply, Request, Update};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A client that draws a few times a second does not show what is gone so soon.
const AT_ONCE_MS: u64 = 100;

pub(super) const CHECK: Check = Check {
    name: "questions",
    about: "A question pops up once, in its own task, as the server asks it, and never after its answer; one answer goes to \
            the server: the person's, to the right folder.",
    needs: &[Capability::Permissions],
    has_occasion: |course| {
        course.events.iter().any(|sent| match sent.kind() {
            "question.asked" => true,
            // What a rule answers is for `approvals`.
            "permission.asked" => {
                !is_by_rule(course, sent.event["properties"]["id"].as_str().unwrap_or_default())
            }
            _ => false,
        })
    },
    examine,
};

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    pop_ups(course, &mut examined);
    lingers(course, &mut examined);
    as_asked::examine(course, &mut examined);
    answers(course, &mut examined);
    examined
}

/// Events of a stream are read in their order: who shows what began after somebody else's answer has read of that answer,
/// and asks no more. Its own answer may as well be over when its own request is, which comes when it comes.
fn lingers(course: &Course<'_>, examined: &mut Examined) {
    let own: BTreeSet<&str> = course.exchanges.iter().filter_map(answer_sent).collect();
    for stream in course.streams() {
        for (at, sent) in stream.events.iter().enumerate() {
            let is_answer =
                matches!(sent.kind(), "permission.replied" | "question.replied" | "question.rejected");
            let Some(id) = sent.event["properties"]["requestID"].as_str().filter(|_| is_answer) else {
                continue;
            };
            if own.contains(id) {
                continue;
            }
            let part = |sent: &Sent| sent.event["properties"]["part"]["id"].as_str().map(str::to_owned);
            let before: BTreeSet<String> = stream.events[..at].iter().filter_map(part).collect();
            let mut later: BTreeSet<String> = stream.events[at..].iter().filter_map(part).collect();
            later.retain(|part| !before.contains(part));
            let (mut live, mut was_asked) = (false, false);
            for (said, update) in course.shown() {
                match update {
                    Update::PermissionRequest { permission_id: asked, .. }
                    | Update::Question { question_id: asked, .. }
                        if asked == id =>
                    {
                        (live, was_asked) = (true, true);
                    }
                    Update::PermissionResolved { permission_id: gone, .. }
                    | Update::QuestionResolved { question_id: gone, .. }
                        if gone == id =>
                    {
                        live = false;
                    }
                    // What it says was read, and not heard.
                    Update::Timeline { .. } => live = false,
                    Update::AssistantDelta { part_id: part, .. }
                    | Update::ReasoningDelta { part_id: part, .. }
                    | Update::ToolState { tool_id: part, .. }
                        if live
                            && said.line > sent.line
                            && later.contains(part)
                            && !goes_at_once(course, said, id) =>
                    {
                        examined
                            .findings
                            .push(format!("{id} was answered, and is still asked when {part} is shown"));
                        break;
                    }
                    _ => {}
                }
            }
            // Who draws now and then has nothing to show of what was asked and answered in between.
            let is_drawn = course.shown().any(|(said, _)| said.line > sent.line);
            examined.facts += usize::from(was_asked || is_drawn && is_answered_at_once(stream, at, id));
        }
    }
}

/// What is drawn together comes in some order: does it go before anybody could see the two side by side?
fn goes_at_once(course: &Course<'_>, drawn: &Said, id: &str) -> bool {
    let What::Shows(update) = &drawn.what else { return false };
    let drawn_in = update.task_id();
    let behind = course.shown().filter(|(said, _)| said.line > drawn.line);
    let mut soon = behind.take_while(|(said, _)| said.at_us.saturating_sub(drawn.at_us) <= 1000 * AT_ONCE_MS);
    soon.any(|(_, update)| match update {
        Update::PermissionResolved { permission_id: gone, .. }
        | Update::QuestionResolved { question_id: gone, .. } => gone == id,
        // One that still asks it, or another task's, takes nothing away.
        Update::Timeline { task_id, view } => {
            drawn_in.is_some_and(|drawn_in| drawn_in == task_id)
                && !view.permissions.iter().any(|asked| asked.permission_id == id)
                && !view.questions.iter().any(|asked| asked.question_id == id)
        }
        _ => false,
    })
}

/// Was it asked so shortly before the answer that nobody could have read it on a screen?
fn is_answered_at_once(stream: &Exchange, at: usize, id: &str) -> bool {
    let answered_us = stream.events[at].at_us;
    stream.events[..at].iter().any(|sent| {
        matches!(sent.kind(), "permission.asked" | "question.asked")
            && sent.event["properties"]["id"] == id
            && answered_us.saturating_sub(sent.at_us) <= 1000 * AT_ONCE_MS
    })
}

/// Had the person set by then that there are no tools?
pub(super) fn tools_are_off(course: &Course<'_>, line: usize) -> bool {
    let settings = course.asked().filter(|(said, ..)| said.line < line);
    let tools = settings.filter_map(|(_, _, request)| match request {
        Request::Settings(settings) => Some(settings.tools),
        _ => None,
    });
    tools.last() == Some(false)
}

/// Is this the no of a person who has set that there are no tools, to whatever asks for one?
pub(super) fn is_set(course: &Course<'_>, post: &Exchange) -> bool {
    said_in(post) == "reject" && tools_are_off(course, post.line)
}

/// What pops up.
fn pop_ups(course: &Course<'_>, examined: &mut Examined) {
    let mut live: BTreeSet<&str> = BTreeSet::new();
    let given = given(course);
    let mut tools = true;
    for said in &course.said {
        match &said.what {
            What::Asks(_, Request::Settings(settings)) => tools = settings.tools,
            What::Shows(
                Update::PermissionRequest { task_id, permission_id: id, .. }
                | Update::Question { task_id, question_id: id, .. },
            ) => {
                let is_answered = given.iter().any(|given| given.line < said.line && given.id == *id);
                examined
                    .fact(!is_answered, || format!("{id} is asked again after the person has answered it"));
                examined.fact(live.insert(id), || format!("{id} is asked twice"));
                let owner = owner_of(course, id)
                    .and_then(|session| course.task_of(&session).map(|of| of.task.clone()));
                examined.fact(owner.as_ref().is_none_or(|owner| owner == task_id), || {
                    format!("{id} is asked in {task_id}, and it is {}'s", owner.clone().unwrap_or_default())
                });
                examined
                    .fact(tools || id.starts_with("que_"), || format!("{id} is asked though tools are off"));
            }
            What::Shows(
                Update::PermissionResolved { permission_id: id, .. }
                | Update::QuestionResolved { question_id: id, .. },
            ) => {
                live.remove(id.as_str());
            }
            // It replaces all that was asked.
            What::Shows(Update::Timeline { .. }) => live.clear(),
            _ => {}
        }
    }
    if !tools {
        examined.facts += 1;
        return;
    }
    never_shown(course, examined);
}

/// What the server asked, and nobody else has answered, was shown.
fn never_shown(course: &Course<'_>, examined: &mut Examined) {
    let questions = course.can.contains(&Capability::Questions);
    for sent in &course.events {
        let is_asked = sent.kind() == "permission.asked" || (questions && sent.kind() == "question.asked");
        let Some(id) = sent.event["properties"]["id"].as_str().filter(|_| is_asked) else { continue };
        let Some(task) = sent.session().and_then(|session| course.task_of(session)) else { continue };
        if course.closed.contains_key(&task.task) {
            continue;
        }
        let is_child = sent.session() != Some(&task.session);
        if is_child && !course.can.contains(&Capability::Children) {
            continue;
        }
        let is_over = course.events.iter().any(|later| {
            matches!(later.kind(), "permission.replied" | "question.replied" | "question.rejected")
                && later.event["properties"]["requestID"] == id
        });
        if is_over {
            continue;
        }
        let shown = course.shown().any(|(_, update)| match update {
            Update::PermissionRequest { permission_id, .. } => permission_id == id,
            Update::Question { question_id, .. } => question_id == id,
            Update::Timeline { view, .. } => {
                view.permissions.iter().any(|asked| asked.permission_id == id)
                    || view.questions.iter().any(|asked| asked.question_id == id)
            }
            _ => false,
        });
        examined.fact(shown, || format!("{id} was asked, and never shown in {}", task.task));
    }
}

/// What is sent.
fn answers(course: &Course<'_>, examined: &mut Examined) {
    let mut answered: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for given in given(course) {
        answered.entry(given.id).or_default().push(given.answer);
    }
    let mut sent: BTreeMap<String, Vec<&Exchange>> = BTreeMap::new();
    for exchange in &course.exchanges {
        if let Some(id) = answer_sent(exchange) {
            sent.entry(id.to_owned()).or_default().push(exchange);
        }
    }
    for (id, answers) in &answered {
        let posts = sent.get(id).map(Vec::as_slice).unwrap_or_default();
        if let Some(words) = words_beside(course, id) {
            let mut told = posts.iter().map(|post| &post.body["message"]);
            examined.fact(told.any(|told| told == words), || {
                format!("the person says {words:?} beside the answer to {id}, and nobody told the server")
            });
        }
        examined.fact(posts.len() == answers.len(), || match posts.len() {
            0 => format!("the person's answer to {id} was sent to nobody"),
            count => format!(
                "{count} answers to {id} were sent to the server, and the person gave {}",
                answers.len()
            ),
        });
        for post in posts {
            let said = said_in(post);
            let is_guards = said == "reject" && is_refused(course, id);
            examined.fact(answers.contains(&said) || is_guards, || {
                format!("the person answers {} to {id}, and {said} was sent", answers[0])
            });
            let folder =
                owner_of(course, id).and_then(|session| course.task_of(&session).map(|of| of.folder.clone()));
            let place = course.folder_of(post);
            examined.fact(folder.as_deref().is_none_or(|folder| folder == place), || {
                format!("{id} was asked in {}, and answered in {place}", folder.clone().unwrap_or_default())
            });
        }
    }
    // What rules answer is for `approvals`, what countdowns do, for `follow-ups`.
    let nobodys = |id: &&String| {
        !answered.contains_key(id.as_str()) && !is_by_rule(course, id) && !is_by_countdown(course, id)
    };
    for (id, posts) in sent.iter().filter(|(id, _)| nobodys(id)) {
        let is_set = id.starts_with("per_") && posts.iter().all(|post| is_set(course, post));
        examined.fact(is_set, || format!("an answer to {id} was sent that nobody gave"));
    }
}

/// What the person says beside an answer that the adapter takes.
fn words_beside<'a>(course: &'a Course<'_>, id: &str) -> Option<&'a str> {
    course.asked().find_map(|(_, asked, request)| match request {
        Request::PermissionReply(reply) if reply.permission_id == id => {
            let is_taken = course.answer_to(asked).is_some_and(|(_, outcome)| outcome.is_ok());
            reply.message.as_deref().filter(|_| is_taken)
        }
        _ => None,
    })
}

/// Did the adapter say that it does not send the person's yes? Its guard may tell the agent no.
fn is_refused(course: &Course<'_>, id: &str) -> bool {
    let alone = course.asked().any(|(_, asked, request)| {
        let is_yes = matches!(request, Request::PermissionReply(reply) if reply.permission_id == id && reply.reply != Reply::Reject);
        is_yes && course.answer_to(asked).is_some_and(|(_, outcome)| outcome.is_err())
    });
    let with_others = |all: &AllAtOnce<'_>| {
        all.asked.reply != Reply::Reject && all.is_refused() && all.open.iter().any(|open| open == id)
    };
    alone || leads_out(course, id) && all_at_once(course).iter().any(with_others)
}

/// The session that asks.
pub(super) fn owner_of(course: &Course<'_>, id: &str) -> Option<String> {
    let asks = |sent: &&crate::course::Sent| {
        matches!(sent.kind(), "permission.asked" | "question.asked") && sent.event["properties"]["id"] == id
    };
    course.events.iter().find(asks).and_then(|sent| sent.session().map(str::to_owned))
}

/// The question that the adapter answers to the server, by any of the routes.
pub(super) fn answer_sent(exchange: &Exchange) -> Option<&str> {
    if exchange.method != "POST" {
        return None;
    }
    let words: Vec<&str> = exchange.path.trim_start_matches('/').split('/').collect();
    match words[..] {
        ["session", _, "permissions", id]
        | ["permission" | "question", id, "reply"]
        | ["question", id, "reject"] => Some(id),
        _ => None,
    }
}

/// How it answers.
pub(super) fn said_in(exchange: &Exchange) -> Value {
    if exchange.path.ends_with("/reject") {
        return json!("reject");
    }
    let body = &exchange.body;
    let said = ["reply", "response", "answers"].into_iter().find_map(|field| body.get(field));
    said.cloned().unwrap_or_default()
}

/// So many times the person's yes became a no, since it would have let the agent write outside.
pub(super) fn refused_by_guard(course: &Course<'_>) -> usize {
    let no = |exchange: &&Exchange| said_in(exchange) == "reject";
    let sent = course.exchanges.iter().filter(no).filter_map(answer_sent);
    let by_itself =
        |id: &str| is_by_rule(course, id) && leads_out(course, id) && given::times(course, id).is_empty();
    let ids: BTreeSet<&str> = sent.filter(|id| is_refused(course, id) || by_itself(id)).collect();
    ids.len()
}
