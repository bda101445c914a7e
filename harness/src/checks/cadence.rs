//! Is the screen drawn neither too often nor too seldom, the first words soon, and is it told that the agent is at work?

use super::refresh::{Window, windows};
use super::{Check, Examined, rests};
use crate::course::{Course, Exchange, Started};
use crate::protocol::{Item, TaskState, ToolState, Update, View};
use fixtures::fault_plan::StreamName;
use fixtures::recording::HowEnded;
use std::collections::BTreeSet;
use std::ops::Range;

pub(super) const CHECK: Check = Check {
    name: "cadence",
    about: "A task publishes at most 60 pieces a second, at least 20 when the server offers more, the first words \
            without delay, and that the agent is at work.",
    needs: &[],
    has_occasion: |course| {
        course.tasks.iter().any(|task| !pieces(course, task).is_empty() || is_offered(course, task))
    },
    examine,
};

const MOST_A_SECOND: usize = 60;
const LEAST_A_SECOND: u64 = 20;
/// The first words of an answer are shown within so many milliseconds after they came.
const FIRST_WORDS_MS: u64 = 500;
/// An agent that works so many milliseconds long is seen to.
const WORK_MS: u64 = 500;
/// Beyond so many times that, no slow machine is an excuse.
const SURELY: u64 = 5;

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for task in &course.tasks {
        let pieces = pieces(course, task);
        if pieces.is_empty() {
            continue;
        }
        not_too_often(course, task, &pieces, &mut examined);
        often_enough(course, task, &pieces, &mut examined);
        soon(course, task, &pieces, &mut examined);
        at_work(course, task, &mut examined);
        rests::examine(course, task, &mut examined);
    }
    examined
}

/// A piece of text or output that was published.
struct Piece {
    at_us: u64,
    /// It came with all the rest of its task.
    is_redraw: bool,
}

/// The pieces of text and output; who draws a task anew for every piece publishes a piece, too.
fn pieces(course: &Course<'_>, task: &Started) -> Vec<Piece> {
    let mut view = View::default();
    let mut pieces = Vec::new();
    let first = offered(course, task).first().copied();
    // What is drawn where nothing stood is a piece if it was heard, and not read.
    let is_heard = |at_us| first.is_some_and(|first| first <= at_us && !is_read(course, task, first, at_us));
    for (said, update) in course.shown().filter(|(_, update)| update.task_id() == Some(&task.task)) {
        let is_redraw = matches!(update, Update::Timeline { .. });
        let is_piece = match update {
            Update::AssistantDelta { .. } | Update::ReasoningDelta { .. } => true,
            Update::ToolState { state, output, .. } => *state == ToolState::Running && output.is_some(),
            Update::Timeline { view: anew, .. } => {
                says_more(&view, anew) && (!view.items.is_empty() || is_heard(said.at_us))
            }
            _ => false,
        };
        view.apply(update);
        pieces.extend(is_piece.then_some(Piece { at_us: said.at_us, is_redraw }));
    }
    pieces
}

/// Does a task that is drawn anew say more in a row that it had before, or has it one more?
fn says_more(before: &View, anew: &View) -> bool {
    let said = |item: &Item| (item.part_id.clone(), item.text.clone().or(item.output.clone()));
    let known: BTreeSet<_> = before.items.iter().map(said).collect();
    anew.items.iter().any(|item| !known.contains(&said(item)))
}

/// Did the adapter read what was said, at any time between these?
fn is_read(course: &Course<'_>, task: &Started, from_us: u64, until_us: u64) -> bool {
    let talk = format!("/session/{}/message", task.session);
    course.exchanges.iter().any(|exchange| {
        exchange.method == "GET"
            && exchange.path == talk
            && exchange.at_us <= until_us
            && exchange.answer.as_ref().is_none_or(|answer| answer.at_us >= from_us)
    })
}

/// When the adapter was sent pieces of text of the session.
fn offered(course: &Course<'_>, task: &Started) -> Vec<u64> {
    let events = course.streams().flat_map(|stream| &stream.events);
    let own =
        events.filter(|sent| sent.kind() == "message.part.delta" && sent.session() == Some(&task.session));
    own.map(|sent| sent.at_us).collect()
}

