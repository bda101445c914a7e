//! What a case does, step by step. What has to come of each step is written down beside it, for the checks.

mod children;
mod flow;
mod gathered;
mod index;
mod operations;
mod runs;
mod standing;
mod steps;

pub(super) use index::REPOSITORY;
pub(super) use standing::CANARY;
pub(super) use steps::Steps;

use super::key::{KEYS, NEXT_KEY};
use super::{ground, key};
use crate::kit::Play;
use crate::scene::{Scene, Troubled, broken, our_fault};
use crate::story::Story;
use fixtures::error::FileError;
use fixtures::failures::{self, KEY};
use fixtures::{commands, paths};
use futures_util::future::BoxFuture;
use harness::clock::within;
use mock_server::endpoint::{Endpoint, Reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use steps::{Change, Configure, Context, KeyStep, Operate, Step};

/// The lane of an address that is somebody else's: no key may come there.
pub(super) const ELSEWHERE: &str = "elsewhere";

/// What has to come of a call stands under this name.
pub(super) const WANTED: &str = "wanted";

impl Play for Steps {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            ground::make(scene)?;
            for key in KEYS {
                scene.keep_secret("key", key);
                for form in key::in_base64(key) {
                    scene.keep_secret("key in base64", &form);
                }
            }
            let started = async |journal| {
                let endpoint = Endpoint::start(journal).await;
                endpoint.map_err(|error| our_fault(format!("there is no port: {error}")))
            };
            let endpoint = started(scene.journal().clone()).await?;
            let elsewhere = started(scene.journal().clone()).await?;
            let mut stage = Stage {
                scene,
                endpoint,
                elsewhere,
                asked: BTreeMap::new(),
                configured: Configure::default(),
                servers: Vec::new(),
                keys_given: 0,
            };
            for step in &self.step {
                stage.step(step).await?;
            }
            stage.scene.settle().await;
            ground::look(stage.scene);
            Ok(())
        })
    }
}

struct Stage<'a> {
    scene: &'a mut Scene,
    endpoint: Endpoint,
    /// An address of somebody else's.
    elsewhere: Endpoint,
    /// How often each method was called.
    asked: BTreeMap<String, usize>,
    configured: Configure,
    /// Servers of tools: their names, and the variables with their keys.
    servers: Vec<(String, String)>,
    /// How often the person has given a key.
    keys_given: usize,
}

/// Kinds of paths that systems read in different ways.
const READ_OTHERWISE: [&str; 7] = ["case", "device", "drive", "short-names", "streams", "unc", "verbatim"];

fn unread(error: FileError) -> Troubled {
    our_fault(error.to_string())
}

