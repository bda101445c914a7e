//! What is known of a task's messages, and which update each piece of news makes.
//!
//! News may come twice or late (a buffered event is older than what REST told meanwhile), so every change is an
//! upsert that never goes back: finished text stays finished, a tool call only moves on. A delta counts only where
//! the text before it is known to be whole; the next full text heals the rest.

mod attached;
#[cfg(test)]
mod tests;

use super::event::{self, Body, Exit, Message, Part};
use super::strategy::{Deltas, OnHeadless, OnUnknownPart};
use crate::protocol::{Attachment, Item, ItemKind, ToolState, Update};
use attached::Attached;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The messages of one task.
#[derive(Debug)]
pub(super) struct Timeline {
    task_id: String,
    /// Message → is it the assistant's? A message that is not in here is not shown yet.
    roles: BTreeMap<String, bool>,
    rows: Vec<Row>,
    /// Parts whose first words came before they were told of, and were not kept.
    headless: BTreeSet<String>,
    /// The newest message of the assistant.
    newest: Option<Message>,
    /// What the person has attached.
    attached: Attached,
}

/// A part, and how far it can be trusted.
#[derive(Debug)]
struct Row {
    item: Item,
    /// All text so far is here, so that a delta may be added to it.
    whole: bool,
    /// The server has finished the text.
    ended: bool,
}

/// What a piece of news makes of the screen.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    /// Nothing that is seen.
    None,
    /// One update tells it.
    Update(Update),
    /// No update can tell it: the whole view has to be published.
    Redraw,
}

impl Timeline {
    /// A task without messages.
    pub(super) fn new(task_id: &str) -> Self {
        Self {
            task_id: task_id.to_owned(),
            roles: BTreeMap::new(),
            rows: Vec::new(),
            headless: BTreeSet::new(),
            newest: None,
            attached: Attached::default(),
        }
    }

    /// What `GET /session/{id}/message` told.
    pub(super) fn from_rest(task_id: &str, messages: &Value, deltas: &dyn Deltas) -> Result<Self, String> {
        let mut timeline = Self::new(task_id);
        for entry in messages.as_array().ok_or("the list of messages is no list")? {
            timeline.message(event::message(&entry["info"])?);
            for part in entry["parts"].as_array().ok_or("field `parts` of a message is missing")? {
                timeline.part(event::part(part)?, deltas);
            }
        }
        timeline.attached = std::mem::take(&mut timeline.attached).loaded(deltas);
        // REST hides the deltas of a running text: what it shows of one is a beginning of unknown length.
        for row in &mut timeline.rows {
            row.whole = row.ended;
        }
        Ok(timeline)
    }

    /// The stream went on all the while, so what it has told of a running text is still true.
    pub(super) fn keep_running(&mut self, before: &Self) {
        for row in self.rows.iter_mut().filter(|row| !row.ended) {
            let known =
                before.rows.iter().find(|known| known.item.part_id == row.item.part_id && known.whole);
            let Some(known) = known else { continue };
            if let (Some(now), Some(shown)) = (&row.item.text, &known.item.text)
                && shown.starts_with(now.as_str())
            {
                row.item.text = Some(shown.clone());
                row.whole = true;
            }
        }
    }

    /// Is a tool at work, or about to be?
    pub(super) fn has_running_tool(&self) -> bool {
        let runs = |row: &Row| matches!(row.item.state, Some(ToolState::Pending | ToolState::Running));
        self.rows.iter().any(runs)
    }

    /// Does this message belong here?
    pub(super) fn knows(&self, message_id: &str) -> bool {
        self.roles.contains_key(message_id)
    }

    /// The person's messages.
    pub(super) fn prompts(&self) -> BTreeSet<String> {
        self.roles.iter().filter(|(_, assistant)| !**assistant).map(|(id, _)| id.clone()).collect()
    }

    /// What is shown.
    pub(super) fn items(&self) -> Vec<Item> {
        self.rows.iter().filter(|row| self.shows(row)).map(|row| row.item.clone()).collect()
    }

    /// The newest message of the assistant.
    pub(super) fn newest(&self) -> Option<&Message> {
        self.newest.as_ref()
    }

    /// What is attached to the person's messages.
    pub(super) fn attachments(&self) -> BTreeMap<String, Vec<Attachment>> {
        let persons = |message: &&String| self.roles.get(*message) == Some(&false);
        let messages = self.attached.messages().filter(persons);
        messages.map(|message| (message.clone(), self.attached.of(message))).collect()
    }

    /// What is attached to a message of the person.
    pub(super) fn attached_to(&self, message: &str) -> Vec<Attachment> {
        self.attached.of(message)
    }

    fn shows(&self, row: &Row) -> bool {
        self.roles.get(&row.item.message_id) == Some(&true)
    }

