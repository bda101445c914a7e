//! A scenario performed by an agent on stdin and stdout, and kept: the same script of the model and the same steps of
//! the person as with a server ([`crate::performance`]), in calls of ACP.

use crate::performance::{Performance, PerformanceError, Piece, Program};
use fixtures::recording::{Line, Performer, Recording};
use fixtures::redact::Secrets;
use fixtures::scenario::{Ending, Scenario};
use fixtures::{ServerKind, catalog};
use mock_server::acp::agent::Whole;
use mock_server::acp::dialect::{Dialect, Strictness};
use mock_server::acp::ids::Ids;
use mock_server::acp::{Agent, AgentOptions};
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{Gates, Report, Script};
use mock_server::{MODEL_PAUSE, Options};
use recorder::acp::drive::{Casting, Ends, perform};
use recorder::acp::process::{AgentProcess, AgentSpec, Ended};
use recorder::drive::Backstage;
use recorder::{Limits, Sandbox, Tape};
use serde_json::json;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// A real agent and all that it needs, in the order in which they may go.
struct Real {
    agent: Mutex<Option<AgentProcess>>,
    spec: AgentSpec,
    limits: Limits,
    gates: Gates,
    sandbox: Sandbox,
}

impl Backstage for Real {
    fn open_gate(&self, name: &str) {
        self.gates.open(name);
    }

    fn restart(&self, _: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async { Err("an agent is started by its client".to_owned()) })
    }
}

impl Casting for Real {
    fn begin(&self) -> Pin<Box<dyn Future<Output = Result<Ends, String>> + Send + '_>> {
        Box::pin(async {
            let launched = AgentProcess::launch(&self.spec, &self.sandbox).await;
            let (agent, pipes) = launched.map_err(|error| error.to_string())?;
            *self.agent.lock().await = Some(agent);
            Ok(Ends {
                stdin: Box::new(pipes.stdin),
                stdout: Box::new(pipes.stdout),
                stderr: Some(Box::new(pipes.stderr)),
            })
        })
    }

    fn end(&self) -> Pin<Box<dyn Future<Output = Result<Option<Ended>, String>> + Send + '_>> {
        Box::pin(async {
            let Some(agent) = self.agent.lock().await.take() else { return Ok(None) };
            agent.stop(&self.limits).await.map(Some).map_err(|error| error.to_string())
        })
    }
}

/// The stand-in's agent, on pipes in this process.
struct Ours {
    agent: Arc<Agent>,
    /// It has been started before: what it kept is there.
    begun: AtomicBool,
    speaks: Mutex<Option<JoinHandle<()>>>,
}

/// As much as a pipe holds on Linux.
const PIPE: usize = 64 * 1024;

impl Backstage for Ours {
    fn open_gate(&self, name: &str) {
        self.agent.stand_in().open_gate(name);
    }

    fn restart(&self, _: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async { Err("an agent is started by its client".to_owned()) })
    }
}

impl Casting for Ours {
    fn begin(&self) -> Pin<Box<dyn Future<Output = Result<Ends, String>> + Send + '_>> {
        Box::pin(async {
            if self.begun.swap(true, Ordering::AcqRel) {
                self.agent.stand_in().restart(Ending::Term);
            }
            let (stdin, words) = tokio::io::duplex(PIPE);
            let (said, stdout) = tokio::io::duplex(PIPE);
            let agent = Arc::clone(&self.agent);
            let speaks = tokio::spawn(async move {
                agent.speak(words, said, Box::new(Whole)).await;
            });
            *self.speaks.lock().await = Some(speaks);
            Ok(Ends { stdin: Box::new(stdin), stdout: Box::new(stdout), stderr: None })
        })
    }

    fn end(&self) -> Pin<Box<dyn Future<Output = Result<Option<Ended>, String>> + Send + '_>> {
        Box::pin(async {
            if let Some(speaks) = self.speaks.lock().await.take() {
                speaks.await.map_err(|error| error.to_string())?;
            }
            // It ended as one does that has nothing more to say.
            Ok(Some(Ended { code: Some(0), signal: None }))
        })
    }
}

