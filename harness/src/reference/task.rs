//! One task: its messages, what it asks, and how far the answer to its last prompt is.

mod ending;

use super::event::Event;
use super::history::Reverted;
use super::strategy::{Asking, Changes, Deltas, Strategies};
use super::timeline::{Change, Timeline};
use super::turn::{Fetched, News, Turn};
use crate::protocol::{Attachment, Diff, Item, Permission, Question, TaskState, TodoItem, Update, View};
use std::collections::{BTreeMap, BTreeSet};

/// A task and the session that carries it.
#[derive(Debug)]
pub(super) struct Task {
    id: String,
    session_id: String,
    directory: String,
    timeline: Timeline,
    permissions: Vec<Permission>,
    questions: Vec<Question>,
    /// Requests that somebody has answered: a late or second word about one must not ask the person again.
    answered: BTreeSet<String>,
    todos: Vec<TodoItem>,
    diff: Option<Diff>,
    /// From there on the session has gone back.
    reverted: Option<Reverted>,
    status: TaskState,
    /// The prompt that has no `terminal` yet.
    turn: Option<Turn>,
    /// What is shown can't be trusted: nothing more is shown until a refresh succeeds.
    pub(super) stale: bool,
    /// When its session was last heard of.
    pub(super) heard_ms: u64,
}

impl Task {
    /// A new task.
    pub(super) fn new(id: &str, session_id: String, directory: String) -> Self {
        Self {
            id: id.to_owned(),
            session_id,
            directory,
            timeline: Timeline::new(id),
            permissions: Vec::new(),
            questions: Vec::new(),
            answered: BTreeSet::new(),
            todos: Vec::new(),
            diff: None,
            reverted: None,
            status: TaskState::default(),
            turn: None,
            stale: false,
            heard_ms: 0,
        }
    }

    /// The server's name of the session.
    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The folder that its session works in.
    pub(super) fn directory(&self) -> &str {
        &self.directory
    }

    /// What the person sees.
    pub(super) fn view(&self) -> View {
        View {
            items: self.shown_items(),
            permissions: self.permissions.clone(),
            questions: self.questions.clone(),
            todos: self.todos.clone(),
            attachments: self.shown_attachments(),
            diff: self.diff.clone(),
            status: self.status,
        }
    }

    /// The rows, without those that the session has gone back from.
    fn shown_items(&self) -> Vec<Item> {
        let mut items = self.timeline.items();
        items.retain(|item| !self.is_reverted(&item.message_id, &item.part_id));
        items
    }

    /// What is attached to the messages, without those that the session has gone back from.
    fn shown_attachments(&self) -> BTreeMap<String, Vec<Attachment>> {
        let mut attachments = self.timeline.attachments();
        attachments.retain(|message, _| !self.is_reverted(message, ""));
        attachments
    }

    fn is_reverted(&self, message: &str, part: &str) -> bool {
        self.reverted.as_ref().is_some_and(|reverted| reverted.hides(message, part))
    }

    /// What the agent does.
    pub(super) fn status(&self) -> TaskState {
        self.status
    }

    /// A prompt goes out. One that is sent while another is answered shares its end, as the servers do it.
    pub(super) fn prompted(&mut self, now_ms: u64) {
        self.heard_ms = now_ms;
        let before = self.timeline.newest().map(|message| message.id.clone());
        let turn = self.turn.get_or_insert_with(|| Turn {
            before,
            prompts: self.timeline.prompts(),
            sent: 0,
            begun: false,
            failure: None,
            asked_about: 0,
            waits_since_ms: Some(now_ms),
        });
        turn.sent += 1;
    }

