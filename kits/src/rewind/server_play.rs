//! A case of clients that leave the history to a server: the stand-in serves, the user prompts three times and edits one of
//! the prompts.

use super::play::LATE_WORDS;
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
const PROMPTS: [&str; 3] = ["the first", "the second", "the third"];

/// What the user says in place of it.
const NEW_WORDS: &str = "something else";

/// What is waited for comes soon, or is found missing by the checks.
const SOON: Duration = Duration::from_secs(5);

/// A conversation on a server, and the edit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OnServer {
    /// Which prompt is edited, from 1.
    ordinal: u32,
    /// Which server.
    #[serde(default)]
    profile: Profile,
    /// How often the user clicks, each time with other words.
    #[serde(default = "once")]
    clicks: usize,
    /// The agent is at work in the last turn.
    #[serde(default)]
    at_work: bool,
    /// The last turn asks whether it may write a file, and the user says yes when it was taken back.
    #[serde(default)]
    late_yes: bool,
    /// It is a helper of the agent who asks, in a session of its own.
    #[serde(default)]
    helper: bool,
    /// The edit goes on in a copy.
    #[serde(default)]
    copy: bool,
    /// The yes is said in another window of the user, too.
    #[serde(default)]
    elsewhere: bool,
    /// In place of an edit the user goes back, and then says something else.
    #[serde(default)]
    back: bool,
    /// In place of an edit the user goes back, takes that back, and says something else.
    #[serde(default)]
    taken_back: bool,
    /// The server refuses the prompt of the edit; then the user says something else.
    #[serde(default)]
    refused: bool,
    /// It refuses to make a copy; then the user says something else.
    #[serde(default)]
    copy_refused: bool,
    /// Before the edit the user has gone back to before this prompt.
    gone_back: Option<usize>,
}

/// What the server does with the fourth prompt where it refuses the edit.
const REFUSAL: &str =
    "[[fault]]\nwhen = { request = \"POST /session/{sessionID}/message\", nth = 4 }\ndo = { status = 400 }\n";

/// What it does with a copy where it refuses one.
const NO_COPY: &str =
    "[[fault]]\nwhen = { request = \"POST /session/{sessionID}/fork\", nth = 1 }\ndo = { status = 400 }\n";

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
    fn scenario(&self) -> String {
        let write = r#"{ tool = "write", input = { filePath = "${workspace}/late.txt", content = "late\n" } }, { say = "Written." }"#;
        let third = match (self.at_work, self.late_yes) {
            (_, true) if self.helper => {
                r#"{ tool = "task", input = { description = "Write it", prompt = "put it down", subagent_type = "general" } }, { say = "Done." }"#.to_owned()
            }
            (_, true) => write.to_owned(),
            (true, _) => format!(r#"{{ say = "Working." }}, {{ gate = "mid" }}, {{ say = "{LATE_WORDS}" }}"#),
            _ => r#"{ say = "Answer three." }"#.to_owned(),
        };
        let agent = |on: &str, steps: &str| {
            format!("[[agent]]\non = {{ prompt_contains = \"{on}\" }}\nsteps = [{steps}]\n")
        };
        [
            "about = \"A conversation that is edited.\"\n[workspace]\nfiles = { \"README.md\" = \"hello\\n\" }\n\
             config = { permission = { edit = \"ask\" } }\n"
                .to_owned(),
            agent("the first", r#"{ say = "Answer one." }"#),
            agent("the second", r#"{ say = "Answer two." }"#),
            agent("the third", &third),
            agent("something else", r#"{ say = "A new answer." }"#),
            if self.helper { agent("put it down", write) } else { String::new() },
            if self.goes_on() { agent("and on", r#"{ say = "On." }"#) } else { String::new() },
            format!(
                "[user]\nsteps = [{{ prompt = \"the first\" }}, {{ prompt = \"the second\" }}, {{ prompt = \"the third\" }}{}, {{ prompt = \"something else\" }}{}]\n",
                if self.at_work { ", { open_gate = \"mid\" }" } else { "" },
                if self.goes_on() { ", { prompt = \"and on\" }" } else { "" }
            ),
        ]
        .concat()
    }

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
        let stays = (self.ordinal.saturating_sub(1)) * 2;
        scene.witness(
            "episode",
            &json!({
                "name": "on a server", "stays": {"user": stays, "model": stays}, "user": list, "model": list,
                "seams": {"promptRefused": self.fails()}, "works_for_ms": self.is_at_work().then_some(1),
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
                say_yes(&server, id.as_str().unwrap_or_default()).await.map_err(our_fault)?;
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
        scene.witness("after", &json!({"snapshot": snapshot, "tree": tree}));
        self.left_behind(scene, &server).await
    }

    /// Does the user say one thing more in the end?
    fn goes_on(&self) -> bool {
        self.fails() || self.taken_back
    }

    /// Can the edit not be done?
    fn fails(&self) -> bool {
        self.refused || self.copy_refused
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
            let text = if click == 0 {
                NEW_WORDS.to_owned()
            } else {
                format!("something else, click {}", click + 1)
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
            ("the conversation that was copied", first_session(server).await.map_err(our_fault)?)
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

    /// The question that the user sees.
    async fn question(&self, scene: &mut Scene) -> Result<Value, Troubled> {
        /// So often the client is asked; between two times nothing has happened for a moment.
        const OFTEN: usize = 40;
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

/// Another window of the user says yes; that the server knows of no such question any more is right.
async fn say_yes(server: &StandIn, id: &str) -> Result<(), String> {
    let client = reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
    let asked = client.post(format!("{}/permission/{id}/reply", server.url()));
    asked.json(&json!({"reply": "once"})).send().await.map(drop).map_err(|error| error.to_string())
}

/// What stands in the session that was made first, up to where it has gone back to.
async fn first_session(server: &StandIn) -> Result<Vec<Value>, String> {
    let read = async |path: &str| {
        let client = reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
        let answer = client.get(format!("{}{path}", server.url())).send().await;
        let bytes = answer.map_err(|error| error.to_string())?.bytes().await;
        let bytes = bytes.map_err(|error| error.to_string())?;
        serde_json::from_slice::<Value>(&bytes).map_err(|error| format!("{path} can't be read: {error}"))
    };
    let sessions = read("/session").await?;
    let first = sessions.as_array().into_iter().flatten().min_by_key(|one| one["time"]["created"].as_u64());
    let id = first.and_then(|one| one["id"].as_str()).ok_or("the server has no session")?;
    let gone = first.and_then(|one| one["revert"]["messageID"].as_str());
    let messages = read(&format!("/session/{id}/message")).await?;
    let shown =
        messages.as_array().into_iter().flatten().take_while(|one| one["info"]["id"].as_str() != gone);
    let entry = |one: &Value| {
        let texts = one["parts"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        json!({"text": texts.collect::<Vec<_>>().join("\n")})
    };
    Ok(shown.map(entry).collect())
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