impl Stage<'_> {
    async fn step(&mut self, step: &Step) -> Result<(), Troubled> {
        match step {
            Step::Configure(configure) => {
                self.configured = configure.clone();
                self.configure().await
            }
            Step::Restart(steps::Empty {}) => {
                self.scene.person("starts the program again");
                self.scene.restart().await?;
                self.configure().await
            }
            Step::Check(check) => {
                let path = ground::filled(self.scene, &check.path);
                let asked = json!({"path": path, "op": check.op});
                self.ask("path/check", asked, json!({"verdict": check.wanted, "about": check.path})).await
            }
            Step::Act(act) => {
                let path = ground::filled(self.scene, &act.path);
                let asked = json!({"path": path, "op": act.op, "content": "written\n"});
                let writes = act.writes.as_deref().unwrap_or_default();
                let wanted = json!({"verdict": act.wanted, "about": act.path, "writes": writes});
                self.ask("path/act", asked, wanted).await?;
                ground::look(self.scene);
                Ok(())
            }
            Step::Paths(kinds) => self.paths(kinds).await,
            Step::Decide(decide) => {
                let wanted = json!({"verdict": decide.wanted, "about": decide.line});
                self.ask("command/decide", json!({"line": decide.line}), wanted).await
            }
            Step::Commands(kinds) => self.commands(kinds).await,
            Step::Run(run) => self.run(run).await,
            Step::RunAtOnce(runs) => self.run_at_once(runs).await,
            Step::Operate(operate) => self.operate(operate).await,
            Step::Errors(kinds) => self.errors(kinds).await,
            Step::Csp(steps::Empty {}) => self.ask("csp/describe", json!({}), json!({})).await,
            Step::Render(steps::Render { text, shows }) => {
                self.ask("view/render", json!({"text": text}), json!({"about": text, "shows": shows})).await
            }
            Step::Context(context) => self.context(context).await,
            Step::Key(key) => self.key(key).await,
            Step::Change(Change { path, pass_ms }) => {
                self.scene.person(format!("changes {path}"));
                self.ask("fs/event", json!({"path": path, "kind": "changed"}), json!({})).await?;
                self.scene.pass(*pass_ms).await
            }
            Step::Add(add) => {
                let asked = json!({"item": add.item, "fails": add.fails, "takesMs": add.takes_ms});
                self.ask("batch/add", asked, json!({})).await?;
                self.scene.pass(add.pass_ms).await
            }
            Step::Together(items) => self.together(items).await,
            Step::Kept(kept) => self.kept(kept).await,
            Step::Task(task) => self.task(task).await,
            Step::AtOnce(all) => self.at_once(all).await,
            Step::Limited(limited) => self.limited(limited).await,
            Step::Measured(measured) => self.measured(measured).await,
            Step::Sink(replies) => {
                self.endpoint.plan("telemetry", replies.iter().map(steps::Planned::reply).collect());
                Ok(())
            }
            Step::Service(service) => self.service(service).await,
            Step::Dispose(name) => self.ask("service/dispose", json!({"name": name}), json!({})).await,
            Step::Action(action) => self.action(action).await,
            Step::Reopen(configured) => self.reopen(configured).await,
            Step::Set(set) => self.set(set).await,
            Step::Stands(stands) => self.stands(stands).await,
            Step::Conversation(kept) => self.conversation(kept).await,
            Step::Messages(count) => self.messages(*count).await,
            Step::Copies(copies) => self.copies(copies).await,
            Step::Server(server) => self.server(server).await,
            Step::Tool(tool) => self.tool(tool).await,
            Step::Resource(resource) => self.resource(resource).await,
            Step::Repository(files) => self.repository(*files).await,
            Step::Index(files) => self.index(*files).await,
            Step::Write(write) => self.write(write).await,
            Step::Search(search) => self.search(search).await,
            Step::PassMs(ms) => self.scene.pass(*ms).await,
        }
    }

    /// Asks, and writes down what has to come of it.
    async fn ask(&mut self, method: &str, params: Value, wanted: Value) -> Result<(), Troubled> {
        // That it refuses is an answer: the checks know what it means.
        let _answer = self.scene.ask(method, params).await?;
        self.want(method, wanted);
        Ok(())
    }

    fn want(&mut self, method: &str, mut wanted: Value) {
        let nth = self.asked.entry(method.to_owned()).or_default();
        wanted["method"] = json!(method);
        wanted["nth"] = json!(nth);
        *nth += 1;
        self.scene.witness(WANTED, &wanted);
    }

    async fn configure(&mut self) -> Result<(), Troubled> {
        let Configure { roots, allow, missing, path_breaks, telemetry, at_once } = &self.configured;
        let roots: Vec<Value> = roots.iter().map(|root| ground::place(self.scene, root)).collect();
        let params = json!({
            "roots": roots,
            "allow": if *missing { Value::Null } else { json!(allow) },
            "ignoreFile": ".guardignore",
            "pathBreaks": path_breaks,
            "atOnce": at_once,
            "stateFolder": ground::place(self.scene, ground::STATE),
            "secretFolder": ground::place(self.scene, ground::SECRETS),
            "telemetry": {"enabled": telemetry, "url": self.endpoint.url("telemetry")},
        });
        self.scene.must("configure", params).await.map(drop)
    }

    async fn paths(&mut self, kinds: &[String]) -> Result<(), Troubled> {
        for kind in kinds {
            for case in fixtures::corpus::of::<fixtures::paths::Case>(kind).map_err(unread)? {
                // No files are made for these: a guard that looks at the disk finds none, so nothing is a link.
                let needs_nothing = case.links.is_empty() && case.needs.is_empty();
                if !needs_nothing || case.lexical.allows() != case.realpath.allows() {
                    continue;
                }
                let Some(allows) = case.lexical.allows() else { continue };
                // A guard for all systems may refuse a name that leads elsewhere on another one.
                if allows && READ_OTHERWISE.contains(&kind.as_str()) {
                    continue;
                }
                let asked = case.asked(paths::Policy::Lexical, paths::ground::base(paths::Policy::Lexical));
                let verdict = if allows { "allow" } else { "refuse" };
                let wanted = json!({"verdict": verdict, "about": case.full_name()});
                let asked = json!({"path": asked.path, "op": "read", "roots": asked.roots});
                self.ask("path/check", asked, wanted).await?;
            }
        }
        Ok(())
    }

    async fn commands(&mut self, kinds: &[String]) -> Result<(), Troubled> {
        let declared = self.scene.declares("commands").unwrap_or("exact").to_owned();
        let known = commands::Policy::ALL.into_iter().find(|policy| policy.to_string() == declared);
        let policy = known.ok_or_else(|| broken(format!("there is no policy '{declared}' for commands")))?;
        for kind in kinds {
            for case in fixtures::corpus::of::<commands::Case>(kind).map_err(unread)? {
                let Some(allows) = case.verdict(policy).allows().filter(|_| case.before.is_empty()) else {
                    continue;
                };
                let verdict = if allows { "allow" } else { "ask" };
                let asked = json!({"line": case.line, "allow": case.allowed()});
                let wanted = json!({"verdict": verdict, "about": case.full_name()});
                self.ask("command/decide", asked, wanted).await?;
            }
        }
        Ok(())
    }

    async fn operate(&mut self, operate: &Operate) -> Result<(), Troubled> {
        let lane = format!("origin-{}", self.asked.get("op/run").copied().unwrap_or_default() + 1);
        self.endpoint.plan(&lane, operate.replies.iter().map(steps::Planned::reply).collect());
        let mut asked = json!({"url": self.endpoint.url(&lane)});
        if let Some(attempts) = operate.attempts {
            asked["maxAttempts"] = json!(attempts);
        }
        let wanted =
            json!({"lane": lane, "at_s": operate.at_s, "ok": operate.ok, "last": operate.last_status()});
        self.ask("op/run", asked, wanted).await
    }

    async fn errors(&mut self, kinds: &[String]) -> Result<(), Troubled> {
        for kind in kinds {
            let told = failures::told(&fixtures::corpus::of::<failures::Case>(kind).map_err(unread)?).json;
            for case in told["cases"].as_array().into_iter().flatten() {
                let mut wanted = json!({"about": case["name"], "category": case["category"]});
                wanted["retryable"] = case["retryable"].clone();
                wanted["reports"] = json!(self.configured.telemetry);
                self.ask("error/handle", json!({"provoked": case["provoked"]}), wanted).await?;
            }
        }
        Ok(())
    }

    async fn context(&mut self, context: &Context) -> Result<(), Troubled> {
        let refused = Reply::json(400, &json!({"error": {"code": "context_length_exceeded"}}));
        let mut replies = vec![refused; context.refused];
        replies.push(Reply::json(200, &json!({"ok": true})));
        self.endpoint.plan("model", replies);
        let mut params = context.told();
        params["url"] = json!(self.endpoint.url("model"));
        let wanted =
            json!({"refused": context.refused, "compressed": context.compressed, "forced": context.forced});
        self.ask("context/send", params, wanted).await
    }

    async fn key(&mut self, key: &KeyStep) -> Result<(), Troubled> {
        match key {
            KeyStep::Store | KeyStep::Replace => {
                let (which, words) = match key {
                    KeyStep::Replace => (NEXT_KEY, "gives another key"),
                    _ => (KEY, "gives a key"),
                };
                self.keys_given += 1;
                self.scene.person(words);
                self.ask("secret/store", json!({"key": which}), json!({})).await?;
            }
            KeyStep::Use | KeyStep::UseNone | KeyStep::UseRedirected => self.use_key(*key).await?,
            KeyStep::Dump => self.ask("state/dump", json!({}), json!({})).await?,
            KeyStep::Logout => {
                self.scene.person("logs out");
                self.ask("secret/logout", json!({}), json!({})).await?;
                ground::look_for_key(self.scene);
            }
        }
        ground::look(self.scene);
        Ok(())
    }

    /// The key is used. The provider holds its answer until it was seen who knows the key then.
    async fn use_key(&mut self, key: KeyStep) -> Result<(), Troubled> {
        let is_used = key != KeyStep::UseNone;
        // A host can say back only what it was told.
        let known = KEYS.into_iter().nth(self.keys_given.saturating_sub(1)).unwrap_or(KEY);
        let says =
            if is_used { format!("Incorrect API key provided: {known}") } else { "No API key".to_owned() };
        let reply = match key {
            KeyStep::UseRedirected => Reply::Answer {
                status: 307,
                headers: vec![("location".to_owned(), self.elsewhere.url(ELSEWHERE))],
                body: String::new(),
            },
            _ => Reply::json(401, &json!({"error": {"message": says}})),
        };
        let (before, url) = (self.exchanges("provider"), self.endpoint.url("provider"));
        let gate = format!("provider-{before}");
        self.endpoint.plan("provider", vec![reply.held(&gate)]);
        let asked = self.scene.begin("secret/use", json!({"url": url})).await?;
        let come = self.scene.journal().wait_until(|lines| operations::on_lane(lines, "provider") > before);
        // Who never asks is told by the count.
        let _come = within(self.scene.limits().step, come).await;
        self.look_at_children(&url);
        self.endpoint.porter().open(&gate);
        // That it refuses is an answer: the checks know what it means.
        let _answer = self.scene.answer(asked).await?;
        self.want("secret/use", json!({"with_key": is_used, "given": self.keys_given}));
        Ok(())
    }

    fn exchanges(&self, lane: &str) -> usize {
        let lines = self.scene.journal().lines();
        Story::of(&lines).exchanges.iter().filter(|exchange| exchange.lane.as_deref() == Some(lane)).count()
    }
}