    /// The server did not take the prompt; one that it has begun to answer already is not touched.
    pub(super) fn prompt_refused(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.sent = turn.sent.saturating_sub(1);
        }
        self.turn.take_if(|turn| !turn.begun && turn.sent == 0);
    }

    /// The prompt that has no end yet.
    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.turn.as_mut()
    }

    /// Its messages.
    pub(super) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Is it in the middle of something that the person has to be sure of?
    pub(super) fn is_delicate(&self, minds_tools: bool) -> bool {
        let is_asked = !self.permissions.is_empty() || !self.questions.is_empty();
        is_asked || minds_tools && self.timeline.has_running_tool()
    }

    /// Takes in one event of the session, or of a session that its agent has created.
    pub(super) fn apply(&mut self, event: Event, of_child: bool, strategies: &Strategies) -> News {
        let (deltas, asking, turns) = (&*strategies.deltas, &*strategies.asking, &*strategies.turns);
        match event {
            Event::Asked(asked) => News::of(self.asked(asked, asking)),
            Event::Replied(id) if asking.hears_others() => News::of(self.replied(id)),
            Event::Question(question) => News::of(self.question(asking.question_told(question))),
            Event::QuestionOver(id) if asking.hears_others() => News::of(self.question_over(id)),
            // What a child says and does is its own.
            _ if of_child => News::default(),
            Event::Replied(_) | Event::QuestionOver(_) => News::default(),
            Event::Session { reverted, .. } => {
                let before = self.view();
                self.reverted = reverted.filter(|_| strategies.history.hides_reverted());
                News::of((before != self.view()).then(|| self.redraw()))
            }
            Event::Message(message) => {
                if message.assistant
                    && let Some(turn) = &mut self.turn
                    && turn.before.as_ref().is_none_or(|before| *before < message.id)
                {
                    turn.begun = true;
                }
                let change = self.timeline.message(message);
                News::of(self.show(change))
            }
            Event::MessageRemoved(id) => {
                let change = self.timeline.remove_message(&id);
                News::of(self.show(change))
            }
            Event::Part(part) => {
                let change = self.timeline.part(part, deltas);
                News::of(self.show(change))
            }
            Event::PartWithDelta(part, delta) => {
                let (id, message_id) = (part.id.clone(), part.message_id.clone());
                let change = self.timeline.part(part, deltas);
                let mut updates = self.show(change);
                if deltas.adds_delta_beside() {
                    let change = self.timeline.delta(message_id, &id, &delta, deltas);
                    updates.extend(self.show(change));
                }
                News::of(updates)
            }
            Event::Delta { message_id, part_id, delta } => {
                let change = self.timeline.delta(message_id, &part_id, &delta, deltas);
                News::of(self.show(change))
            }
            Event::PartRemoved(id) => {
                let change = self.timeline.remove_part(&id);
                News::of(self.show(change))
            }
            Event::Todos(todos) => {
                self.todos.clone_from(&todos);
                News::of([Update::Todo { task_id: self.id.clone(), todos }])
            }
            Event::Changes(files) => {
                let diff = self.changed(Diff::Known(files), &*strategies.changes);
                News::of([Update::Diff { task_id: self.id.clone(), diff }])
            }
            Event::Status(state) => News::of(self.set_status(state).filter(|_| turns.tells_of_work())),
            Event::Idle => self.idle(turns),
            Event::Failed(failure) => self.error(failure, turns),
        }
    }

    /// The agent has changed this, or nobody could tell; gives what is shown of it.
    fn changed(&mut self, now: Diff, changes: &dyn Changes) -> Diff {
        let now = match now {
            Diff::Known(files) => {
                Diff::Known(files.into_iter().filter_map(|file| changes.shown(file)).collect())
            }
            Diff::Unavailable => Diff::Unavailable,
        };
        let diff = changes.told(self.diff.take(), now);
        self.diff = Some(diff.clone());
        diff
    }

    fn show(&self, change: Change) -> Vec<Update> {
        match change {
            Change::None => Vec::new(),
            Change::Update(Update::Attachments { ref message_id, .. })
                if self.is_reverted(message_id, "") =>
            {
                Vec::new()
            }
            Change::Update(update) if update.row().is_some_and(|(m, p)| self.is_reverted(m, p)) => Vec::new(),
            Change::Update(update) => vec![update],
            Change::Redraw => vec![self.redraw()],
        }
    }

    fn redraw(&self) -> Update {
        Update::Timeline { task_id: self.id.clone(), view: self.view() }
    }

    pub(super) fn asked(&mut self, asked: Permission, asking: &dyn Asking) -> Option<Update> {
        let is_live = self.permissions.iter().any(|live| live.permission_id == asked.permission_id);
        if !asking.asks_twice() && (is_live || self.answered.contains(&asked.permission_id)) {
            return None;
        }
        let asked = asking.told(asked);
        let update = Update::permission_request(&self.id, &asked);
        self.permissions.retain(|live| live.permission_id != asked.permission_id);
        self.permissions.push(asked);
        Some(update)
    }

    /// Somebody has answered a permission request, perhaps we.
    pub(super) fn replied(&mut self, permission_id: String) -> Option<Update> {
        let at = self.permissions.iter().position(|live| live.permission_id == permission_id);
        self.answered.insert(permission_id.clone());
        self.permissions.remove(at?);
        Some(Update::PermissionResolved { task_id: self.id.clone(), permission_id })
    }

    fn question(&mut self, question: Question) -> Option<Update> {
        let id = &question.question_id;
        if self.answered.contains(id) || self.questions.iter().any(|live| live.question_id == *id) {
            return None;
        }
        let update = Update::question(&self.id, &question);
        self.questions.push(question);
        Some(update)
    }

    /// Somebody has answered or dismissed a question, perhaps we.
    pub(super) fn question_over(&mut self, question_id: String) -> Option<Update> {
        let at = self.questions.iter().position(|live| live.question_id == question_id);
        self.answered.insert(question_id.clone());
        self.questions.remove(at?);
        Some(Update::QuestionResolved { task_id: self.id.clone(), question_id })
    }

    /// What the agent asks.
    pub(super) fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What the person is asked.
    pub(super) fn permissions(&self) -> &[Permission] {
        &self.permissions
    }

    fn set_status(&mut self, state: TaskState) -> Option<Update> {
        if let (TaskState::Busy | TaskState::Retry, Some(turn)) = (state, &mut self.turn) {
            turn.begun = true;
        }
        let changes = self.status != state;
        self.status = state;
        changes.then(|| Update::Status { task_id: self.id.clone(), state })
    }

    /// Everything was fetched anew: what was shown is thrown away, and the whole is published. When the stream went
    /// on all the while, only what differs is news.
    pub(super) fn rehydrated(
        &mut self,
        mut fetched: Fetched,
        stream_went_on: bool,
        deltas: &dyn Deltas,
        changes: &dyn Changes,
    ) -> Option<Update> {
        let before = self.view();
        if stream_went_on || deltas.go_on_over_a_gap() {
            fetched.timeline.keep_running(&self.timeline);
        }
        self.stale = false;
        self.timeline = fetched.timeline;
        self.permissions = fetched.permissions;
        self.questions = fetched.questions;
        self.todos = fetched.todos;
        if let Some(diff) = fetched.diff {
            self.changed(diff, changes);
        }
        // Going back is over when its message is gone; the list of sessions may be older than that of messages.
        self.reverted = fetched.reverted.filter(|reverted| self.timeline.knows(reverted.message()));
        if let Some(status) = fetched.status {
            // Not through an update of its own (the view has it), but a turn may have begun meanwhile.
            let _in_the_view = self.set_status(status);
        }
        (!stream_went_on || before != self.view()).then(|| self.redraw())
    }

    /// An answer to this request is further on in the events that wait: do not ask for it any more.
    pub(super) fn will_be_replied(&mut self, permission_id: &str) {
        self.answered.insert(permission_id.to_owned());
    }
}
