//! One case with one adapter and one server: from start to the saved history. Nothing is judged here.
//!
//! The stand-in, the adapter and the person share one time line, the stand-in's journal. In the end the harness
//! reads the server's state by itself, over a lane that no fault touches; that is what the screen is held against.

use crate::clock::{Limits, within};
use crate::handshake::hello;
use crate::history;
use crate::link::before_gone;
use crate::observer::Observer;
use crate::protocol::Request;
use crate::protocol::request::{Connect, PermissionReply, Reply, TaskRef, TaskSend, TaskStarted};
use crate::secret::random_password;
use crate::subject::{Running, Subject};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{FileKind, Header, Line, Provenance, Recording, Trouble, TroubleKind, UserLine};
use fixtures::scenario::{MAIN_SESSION, PermissionAnswer, PromptRoute, Scenario, UserAct, UserStep, WaitFor};
use fixtures::{ServerKind, catalog};
use mock_server::standin::MAIN_LANE;
use mock_server::{Options, StandIn};
use parity_specs::NamedCase;
use parity_specs::case::ADAPTER_LANE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The task of the main session.
pub const TASK: &str = "task-1";

/// The task of a session.
fn task_of(session: &str) -> String {
    if session == MAIN_SESSION { TASK.to_owned() } else { format!("task-{session}") }
}

