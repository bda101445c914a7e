//! `board_post`: an agent leaves a note.

use super::{Note, called};
use crate::world::World;
use crate::world::permission::Wish;
use crate::world::tools::{Completed, Plan};
use serde_json::{Value, json};

/// The tool.
pub(in crate::world) const POST: &str = "board_post";
const RECEIPT: &str =
    "Stored only. This does not confirm delivery, reading, or action, and does not wake recipients.";
const STORED: &str = "This post is stored only and does not wake or resume the recipient. Do not resume it just to deliver this \
                      note.";

/// A note that may be written.
#[derive(Debug, Clone)]
pub(crate) struct PostPlan {
    to: String,
    kind: String,
    body: String,
    reply_to: Option<String>,
}

impl World {
    pub(in crate::world) fn start_post(&mut self, session: &str, call: usize) {
        let text = |name| self.text_argument(session, call, name).unwrap_or_default();
        let reply_to = text("reply_to").trim().to_owned();
        let plan = PostPlan {
            to: text("to"),
            kind: text("type"),
            body: text("body").trim().to_owned(),
            reply_to: Some(reply_to).filter(|id| !id.is_empty()),
        };
        let metadata = json!({"to": plan.to, "type": plan.kind});
        self.set_plan(session, call, Plan::Post(Box::new(plan)));
        let all = vec!["*".to_owned()];
        let wish = Wish { permission: POST, patterns: all.clone(), metadata, always: all };
        self.ask_or_allow(session, call, &wish);
    }

    pub(in crate::world) fn post(&mut self, session: &str, call: usize, plan: &PostPlan) {
        match self.posted(session, plan) {
            Ok(result) => self.complete_told_call(session, call, result),
            Err(why) => self.fail_call(session, call, &why),
        }
    }

    fn posted(&mut self, session: &str, plan: &PostPlan) -> Result<Completed, String> {
        if plan.to.is_empty() {
            return Err("Board recipient is required".to_owned());
        }
        let root = self.board_root(session)?;
        let to = self.recipient(&plan.to, &root)?;
        if to == session {
            return Err("Board messages cannot be sent to yourself".to_owned());
        }
        let (id, time_ms) = (format!("board_{}", self.ids.ticket()), self.now_ms);
        let board = self.sessions.get_mut(&root).map(|owner| &mut owner.board);
        let board = board.ok_or("Board was not initialized")?;
        if plan.reply_to.as_ref().is_some_and(|id| board.number_of(id).is_none()) {
            return Err("Reply message is not on this board".to_owned());
        }
        let note = Note {
            id,
            time_ms,
            from: session.to_owned(),
            to,
            kind: plan.kind.clone(),
            body: plan.body.clone(),
            reply_to: plan.reply_to.clone(),
        };
        board.write(note.clone(), &root)?;
        self.touch_kept(&root);
        let mut told = self.labelled(&note, &root, &[session, &note.to]);
        let availability = self.availability(&note, &root);
        let mut metadata = json!({"id": note.id, "from": told["from"], "to": told["to"]});
        for label in ["fromLabel", "toLabel"] {
            if let Some(text) = told.get(label) {
                metadata[label] = text.clone();
            }
        }
        metadata["type"] = json!(note.kind);
        metadata["availability"] = availability.clone();
        metadata["truncated"] = json!(false);
        told["availability"] = availability.clone();
        told["receipt"] = json!(RECEIPT);
        let warning = warning(&availability);
        if !warning.is_empty() {
            told["warning"] = json!(warning);
        }
        let title = format!("{} to {}", note.kind, called(&note.to, &root));
        Ok(Completed { output: told.to_string(), title, metadata, ..Completed::default() })
    }
}

/// That a note may be read by nobody.
fn warning(availability: &Value) -> String {
    let state = availability["recipientState"].as_str();
    match state {
        Some("unknown") => {
            return format!(
                "The direct recipient's execution state was unknown at this post attempt. Do not assume it is running or \
                 will read this message. {STORED}"
            );
        }
        Some(ended @ ("completed" | "error" | "cancelled")) => {
            return format!(
                "The direct recipient's state was {ended} at this post attempt. Its invocation has ended; do not expect a \
                 reply to this message. {STORED}"
            );
        }
        _ => {}
    }
    let count = |name: &str| availability[name].as_u64().unwrap_or_default();
    let (inactive, unknown) = (count("inactive"), count("unknown"));
    let mut said = Vec::new();
    if count("total") > 0 && count("active") == 0 && unknown == 0 {
        said.push("No other recipients were active at this post attempt.".to_owned());
    }
    if inactive > 0 {
        said.push(format!("{inactive} recipient(s) had finished invocations at this post attempt."));
    }
    if unknown > 0 {
        said.push(format!("Availability was unknown for {unknown} recipient(s) at this post attempt."));
    }
    said.join(" ")
}
