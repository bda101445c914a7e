//! A case: an agent that is as the case wants it, and a person who uses the client in front of it.

use super::desk::Desk;
use super::steps::{self, Answers, Step};
use crate::kit::Play;
use crate::scene::{Scene, Troubled, our_fault};
use crate::story::Story;
use fixtures::error::io_words;
use futures_util::future::BoxFuture;
use harness::clock::within;
use harness::spawned::standin;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A dot in PNG; whatever stands behind its end is no part of it.
const DOT: &[u8] =
    b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\
    \x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x0d\x49\x44\x41\x54\x78\xda\x63\x64\xf8\xcf\x50\
    \x0f\x00\x03\x86\x01\x80\x5a\x34\x7d\x6b\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";

/// What the agent does when a case has no scenario of its own.
const SCENARIO: &str = include_str!("scenario.toml");
/// A client that does nothing for so long is not waited for any more: twice what a careful one waits.
const LIMIT: Duration = Duration::from_secs(12);

/// The kit's own part of a case.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// The agent that the client finds.
    #[serde(default)]
    agent: Agent,
    /// What the person does, one after the other.
    steps: Vec<Step>,
}

/// An agent, as the stand-in plays it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Agent {
    /// The command: kiro-cli when absent; `none` is one that there is not.
    command: Option<String>,
    /// `standin acp --dialect`; acp-v1 when absent.
    dialect: Option<String>,
    /// `standin acp --turn-end`.
    turn_end: Option<String>,
    /// `standin acp --ids`.
    ids: Option<String>,
    /// A plan of faults.
    faults: Option<String>,
    /// A scenario in place of the kit's own.
    scenario: Option<String>,
    /// More of its environment.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// How the client is to look for it: acp when absent.
    mode: Option<String>,
    /// What the person says when the agent asks for permission: allow when absent, refuse, or wait.
    leave: Option<String>,
}

impl Play for Part {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            let desk = Desk::open(scene.journal().clone()).await;
            let mut desk = desk.map_err(|error| our_fault(format!("the desk: {}", io_words(&error))))?;
            let place = Place::make(self, scene.folder(), &desk).map_err(our_fault)?;
            // Words that the standard has not: a client that knows it alone can't follow.
            let agent = &self.agent;
            let is_in_other_words = agent.dialect.as_deref() == Some("kiro-seed")
                || agent.turn_end.as_deref() == Some("update-only");
            let mut person =
                Person { scene, place, sends: BTreeMap::new(), is_lost: false, is_in_other_words };
            let is_late = person.scene.declares("agent") == Some("late");
            let is_refused = self.agent.leave.as_deref() == Some("refuse");
            let steps = if is_late { steps::late(&self.steps, is_refused) } else { self.steps.clone() };
            for step in &steps {
                person.does(step).await?;
                if person.is_lost {
                    break;
                }
            }
            person.scene.settle().await;
            person.ask("client/stop", json!({}), Answers::Ok).await?;
            desk.see_who_is_left(LIMIT).await;
            Ok(())
        })
    }
}

/// Where the client finds its agent.
struct Place {
    folder: PathBuf,
    start: Value,
}

