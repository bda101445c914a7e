//! One case with one adapter and one server: from start to the saved history. Nothing is judged here.
//!
//! The stand-in, the adapter and the person share one time line, the stand-in's journal. In the end the harness
//! reads the server's state by itself, over a lane that no fault touches; that is what the screen is held against.

use crate::clock::{Limits, within};
use crate::history;
use crate::link::AskError;
use crate::observer::Observer;
use crate::protocol::request::{
    Capability, Connect, Initialize, Initialized, PermissionReply, Reply, TaskRef, TaskSend, TaskStarted,
};
use crate::protocol::rpc::METHOD_NOT_FOUND;
use crate::protocol::{PROTOCOL, Request};
use crate::secret::random_password;
use crate::subject::{Running, Subject};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{FileKind, Header, Line, Provenance, Recording, Trouble, TroubleKind, UserLine};
use fixtures::scenario::{PermissionAnswer, Scenario, UserStep, WaitFor};
use fixtures::{ServerKind, catalog};
use mock_server::standin::MAIN_LANE;
use mock_server::{Options, StandIn};
use parity_specs::NamedCase;
use parity_specs::case::ADAPTER_LANE;
use serde_json::Value;
use std::collections::BTreeSet;

/// The one task of a case.
pub const TASK: &str = "task-1";