    /// A message appeared or changed.
    pub(super) fn message(&mut self, message: Message) -> Change {
        let known = self.roles.insert(message.id.clone(), message.assistant);
        let reveals = message.assistant
            && known != Some(true)
            && self.rows.iter().any(|row| row.item.message_id == message.id);
        let attached = known.is_none() && !message.assistant && self.attached.has(&message.id);
        let attached = attached.then(|| self.told_attached(&message.id));
        // Ids ascend, so a late word about an older message does not take the newest one's place.
        if message.assistant && self.newest.as_ref().is_none_or(|newest| newest.id <= message.id) {
            self.newest = Some(message);
        }
        if reveals { Change::Redraw } else { attached.map_or(Change::None, Change::Update) }
    }

    /// A message and its parts are gone.
    pub(super) fn remove_message(&mut self, message_id: &str) -> Change {
        let change = self.remove_rows(|row| row.item.message_id == message_id);
        let had_attached = self.attached.remove(message_id);
        let change = if had_attached { Change::Redraw } else { change };
        self.roles.remove(message_id);
        self.newest.take_if(|newest| newest.id == message_id);
        change
    }

    /// A part is gone.
    pub(super) fn remove_part(&mut self, part_id: &str) -> Change {
        match self.attached.remove_part(part_id) {
            true => Change::Redraw,
            false => self.remove_rows(|row| row.item.part_id == part_id),
        }
    }

    fn remove_rows(&mut self, gone: impl Fn(&Row) -> bool) -> Change {
        let seen = self.rows.iter().any(|row| gone(row) && self.shows(row));
        self.rows.retain(|row| !gone(row));
        if seen { Change::Redraw } else { Change::None }
    }

    /// A part appeared or changed.
    pub(super) fn part(&mut self, mut part: Part, deltas: &dyn Deltas) -> Change {
        if let Body::Text { text, .. } = &mut part.body {
            *text = deltas.words(std::mem::take(text));
        }
        if let Body::File(attachment) = part.body {
            return self.attach(part.message_id, part.id, attachment, deltas);
        }
        if !deltas.waits_for_message() {
            self.roles.entry(part.message_id.clone()).or_insert(true);
        }
        match self.rows.iter().position(|row| row.item.part_id == part.id) {
            Some(at) => self.merge(at, part.body, deltas),
            None => self.insert(part, deltas),
        }
    }

    /// The person has attached something, or what comes to the same: the agent's files have no place of their own.
    fn attach(&mut self, message: String, part: String, file: Attachment, deltas: &dyn Deltas) -> Change {
        let is_persons = self.roles.get(&message) == Some(&false);
        let is_news = self.attached.put(&message, part, file, deltas);
        if is_news && is_persons { Change::Update(self.told_attached(&message)) } else { Change::None }
    }

    fn told_attached(&self, message: &str) -> Update {
        let attachments = self.attached.of(message);
        Update::Attachments { task_id: self.task_id.clone(), message_id: message.to_owned(), attachments }
    }

    fn insert(&mut self, part: Part, deltas: &dyn Deltas) -> Change {
        let mut ended = false;
        let mut item = Item::blank(part.id, part.message_id, ItemKind::Unknown);
        match part.body {
            Body::Hidden | Body::File(_) => return Change::None,
            Body::Text { kind, text, ended: whole } => {
                (item.kind, item.text) = (kind, Some(text));
                ended = whole;
                if !deltas.keeps_thoughts_apart() {
                    item.kind = ItemKind::Text;
                }
            }
            Body::Tool { tool, .. } if !deltas.shows_tool(&tool) => return Change::None,
            Body::Tool { tool, state, output, command } => {
                (item.kind, item.tool, item.state, item.output) =
                    (ItemKind::Tool, Some(tool), Some(state), output);
                note_command(&mut item, command, deltas);
            }
            Body::Unknown(raw) => match deltas.on_unknown_part(raw) {
                OnUnknownPart::Neutral => {}
                OnUnknownPart::Hide => return Change::None,
                OnUnknownPart::Show(raw) => (item.kind, item.text) = (ItemKind::Text, Some(raw)),
            },
        }
        // What came before it is lost: its beginning alone is no text to go on from.
        let lost = self.headless.remove(&item.part_id) && item.text.as_deref() == Some("");
        let row = Row { item, whole: !lost, ended };
        // Among its siblings, in the order of their ids, as the server keeps them; what is not the last row can't be
        // told by an update.
        let is_sibling = |other: &Row| other.item.message_id == row.item.message_id;
        let before = |other: &Row| is_sibling(other) && other.item.part_id < row.item.part_id;
        let first = self.rows.iter().position(is_sibling).unwrap_or(self.rows.len());
        let at = self.rows.iter().rposition(before).map_or(first, |before| before + 1);
        let shown = self.shows(&row);
        let at_end = !self.rows[at..].iter().any(|later| self.shows(later));
        let update = self.told(&row.item, row.item.text.as_deref().unwrap_or_default());
        self.rows.insert(at, row);
        match (shown, at_end) {
            (false, _) => Change::None,
            (true, true) => Change::Update(update),
            (true, false) => Change::Redraw,
        }
    }

