//! Puts what raced on its way to the recorder where the server sent it.
//!
//! A recorder reads several connections. What it read last may have been sent first: the question on one stream
//! makes the person answer, and only then the same question is read from the other stream. A client that waits for
//! it there would wait for ever.

use super::course::{Cause, What};
use crate::performer::Audience;
use fixtures::fault_plan::StreamName;
use std::collections::{BTreeSet, HashSet};

/// The moments without the races.
pub(super) fn mended(whats: Vec<What>, causes: &[Cause]) -> Vec<What> {
    let mut rest = once_each(whats);
    let mut mended: Vec<What> = Vec::with_capacity(rest.len());
    let mut told: HashSet<String> = HashSet::new();
    let mut made: BTreeSet<String> = BTreeSet::new();
    while !rest.is_empty() {
        let next = rest.iter().position(|what| matches!(what, What::Cause(_))).unwrap_or(rest.len());
        let after = rest.split_off(next);
        told.extend(rest.iter().filter_map(event_id));
        for what in &rest {
            if let What::Answer(index) = what {
                let made_here = causes[*index].made();
                made.extend(made_here.and_then(|session| Some(session["id"].as_str()?.to_owned())));
            }
        }
        mended.append(&mut rest);
        let (mut early, late) = parted(after, &told, &made);
        mended.append(&mut early);
        let mut late = late.into_iter();
        // The cause itself; what follows it is looked at next.
        mended.extend(late.next());
        rest = late.collect();
    }
    mended
}

/// What was sent before a cause, although it was read after it; and the rest.
fn parted(after: Vec<What>, told: &HashSet<String>, made: &BTreeSet<String>) -> (Vec<What>, Vec<What>) {
    // A stream keeps its order: what stands before a frame that came early came early, too.
    let last_early = |stream: StreamName| {
        after.iter().rposition(|what| {
            let id = event_id(what);
            what.sent().is_some_and(|sent| sent.audience.stream == stream)
                && id.is_some_and(|id| told.contains(&id))
        })
    };
    let ends = [StreamName::Event, StreamName::GlobalEvent].map(|stream| (stream, last_early(stream)));
    let is_early = |at: usize, what: &What| {
        let Some(sent) = what.sent() else { return false };
        let end = ends.iter().find(|(stream, _)| *stream == sent.audience.stream);
        let is_known = end.and_then(|(_, end)| *end).is_some_and(|end| at <= end);
        // A session is told before anything is done in it.
        is_known || sent.born().is_some_and(|session| made.contains(session))
    };
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for (at, what) in after.into_iter().enumerate() {
        if is_early(at, &what) { early.push(what) } else { late.push(what) }
    }
    (early, late)
}

/// Two connections to one stream tell everything twice.
fn once_each(whats: Vec<What>) -> Vec<What> {
    let mut seen = HashSet::new();
    let is_new = |what: &What| match (what.sent(), event_id(what)) {
        (Some(sent), Some(id)) => {
            let Audience { stream, directory } = sent.audience.clone();
            seen.insert((stream, directory, sent.kind().to_owned(), id))
        }
        _ => true,
    };
    let mut is_new = is_new;
    whats.into_iter().filter(|what| is_new(what)).collect()
}

fn event_id(what: &What) -> Option<String> {
    let event = &what.sent()?.event;
    let id = event["id"].as_str().or_else(|| event["syncEvent"]["id"].as_str());
    id.map(str::to_owned)
}