/// Was the adapter told of a message, of a part of it, and of more of that, by one stream that had no gap before it? What
/// comes while a task is loaded again is seen with all the rest.
fn is_offered(course: &Course<'_>, task: &Started) -> bool {
    let Some(first) = course.streams().next() else { return false };
    let (mut messages, mut begun) = (BTreeSet::new(), BTreeSet::new());
    first.events.iter().filter(|sent| sent.session() == Some(&task.session)).any(|sent| {
        let properties = &sent.event["properties"];
        let is_in_time = first.end.is_none_or(|(_, end)| end > sent.at_us + 1000 * FIRST_WORDS_MS);
        match sent.kind() {
            "message.updated" => {
                messages.extend(properties["info"]["id"].as_str());
                false
            }
            "message.part.updated" => {
                let part = &properties["part"];
                let is_known = part["messageID"].as_str().is_some_and(|of| messages.contains(of));
                begun.extend(part["id"].as_str().filter(|_| is_known));
                false
            }
            "message.part.delta" => {
                is_in_time
                    && properties["partID"].as_str().is_some_and(|part| begun.contains(part))
                    && !is_loaded_meanwhile(course, task, sent.at_us)
            }
            _ => false,
        }
    })
}

/// Was the task being loaded anyway when this came, and is it shown with all that had come? Who only reads when all is
/// over was not.
fn is_loaded_meanwhile(course: &Course<'_>, task: &Started, at_us: u64) -> bool {
    const SOON_US: u64 = 1000 * FIRST_WORDS_MS;
    let talk = format!("/session/{}/message", task.session);
    let reads = |path: &str, asked_until_us: u64| {
        course.exchanges.iter().any(|exchange| {
            let answered_us = exchange.answer.as_ref().map(|answer| answer.at_us);
            exchange.method == "GET"
                && exchange.path == path
                && exchange.at_us <= asked_until_us
                && answered_us.is_some_and(|answered_us| answered_us + SOON_US > at_us)
        })
    };
    let is_begun = reads(&talk, at_us) || reads("/session/status", at_us) && reads(&talk, at_us + SOON_US);
    is_begun
        && course.shown().any(|(said, update)| {
            let is_all = matches!(update, Update::Timeline { .. }) && update.task_id() == Some(&task.task);
            is_all && (at_us..at_us + 2 * SOON_US).contains(&said.at_us)
        })
}

fn second_us(course: &Course<'_>) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a second of a case")]
    let second = (course.time_scale * 1_000_000.0) as u64;
    second.max(1)
}

fn most_in(pieces: &[Piece], window_us: u64) -> usize {
    let count = |first: usize| {
        let end_us = pieces[first].at_us + window_us;
        pieces[first..].iter().take_while(|piece| piece.at_us < end_us).count()
    };
    (0..pieces.len()).map(count).max().unwrap_or(0)
}

fn not_too_often(course: &Course<'_>, task: &Started, pieces: &[Piece], examined: &mut Examined) {
    let most = most_in(pieces, second_us(course));
    examined.fact(most <= MOST_A_SECOND, || format!("{} published {most} pieces in a second", task.task));
}

/// In a second in each twentieth of which the server offered something, something was published as often.
fn often_enough(course: &Course<'_>, task: &Started, pieces: &[Piece], examined: &mut Examined) {
    let second = second_us(course);
    let slot = second / LEAST_A_SECOND;
    let offered = offered(course, task);
    let has = |from: u64| offered.iter().any(|at| (from..from + slot).contains(at));
    let steady = offered.iter().find(|from| (0..LEAST_A_SECOND).all(|nth| has(*from + nth * slot)));
    let Some(from) = steady else { return };
    let published =
        pieces.iter().filter(|piece| (*from..from + second + 2 * slot).contains(&piece.at_us)).count() as u64;
    // One may fall just outside.
    examined.fact(published + 2 >= LEAST_A_SECOND, || {
        format!(
            "the server offered text all through a second, and {} published {published} pieces",
            task.task
        )
    });
}

fn soon(course: &Course<'_>, task: &Started, pieces: &[Piece], examined: &mut Examined) {
    let Some(first) = offered(course, task).first().copied() else { return };
    let Some(Piece { at_us: shown, is_redraw }) = pieces.iter().find(|piece| piece.at_us >= first) else {
        return;
    };
    let is_cut = course
        .streams()
        .any(|stream| stream.end.is_some_and(|(_, end_us)| (first..*shown).contains(&end_us)));
    let is_doubted = course.shown().any(|(said, update)| {
        let is_doubt = matches!(update, Update::Error { retry: true, .. });
        is_doubt
            && update.task_id().is_none_or(|of| *of == task.task)
            && (first..*shown).contains(&said.at_us)
    });
    if *is_redraw && (is_cut || is_doubted) {
        // It was loaded anew, after a gap or when the person pressed Retry.
        return;
    }
    let anew = held_back(course, task, first).filter(|anew| anew <= shown);
    let late_ms = (shown - anew.unwrap_or(first)) / 1000;
    examined.facts += 1;
    if is_drawn_soon(course, task, first) {
        return;
    }
    let finding =
        || format!("the first words came {late_ms} ms before {} showed anything of them", task.task);
    if late_ms > FIRST_WORDS_MS * SURELY {
        examined.findings.push(finding());
    } else if late_ms > FIRST_WORDS_MS {
        examined.doubts.push(finding());
    }
}

