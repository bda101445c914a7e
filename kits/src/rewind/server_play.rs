//! A case of clients that leave the history to a server: the stand-in serves, the user prompts three times and edits one of
//! the prompts.

use super::play::LATE_WORDS;
use super::server_script::{NO_COPY, REFUSAL};
use super::server_window as window;
use crate::scene::{Scene, Troubled, broken, our_fault};
use fixtures::recording::{Line, ModelPurpose};
use harness::clock::within;
use harness::link::Asked;
use mock_server::StandIn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// What the user says.
pub(super) const PROMPTS: [&str; 3] = ["the first", "the second", "the third"];

/// What the user says in place of it; around that there may be more.
pub(super) const NEW_WORDS: &str = "something else";
const SPACED: &str = "\n  something else  \n\n";

/// What the agent of another conversation is told.
pub(super) const ELSEWHERE: &str = "put it elsewhere";

/// So often it is looked for a question; between two times nothing has happened for a moment.
const OFTEN: usize = 40;

/// What is waited for comes soon, or is found missing by the checks.
const SOON: Duration = Duration::from_secs(5);

/// A conversation on a server, and the edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OnServer {
    /// Which prompt is edited, from 1.
    pub(super) ordinal: u32,
    /// Which server.
    #[serde(default)]
    profile: Profile,
    /// How often the user clicks, each time with other words.
    #[serde(default = "once")]
    pub(super) clicks: usize,
    /// The agent is at work in the last turn.
    #[serde(default)]
    pub(super) at_work: bool,
    /// The last turn asks whether it may write a file, and the user says yes when it was taken back.
    #[serde(default)]
    pub(super) late_yes: bool,
    /// It is a helper of the agent who asks, in a session of its own.
    #[serde(default)]
    pub(super) helper: bool,
    /// The edit goes on in a copy.
    #[serde(default)]
    pub(super) copy: bool,
    /// The yes is said in another window of the user, too.
    #[serde(default)]
    elsewhere: bool,
    /// In place of an edit the user goes back, and then says something else.
    #[serde(default)]
    back: bool,
    /// In place of an edit the user goes back, takes that back, and says something else.
    #[serde(default)]
    pub(super) taken_back: bool,
    /// The server refuses the prompt of the edit; then the user says something else.
    #[serde(default)]
    pub(super) refused: bool,
    /// It refuses to make a copy; then the user says something else.
    #[serde(default)]
    pub(super) copy_refused: bool,
    /// Before the edit the user has gone back to before this prompt.
    gone_back: Option<usize>,
    /// There are spaces and empty lines around the new words.
    #[serde(default)]
    spaces: bool,
    /// The server takes the prompt of the edit, and its model does not answer it; then the user says something else.
    #[serde(default)]
    pub(super) model_refuses: bool,
    /// Another conversation of the same server asks whether it may write a file.
    #[serde(default)]
    pub(super) stranger: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Profile {
    #[default]
    Kilo,
    Opencode,
}

fn once() -> usize {
    1
}