/// Runs a case. An error is the harness's own; whatever the adapter does is told by the history.
pub async fn run(
    named: &NamedCase,
    server: ServerKind,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, String> {
    let options = Options::scenario(server, scenario_of(named)?);
    run_on(named, options, subject, limits).await
}

/// Runs a case with a stand-in that is given: one that plays a recording, say. The case adds its faults.
pub async fn run_on(
    named: &NamedCase,
    mut options: Options,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, String> {
    let scenario = scenario_of(named)?;
    let password = random_password().map_err(|error| format!("failed to find a password: {error}"))?;
    options.password = Some(password.clone());
    options.lanes = vec![ADAPTER_LANE.to_owned()];
    options.faults = named.case.fault_plan();
    let stand_in = StandIn::start(options).await.map_err(|error| error.to_string())?;
    let observer = Observer::start(&stand_in.url(), stand_in.username(), &password).await?;
    let running = subject.start(stand_in.journal().clone())?;
    let mut run = Run {
        stand_in,
        observer,
        running,
        limits: *limits,
        password,
        tasks: BTreeMap::new(),
        answered: BTreeSet::new(),
        awaited_from: 0,
    };
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
    /// The tasks that were started, each with its session's id.
    tasks: BTreeMap<String, String>,
    /// The questions that the person has answered.
    answered: BTreeSet<String>,
    /// Every event of the main lane before this place has been awaited or is older than one that was.
    awaited_from: usize,
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

    /// Waits for a fact, up to the limit of a step; whether it came is for the caller to see. An adapter that is
    /// gone brings nothing any more.
    async fn wait(&self, fact: impl Future<Output = ()>) -> Result<(), Troubled> {
        let gone = self.running.link.gone();
        let waited = within(self.limits.step, before_gone(fact, gone)).await.unwrap_or(Ok(()));
        waited.map_err(|why| broken(format!("{why} in the middle of the case")))
    }

    /// Says hello, tests the adapter's honesty, connects it and opens its task.
    async fn introduce(&mut self) -> Result<(), Troubled> {
        hello(&mut self.running.link, &self.limits).await.map_err(broken)?;
        let connect = Connect {
            url: self.stand_in.lane_url(ADAPTER_LANE).unwrap_or_default(),
            username: self.stand_in.username().to_owned(),
            password: self.password.clone(),
            directory: self.stand_in.workspace().to_owned(),
        };
        self.ask(Request::Connect(connect)).await?;
        self.task(MAIN_SESSION).await.map(drop)
    }

    /// The task of a session; it is started when a step first names it.
    async fn task(&mut self, session: &str) -> Result<String, Troubled> {
        let task_id = task_of(session);
        if !self.tasks.contains_key(&task_id) {
            let started = self.ask(Request::TaskStart(TaskRef { task_id: task_id.clone() })).await?;
            let started = serde_json::from_value::<TaskStarted>(started)
                .map_err(|error| broken(format!("task/start: {error}")))?;
            self.tasks.insert(task_id.clone(), started.session_id);
        }
        Ok(task_id)
    }

    async fn step(&mut self, step: &UserStep, number: usize) -> Result<(), Troubled> {
        // The person answers when there is something to answer, and not before.
        let question = match &step.act {
            UserAct::AnswerPermission { .. } => Some(self.next_question(step.session.as_deref()).await?),
            _ => None,
        };
        let does = step.to_string();
        self.stand_in.journal().push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        match &step.act {
            UserAct::Prompt { text, route: PromptRoute::Blocking | PromptRoute::Async } => {
                let task_id = self.task(step.session()).await?;
                let send = TaskSend { task_id, text: text.clone() };
                self.ask(Request::TaskSend(send)).await.map(drop)
            }
            UserAct::AnswerPermission { answer, message: None } => {
                let (task_id, permission_id) = question.unwrap_or_default();
                self.answered.insert(permission_id.clone());
                let reply = match answer {
                    PermissionAnswer::Once => Reply::Once,
                    PermissionAnswer::Always => Reply::Always,
                    PermissionAnswer::Reject => Reply::Reject,
                };
                let reply = PermissionReply { task_id, permission_id, reply };
                self.ask(Request::PermissionReply(reply)).await.map(drop)
            }
            UserAct::OpenGate(name) => {
                self.stand_in.open_gate(name);
                Ok(())
            }
            UserAct::WaitFor(WaitFor::Idle) => {
                let task_id = self.task(step.session()).await?;
                self.wait_for_idle(&task_id).await
            }
            UserAct::WaitFor(WaitFor::Event { event, containing, .. }) => {
                let session = match &step.session {
                    Some(name) => {
                        let task_id = self.task(name).await?;
                        self.tasks.get(&task_id).cloned()
                    }
                    None => None,
                };
                self.wait_for_event(event, containing.as_deref(), session.as_deref()).await
            }
            UserAct::AnswerPermission { message: Some(_), .. }
            | UserAct::AnswerQuestion(_)
            | UserAct::RejectQuestion
            | UserAct::Request(_)
            | UserAct::Reconnect
            | UserAct::Stall
            | UserAct::ReadOn
            | UserAct::Restart(_)
            | UserAct::Abort => Err((
                TroubleKind::Harness,
                "an adapter can't be asked for that: no request of the protocol says it".to_owned(),
            )),
        }
    }

    /// The person answers what the screen shows, and nothing else. Gives the task and the question.
    async fn next_question(&mut self, session: Option<&str>) -> Result<(String, String), Troubled> {
        let answered = self.answered.clone();
        let wanted = session.map(task_of);
        let mut found = None;
        let shown = self.stand_in.journal().wait_until(|lines| {
            let screen = history::screen(lines);
            found = screen
                .tasks
                .iter()
                .filter(|(task, _)| wanted.as_ref().is_none_or(|wanted| wanted == *task))
                .flat_map(|(task, view)| view.permissions.iter().map(move |live| (task, &live.permission_id)))
                .find(|(_, id)| !answered.contains(*id))
                .map(|(task, id)| (task.clone(), id.clone()));
            found.is_some()
        });
        self.wait(shown).await?;
        found.ok_or_else(|| self.not_done("the screen shows no question for permission"))
    }

    /// The server decides whether it is idle; whether the screen has noticed is for the checks.
    async fn wait_for_idle(&mut self, task_id: &str) -> Result<(), Troubled> {
        let session = self.tasks.get(task_id).cloned();
        let idle = self.stand_in.journal().wait_until(|lines| {
            let events = history::events(lines, MAIN_LANE, StreamName::Event);
            let ours = |event: &Value| event["properties"]["sessionID"].as_str() == session.as_deref();
            let last_idle = events.iter().rposition(|event| event["type"] == "session.idle" && ours(event));
            let prompt = |event: &Value| {
                event["type"] == "message.updated"
                    && ours(event)
                    && event["properties"]["info"]["role"] == "user"
                    && event["properties"]["info"].get("summary").is_none()
            };
            last_idle > events.iter().rposition(prompt)
        });
        let mut is_idle = false;
        self.wait(async {
            idle.await;
            is_idle = true;
        })
        .await?;
        if is_idle { Ok(()) } else { Err(self.not_done("the server is not idle")) }
    }

    async fn wait_for_event(
        &mut self,
        wanted: &str,
        containing: Option<&str>,
        session: Option<&str>,
    ) -> Result<(), Troubled> {
        let from = self.awaited_from;
        let mut found = None;
        let came = self.stand_in.journal().wait_until(|lines| {
            let events = history::events(lines, MAIN_LANE, StreamName::Event);
            let is_wanted = |event: &Value| {
                event["type"] == wanted
                    && session.is_none_or(|session| event["properties"]["sessionID"] == session)
                    && containing.is_none_or(|words| event.to_string().contains(words))
            };
            found = events.iter().skip(from).position(is_wanted);
            found.is_some()
        });
        self.wait(came).await?;
        match found {
            Some(at) => {
                self.awaited_from = from + at + 1;
                Ok(())
            }
            None => Err(self.not_done(&format!("the server sent no {wanted}"))),
        }
    }

    fn not_done(&self, what: &str) -> Troubled {
        (TroubleKind::StepNotDone, format!("{what}, {} s long", self.limits.step.as_secs_f32()))
    }

    /// Waits until nothing happens any more: the adapter is connected (or will not be), has dealt with all that it
    /// has read, and the time line has been quiet for a while.
    async fn settle(&mut self) {
        let limits = self.limits;
        let gone = self.running.link.gone();
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
        // Settled or gone or neither: what there is will be judged.
        let _settled = within(limits.settle, before_gone(settled, gone)).await;
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
        let told = self.running.link.ask(&Request::Shutdown, self.limits.end).await;
        let was_told = told.is_ok();
        if let Err(error) = told {
            self.trouble(TroubleKind::Adapter, error.to_string());
        }
        for (number, fault) in self.stand_in.unfired_faults() {
            self.trouble(TroubleKind::FaultNeverFired, format!("fault {number} never fired: it {fault}"));
        }
        let journal = self.stand_in.journal().clone();
        if let Err(what) = self.running.end(was_told, self.limits.end).await {
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
