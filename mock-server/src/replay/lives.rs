//! Where a recorded server ended and another one began over what it had kept.

use fixtures::fault_plan::StreamName;
use fixtures::recording::{HowEnded, Line};
use std::collections::BTreeSet;

/// The end of a server, after which somebody asked again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Death {
    /// From this line on the server was meant to end: at the person's word, where that stands in the recording.
    pub(super) wanted_at: usize,
    /// The first line of the next server: somebody asks it.
    pub(super) next_at: usize,
    /// The streams were ended, not broken.
    pub(super) politely: bool,
}

/// A server has ended when it loses those who listen to all of it.
pub(super) fn deaths(lines: &[Line]) -> Vec<Death> {
    let mut deaths = Vec::new();
    let mut of_all = BTreeSet::new();
    let mut word = None;
    let mut ended: Option<(usize, bool)> = None;
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::User(_) if ended.is_none() => word = Some(at),
            Line::Request(request) => {
                if let Some((wanted_at, politely)) = ended.take() {
                    deaths.push(Death { wanted_at, next_at: at, politely });
                }
                word = None;
                if request.path == StreamName::GlobalEvent.path() {
                    of_all.insert(request.exchange);
                }
            }
            Line::End(end) if of_all.remove(&end.exchange) && end.how != HowEnded::ClosedByClient => {
                ended.get_or_insert((word.unwrap_or(at), end.how == HowEnded::ClosedByServer));
            }
            _ => {}
        }
    }
    deaths
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::{Body, End, Request, UserLine};

    fn asks(exchange: u64, path: &str) -> Line {
        Line::Request(Request {
            at_us: 0,
            exchange,
            lane: None,
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Body::Empty,
        })
    }

    fn ends(exchange: u64, how: HowEnded) -> Line {
        Line::End(End { at_us: 0, exchange, how })
    }

    fn step() -> Line {
        Line::User(UserLine { at_us: 0, step: 1, does: "has the server end and start again".to_owned() })
    }

    #[test]
    fn a_server_has_ended_where_all_who_listen_are_lost_and_somebody_asks_again() {
        let (all, some) = ("/global/event", "/event");
        let killed =
            [asks(1, all), step(), asks(2, "/session"), step(), ends(1, HowEnded::Reset), asks(3, all)];
        assert_eq!(deaths(&killed), [Death { wanted_at: 3, next_at: 5, politely: false }]);
        let by_itself =
            [asks(1, all), step(), asks(2, some), ends(1, HowEnded::ClosedByServer), asks(3, all)];
        assert_eq!(deaths(&by_itself), [Death { wanted_at: 3, next_at: 4, politely: true }]);
        let left = [asks(1, all), ends(1, HowEnded::ClosedByClient), asks(2, all)];
        let disposed = [asks(1, some), ends(1, HowEnded::ClosedByServer), asks(2, some)];
        let at_last = [asks(1, all), asks(2, some), ends(2, HowEnded::Cut), ends(1, HowEnded::Cut)];
        for lines in [&left[..], &disposed, &at_last] {
            assert_eq!(deaths(lines), []);
        }
    }
}