impl OnServer {
    pub(super) async fn play(&self, scene: &mut Scene) -> Result<(), Troubled> {
        let server = match self.profile {
            Profile::Kilo => StandIn::kilo(),
            Profile::Opencode => StandIn::opencode(),
        };
        let server = if self.refused { server.faults(REFUSAL) } else { server };
        let server = if self.copy_refused { server.faults(NO_COPY) } else { server };
        let server = server.scenario_text(self.scenario()).lenient().start().await;
        let server = server.map_err(|error| our_fault(format!("failed to start a stand-in: {error}")))?;
        let answers = ["Answer one.", "Answer two.", "Answer three."];
        let entry = |says: &str, text: &str| json!({"says": says, "text": text});
        let seen = self.gone_back.map_or(PROMPTS.len(), |ordinal| ordinal.saturating_sub(1));
        let list: Vec<Value> = PROMPTS
            .iter()
            .zip(answers)
            .take(seen)
            .flat_map(|(prompt, answer)| [entry("prompt", prompt), entry("answer", answer)])
            .collect();
        let before = (self.ordinal.saturating_sub(1)) * 2;
        // There may be no prompt of that number: then nothing may change.
        let is_there = usize::try_from(self.ordinal).is_ok_and(|ordinal| ordinal <= PROMPTS.len());
        let stays = is_there.then(|| json!({"user": before, "model": before}));
        scene.witness(
            "episode",
            &json!({
                "name": "on a server", "stays": stays, "user": list, "model": list,
                "seams": {"promptRefused": self.fails()}, "model_fails": self.model_refuses, "works_for_ms": self.is_at_work().then_some(1),
                "late": LATE_WORDS, "said_behind": self.back.then_some(NEW_WORDS),
            }),
        );
        scene.must("configure", json!({"server": server.url()})).await?;
        let last = self.converse(scene, &server).await?;
        if let Some(ordinal) = self.gone_back {
            scene.person(format!("goes back to before prompt {ordinal}"));
            scene.must("message/back", json!({"ordinal": ordinal})).await?;
        }
        let seen = if self.late_yes { Some(self.question(scene).await?) } else { None };
        let stranger = match self.stranger {
            true => Some(self.another_asks(scene, &server).await?),
            false => None,
        };
        let before = turns(&server.journal().lines()).len();
        if self.taken_back {
            self.back_and_forth(scene).await?;
        } else if self.back {
            self.back_and_on(scene, &server).await?;
        } else {
            self.edit(scene, &server).await?;
        }
        if let Some(id) = seen {
            scene.person("says yes to the question that he has seen before");
            scene.ask("permission/answer", json!({"id": id, "reply": "once"})).await?.map_or_else(drop, drop);
            if self.elsewhere {
                scene.person("says yes to it in another window");
                window::say_yes(&server, id.as_str().unwrap_or_default()).await.map_err(our_fault)?;
            }
        }
        scene.settle().await;
        if let Some(asked) = last {
            scene.answer(asked).await?.map_or_else(drop, drop);
        }
        for messages in turns(&server.journal().lines()).split_off(before) {
            scene.witness("asked", &json!({"messages": messages}));
        }
        let snapshot = scene.must("task/snapshot", json!({})).await?;
        let tree = super::ground::tree(Path::new(server.workspace()));
        let still_asks = match stranger {
            Some(session) => Some(window::asks(&server, &session).await.map_err(our_fault)?),
            None => None,
        };
        scene.witness("after", &json!({"snapshot": snapshot, "tree": tree, "anotherAsks": still_asks}));
        self.left_behind(scene, &server).await
    }

    /// Does the user say one thing more in the end?
    pub(super) fn goes_on(&self) -> bool {
        self.fails() || self.taken_back || self.copy
    }

    /// Can the edit not be done?
    fn fails(&self) -> bool {
        self.refused || self.copy_refused || self.model_refuses
    }

    fn is_at_work(&self) -> bool {
        self.at_work || self.late_yes
    }

    /// The user prompts three times. Gives what is still under way.
    async fn converse(&self, scene: &mut Scene, server: &StandIn) -> Result<Option<Asked>, Troubled> {
        for (index, prompt) in PROMPTS.iter().enumerate() {
            scene.person(format!("prompts: {prompt}"));
            let asked = scene.begin("task/send", json!({"text": prompt})).await?;
            if index + 1 == PROMPTS.len() && self.is_at_work() {
                let came = server.journal().wait_until(|lines| turns(lines).len() > index);
                let _came = within(SOON, came).await;
                return Ok(Some(asked));
            }
            scene.answer(asked).await?.map_or_else(drop, drop);
        }
        Ok(None)
    }

    /// The user goes back and looks, and takes that back.
    async fn back_and_forth(&self, scene: &mut Scene) -> Result<(), Troubled> {
        scene.person(format!("goes back to before prompt {}", self.ordinal));
        scene.must("message/back", json!({"ordinal": self.ordinal})).await?;
        let snapshot = scene.must("task/snapshot", json!({})).await?;
        scene.witness("gone", &snapshot);
        scene.person("takes that back");
        scene.must("message/forth", json!({})).await.map(drop)
    }

    /// The user goes back, which stops the agent, and then says something else.
    async fn back_and_on(&self, scene: &mut Scene, server: &StandIn) -> Result<(), Troubled> {
        scene.person(format!("goes back to before prompt {}", self.ordinal));
        let back = scene.begin("message/back", json!({"ordinal": self.ordinal})).await?;
        self.let_the_agent_go_on(server).await;
        scene.answer(back).await?.map_or_else(drop, drop);
        let snapshot = scene.must("task/snapshot", json!({})).await?;
        scene.witness("gone", &snapshot);
        scene.person(format!("prompts: {NEW_WORDS}"));
        // That it refuses is an answer: what came of it is seen.
        scene.ask("task/send", json!({"text": NEW_WORDS})).await?.map_or_else(drop, drop);
        Ok(())
    }