/// When was the task shown anew whose words came behind a reconnect, before that could be done, if the adapter waited for
/// the server all the while? What a server does not answer is no fault of who asks.
fn held_back(course: &Course<'_>, task: &Started, first: u64) -> Option<u64> {
    let own = |update: &Update| update.task_id().is_none_or(|of| *of == task.task);
    let is_loaded = |from: usize| {
        course.shown().any(|(said, update)| {
            let is_told = matches!(update, Update::Timeline { .. } | Update::Error { retry: true, .. });
            is_told && said.line > from && said.at_us < first && own(update)
        })
    };
    let begun = |window: &Window<'_>| {
        let mut events = course.streams().flat_map(|stream| &stream.events);
        events.find(|sent| sent.line == window.from).is_some_and(|sent| sent.at_us <= first)
    };
    let mut behind = windows(course)
        .filter(|window| window.task.task == task.task && begun(window) && !is_loaded(window.from));
    behind.next()?;
    let mut anew = course.shown().filter(|(said, update)| {
        matches!(update, Update::Timeline { .. }) && said.at_us >= first && own(update)
    });
    let (said, _) = anew.next()?;
    (idle_us(course, first, said.at_us) <= 1000 * FIRST_WORDS_MS).then_some(said.at_us)
}

/// When did its reader have the answer? Never, where it was not sent; late, where it was sent late.
fn answered_us(exchange: &Exchange) -> Option<u64> {
    let answer = exchange.answer.as_ref().filter(|_| exchange.how != Some(HowEnded::Broken))?;
    Some(exchange.end.map_or(answer.at_us, |(_, end_us)| end_us.max(answer.at_us)))
}

/// For how long, between these, did the adapter wait for no answer of the server?
fn idle_us(course: &Course<'_>, from_us: u64, until_us: u64) -> u64 {
    let mut asked: Vec<(u64, u64)> = course
        .exchanges
        .iter()
        .filter(|exchange| exchange.method == "GET" && StreamName::from_path(&exchange.path).is_none())
        .map(|exchange| (exchange.at_us, answered_us(exchange).unwrap_or(until_us)))
        .collect();
    asked.sort_unstable();
    let (mut idle, mut at) = (0, from_us);
    for (begun, over) in asked {
        idle += begun.min(until_us).saturating_sub(at);
        at = at.max(over.min(until_us));
    }
    idle + until_us.saturating_sub(at)
}

/// Were there words in the task when it was drawn anew at once? Then it is no matter that they were read.
fn is_drawn_soon(course: &Course<'_>, task: &Started, first: u64) -> bool {
    let soon = first..=first + 1000 * FIRST_WORDS_MS;
    course.shown().any(|(said, update)| match update {
        Update::Timeline { task_id, view } if *task_id == task.task && soon.contains(&said.at_us) => {
            view.items.iter().any(|item| item.text.as_ref().is_some_and(|text| !text.is_empty()))
        }
        _ => false,
    })
}

/// Of a turn that takes a while, on one stream that had no gap before its end: does the screen say that the agent works,
/// at any time before the adapter is told that it rests? A stream may be slow, and an adapter may have asked meanwhile.
fn at_work(course: &Course<'_>, task: &Started, examined: &mut Examined) {
    let Some(first) = course.streams().next() else { return };
    let mut since = None;
    let mut rested_us = 0;
    for sent in first.events.iter().filter(|sent| sent.session() == Some(&task.session)) {
        let state = sent.event["properties"]["status"]["type"].as_str();
        match (sent.kind(), state) {
            ("session.status", Some("busy")) => since = since.or(Some(sent.at_us)),
            ("session.idle", _) | ("session.status", Some("idle")) => {
                let is_long = since.take().is_some_and(|since| sent.at_us - since >= 1000 * WORK_MS);
                if is_long && first.end.is_none_or(|(_, end)| end > sent.at_us) {
                    let is_shown = is_shown_at_work(course, task, rested_us..sent.at_us);
                    examined.fact(is_shown, || {
                        format!(
                            "the agent works for {WORK_MS} ms and more, and {} is shown as idle",
                            task.task
                        )
                    });
                }
                rested_us = sent.at_us;
            }
            _ => {}
        }
    }
}

/// Does the screen say in this time that the agent of a task works?
fn is_shown_at_work(course: &Course<'_>, task: &Started, time_us: Range<u64>) -> bool {
    course.shown().any(|(said, update)| {
        let state = match update {
            Update::Status { state, .. } => *state,
            Update::Timeline { view, .. } => view.status,
            _ => return false,
        };
        let is_own = update.task_id() == Some(&task.task);
        is_own && state != TaskState::Idle && time_us.contains(&said.at_us)
    })
}
