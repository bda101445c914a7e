//! A stand-in that listens: the library's front door.

mod prepare;

use prepare::Stage;
pub use prepare::{fill_workspace, why_not_virtual};

use crate::builder::Builder;
use crate::clock::{Clock, ClockKind};
use crate::control::{Control, Maker};
use crate::fault::ArmedPlan;
use crate::http::Lane;
use crate::http::auth::{self, Access};
use crate::http::core::Core;
use crate::http::in_memory::Lanes;
use crate::http::listen::serve;
use crate::journal::Journal;
use crate::model::{PageServer, RemoteModel};
use crate::options::{Options, Play, StartError};
use crate::profile::Profile;
use crate::verify::{Broken, Calls, Unmet, UnmetCall, UnmetCalls};
use fixtures::ServerKind;
use fixtures::fault_plan::{Fault, Performed};
use fixtures::recording::{self, Header};
use fixtures::scenario::Ending;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The lane of whoever does not ask for one of his own.
pub const MAIN_LANE: &str = "main";

/// A running stand-in; it ends when dropped.
pub struct StandIn {
    core: Arc<Core>,
    journal: Journal,
    faults: ArmedPlan,
    username: String,
    /// Says that no more is asked: connections are brought to their end.
    closing: watch::Sender<bool>,
    workspace: String,
    /// Those of the scenario.
    gates: Vec<String>,
    header: recording::Header,
    tasks: Vec<JoinHandle<()>>,
    /// In virtual time: the way in.
    in_memory: Option<Lanes>,
    on_drop: OnDrop,
    /// Somebody has asked already.
    asked: AtomicBool,
    /// Its folders go with it.
    _stage: Arc<Stage>,
    /// What its agent can fetch.
    _pages: Option<PageServer>,
}

/// How long a server that is asked to end waits for those who still read.
const ENDING: Duration = Duration::from_secs(1);

/// What a stand-in is asked when it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    Nothing,
    /// Was it used as it was meant to be, and, if so, all of its scenario?
    Verify {
        uses_all: bool,
    },
}

