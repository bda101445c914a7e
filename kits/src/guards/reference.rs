//! The reference adapter: it keeps every promise of the kit, in the plainest way, and imports nothing of a stand-in. Each
//! mutant is a switch in it.

mod conversation;
mod errors;
mod flow;
mod index;
mod keys;
mod lists;
mod operations;
mod paths;
mod requests;
mod servers;
mod standing;
mod timed;
mod view;

use crate::adapter::{Adapter, Screen};
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use ignore::gitignore::Gitignore;
use index::Index;
use lists::AllowList;
use operations::Operations;
use serde_json::{Value, json};
use servers::Servers;
use standing::Standing;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use timed::Timed;
use tokio::sync::oneshot;

/// The adapter, whole or with one promise broken.
pub(super) struct Reference {
    mutant: Option<&'static str>,
    state: Mutex<State>,
    timed: Timed,
    operations: Operations,
    standing: Standing,
    servers: Servers,
    index: Index,
    client: reqwest::Client,
}

#[derive(Default)]
struct State {
    roots: Vec<PathBuf>,
    ignored: Option<Gitignore>,
    path_breaks: bool,
    list: AllowList,
    secret_file: PathBuf,
    state_folder: PathBuf,
    /// What a mutant keeps in memory.
    key: Option<String>,
    /// So does one with this.
    has_logged_out: bool,
    reports_to: Option<String>,
    /// Questions that wait for the person.
    questions: BTreeMap<u64, oneshot::Sender<String>>,
    asked: u64,
}

/// Who follows the plan word for word breaks these promises.
const LETTER: &str = "to-the-letter";
const OF_THE_LETTER: [&str; 12] = [
    "starts-with",
    "first-root-only",
    "no-list-throws",
    "dismissed-runs",
    "zero-tries-say-undefined",
    "policy-unfilled",
    "one-debounce",
    "wedged-batch",
    "initialized-twice",
    "listener-fails-action",
    "copy-of-nothing",
    "server-settings-in-state",
];

impl Adapter for Reference {
    fn introduce(&self) -> Value {
        let capabilities = [
            "guard.path",
            "guard.ignore",
            "guard.command",
            "guard.secret",
            "guard.csp",
            "guard.view",
            "resilience.retry",
            "resilience.errors",
            "resilience.limits",
            "context.window",
            "flow.task",
            "service.single",
            "state.scopes",
            "memory.checkpoints",
            "mcp.use",
            "monitor.timings",
            "index.workspace",
        ];
        let declares = match self.mutant {
            Some(LETTER) => json!({"policy": "seed", "commands": "exact", "paths": "lexical"}),
            _ => json!({"policy": "careful", "commands": "exact", "paths": "realpath"}),
        };
        json!({"name": "guards-reference", "capabilities": capabilities, "clock": "virtual", "declares": declares})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            match method.as_str() {
                "configure" => self.configure(&params),
                "path/check" => {
                    let verdict = if self.lets_at(&params)? { "allow" } else { "refuse" };
                    Ok(json!({"verdict": verdict}))
                }
                "path/act" => self.act(&params),
                "command/decide" => {
                    let own = params.get("allow").map(|allow| AllowList::read(allow.clone()));
                    let own = own.unwrap_or_else(|| self.state().list.clone());
                    let allowed = own.allows(text(&params["line"]), self.mutant);
                    Ok(json!({"verdict": if allowed { "allow" } else { "ask" }}))
                }
                "command/run" => self.run(text(&params["line"]), &screen).await,
                "command/answer" => {
                    let id = params["id"].as_u64().unwrap_or_default();
                    let id = self.meant(id);
                    let question = self.state().questions.remove(&id);
                    let question = question.ok_or_else(|| RpcError::failed("nobody asks that"))?;
                    // Who asked is gone: the line does not run.
                    let _unheard = question.send(text(&params["choice"]).to_owned());
                    Ok(json!({}))
                }
                "op/run" => Ok(self.operate(&params, &screen).await),
                "error/handle" => Ok(self.handle(&params["provoked"], &screen).await),
                "csp/describe" => Ok(json!({"policy": self.policy()})),
                "view/render" => Ok(json!({"html": self.page(text(&params["text"]))})),
                "context/send" => Ok(self.converse(&params, &screen).await),
                "secret/store" => self.store(text(&params["key"]), &screen),
                "secret/use" => Ok(self.use_key(text(&params["url"])).await),
                "secret/logout" => self.log_out(),
                "task/send" => Ok(self.task(&params, &screen).await),
                "state/dump" => self.dump(),
                "state/set" => self.set(text(&params["scope"]), text(&params["name"]), &params["value"]),
                "memory/begin" => self.remember(&params),
                "memory/add" => self.hear(&params["text"]),
                "memory/copies" => Ok(self.copies()),
                "op/begin" => Ok(self.begin(&params).await),
                "op/limited" => Ok(self.limited(&params, &screen).await),
                "op/measured" => Ok(self.measured(&params, &screen).await),
                "service/use" => self.serves(&params).await,
                "service/dispose" => Ok(self.dispose(&params)),
                "service/act" => Ok(self.acts(&params, &screen).await),
                "mcp/register" => self.register(&params, &screen).await,
                "mcp/call" | "mcp/read" => self.ask_server(&params).await,
                "index/build" => Ok(self.build().await),
                "index/search" => Ok(self.search(&params)),
                "fs/event" => Ok(self.changed(text(&params["path"]), &screen)),
                "batch/add" => Ok(self.add(&params, &screen)),
                "cache/get" => Ok(self.kept(&params, &screen).await),
                _ => Err(RpcError::unsupported(&method)),
            }
        })
    }
}