impl Place {
    fn make(part: &Part, folder: &Path, desk: &Desk) -> Result<Self, String> {
        let agent = &part.agent;
        let failed = |error: std::io::Error| format!("the case's folder: {}", io_words(&error));
        let folder = folder.canonicalize().map_err(failed)?;
        let (bin, work) = (folder.join("bin"), folder.join("work"));
        let name = agent.command.as_deref().unwrap_or("kiro-cli");
        fs::create_dir_all(&bin).and_then(|()| fs::create_dir_all(&work)).map_err(failed)?;
        if name != "none" {
            std::os::unix::fs::symlink(standin()?, bin.join(name)).map_err(failed)?;
        }
        let scenario = agent.scenario.as_deref().unwrap_or(SCENARIO);
        fs::write(folder.join("scenario.toml"), scenario).map_err(failed)?;
        let dialect = agent.dialect.as_deref().unwrap_or("acp-v1");
        let mut env = agent.env.clone();
        let mut set = |name: &str, value: &str| env.insert(format!("STANDIN_{name}"), value.to_owned());
        set("REPORT", &desk.address.to_string());
        set("SCENARIO", &folder.join("scenario.toml").display().to_string());
        set("DIALECT", dialect);
        set("MODEL_PAUSE_MS", "0");
        set("HOME", &folder.display().to_string());
        for (name, value) in [("TURN_END", &agent.turn_end), ("IDS", &agent.ids)] {
            if let Some(value) = value {
                set(name, value);
            }
        }
        if let Some(faults) = &agent.faults {
            fs::write(folder.join("faults.toml"), faults).map_err(failed)?;
            set("FAULTS", &folder.join("faults.toml").display().to_string());
        }
        let start = json!({
            "command": bin.join(name), "args": ["acp"], "textArgs": ["chat"], "env": env, "cwd": work,
            "mode": agent.mode.as_deref().unwrap_or("acp"), "leave": agent.leave.as_deref().unwrap_or("allow"),
        });
        Ok(Self { folder, start })
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

/// The person, and what they have said in which chat.
struct Person<'a> {
    scene: &'a mut Scene,
    place: Place,
    sends: BTreeMap<String, usize>,
    /// Something that had to be done was not; what comes behind it would show nothing more.
    is_lost: bool,
    is_in_other_words: bool,
}

impl Person<'_> {
    async fn does(&mut self, step: &Step) -> Result<(), Troubled> {
        self.scene.person(step.to_string());
        match step {
            Step::Start(start) => {
                let mut asked = self.place.start.clone();
                if let Some(mode) = &start.finds {
                    self.scene.witness("expected", &json!({"finds": mode}));
                }
                self.scene.witness("leave", &asked["leave"]);
                self.scene.witness("environment", &asked["env"].take());
                asked["env"] = self.place.start["env"].clone();
                self.ask("client/start", asked, start.answers).await
            }
            Step::Open(open) => {
                let mut asked = json!({"chatId": open.chat, "cwd": self.place.work()});
                if let Some(servers) = &open.servers {
                    asked["mcpServers"] = json!(servers);
                }
                self.ask("chat/open", asked, open.answers).await
            }
            Step::Send(send) => {
                let asked = json!({"chatId": send.chat, "text": send.text});
                self.prompt("chat/send", asked, step).await
            }
            Step::Image(image) => {
                let path = self.place.folder.join(&image.file);
                if let Some(bytes) = image.bytes {
                    let mut picture = DOT.to_vec();
                    picture.resize(bytes.max(DOT.len()), 0);
                    let written = fs::write(&path, picture);
                    written.map_err(|error| our_fault(format!("a picture: {}", io_words(&error))))?;
                }
                let asked = json!({"chatId": image.chat, "path": path, "caption": "see"});
                self.prompt("chat/sendImage", asked, step).await
            }
            Step::Done(chat) => {
                self.wait_for_end(chat).await;
                Ok(())
            }
            Step::Cancel(chat) => self.ask("chat/cancel", json!({"chatId": chat}), Answers::Ok).await,
            Step::Mode(choice) => self.choose("chat/setMode", "mode", choice).await,
            Step::Model(choice) => self.choose("chat/setModel", "model", choice).await,
            Step::Command(choice) => self.choose("chat/command", "command", choice).await,
            Step::Save(chat) => {
                let file = self.place.folder.join("kept.json");
                self.ask("chat/save", json!({"chatId": chat, "file": file}), Answers::Ok).await
            }
            Step::Restore(restore) => {
                let file = self.place.folder.join("kept.json");
                if let Some(text) = &restore.text {
                    let text = text.replace("${work}", &self.place.work().display().to_string());
                    let written = fs::write(&file, text);
                    written.map_err(|error| our_fault(format!("a file: {}", io_words(&error))))?;
                }
                if let Some(is_restored) = restore.restored {
                    self.scene.witness("expected", &json!({"restored": is_restored, "chat": restore.chat}));
                }
                let asked = json!({"chatId": restore.chat, "file": file, "cwd": self.place.work()});
                self.ask("chat/restore", asked, restore.answers).await
            }
            Step::Sees(sees) => {
                let is_there = self
                    .scene
                    .journal()
                    .wait_until(|lines| Story::of(lines).updates_of(&sees.kind).count() >= sees.times);
                // What does not come is judged as it is.
                let _came = within(LIMIT, is_there).await;
                Ok(())
            }
            Step::Stop(_) => self.ask("client/stop", json!({}), Answers::Ok).await,
        }
    }

    async fn choose(
        &mut self,
        method: &str,
        name: &str,
        choice: &super::steps::Choice,
    ) -> Result<(), Troubled> {
        if let Some(says) = &choice.says {
            self.scene.witness("expected", &json!({"says": says, "of": method}));
        }
        self.ask(method, json!({"chatId": choice.chat, name: choice.value}), choice.answers).await
    }

    /// A prompt; unless the case says otherwise its end is waited for.
    async fn prompt(&mut self, method: &str, asked: Value, step: &Step) -> Result<(), Troubled> {
        let Some(turn) = step.turn() else { return Ok(()) };
        if turn.answers == Answers::Ok {
            *self.sends.entry(turn.chat.to_owned()).or_default() += 1;
            let expected = json!({
                "chat": turn.chat, "text": turn.says, "ends": turn.ends.split('|').collect::<Vec<_>>(),
                "withinMs": turn.within_s * 1000.0, "inOtherWords": self.is_in_other_words,
            });
            self.scene.witness("turn", &expected);
        }
        self.ask(method, asked, turn.answers).await?;
        if turn.waits && turn.answers == Answers::Ok {
            self.wait_for_end(turn.chat).await;
        }
        Ok(())
    }

    async fn wait_for_end(&mut self, chat: &str) {
        let count = self.sends.get(chat).copied().unwrap_or_default();
        let is_over = self.scene.journal().wait_until(|lines| {
            let story = Story::of(lines);
            story.updates_of("chatDone").filter(|told| told.update["chatId"] == chat).count() >= count
        });
        // An end that does not come is judged as it is.
        let _came = within(LIMIT, is_over).await;
        // What the agent says behind the end belongs to this turn, too: a second end must not count for the next one.
        self.scene.settle().await;
    }

    /// Asks; what does not answer is judged as it is.
    async fn ask(&mut self, method: &str, params: Value, answers: Answers) -> Result<(), Troubled> {
        self.scene.witness("expected", &json!({"answers": answers.word()}));
        let mut asked = self.scene.begin(method, params).await?;
        let answer = asked.answered_within(LIMIT).await;
        self.is_lost |= answers == Answers::Ok && !matches!(answer, Some(Ok(_)));
        Ok(())
    }
}