impl StandIn {
    /// Starts listening, on loopback only; in virtual time nobody listens, and [`StandIn::in_memory`] is the way in.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        if !options.faults.starts.is_empty() {
            return Err(StartError::NoProgram);
        }
        if let Play::Recording(_) = options.play {
            for fault in &options.faults.faults {
                fault.action.works_in(Performed::Replay).map_err(StartError::Misplaced)?;
            }
        }
        if options.clock == ClockKind::Virtual
            && let Some(why) = why_not_virtual(&options)
        {
            return Err(StartError::Misplaced(why));
        }
        let profile = Profile::of(options.server);
        let clock = Arc::new(Clock::new(options.clock));
        let journal = Journal::with_memory(clock.clone(), options.memory);
        let faults = ArmedPlan::new(options.faults.clone());
        let pages = match &options.play {
            Play::Scenario(scenario) if options.model.is_none() => PageServer::start(&scenario.pages).await,
            _ => Ok(None),
        };
        let pages =
            pages.map_err(|source| StartError::Listen { lane: "pages".to_owned(), port: 0, source })?;
        let pages_url = pages.as_ref().map(PageServer::url);
        let stage = Arc::new(Stage::new(profile, options.clone(), pages_url)?);
        let (performer, workspace) = stage.performer(None)?;
        let control = control(&options, &stage);
        let username = options.username.clone().unwrap_or_else(|| profile.server.word().to_owned());
        let access = Access {
            username: username.clone(),
            password: Arc::new(RwLock::new(options.password.clone())),
            guest: Arc::default(),
            origins: options.origins.clone(),
            guarded: auth::guarded_by(profile.server),
        };
        let model = options.model.as_deref().map(RemoteModel::at).transpose().map_err(StartError::Model)?;
        let core = Core::new(performer, clock, journal.clone(), access, profile, faults.clone(), model);
        let core = Arc::new(core.with_control(control));
        let mut tasks = Vec::new();
        let (closing, closes) = watch::channel(false);
        let in_memory = core.clock.is_virtual().then(|| Lanes::new(core.clone()));
        let ports = std::iter::once((MAIN_LANE.to_owned(), options.port));
        for (number, (name, port)) in
            (1..).zip(ports.chain(options.lanes.iter().map(|lane| (lane.clone(), 0))))
        {
            if let Some(lanes) = &in_memory {
                tasks.push(tokio::spawn(lanes.open(&name, number)));
                continue;
            }
            let failed = |source| StartError::Listen { lane: name.clone(), port, source };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
            let shuts = core.doors.open(&name, listener.local_addr().map_err(failed)?);
            let lane = Lane { core: core.clone(), name: Arc::from(name) };
            tasks.push(tokio::spawn(serve(listener, lane, closes.clone(), shuts)));
        }
        core.wait_for_times();
        let header = header(&options, profile, &workspace);
        let gates = match &options.play {
            Play::Scenario(scenario) => scenario.gates(),
            Play::Recording(_) => Vec::new(),
        };
        Ok(Self {
            core,
            journal,
            faults,
            username,
            closing,
            workspace,
            gates,
            header,
            tasks,
            in_memory,
            on_drop: OnDrop::Nothing,
            asked: AtomicBool::new(false),
            _stage: stage,
            _pages: pages,
        })
    }

    /// The address of the main lane.
    #[must_use]
    pub fn url(&self) -> String {
        self.lane_url(MAIN_LANE).unwrap_or_default()
    }

    /// The address of a lane; `None` when there is no such lane.
    #[must_use]
    pub fn lane_url(&self, name: &str) -> Option<String> {
        self.lanes().into_iter().find(|(lane, _)| lane == name).map(|(_, url)| url)
    }

    /// The lanes and their addresses, the main one first.
    #[must_use]
    pub fn lanes(&self) -> Vec<(String, String)> {
        let lanes = self.core.doors.addresses().into_iter();
        lanes.map(|(name, address)| (name, format!("http://{address}"))).collect()
    }

    /// The way in of a stand-in in virtual time; there is none of another one.
    #[must_use]
    pub fn in_memory(&self) -> Option<&Lanes> {
        self.in_memory.as_ref()
    }

    /// The user name that goes with the password.
    #[must_use]
    pub fn username(&self) -> &str {
        &self.username
    }

    /// The agent's folder, without links in its path. In a replay it is the recorded one.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// What happens, while it happens.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The header for a file of this stand-in's journal.
    #[must_use]
    pub fn header(&self) -> &recording::Header {
        &self.header
    }

    /// Lets the model go on that waits at this gate of the scenario, now or later.
    pub fn open_gate(&self, name: &str) {
        self.core.open_gate(name);
    }

    /// From now on this password opens it, too, and no other one that was let in before.
    pub fn let_in(&self, password: &str) {
        self.core.let_in(password);
    }

    /// Ends in this way and starts again over what it has kept, at the same address: connections break, and whoever
    /// waits for an answer gets none.
    pub fn restart(&self, ending: Ending) {
        self.core.restart(ending);
    }

    /// Ends in this way for good. Who is asked to end brings what is open to its end, if that does not take too long.
    pub async fn end(mut self, ending: Ending) {
        self.core.restart(ending);
        if ending == Ending::Term {
            self.closing.send_replace(true);
            let tasks = std::mem::take(&mut self.tasks);
            let all = async move {
                for task in tasks {
                    let _ = task.await;
                }
            };
            tokio::select! {
                () = all => {}
                () = self.core.clock.pass(ENDING) => {}
            }
        }
    }

    /// What breaks by a plan breaks no more.
    pub fn disarm_faults(&self) {
        self.core.disarm_all();
    }

    /// From now on no gate of the scenario holds the model.
    pub fn open_all_gates(&self) {
        let gates = self.gates.iter();
        gates.for_each(|gate| self.core.open_gate(gate));
    }

    /// The faults that have not fired yet, with their numbers in the plan.
    #[must_use]
    pub fn unfired_faults(&self) -> Vec<(usize, Fault)> {
        self.faults.unfired()
    }
}

impl StandIn {
    /// A stand-in for Kilo CLI, in the words of a test.
    pub fn kilo() -> Builder {
        Builder::of(ServerKind::Kilo)
    }

    /// A stand-in for OpenCode, in the words of a test.
    pub fn opencode() -> Builder {
        Builder::of(ServerKind::Opencode)
    }

