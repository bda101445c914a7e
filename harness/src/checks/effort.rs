//! Does it leave the server alone: few attempts, none with wrong credentials, none before it may, one stream at a time?

use super::{Check, Examined};
use crate::course::{Course, Exchange, Said, What};
use crate::protocol::{Capability, ConnectionState, Request, Update};
use crate::witness::{Witnessed, witnessed};
use fixtures::recording::HowEnded;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "effort",
    about: "Streams are asked for seldom, one at a time, not before the server allows it, and nothing again and again with \
            credentials that it has refused, which the person is told.",
    needs: &[],
    has_occasion: |_| false,
    examine,
};

/// So often a stream of a folder may be asked for in so many seconds, unscaled.
const MOST_ATTEMPTS: usize = 20;
const IN_SECONDS: f64 = 10.0;
/// So often again after the server has refused the credentials: they may have been read anew.
const MOST_AFTER_REFUSAL: usize = 2;
/// Within so many seconds, unscaled, the person knows that a stream does not come back; and what a busy machine may add.
const TOLD_WITHIN_S: f64 = 5.0;
const TOLD_SLACK_S: f64 = 1.0;
/// A stream on which something came within so many seconds, unscaled, lives.
const ALIVE_S: f64 = 5.0;
/// A client that leaves a stream and opens another is seen to do it in any order, within this.
const OVERLAP_US: u64 = 1_000_000;

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut folders: BTreeMap<(&str, &str), Vec<&Exchange>> = BTreeMap::new();
    for stream in course.streams() {
        folders.entry((stream.path.as_str(), course.folder_of(stream))).or_default().push(stream);
    }
    for ((path, _), streams) in &folders {
        seldom(course, path, streams, &mut examined);
        one_at_a_time(course, path, streams, &mut examined);
        not_left_alive(course, path, streams, &mut examined);
        when_allowed(course, path, streams, &mut examined);
        lost_aloud(course, path, streams, &mut examined);
    }
    refused(course, &mut examined);
    reads_refused(course, &mut examined);
    examined
}

fn seldom(course: &Course<'_>, path: &str, streams: &[&Exchange], examined: &mut Examined) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a case")]
    let window_us = (IN_SECONDS * course.time_scale * 1_000_000.0) as u64;
    let most = (0..streams.len())
        .map(|first| {
            let until = streams[first].at_us + window_us;
            streams[first..].iter().take_while(|stream| stream.at_us <= until).count()
        })
        .max()
        .unwrap_or(0);
    examined.fact(most <= MOST_ATTEMPTS, || format!("{path} was asked for {most} times in {IN_SECONDS} s"));
}

/// A stream that was lost and does not come back is told as an error, and not by the state of the connection alone, which says
/// that somebody tries. Who has started the server itself is looked at by `crash`.
fn lost_aloud(course: &Course<'_>, path: &str, streams: &[&Exchange], examined: &mut Examined) {
    let is_spawned = course.asked().any(|(_, _, request)| matches!(request, Request::ServerSpawn(_)));
    if is_spawned || !course.can.contains(&Capability::Reconnect) {
        return;
    }
    let is_live = |stream: &&Exchange| stream.status() == Some(200) && !stream.events.is_empty();
    let Some(last) = streams.iter().rposition(is_live) else { return };
    let Some((_, lost_us)) = streams[last].end.filter(|(line, _)| *line < course.shutdown()) else {
        return;
    };
    let end = course.lines.get(course.shutdown()).or(course.lines.last());
    let without_us = end.map_or(0, |line| line.at_us().saturating_sub(lost_us));
    if without_us < told_within_us(course) {
        return;
    }
    // A dead stream may be told before it is closed.
    let heard_us = streams[last].bytes_us.unwrap_or(lost_us);
    let is_told =
        |(said, update): (&Said, &Update)| said.at_us >= heard_us && matches!(update, Update::Error { .. });
    examined.fact(course.shown().any(is_told), || {
        let (tries, waited) = (streams.len() - last - 1, without_us / 1_000_000);
        format!(
            "{path} was lost for {waited} s, asked for {tries} times in vain, and the person sees no error"
        )
    });
    let states = course.shown().filter_map(|(said, update)| match update {
        Update::Connection { state } if said.line < course.shutdown() => Some(*state),
        _ => None,
    });
    if let Some(state) = states.last() {
        examined.fact(state != ConnectionState::Connected, || {
            format!(
                "{path} was lost for {} s, and the person sees that it is connected",
                without_us / 1_000_000
            )
        });
    }
}

/// Within this the person is told.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a case")]
fn told_within_us(course: &Course<'_>) -> u64 {
    ((TOLD_WITHIN_S * course.time_scale + TOLD_SLACK_S) * 1_000_000.0) as u64
}

