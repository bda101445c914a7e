//! On what a case is played: the stand-in; or, where nothing breaks, the real server behind two proxies, which write the
//! same journal: one is the adapter's lane, the other that of the harness's own eyes.

use super::NotRun;
use crate::in_memory::InMemory;
use crate::net::{Net, Web};
use crate::performance::Program;
use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::fault_plan::Fault;
use fixtures::recording::{FORMAT, FileKind, Header, Line, Performer, Provenance, Trouble, TroubleKind};
use fixtures::scenario::{Ending, Scenario};
use mock_server::clock::{Clock, ClockKind};
use mock_server::standin::MAIN_LANE;
use mock_server::{Journal, StandIn};
use parity_specs::case::ADAPTER_LANE;
use recorder::drive::Backstage as _;
use recorder::ledger::Room;
use recorder::{Limits, Loopback, Proxy, Tape};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Where a case is played.
pub(super) enum Ground {
    StandIn(Arc<StandIn>),
    Real(Box<Real>),
}

/// A way for the harness's own eyes, and one for an adapter in this process.
pub(super) type Nets = (Arc<dyn Net>, Arc<dyn Net>);

/// A real server, its clients through proxies.
pub(super) struct Real {
    stage: Stage,
    journal: Journal,
    adapter: Proxy,
    main: Proxy,
    header: Header,
}

impl Real {
    /// Starts the server with its scripted model.
    pub(super) async fn start(
        name: &str,
        scenario: &Scenario,
        server: ServerKind,
        program: &Program,
    ) -> Result<Self, NotRun> {
        let nobody = Arc::new(|_: &_, _: &_| {});
        let stage = Stage::of_program(scenario, server, program, &Limits::default(), nobody)
            .await
            .map_err(|error| format!("the real server: {error}"))?;
        let clock = Arc::new(Clock::new(ClockKind::Real));
        let journal = Journal::new(Arc::clone(&clock));
        let to = Loopback::parse(&stage.url)?;
        let adapter = lane(to.clone(), (&journal, &clock), ADAPTER_LANE, 0).await?;
        let main = lane(to, (&journal, &clock), MAIN_LANE, 1).await?;
        let header = Header {
            format: FORMAT,
            kind: FileKind::History,
            server,
            version: stage.version.clone(),
            performer: Performer::Real,
            scenario: name.to_owned(),
            workspace: stage.workspace.clone(),
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            provenance: Provenance::default(),
        };
        Ok(Self { stage, journal, adapter, main, header })
    }

    /// What the server asks for.
    pub(super) fn password(&self) -> &str {
        &self.stage.credentials.password
    }
}

/// So many lanes share the numbers of exchanges.
const LANES: u64 = 2;

/// A proxy whose exchanges stand in the journal under the name of a lane, with the times at which they passed: it hands
/// on what it hears, and writes it down when it comes to that.
async fn lane(
    to: Loopback,
    (journal, clock): (&Journal, &Arc<Clock>),
    name: &'static str,
    number: u64,
) -> Result<Proxy, NotRun> {
    let journal = journal.clone();
    let begun_us = clock.elapsed_us();
    let heard = move |line: &Arc<Line>| {
        let line = Line::clone(line);
        let passed_us = begun_us + line.at_us();
        journal.push(|_| of_lane(line, passed_us, name, number));
    };
    let proxy = Proxy::start(0, to, Tape::heard_by(Box::new(heard)), Room::default()).await;
    proxy.map_err(|error| NotRun::Harness(format!("the proxy in front of the real server: {error}")))
}

/// A line of a proxy's tape, as the journal of a stand-in with lanes would have it.
fn of_lane(mut line: Line, at: u64, name: &str, number: u64) -> Line {
    let of = |exchange: u64| exchange * LANES + number;
    match &mut line {
        Line::Request(request) => {
            request.lane = Some(name.to_owned());
            (request.at_us, request.exchange) = (at, of(request.exchange));
        }
        Line::Response(response) => (response.at_us, response.exchange) = (at, of(response.exchange)),
        Line::Chunk(chunk) => (chunk.at_us, chunk.exchange) = (at, of(chunk.exchange)),
        Line::End(end) => (end.at_us, end.exchange) = (at, of(end.exchange)),
        Line::Note(note) => note.at_us = at,
        // A proxy writes no others.
        _ => {}
    }
    line
}

/// In the order in which it happened: what was written down late stands where it belongs.
fn in_time(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(Line::at_us);
    lines
}

impl Ground {
    /// All that happened, in order.
    pub(super) fn history(&self) -> Vec<Line> {
        match self {
            Self::StandIn(stand_in) => stand_in.journal().lines(),
            Self::Real(real) => in_time(real.journal.lines()),
        }
    }

    pub(super) fn journal(&self) -> &Journal {
        match self {
            Self::StandIn(stand_in) => stand_in.journal(),
            Self::Real(real) => &real.journal,
        }
    }