    pub(crate) fn verify_on_drop(&mut self, uses_all: bool) {
        self.on_drop = OnDrop::Verify { uses_all };
    }

    /// Was it used as it was meant to be? Not when the model was asked in vain, a part of the scenario was not asked for, a
    /// route was unknown, or a fault never fired.
    ///
    /// One that was made with [`StandIn::kilo`] or [`StandIn::opencode`] is asked when it is dropped, too, and panics;
    /// who has asked before has the answer. [`Builder::lenient`] keeps it silent.
    pub fn verify(&self) -> Result<(), Unmet> {
        self.asked.store(true, Ordering::Relaxed);
        let unmet = self.core.unmet();
        if unmet.is_empty() { Ok(()) } else { Err(unmet) }
    }

    /// Did the calls come that are expected, in their order, and none that is forbidden? What the journal has is judged.
    pub fn verify_calls(&self, calls: &Calls) -> Result<(), UnmetCalls> {
        let lanes: Vec<String> = self.lanes().into_iter().map(|(name, _)| name).collect();
        let release = format!("{}-{}", self.header.server, self.header.version);
        let unmet = match calls.check(&release, &lanes) {
            Ok(()) => self.core.unmet_calls(calls),
            Err(says) => {
                let (what, call) = (Broken::Unjudged, "the words".to_owned());
                vec![UnmetCall { what, call, says, near: Vec::new() }]
            }
        };
        if unmet.is_empty() { Ok(()) } else { Err(UnmetCalls(unmet)) }
    }

    #[cfg(test)]
    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// What is wrong with how it was used, if that is still to be said.
    fn last_words(&self) -> Option<Unmet> {
        let OnDrop::Verify { uses_all } = self.on_drop else { return None };
        if self.asked.load(Ordering::Relaxed) || std::thread::panicking() {
            return None;
        }
        let mut unmet = self.verify().err()?;
        if !uses_all {
            unmet.unused.clear();
        }
        (!unmet.is_empty()).then_some(unmet)
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn")
            .field("lanes", &self.lanes())
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

impl Drop for StandIn {
    #[expect(clippy::panic, reason = "a test that has not noticed it fails here")]
    fn drop(&mut self) {
        let unmet = self.last_words();
        for task in &self.tasks {
            task.abort();
        }
        // Connections that are still open hold on to the rest.
        self.core.end_all();
        if let Some(unmet) = unmet {
            panic!("{unmet}");
        }
    }
}

/// The control API, if anybody may use it.
fn control(options: &Options, stage: &Arc<Stage>) -> Option<Control> {
    let token = options.control_token.clone()?;
    let (release, gates, maker) = match &options.play {
        Play::Scenario(scenario) => {
            let stage = Arc::downgrade(stage);
            let maker: Maker = Box::new(move |scenario| match stage.upgrade() {
                Some(stage) => stage.performer(scenario.as_ref()).map(|(performer, _)| performer),
                None => Err(StartError::Misplaced("the stand-in has ended".to_owned())),
            });
            (options.server.release(), scenario.gates(), Some(maker))
        }
        Play::Recording(recording) => {
            let Header { server, version, .. } = &recording.header;
            (format!("{server}-{version}"), Vec::new(), None)
        }
    };
    let lanes = std::iter::once(MAIN_LANE.to_owned()).chain(options.lanes.iter().cloned()).collect();
    let (server, password, gates) = (options.server, options.password.clone(), gates.into());
    let mut performed = vec![options.performed];
    performed.extend(maker.is_none().then_some(Performed::Replay));
    Some(Control {
        token,
        server,
        lanes,
        release,
        performed,
        password,
        maker,
        gates,
        anew: std::sync::Mutex::default(),
    })
}

fn header(options: &Options, profile: &Profile, workspace: &str) -> recording::Header {
    let (performer, scenario) = match &options.play {
        Play::Scenario(scenario) => (recording::Performer::StandIn, scenario.about.clone()),
        Play::Recording(recording) => (recording::Performer::Replay, recording.header.scenario.clone()),
    };
    recording::Header {
        format: recording::FORMAT,
        kind: recording::FileKind::Journal,
        server: profile.server,
        version: profile.version.to_owned(),
        performer,
        scenario,
        workspace: workspace.to_owned(),
        by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
        provenance: recording::Provenance::default(),
    }
}
