//! `board_read`: an agent reads what stands on its board. What it gets has its bounds, so it may have to go on from a cursor.

use super::family::TOLD_MAX;
use super::{NOTE_MAX, Note};
use crate::world::World;
use crate::world::permission::Wish;
use crate::world::tools::{Completed, Plan};
use serde_json::{Value, json};

/// The tool.
pub(in crate::world) const READ: &str = "board_read";
/// So many notes are read at once, unless more or fewer are wanted.
pub(super) const USUAL: usize = 20;
pub(super) const MOST: usize = 50;
/// So many bytes are read at once, and so many of them are left to the notes.
const BYTES_MAX: usize = 32 * 1024;
const FOR_NOTES: usize = NOTE_MAX + 2048;
const TOO_LONG: &str = "Board read result exceeds 32 KiB";

/// What may be read.
#[derive(Debug, Clone)]
pub(crate) struct ReadPlan {
    since: Option<String>,
    limit: usize,
}

/// What is found, before it has its bounds.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) observed_ms: u64,
    /// As whom it is read.
    pub(super) agent: String,
    pub(super) participants: Vec<Value>,
    pub(super) notes: Vec<Value>,
    pub(super) limit: usize,
    pub(super) since: Option<String>,
    /// The cursor was none, so all is read.
    pub(super) recovered: bool,
}

impl World {
    pub(in crate::world) fn start_board_read(&mut self, session: &str, call: usize) {
        let since = self.text_argument(session, call, "since").unwrap_or_default().trim().to_owned();
        let limit = self.run_mut(session).and_then(|run| run.calls.get(call)?.input.get("limit")?.as_u64());
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL);
        let plan = ReadPlan { since: Some(since).filter(|id| !id.is_empty()), limit };
        self.set_plan(session, call, Plan::BoardRead(plan));
        let all = vec!["*".to_owned()];
        let wish = Wish { permission: READ, patterns: all.clone(), metadata: json!({}), always: all };
        self.ask_or_allow(session, call, &wish);
    }

    pub(in crate::world) fn read_board(&mut self, session: &str, call: usize, plan: &ReadPlan) {
        let result = self.board_root(session).and_then(|root| self.board_reading(session, &root, plan));
        match result {
            Ok(result) => self.complete_told_call(session, call, result),
            Err(why) => self.fail_call(session, call, &why),
        }
    }

    fn board_reading(&self, session: &str, root: &str, plan: &ReadPlan) -> Result<Completed, String> {
        let board = self.sessions.get(root).map(|owner| &owner.board).ok_or("Board was not initialized")?;
        let number = plan.since.as_ref().and_then(|since| board.number_of(since));
        let recovered = plan.since.is_some() && number.is_none();
        let family: Vec<&str> = self.board_family(root).iter().map(|session| session.id.as_str()).collect();
        let label = |note: &Note| self.labelled(note, root, &family);
        let notes = board.after(number.unwrap_or_default()).iter().take(plan.limit + 1).map(label).collect();
        let reading = Reading {
            observed_ms: self.now_ms,
            agent: super::called(session, root).to_owned(),
            participants: self.participants(root, session, &self.doings()),
            notes,
            limit: plan.limit,
            since: plan.since.clone().filter(|_| !recovered),
            recovered,
        };
        let told = reading.bounded()?;
        let mut metadata = json!({});
        if let Some(cursor) = told.get("cursor") {
            metadata["cursor"] = cursor.clone();
        }
        metadata["hasMore"] = told["hasMore"].clone();
        metadata["truncated"] = json!(false);
        metadata["participants"] = told["participants"].clone();
        metadata["participantsTruncated"] = json!(told.get("participantsTruncated").is_some());
        metadata["observedAt"] = told["observedAt"].clone();
        if recovered {
            metadata["recovered"] = json!(true);
        }
        let title = "Shared agent board".to_owned();
        Ok(Completed { output: told.to_string(), title, metadata, ..Completed::default() })
    }
}

impl Reading {
    /// As much of it as fits: who takes part goes first, but leaves room for a note.
    pub(super) fn bounded(mut self) -> Result<Value, String> {
        let all = std::mem::take(&mut self.participants);
        let first = self.notes.first().map_or(2, |note| note.to_string().len());
        let room = BYTES_MAX.saturating_sub(FOR_NOTES.max(first + 2048));
        let is_any = !self.notes.is_empty();
        let told = all.len().min(TOLD_MAX);
        for participant in all.iter().take(told) {
            self.participants.push(participant.clone());
            if self.told(&[], is_any, true).to_string().len() > room {
                self.participants.pop();
                break;
            }
        }
        let cut = self.participants.len() < all.len();
        let mut fits = 0;
        while fits < self.notes.len().min(self.limit) {
            let more = self.notes.len() > fits + 1;
            if self.told(&self.notes[..=fits], more, cut).to_string().len() > BYTES_MAX {
                break;
            }
            fits += 1;
        }
        let told = self.told(&self.notes[..fits], self.notes.len() > fits, cut);
        if (fits == 0 && is_any) || told.to_string().len() > BYTES_MAX {
            return Err(TOO_LONG.to_owned());
        }
        Ok(told)
    }

    fn told(&self, notes: &[Value], has_more: bool, cut: bool) -> Value {
        let mut told = json!({
            "observedAt": self.observed_ms, "agent": self.agent, "participants": self.participants, "messages": notes,
            "hasMore": has_more,
        });
        if let Some(cursor) = notes.last().and_then(|note| note["id"].as_str()).or(self.since.as_deref()) {
            told["cursor"] = json!(cursor);
        }
        if cut {
            told["participantsTruncated"] = json!(true);
        }
        if self.recovered {
            told["recovered"] = json!(true);
        }
        told
    }
}