/// A stream on which something came a moment ago is not dead.
fn not_left_alive(course: &Course<'_>, path: &str, streams: &[&Exchange], examined: &mut Examined) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a case")]
    let moment_us = (ALIVE_S * course.time_scale * 1_000_000.0) as u64;
    let moves: Vec<usize> = course
        .asked()
        .filter(|(_, _, request)| matches!(request, Request::Connect(_) | Request::TaskRetry(_)))
        .map(|(said, ..)| said.line)
        .collect();
    let ends: Vec<u64> = witnessed(course.lines)
        .filter(|(_, seen)| matches!(seen, Witnessed::Ended { .. }))
        .map(|(line, _)| course.lines[line].at_us())
        .collect();
    for stream in streams.iter().filter(|stream| stream.how == Some(HowEnded::ClosedByClient)) {
        let Some(((line, end_us), bytes_us)) = stream.end.zip(stream.bytes_us) else { continue };
        // Who goes with its server has not left it.
        let ended = ends.iter().any(|at| at.abs_diff(end_us) <= OVERLAP_US);
        let wanted = ended
            || line > course.shutdown()
            || moves.iter().any(|asked| *asked > stream.line && *asked < line);
        examined.fact(wanted || end_us.saturating_sub(bytes_us) > moment_us, || {
            format!("{path} was left while bytes came on it")
        });
    }
}

fn one_at_a_time(course: &Course<'_>, path: &str, streams: &[&Exchange], examined: &mut Examined) {
    let shutdown = course.shutdown();
    for (at, later) in streams.iter().enumerate().skip(1) {
        let still_open = |earlier: &&&Exchange| {
            let stays = |(line, end_us): (usize, u64)| line > shutdown || end_us > later.at_us + OVERLAP_US;
            earlier.status() == Some(200) && earlier.end.is_none_or(stays)
        };
        let open = streams[..at].iter().filter(still_open).count();
        examined.fact(open == 0, || format!("{path} was asked for while {open} others were open"));
    }
}

fn when_allowed(course: &Course<'_>, path: &str, streams: &[&Exchange], examined: &mut Examined) {
    for pair in streams.windows(2) {
        let [earlier, later] = pair else { continue };
        let answer = earlier.answer.as_ref().filter(|answer| answer.status >= 400);
        let Some((answer, wanted)) = answer.and_then(|answer| Some((answer, answer.retry_after_s?))) else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "seconds of a case")]
        let (waited, wanted_s) =
            (later.at_us.saturating_sub(answer.at_us) as f64 / 1e6, wanted as f64 * course.time_scale);
        // Clocks are read at different ends.
        examined.fact(waited >= wanted_s * 0.95, || {
            format!(
                "{path} was asked for again after {waited:.2} s, and the server had asked for {wanted_s:.2} s"
            )
        });
    }
}

/// Wrong credentials stay wrong.
fn refused(course: &Course<'_>, examined: &mut Examined) {
    let is_refusal = |exchange: &&Exchange| matches!(exchange.status(), Some(401 | 403));
    let Some(first) = course.streams().find(is_refusal) else { return };
    let allowed = |said: &crate::course::Said| {
        said.line > first.line
            && matches!(&said.what, What::Asks(_, Request::Connect(_) | Request::TaskRetry(_)))
    };
    let until = course.said.iter().find(|said| allowed(said)).map_or(usize::MAX, |said| said.line);
    let again = course.streams().filter(|stream| stream.line > first.line && stream.line < until).count();
    examined.fact(again <= MOST_AFTER_REFUSAL, || {
        format!("{again} streams were asked for after the server had refused the credentials")
    });
    let refused_us = first.answer.as_ref().map_or(first.at_us, |answer| answer.at_us);
    let soon_us = refused_us + told_within_us(course);
    let told = course.said.iter().any(|said| {
        let failed = match &said.what {
            What::Shows(Update::Error { .. }) => true,
            What::Answers(_, outcome) => outcome.is_err(),
            _ => false,
        };
        failed && said.line > first.line && said.at_us <= soon_us
    });
    examined.fact(told, || {
        let within_s = told_within_us(course) / 1_000_000;
        format!("the server refused the credentials, and within {within_s} s the person was not told")
    });
}

/// The same of what is not a stream: it is asked for again when the person wants it, or when a stream is new.
fn reads_refused(course: &Course<'_>, examined: &mut Examined) {
    let mut refusals: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for exchange in course.exchanges.iter().filter(|exchange| !exchange.is_stream() && !is_health(exchange)) {
        if matches!(exchange.status(), Some(401 | 403)) {
            refusals
                .entry((&exchange.method, &exchange.path, course.folder_of(exchange)))
                .or_default()
                .push(exchange.line);
        }
    }
    for ((method, path, _), lines) in refusals {
        let since = |line: &usize| *line > lines[0];
        let streams = course.streams().filter(|stream| since(&stream.line)).count();
        let asked =
            course.asked().filter(|(said, _, request)| since(&said.line) && is_of_the_person(request));
        let asked = asked.count();
        // Each cause to ask has its own tries, as a stream has.
        let most = (1 + MOST_AFTER_REFUSAL) * (1 + streams + asked);
        examined.fact(lines.len() <= most, || {
            format!(
                "{method} {path} was asked for {} times, and the server has refused the credentials",
                lines.len()
            )
        });
    }
}

/// Not what the harness asks for itself.
fn is_of_the_person(request: &Request) -> bool {
    !matches!(request, Request::Fence | Request::Shutdown | Request::Affordances(_))
}

/// How a server is may be asked until it is well; that it is well in time is looked at elsewhere.
fn is_health(exchange: &Exchange) -> bool {
    ["/global/health", "/config"].contains(&exchange.path.as_str())
}