    /// By then the agent was stopped, or it goes on beside what the user does.
    async fn let_the_agent_go_on(&self, server: &StandIn) {
        if self.is_at_work() {
            let came = server.journal().wait_until(has_answered_a_revert);
            let _came = within(SOON, came).await;
            server.open_all_gates();
        }
    }

    /// The user edits, as often as he clicks.
    async fn edit(&self, scene: &mut Scene, server: &StandIn) -> Result<(), Troubled> {
        let mut edits = Vec::new();
        for click in 0..self.clicks {
            let text = match click {
                0 if self.spaces => SPACED.to_owned(),
                0 => NEW_WORDS.to_owned(),
                more => format!("{NEW_WORDS}, click {}", more + 1),
            };
            scene.person(format!("edits prompt {}: {text}", self.ordinal));
            let mut edit = json!({"ordinal": self.ordinal, "text": text});
            if self.copy {
                edit["by"] = json!("copy");
            }
            edits.push(scene.begin("message/edit", edit).await?);
        }
        self.let_the_agent_go_on(server).await;
        for edit in edits {
            scene.answer(edit).await?.map_or_else(drop, drop);
        }
        Ok(())
    }

    /// The conversation that was copied, as the server has it; or what the model is told next after an edit that failed.
    async fn left_behind(&self, scene: &mut Scene, server: &StandIn) -> Result<(), Troubled> {
        let (name, list) = if self.copy && !self.fails() {
            scene.person("prompts: and on");
            scene.ask("task/send", json!({"text": "and on"})).await?.map_or_else(drop, drop);
            ("the conversation that was copied", window::first_session(server).await.map_err(our_fault)?)
        } else if self.goes_on() {
            scene.person("prompts: and on");
            scene.ask("task/send", json!({"text": "and on"})).await?.map_or_else(drop, drop);
            let mut told = turns(&server.journal().lines()).pop().unwrap_or_default();
            told.pop();
            told.retain(|message| message["role"] != "system");
            let told = told.iter().map(|message| json!({"text": super::checks::text_of(message)}));
            ("what the model is told before the next prompt", told.collect())
        } else {
            return Ok(());
        };
        scene.witness("intact", &json!({"name": name, "list": list}));
        Ok(())
    }

    /// Another conversation of the server, in another window, asks for leave. Gives its session.
    async fn another_asks(&self, scene: &mut Scene, server: &StandIn) -> Result<String, Troubled> {
        scene.person("has another conversation in another window, whose agent asks for leave");
        let session = window::begin_another(server, ELSEWHERE).await.map_err(our_fault)?;
        for _ in 0..OFTEN {
            if window::asks(server, &session).await.map_err(our_fault)? {
                return Ok(session);
            }
            scene.settle().await;
        }
        Err(our_fault("another conversation never asks for leave"))
    }

    /// The question that the user sees.
    async fn question(&self, scene: &mut Scene) -> Result<Value, Troubled> {
        for _ in 0..OFTEN {
            let open = scene.must("task/permissions", json!({})).await?;
            if let Some(id) = open["permissions"].get(0) {
                return Ok(id.clone());
            }
            scene.settle().await;
        }
        // Who never sees it can't say yes to it, and what that would do is not known.
        Err(broken("the agent asks for leave, and task/permissions never tells of it"))
    }
}

/// What the model was told for its own work, call by call.
fn turns(lines: &[Line]) -> Vec<Vec<Value>> {
    let of = |line: &Line| match line {
        Line::Model(call) if call.purpose == ModelPurpose::Turn => Some(call.messages.clone()),
        _ => None,
    };
    lines.iter().filter_map(of).collect()
}

/// Whatever it has answered.
fn has_answered_a_revert(lines: &[Line]) -> bool {
    let mut reverts = lines.iter().filter_map(|line| match line {
        Line::Request(asked) if asked.path.ends_with("/revert") => Some(asked.exchange),
        _ => None,
    });
    let answers =
        |exchange| lines.iter().any(|line| matches!(line, Line::Response(said) if said.exchange == exchange));
    reverts.any(answers)
}