    /// Does time pass by itself?
    pub(super) fn is_virtual(&self) -> bool {
        matches!(self, Self::StandIn(stand_in) if stand_in.in_memory().is_some())
    }

    /// The ways to it: that of the harness's own eyes, and that of an adapter in this process.
    pub(super) fn nets(&self, seed: u64) -> Result<Nets, NotRun> {
        if let Self::StandIn(stand_in) = self
            && let Some(lanes) = stand_in.in_memory()
        {
            let (eyes, net) = (InMemory::at_once(lanes.clone()), InMemory::with_delays(lanes.clone(), seed));
            return Ok((Arc::new(eyes), Arc::new(net)));
        }
        let web = || Web::new().map_err(|error| format!("the harness has no HTTP client: {error}"));
        Ok((Arc::new(web()?), Arc::new(web()?)))
    }

    /// The lane that no fault touches.
    pub(super) fn url(&self) -> String {
        match self {
            Self::StandIn(stand_in) => stand_in.url(),
            Self::Real(real) => real.main.url(),
        }
    }

    pub(super) fn lane_url(&self, lane: &str) -> Option<String> {
        match self {
            Self::StandIn(stand_in) => stand_in.lane_url(lane),
            Self::Real(real) => Some(real.adapter.url()),
        }
    }

    pub(super) fn username(&self) -> &str {
        match self {
            Self::StandIn(stand_in) => stand_in.username(),
            Self::Real(real) => &real.stage.credentials.user,
        }
    }

    pub(super) fn workspace(&self) -> &str {
        match self {
            Self::StandIn(stand_in) => stand_in.workspace(),
            Self::Real(real) => &real.stage.workspace,
        }
    }

    /// The folders in which tasks work, below the workspace, where that is on a disk.
    pub(super) fn make_folders<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<(), NotRun> {
        let workspace = Path::new(self.workspace());
        for folder in names.map(|name| workspace.join(name)).filter(|_| workspace.is_dir()) {
            fs::create_dir_all(&folder)
                .map_err(|error| NotRun::Harness(format!("can't make {}: {error}", folder.display())))?;
        }
        Ok(())
    }

    pub(super) fn header(&self) -> &Header {
        match self {
            Self::StandIn(stand_in) => stand_in.header(),
            Self::Real(real) => &real.header,
        }
    }

    pub(super) fn unfired_faults(&self) -> Vec<(usize, Fault)> {
        match self {
            Self::StandIn(stand_in) => stand_in.unfired_faults(),
            Self::Real(_) => Vec::new(),
        }
    }

    /// What was broken on purpose breaks no more.
    pub(super) fn mend(&self) {
        match self {
            Self::StandIn(stand_in) => stand_in.disarm_faults(),
            Self::Real(_) => {}
        }
    }

    pub(super) fn open_gate(&self, name: &str) {
        match self {
            Self::StandIn(stand_in) => stand_in.open_gate(name),
            Self::Real(real) => real.stage.open_gate(name),
        }
    }

    pub(super) fn restart(&self, ending: Ending) {
        match self {
            Self::StandIn(stand_in) => stand_in.restart(ending),
            // Such cases are not played there; if one is, nobody may believe what comes of it.
            Self::Real(real) => {
                let what =
                    "a case in which the server starts again is not played with the real one".to_owned();
                real.journal.push(|at_us| Line::Trouble(Trouble { at_us, kind: TroubleKind::Harness, what }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::{Body, Note, Request, Response};

    #[test]
    fn what_is_written_down_late_stands_where_it_happened() {
        let chunk = |at_us| Line::Note(Note { at_us, text: "told".to_owned() });
        let shown = |at_us| Line::Note(Note { at_us, text: "shown".to_owned() });
        assert_eq!(in_time(vec![shown(5), chunk(3), chunk(5)]), [chunk(3), shown(5), chunk(5)]);
    }

    #[test]
    fn the_exchanges_of_two_lanes_are_told_apart() {
        let request = |exchange| {
            let (method, path, query) = ("GET".to_owned(), "/event".to_owned(), String::new());
            Line::Request(Request {
                at_us: 1,
                exchange,
                lane: None,
                method,
                path,
                query,
                headers: Vec::new(),
                body: Body::Empty,
            })
        };
        let answer = Line::Response(Response {
            at_us: 1,
            exchange: 3,
            status: 200,
            headers: Vec::new(),
            body: Body::Empty,
        });
        let (Line::Request(ours), Line::Request(theirs), Line::Response(answer)) = (
            of_lane(request(3), 7, "adapter", 0),
            of_lane(request(3), 8, "main", 1),
            of_lane(answer, 9, "adapter", 0),
        ) else {
            panic!("they stay what they are");
        };
        assert_eq!((ours.lane.as_deref(), theirs.lane.as_deref()), (Some("adapter"), Some("main")));
        assert_eq!((ours.exchange, ours.at_us), (answer.exchange, 7));
        assert_ne!(ours.exchange, theirs.exchange);
    }
}
