//! A server that plays a scenario for whoever comes: a real one with the scripted model beside it, or the stand-in.
//! Who acts the person is not its business.

use crate::performance::{PerformanceError, Program};
use crate::secret::random_password;
use fixtures::ServerKind;
use fixtures::recording::Line;
use fixtures::redact::Secrets;
use fixtures::scenario::{Ending, Scenario};
use mock_server::model::http::{ModelOptions, ModelServer, OnCall};
use mock_server::model::{Gates, Report, Script};
use mock_server::{Options, StandIn};
use recorder::drive::Backstage;
use recorder::server_log::ServerLog;
use recorder::{Credentials, LaunchSpec, Limits, Sandbox, Server};
use std::path::PathBuf;
use std::pin::Pin;
use tokio::sync::Mutex;

/// The scripted model's key; the servers ask for one, and nobody checks it.
const MODEL_KEY: &str = "k";

/// A server that waits to be asked. Dropping it ends it.
pub struct Stage {
    /// Its address, `http://127.0.0.1:PORT`.
    pub url: String,
    /// What it asks for.
    pub credentials: Credentials,
    /// The folder in which it was started; absolute, without links.
    pub workspace: String,
    /// The release that it says it is.
    pub version: String,
    /// What must not stand in any file.
    pub secrets: Secrets,
    cast: Cast,
}

enum Cast {
    Real(Box<Real>),
    StandIn(Box<StandIn>),
}

/// In the order in which they may go.
struct Real {
    /// None only while it is started again, or when that has failed.
    server: Mutex<Option<Server>>,
    spec: LaunchSpec,
    limits: Limits,
    model: ModelServer,
    gates: Gates,
    sandbox: Sandbox,
}

impl Real {
    async fn restart(&self, ending: Ending) -> Result<(), String> {
        let mut place = self.server.lock().await;
        let server = place.take().ok_or_else(|| "the server is gone".to_owned())?;
        let again = server.restart(ending, &self.spec, &self.sandbox, &self.limits).await;
        *place = Some(again.map_err(|error| error.to_string())?);
        Ok(())
    }
}

impl Stage {
    /// The real server; `on_call` hears of each answer of its model.
    pub async fn of_program(
        scenario: &Scenario,
        server: ServerKind,
        program: &Program,
        limits: &Limits,
        on_call: OnCall,
    ) -> Result<Self, PerformanceError> {
        let folders: Vec<PathBuf> = std::env::split_paths(&program.path_env).collect();
        let is_missing = |needed: &&String| !folders.iter().any(|folder| folder.join(needed).is_file());
        if let Some(missing) = scenario.needs.iter().find(is_missing) {
            return Err(PerformanceError::Lacks { program: missing.clone() });
        }
        let password = new_password()?;
        let mut secrets = program.secrets.clone();
        secrets.add(&password);
        secrets.add(MODEL_KEY);
        let sandbox = Sandbox::create(scenario, &program.path_env)?;
        let workspace = sandbox.workspace().to_string_lossy().into_owned();
        let script = Script::new(scenario.clone(), workspace.clone());
        let gates = Gates::default();
        let options = ModelOptions { port: 0, pause: program.model_pause, gates: gates.clone(), on_call };
        let model = ModelServer::start(script, options)
            .await
            .map_err(|source| PerformanceError::Io { doing: "start the scripted model", source })?;
        let spec = LaunchSpec {
            program: program.path.clone(),
            args: program.args.clone(),
            server,
            model_url: model.url(),
            log: program.server_log.as_ref().map(|path| ServerLog::create(path, &secrets)).transpose()?,
            password,
            env: Vec::new(),
            path_env: program.path_env.clone(),
        };
        let server = Server::launch(&spec, &sandbox, limits).await?;
        let (url, version) = (server.url().to_owned(), server.version().to_owned());
        let credentials = server.credentials().clone();
        let (server, limits) = (Mutex::new(Some(server)), limits.clone());
        let real = Real { server, spec, limits, model, gates, sandbox };
        Ok(Self { url, credentials, workspace, version, secrets, cast: Cast::Real(Box::new(real)) })
    }

    /// The stand-in; its password is made here.
    pub async fn of_stand_in(mut options: Options) -> Result<Self, PerformanceError> {
        let password = new_password()?;
        options.password = Some(password.clone());
        let version = options.server.pinned_version().to_owned();
        let stand_in = StandIn::start(options).await?;
        Ok(Self {
            url: stand_in.url(),
            credentials: Credentials { user: stand_in.username().to_owned(), password },
            workspace: stand_in.workspace().to_owned(),
            version,
            secrets: Secrets::default(),
            cast: Cast::StandIn(Box::new(stand_in)),
        })
    }

    /// What the stand-in's own model was asked; what a model at an address was asked, it tells itself.
    pub(crate) fn model_calls(&self) -> Vec<Line> {
        match &self.cast {
            Cast::Real(_) => Vec::new(),
            Cast::StandIn(stand_in) => {
                let lines = stand_in.journal().lines();
                lines.into_iter().filter(|line| matches!(line, Line::Model(_))).collect()
            }
        }
    }

    /// Asks the server to end. What of the script nobody asked for, and what was asked for in vain, where a model of
    /// its own knows.
    pub async fn close(self, limits: &Limits) -> Result<Report, PerformanceError> {
        match self.cast {
            Cast::Real(real) => {
                let Real { server, model, sandbox: _sandbox, .. } = *real;
                if let Some(server) = server.into_inner() {
                    server.stop(limits).await?;
                }
                Ok(model.report())
            }
            Cast::StandIn(_) => Ok(Report::default()),
        }
    }
}

impl Backstage for Stage {
    fn open_gate(&self, name: &str) {
        match &self.cast {
            Cast::Real(real) => real.gates.open(name),
            Cast::StandIn(stand_in) => stand_in.open_gate(name),
        }
    }

    fn restart(&self, ending: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(async move {
            match &self.cast {
                Cast::Real(real) => real.restart(ending).await,
                Cast::StandIn(stand_in) => {
                    stand_in.restart(ending);
                    Ok(())
                }
            }
        })
    }
}

fn new_password() -> Result<String, PerformanceError> {
    random_password().map_err(|source| PerformanceError::Io { doing: "find a password", source })
}
