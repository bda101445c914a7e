//! A case of clients that leave the history to a server: the stand-in serves, the user prompts three times and edits one of
//! the prompts.

use super::play::LATE_WORDS;
use crate::scene::{Scene, Troubled, our_fault};
use fixtures::recording::{Line, ModelPurpose};
use harness::clock::within;
use mock_server::StandIn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

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
    fn scenario(&self) -> String {
        let third = match (self.at_work, self.late_yes) {
            (_, true) => {
                r#"{ tool = "write", input = { filePath = "${workspace}/late.txt", content = "late\n" } }, { say = "Written." }"#.to_owned()
            }
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
            format!(
                "[user]\nsteps = [{{ prompt = \"the first\" }}, {{ prompt = \"the second\" }}, {{ prompt = \"the third\" }}{}, {{ prompt = \"something else\" }}]\n",
                if self.at_work { ", { open_gate = \"mid\" }" } else { "" }
            ),
        ]
        .concat()
    }

    pub(super) async fn play(&self, scene: &mut Scene) -> Result<(), Troubled> {
        let server = match self.profile {
            Profile::Kilo => StandIn::kilo(),
            Profile::Opencode => StandIn::opencode(),
        };
        let server = server.scenario_text(self.scenario()).lenient().start().await;
        let server = server.map_err(|error| our_fault(format!("failed to start a stand-in: {error}")))?;
        let prompts = ["the first", "the second", "the third"];
        let answers = ["Answer one.", "Answer two.", "Answer three."];
        let entry = |says: &str, text: &str| json!({"says": says, "text": text});
        let list: Vec<Value> = prompts
            .iter()
            .zip(answers)
            .flat_map(|(prompt, answer)| [entry("prompt", prompt), entry("answer", answer)])
            .collect();
        let stays = (self.ordinal.saturating_sub(1)) * 2;
        let is_at_work = self.at_work || self.late_yes;
        scene.witness(
            "episode",
            &json!({
                "name": "on a server", "stays": {"user": stays, "model": stays}, "user": list, "model": list,
                "seams": {}, "works_for_ms": is_at_work.then_some(1), "late": LATE_WORDS,
            }),
        );
        scene.must("configure", json!({"server": server.url()})).await?;
        let mut last = None;
        for (index, prompt) in prompts.iter().enumerate() {
            scene.person(format!("prompts: {prompt}"));
            let asked = scene.begin("task/send", json!({"text": prompt})).await?;
            if index + 1 == prompts.len() && is_at_work {
                let came = server.journal().wait_until(|lines| turns(lines).len() > index);
                let _came = within(SOON, came).await;
                last = Some(asked);
            } else {
                scene.answer(asked).await?.map_or_else(drop, drop);
            }
        }
        let seen = if self.late_yes { self.question(scene).await? } else { None };
        let before = turns(&server.journal().lines()).len();
        let mut edits = Vec::new();
        for click in 0..self.clicks {
            let text = if click == 0 {
                "something else".to_owned()
            } else {
                format!("something else, click {}", click + 1)
            };
            scene.person(format!("edits prompt {}: {text}", self.ordinal));
            edits.push(scene.begin("message/edit", json!({"ordinal": self.ordinal, "text": text})).await?);
        }
        if is_at_work {
            // By then the agent was stopped, or it goes on beside the edit.
            let came = server.journal().wait_until(has_answered_a_revert);
            let _came = within(SOON, came).await;
            server.open_all_gates();
        }
        for edit in edits {
            scene.answer(edit).await?.map_or_else(drop, drop);
        }
        if let Some(id) = seen {
            scene.person("says yes to the question that he has seen before");
            scene.ask("permission/answer", json!({"id": id, "reply": "once"})).await?.map_or_else(drop, drop);
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
        Ok(())
    }

    /// The question that the user sees.
    async fn question(&self, scene: &mut Scene) -> Result<Option<Value>, Troubled> {
        /// So often the client is asked; between two times nothing has happened for a moment.
        const OFTEN: usize = 40;
        for _ in 0..OFTEN {
            let open = scene.must("task/permissions", json!({})).await?;
            if let Some(id) = open["permissions"].get(0) {
                return Ok(Some(id.clone()));
            }
            scene.settle().await;
        }
        Ok(None)
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