impl Reference {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        Self {
            mutant,
            state: Mutex::default(),
            timed: Timed::default(),
            operations: Operations::default(),
            standing: Standing::default(),
            servers: Servers::default(),
            index: Index::default(),
            client: reqwest::Client::builder().no_proxy().build().unwrap_or_default(),
        }
    }

    fn is(&self, mutant: &str) -> bool {
        self.mutant == Some(mutant) || (self.mutant == Some(LETTER) && OF_THE_LETTER.contains(&mutant))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn configure(&self, params: &Value) -> Result<Value, RpcError> {
        let mut state = self.state();
        let roots = params["roots"].as_array().into_iter().flatten();
        state.roots = roots.map(|root| PathBuf::from(text(root))).collect();
        state.path_breaks = params["pathBreaks"] == true;
        state.state_folder = PathBuf::from(text(&params["stateFolder"]));
        state.secret_file = Path::new(text(&params["secretFolder"])).join("key");
        let ignore = state.roots.first().map(|root| root.join(text(&params["ignoreFile"])));
        let ignore = ignore.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        state.ignored = lists::ignored(&ignore, self.mutant);
        let kept = fs::read_to_string(state.state_folder.join("allowed.json")).ok();
        let kept =
            kept.filter(|_| !self.is("forgets-always")).and_then(|text| serde_json::from_str(&text).ok());
        state.list = AllowList::read(kept.unwrap_or_else(|| params["allow"].clone()));
        if let Some(most) = params["atOnce"].as_u64() {
            self.operations.allow(usize::try_from(most).unwrap_or(1));
        }
        let telemetry = &params["telemetry"];
        let wants_reports = telemetry["enabled"] == true || self.is("reports-unasked");
        state.reports_to = wants_reports.then(|| text(&telemetry["url"]).to_owned());
        drop(state);
        self.recall();
        Ok(json!({}))
    }

    async fn run(&self, line: &str, screen: &Screen) -> Result<Value, RpcError> {
        if self.is("no-list-throws") && self.state().list.told().is_null() {
            return Err(RpcError::failed("Cannot read properties of undefined (reading 'includes')"));
        }
        let allowed = self.state().list.allows(line, self.mutant);
        if !allowed {
            let choice = self.ask(line, screen).await;
            let runs = match choice.as_str() {
                "once" | "always" => true,
                "dismissed" => self.is("dismissed-runs"),
                _ => false,
            };
            if !runs {
                if self.is("remembers-any-answer") {
                    self.state().list.add(line, self.mutant);
                }
                return Ok(json!({"ran": false}));
            }
            if choice == "always" || (choice == "once" && self.is("once-is-always")) {
                let mut state = self.state();
                state.list.add(line, self.mutant);
                let file = state.state_folder.join("allowed.json");
                let kept = state.list.told().to_string();
                fs::write(file, kept).map_err(|error| RpcError::failed(error.to_string()))?;
            }
        }
        let root = self.state().roots.first().cloned().unwrap_or_default();
        let ran = tokio::process::Command::new("/bin/sh").args(["-c", line]).current_dir(root).output().await;
        Ok(json!({"ran": ran.is_ok()}))
    }

    /// Asks the person, and waits for what they say.
    async fn ask(&self, line: &str, screen: &Screen) -> String {
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut state = self.state();
            state.asked += 1;
            let id = state.asked;
            state.questions.insert(id, sender);
            id
        };
        screen.show(json!({"kind": "prompt", "id": id, "line": self.shown(line)}));
        receiver.await.unwrap_or_else(|_| "dismissed".to_owned())
    }

    /// The question that an answer is for.
    fn meant(&self, id: u64) -> u64 {
        let first = self.state().questions.keys().next().copied();
        if self.is("answers-the-first") { first.unwrap_or(id) } else { id }
    }

    /// What the person sees of a line: all of it.
    fn shown(&self, line: &str) -> String {
        match self.mutant {
            Some("cuts-the-question") => line.chars().take(60).collect(),
            Some("cuts-the-long-question") => line.chars().take(1000).collect(),
            Some("asks-about-the-first-line") => line.lines().next().unwrap_or_default().to_owned(),
            _ => line.to_owned(),
        }
    }

    fn policy(&self) -> String {
        let source =
            if self.is("policy-unfilled") { "${webview.cspSource}" } else { "https://*.vscode-cdn.net" };
        let scripts = match self.mutant {
            Some("policy-any-script") => "*".to_owned(),
            Some("policy-inline-script") => format!("{source} 'unsafe-inline'"),
            Some("policy-one-nonce") => format!("{source} 'nonce-b2YgYWxsIHBhZ2Vz'"),
            Some("policy-unsafe-eval") => format!("{source} 'unsafe-eval'"),
            _ => source.to_owned(),
        };
        let styles = if self.is("policy-any-style") { "*" } else { source };
        let fonts = if self.is("policy-any-font") { "https:" } else { source };
        let lists = [
            "default-src 'none'".to_owned(),
            format!("style-src {styles} 'unsafe-inline'"),
            format!("script-src {scripts}"),
            format!("img-src {source} data:"),
            format!("font-src {fonts}"),
            "connect-src https://api.anthropic.com https://api.openai.com".to_owned(),
        ];
        lists.join("; ")
    }
}

/// A text of a JSON value, or nothing.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
