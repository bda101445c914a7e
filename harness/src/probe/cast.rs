//! The server that is asked about its agents: a real one in a sandbox, or the stand-in; its model is the scripted one,
//! whatever models the agents name.

use super::ProbeError;
use super::declared::Declarations;
use super::questions::{CALLER, Question, scenario};
use crate::performance::Program;
use crate::secret::random_password;
use fixtures::ServerKind;
use fixtures::recording::ModelPurpose;
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{ChatRequest, Script};
use mock_server::standin::fill_workspace;
use mock_server::{Options, StandIn};
use recorder::{Client, Credentials, LaunchSpec, Limits, Sandbox, Server, Tape};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What the model was asked, in order.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<ChatRequest>>>);

impl Asked {
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The requests since then whose last prompt holds these words.
    pub(super) fn since(&self, from: usize, words: &str) -> Vec<ChatRequest> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |request: &&ChatRequest| {
            // One who may do nothing at all is offered no tool, and is at work like everybody.
            request.purpose() == ModelPurpose::Turn
                && request.last_prompt().is_some_and(|(_, prompt)| prompt.contains(words))
        };
        all.iter().skip(from).filter(holds).cloned().collect()
    }

    fn hear(&self, request: &ChatRequest) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    }
}

/// Who is asked.
pub(super) struct Cast {
    pub(super) client: Client,
    pub(super) version: String,
    pub(super) asked: Asked,
    /// The workspace, with a slash behind it.
    pub(super) root: String,
    server: Actor,
    _model: ModelServer,
}

enum Actor {
    Real(Box<Server>, Box<Sandbox>),
    StandIn(Box<StandIn>, tempfile::TempDir),
}

impl Cast {
    pub(super) async fn begin(
        server: ServerKind,
        program: Option<&Program>,
        files: &BTreeMap<String, String>,
        all: &Declarations,
        questions: &[Question],
        limits: &Limits,
    ) -> Result<Self, ProbeError> {
        let could_not = |doing: &'static str| move |source| ProbeError::Io { doing, source };
        // The model must be there before its address can stand in the configuration, and the folder before the model.
        let plain = scenario(files, Map::new(), questions);
        let (folder, sandbox) = match program {
            Some(program) => (None, Some(Sandbox::create(&plain, &program.path_env)?)),
            None => (Some(tempfile::tempdir().map_err(could_not("make a workspace"))?), None),
        };
        let root = match (&folder, &sandbox) {
            (Some(folder), _) => folder.path().canonicalize().map_err(could_not("find the workspace"))?,
            (_, Some(sandbox)) => sandbox.workspace().to_owned(),
            (None, None) => return Err(ProbeError::NoPlace),
        };
        let place = format!("{}/", root.to_string_lossy());
        let asked = Asked::default();
        let hears = asked.clone();
        let options = ModelOptions {
            on_call: Arc::new(move |request, _| hears.hear(request)),
            ..ModelOptions::default()
        };
        let script = Script::new(plain.clone(), root.to_string_lossy().into_owned());
        let model =
            ModelServer::start(script, options).await.map_err(could_not("start the scripted model"))?;
        let config = settings(all, &model.url());
        let password = random_password().map_err(could_not("find a password"))?;
        let (server, url, credentials, version) = match (program, sandbox, folder) {
            (Some(program), Some(sandbox), _) => {
                let sandbox = sandbox.with_config(config);
                let spec = LaunchSpec {
                    program: program.path.clone(),
                    args: program.args.clone(),
                    server,
                    model_url: model.url(),
                    log: None,
                    password,
                    env: Vec::new(),
                    path_env: program.path_env.clone(),
                };
                let real = Server::launch(&spec, &sandbox, limits).await?;
                let (url, credentials) = (real.url().to_owned(), real.credentials().clone());
                let version = real.version().to_owned();
                (Actor::Real(Box::new(real), Box::new(sandbox)), url, credentials, version)
            }
            (_, _, Some(folder)) => {
                fill_workspace(&plain, &root).map_err(could_not("fill the workspace"))?;
                let mut options = Options::scenario(server, plain);
                options.model = Some(format!("{}/v1", model.url()));
                options.call_wait = Duration::from_secs(5);
                options.settings = config;
                options.workspace = Some(root);
                // It is a folder of ours, with nothing in it but texts.
                options.allow_shell = true;
                options.password = Some(password.clone());
                let stand_in = StandIn::start(options).await?;
                let credentials = Credentials { user: stand_in.username().to_owned(), password };
                let (url, version) = (stand_in.url(), server.pinned_version().to_owned());
                (Actor::StandIn(Box::new(stand_in), folder), url, credentials, version)
            }
            _ => return Err(ProbeError::NoPlace),
        };
        let client = Client::new(&url, credentials, Tape::new())?;
        Ok(Self { client, version, asked, root: place, server, _model: model })
    }

    pub(super) async fn end(self, limits: &Limits) -> Result<(), ProbeError> {
        match self.server {
            Actor::Real(server, _sandbox) => drop(server.stop(limits).await?),
            Actor::StandIn(stand_in, _folder) => drop(stand_in),
        }
        Ok(())
    }
}

/// Over whatever the folder says: our own agent, the scripted model under each name that is used.
fn settings(all: &Declarations, model_url: &str) -> Map<String, Value> {
    let model = json!({
        "name": "Scripted", "tool_call": true, "reasoning": true, "limit": {"context": 100_000, "output": 10_000},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
        "options": {"baseURL": format!("{model_url}/v1"), "apiKey": "scripted"},
    });
    let mut providers = Map::new();
    for named in all.models.iter().map(String::as_str).chain(["fake/fake"]) {
        let Some((id, name)) = named.split_once('/') else { continue };
        let entry = providers.entry(id.to_owned()).or_insert_with(|| provider.clone());
        entry["models"][name] = model.clone();
    }
    let caller = json!({
        "mode": "primary", "description": "Asks the others.", "prompt": "You ask the others.",
        "permission": {"*": "allow", "task": "allow", "bash": "allow", "edit": "allow"},
    });
    let mut settings = Map::new();
    settings.insert("model".to_owned(), json!("fake/fake"));
    settings.insert("small_model".to_owned(), json!("fake/fake"));
    settings.insert("provider".to_owned(), Value::Object(providers));
    settings.insert("agent".to_owned(), json!({CALLER: caller}));
    settings
}