    fn merge(&mut self, at: usize, body: Body, deltas: &dyn Deltas) -> Change {
        let shown = self.shows(&self.rows[at]);
        let change = match body {
            Body::Text { text, ended, .. } => self.merge_text(at, text, ended, deltas),
            Body::Tool { tool, state, output, command } => {
                let mut moved = self.rows[at].item.clone();
                (moved.tool, moved.state, moved.output) = (Some(tool), Some(state), output);
                note_command(&mut moved, command, deltas);
                self.merge_tool(at, moved, deltas)
            }
            Body::Unknown(_) | Body::File(_) => Change::None,
            Body::Hidden => {
                self.rows.remove(at);
                Change::Redraw
            }
        };
        if shown { change } else { Change::None }
    }

    fn merge_text(&mut self, at: usize, text: String, ended: bool, deltas: &dyn Deltas) -> Change {
        let row = &mut self.rows[at];
        let shown = row.item.text.get_or_insert_default();
        let is_older = !ended && (row.ended || (shown.len() > text.len() && shown.starts_with(&text)));
        if is_older {
            return Change::None;
        }
        if !deltas.takes_whole() && !text.is_empty() {
            row.ended = ended;
            return Change::None;
        }
        // An empty one says that the part begins, and not that all of it is here.
        row.whole |= ended || !text.is_empty();
        row.ended = ended;
        let rest = text.strip_prefix(shown.as_str()).map(str::to_owned);
        *shown = text;
        match rest {
            Some(rest) if rest.is_empty() => Change::None,
            Some(rest) => Change::Update(self.told(&self.rows[at].item, &rest)),
            None => Change::Redraw,
        }
    }

    fn merge_tool(&mut self, at: usize, moved: Item, deltas: &dyn Deltas) -> Change {
        let item = &mut self.rows[at].item;
        let is_older = !deltas.goes_back() && item.state.map(rank) > moved.state.map(rank);
        if is_older || *item == moved {
            return Change::None;
        }
        *item = moved;
        Change::Update(self.told(&self.rows[at].item, ""))
    }

    /// Text was added to a part.
    pub(super) fn delta(
        &mut self,
        message_id: String,
        part_id: &str,
        delta: &str,
        deltas: &dyn Deltas,
    ) -> Change {
        let delta = deltas.words(delta.to_owned());
        let known = self.rows.iter().position(|row| row.item.part_id == part_id);
        let headless = known.is_none_or(|at| !self.rows[at].whole);
        if headless && deltas.on_headless() == OnHeadless::Wait {
            if known.is_none() && deltas.remembers_lost() {
                self.headless.insert(part_id.to_owned());
            }
            return Change::None;
        }
        let Some(at) = known else {
            let body = Body::Text { kind: ItemKind::Text, text: delta, ended: false };
            return self.insert(Part { id: part_id.to_owned(), message_id, body }, deltas);
        };
        if self.rows[at].ended && !deltas.adds_behind_the_end() {
            return Change::None;
        }
        let Some(text) = &mut self.rows[at].item.text else {
            return Change::None;
        };
        text.push_str(&delta);
        let row = &self.rows[at];
        if self.shows(row) { Change::Update(self.told(&row.item, &delta)) } else { Change::None }
    }

    /// The update that tells of an item; of a text it adds `delta`.
    fn told(&self, item: &Item, delta: &str) -> Update {
        let (task_id, message_id) = (self.task_id.clone(), item.message_id.clone());
        let (part_id, delta) = (item.part_id.clone(), delta.to_owned());
        match item.kind {
            ItemKind::Text => Update::AssistantDelta { task_id, message_id, part_id, delta },
            ItemKind::Reasoning => Update::ReasoningDelta { task_id, message_id, part_id, delta },
            ItemKind::Tool => Update::ToolState {
                task_id,
                message_id,
                tool_id: part_id,
                tool: item.tool.clone().unwrap_or_default(),
                state: item.state.unwrap_or(ToolState::Pending),
                output: item.output.clone(),
                exit: item.exit,
                process: item.process,
            },
            ItemKind::Unknown => Update::UnknownPart { task_id, message_id, part_id },
        }
    }
}

/// Of a command the row says how it ended, and that nobody has told the number of its process.
fn note_command(item: &mut Item, command: Option<Exit>, deltas: &dyn Deltas) {
    if let Some(exit) = command {
        (item.exit, item.process) = (deltas.exit(exit), deltas.process());
    }
}

/// A tool call only moves on; the two ends are equal.
fn rank(state: ToolState) -> u8 {
    match state {
        ToolState::Pending => 0,
        ToolState::Running => 1,
        ToolState::Done | ToolState::Error => 2,
    }
}