/// A scenario as agents perform it: of the models that a release knows, only the scripted one is offered. The others
/// are some hundred lines in every answer, and no scenario is about them.
#[must_use]
pub fn as_performed(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.workspace.config.entry("enabled_providers").or_insert_with(|| json!(["fake"]));
    scenario
}

impl Piece {
    /// By a real agent, started for it with `acp`.
    pub async fn by_acp_program(
        &self,
        program: &Program,
        limits: &Limits,
    ) -> Result<Performance, PerformanceError> {
        let scenario = as_performed(&self.scenario);
        let tape = Tape::new();
        let secrets = program.secrets.clone();
        let sandbox = Sandbox::create(&scenario, &program.path_env)?;
        let workspace = sandbox.workspace().to_string_lossy().into_owned();
        let gates = Gates::default();
        let options = ModelOptions {
            port: 0,
            pause: program.model_pause,
            gates: gates.clone(),
            on_call: crate::performance::write_calls_on(&tape),
        };
        let model = ModelServer::start(Script::new(scenario.clone(), workspace.clone()), options)
            .await
            .map_err(|source| PerformanceError::Io { doing: "start the scripted model", source })?;
        let spec = AgentSpec {
            program: program.path.clone(),
            args: program.args.clone(),
            server: self.server,
            model_url: model.url(),
            path_env: program.path_env.clone(),
        };
        let cast = Real { agent: Mutex::new(None), spec, limits: limits.clone(), gates, sandbox };
        let performed = perform(&scenario, &workspace, &cast, &tape, limits).await;
        // Whatever went wrong, the agent is ended before its folder is.
        drop(cast);
        let script = model.report();
        performed?;
        Ok(self.kept(tape, Performer::Real, workspace, secrets, script))
    }

    /// By the stand-in's agent.
    pub async fn by_acp_stand_in(&self, limits: &Limits) -> Result<Performance, PerformanceError> {
        let scenario = as_performed(&self.scenario);
        // Kilo's agent still tells of a turn's end when the next one has begun, and OpenCode's waits until both are over:
        // where the model says its first word at once, that of the next turn would come before.
        let model_pause = if self.server == ServerKind::Kilo { MODEL_PAUSE } else { Duration::ZERO };
        let server = Options { model_pause, ..Options::scenario(self.server, scenario.clone()) };
        let options = AgentOptions {
            server,
            dialect: Dialect::default(),
            turn_end: None,
            strictness: Strictness::default(),
            home: None,
            ids: Ids::default(),
            started_in: None,
            stderr: Arc::new(|_| {}),
        };
        let agent = Arc::new(Agent::start(options).await?);
        let workspace = agent.stand_in().workspace().to_owned();
        let tape = Tape::new();
        let cast =
            Ours { agent: Arc::clone(&agent), begun: AtomicBool::new(false), speaks: Mutex::default() };
        let performed = perform(&scenario, &workspace, &cast, &tape, limits).await;
        let calls =
            agent.stand_in().journal().lines().into_iter().filter(|line| matches!(line, Line::Model(_)));
        let calls: Vec<Line> = calls.collect();
        performed?;
        let mut kept = self.kept(tape, Performer::StandIn, workspace, Secrets::default(), Report::default());
        kept.recording.lines.extend(calls);
        Ok(kept)
    }

    pub(super) fn kept(
        &self,
        tape: Tape,
        performer: Performer,
        workspace: String,
        secrets: Secrets,
        script: Report,
    ) -> Performance {
        let mut header = self.header(performer, workspace);
        header.provenance.scenario_id = catalog::scenario_id(&self.name);
        let lines = tape.take();
        if let Some(agent) = fixtures::acp::agent_of(&lines) {
            header.version.clone_from(&agent.version);
            header.provenance.agent = Some(format!("{} {}", agent.name, agent.version));
        }
        Performance { recording: Recording { header, lines, torn: false }, doc: Vec::new(), secrets, script }
    }
}