/// Runs a case. An error is the harness's own; whatever the adapter does is told by the history.
pub async fn run(
    named: &NamedCase,
    server: ServerKind,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, String> {
    let scenario = scenario_of(named)?;
    let password = random_password().map_err(|error| format!("failed to find a password: {error}"))?;
    let mut options = Options::scenario(server, scenario.clone());
    options.password = Some(password.clone());
    options.lanes = vec![ADAPTER_LANE.to_owned()];
    options.faults = named.case.fault_plan();
    let stand_in = StandIn::start(options).await.map_err(|error| error.to_string())?;
    let observer = Observer::start(&stand_in.url(), stand_in.username(), &password).await?;
    let running = subject.start(stand_in.journal().clone())?;
    let mut run = Run { stand_in, observer, running, limits: *limits, password, answered: BTreeSet::new() };
    match run.play(&scenario.user.steps).await {
        Ok(()) => run.settle().await,
        Err((kind, what)) => {
            run.trouble(kind, what);
            // An adapter that broke the protocol has nothing to settle.
            if kind != TroubleKind::Adapter {
                run.settle().await;
            }
        }
    }
    run.read_server().await;
    Ok(run.finish(named).await)
}

/// The case's scenario, with the case's own user where it has one.
fn scenario_of(named: &NamedCase) -> Result<Scenario, String> {
    let mut scenario = catalog::scenario(&named.case.scenario).map_err(|error| error.to_string())?;
    if let Some(user) = &named.case.user {
        scenario.user = user.clone();
    }
    Ok(scenario)
}

struct Run {
    stand_in: StandIn,
    observer: Observer,
    running: Running,
    limits: Limits,
    password: String,
    /// The questions that the person has answered.
    answered: BTreeSet<String>,
}

type Troubled = (TroubleKind, String);

fn broken(what: impl Into<String>) -> Troubled {
    (TroubleKind::Adapter, what.into())
}

impl Run {
    async fn play(&mut self, steps: &[UserStep]) -> Result<(), Troubled> {
        self.introduce().await?;
        for (index, step) in steps.iter().enumerate() {
            let named = |(kind, why): Troubled| (kind, format!("step {} ({step}): {why}", index + 1));
            self.step(step, index + 1).await.map_err(named)?;
        }
        Ok(())
    }

    async fn ask(&mut self, request: Request) -> Result<Value, Troubled> {
        self.running.link.ask(&request, self.limits.answer).await.map_err(|error| broken(error.to_string()))
    }

    /// Says hello, tests the adapter's honesty, connects it and opens its task.
    async fn introduce(&mut self) -> Result<(), Troubled> {
        let hello = self.ask(Request::Initialize(Initialize { protocol: PROTOCOL, time_scale: 1.0 })).await?;
        let hello: Initialized =
            serde_json::from_value(hello).map_err(|error| broken(format!("initialize: {error}")))?;
        match self.running.link.probe(self.limits.answer).await {
            Err(AskError::Refused { error, .. }) if error.code == METHOD_NOT_FOUND => {}
            Err(error @ (AskError::Silent { .. } | AskError::Ended { .. })) => {
                return Err(broken(error.to_string()));
            }
            _ => return Err(broken("it must answer a method that it does not know with error -32601")),
        }
        if !hello.capabilities.contains(&Capability::Chat) {
            return Err(broken("it does not declare the capability 'chat', which every case needs"));
        }
        let connect = Connect {
            url: self.stand_in.lane_url(ADAPTER_LANE).unwrap_or_default(),
            username: self.stand_in.username().to_owned(),
            password: self.password.clone(),
            directory: self.stand_in.workspace().to_owned(),
        };
        self.ask(Request::Connect(connect)).await?;
        let started = self.ask(Request::TaskStart(TaskRef { task_id: TASK.to_owned() })).await?;
        serde_json::from_value::<TaskStarted>(started)
            .map_err(|error| broken(format!("task/start: {error}")))?;
        Ok(())
    }

    async fn step(&mut self, step: &UserStep, number: usize) -> Result<(), Troubled> {
        // The person answers when there is something to answer, and not before.
        let question = match step {
            UserStep::AnswerPermission(_) => Some(self.next_question().await?),
            _ => None,
        };
        let does = step.to_string();
        self.stand_in.journal().push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        match step {
            UserStep::Prompt(text) => {
                let send = TaskSend { task_id: TASK.to_owned(), text: text.clone() };
                self.ask(Request::TaskSend(send)).await.map(drop)
            }
            UserStep::AnswerPermission(answer) => {
                let permission_id = question.unwrap_or_default();
                self.answered.insert(permission_id.clone());
                let reply = match answer {
                    PermissionAnswer::Once => Reply::Once,
                    PermissionAnswer::Always => Reply::Always,
                    PermissionAnswer::Reject => Reply::Reject,
                };
                let reply = PermissionReply { task_id: TASK.to_owned(), permission_id, reply };
                self.ask(Request::PermissionReply(reply)).await.map(drop)
            }
            UserStep::WaitFor(WaitFor::Idle) => self.wait_for_idle().await,
        }
    }

    /// The person answers what the screen shows, and nothing else.
    async fn next_question(&mut self) -> Result<String, Troubled> {
        let answered = self.answered.clone();
        let mut found = None;
        let shown = self.stand_in.journal().wait_until(|lines| {
            let screen = history::screen(lines);
            let live = screen.tasks.get(TASK).into_iter().flat_map(|view| &view.permissions);
            found = live.map(|live| live.permission_id.clone()).find(|id| !answered.contains(id));
            found.is_some()
        });
        within(self.limits.step, shown).await;
        found.ok_or_else(|| self.not_done("the screen shows no question for permission"))
    }

    /// The server decides whether it is idle; whether the screen has noticed is for the checks.
    async fn wait_for_idle(&mut self) -> Result<(), Troubled> {
        let idle = self.stand_in.journal().wait_until(|lines| {
            let events = history::events(lines, MAIN_LANE, StreamName::Event);
            let is = |kind: &str, event: &&Value| event["type"] == kind;
            let last_idle = events.iter().rposition(|event| is("session.idle", &event));
            let prompt = |event: &Value| {
                event["type"] == "message.updated"
                    && event["properties"]["info"]["role"] == "user"
                    && event["properties"]["info"].get("summary").is_none()
            };
            last_idle > events.iter().rposition(prompt)
        });
        match within(self.limits.step, idle).await {
            Some(()) => Ok(()),
            None => Err(self.not_done("the server is not idle")),
        }
    }

    fn not_done(&self, what: &str) -> Troubled {
        (TroubleKind::StepNotDone, format!("{what}, {} s long", self.limits.step.as_secs_f32()))
    }

    /// Waits until nothing happens any more: the adapter is connected (or will not be), has dealt with all that it
    /// has read, and the time line has been quiet for a while.
    async fn settle(&mut self) {
        let limits = self.limits;
        let settled = async {
            loop {
                let journal = self.stand_in.journal().clone();
                journal
                    .wait_until(|lines| history::is_connected(lines, ADAPTER_LANE, StreamName::Event))
                    .await;
                if self.running.link.ask(&Request::Fence, limits.answer).await.is_err() {
                    return;
                }
                let length = journal.lines().len();
                if within(limits.quiet, journal.wait_until(|lines| lines.len() > length)).await.is_none() {
                    return;
                }
            }
        };
        within(limits.settle, settled).await;
    }

    /// The server's state at the end, as anyone can read it.
    async fn read_server(&mut self) {
        let mut paths = vec!["/permission".to_owned(), "/session/status".to_owned()];
        let sessions = self.observer.read("/session").await.unwrap_or_default();
        let ids = sessions.as_array().into_iter().flatten().filter_map(|session| session["id"].as_str());
        paths.extend(ids.map(|id| format!("/session/{id}/message")));
        for path in paths {
            if let Err(what) = self.observer.read(&path).await {
                self.trouble(TroubleKind::Harness, what);
            }
        }
    }

    fn trouble(&self, kind: TroubleKind, what: String) {
        self.stand_in.journal().push(|at_us| Line::Trouble(Trouble { at_us, kind, what }));
    }

    async fn finish(mut self, named: &NamedCase) -> Recording {
        let ended_well = self.running.link.ask(&Request::Shutdown, self.limits.answer).await;
        if let Err(error) = ended_well {
            self.trouble(TroubleKind::Adapter, error.to_string());
        }
        for (number, fault) in self.stand_in.unfired_faults() {
            self.trouble(TroubleKind::FaultNeverFired, format!("fault {number} never fired: it {fault}"));
        }
        let journal = self.stand_in.journal().clone();
        if let Err(what) = self.running.end(self.limits.answer).await {
            journal.push(|at_us| Line::Trouble(Trouble { at_us, kind: TroubleKind::Adapter, what }));
        }
        let header = Header {
            kind: FileKind::History,
            scenario: named.case.scenario.clone(),
            provenance: Provenance {
                scenario_id: catalog::scenario_id(&named.case.scenario),
                case: Some(named.name.clone()),
                faults: named.case.faults.clone(),
                ..Provenance::default()
            },
            ..self.stand_in.header().clone()
        };
        Recording { header, lines: journal.lines(), torn: false }
    }
}
