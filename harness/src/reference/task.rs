//! One task: its messages, its permission requests, and how far the answer to its last prompt is.

use super::event::{Event, Failure};
use super::strategy::Deltas;
use super::timeline::{Change, Timeline};
use crate::protocol::{Outcome, Permission, TaskState, Update, View};
use std::collections::BTreeSet;

/// A task and the session that carries it.
#[derive(Debug)]
pub(super) struct Task {
    id: String,
    session_id: String,
    timeline: Timeline,
    permissions: Vec<Permission>,
    /// Requests that somebody has answered: a late or second word about one must not ask the person again.
    answered: BTreeSet<String>,
    status: TaskState,
    /// The prompt that has no `terminal` yet.
    turn: Option<Turn>,
}

/// A prompt that is being answered.
#[derive(Debug)]
struct Turn {
    /// The newest message of the assistant when the prompt was sent.
    before: Option<String>,
    /// The server has begun. An idle before that belongs to the prompt before.
    begun: bool,
}

impl Task {
    /// A new task.
    pub(super) fn new(id: &str, session_id: String) -> Self {
        Self {
            id: id.to_owned(),
            session_id,
            timeline: Timeline::new(id),
            permissions: Vec::new(),
            answered: BTreeSet::new(),
            status: TaskState::default(),
            turn: None,
        }
    }

    /// The server's name of the session.
    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    /// What the person sees.
    pub(super) fn view(&self) -> View {
        View { items: self.timeline.items(), permissions: self.permissions.clone(), status: self.status }
    }

    /// A prompt goes out. One that is sent while another is answered shares its end, as the servers do it.
    pub(super) fn prompted(&mut self) {
        let before = self.timeline.newest().map(|message| message.id.clone());
        self.turn.get_or_insert(Turn { before, begun: false });
    }

    /// The server did not take the prompt; one that it has begun to answer already is not touched.
    pub(super) fn prompt_refused(&mut self) {
        self.turn.take_if(|turn| !turn.begun);
    }

    /// What the person is asked.
    pub(super) fn questions(&self) -> &[Permission] {
        &self.permissions
    }

    /// Takes in one event of the session.
    pub(super) fn apply(&mut self, event: Event, deltas: &dyn Deltas) -> Vec<Update> {
        match event {
            Event::Message(message) => {
                let change = self.timeline.message(message);
                self.show(change)
            }
            Event::MessageRemoved(id) => {
                let change = self.timeline.remove_message(&id);
                self.show(change)
            }
            Event::Part(part) => {
                let change = self.timeline.part(part);
                self.show(change)
            }
            Event::Delta { message_id, part_id, delta } => {
                let change = self.timeline.delta(message_id, &part_id, &delta, deltas);
                self.show(change)
            }
            Event::PartRemoved(id) => {
                let change = self.timeline.remove_part(&id);
                self.show(change)
            }
            Event::Asked(asked) => self.asked(asked).into_iter().collect(),
            Event::Replied(id) => self.replied(id).into_iter().collect(),
            Event::Status(state) => self.set_status(state).into_iter().collect(),
            Event::Idle => {
                let mut updates = Vec::from_iter(self.set_status(TaskState::Idle));
                if self.turn.take_if(|turn| turn.begun).is_some() {
                    updates.push(self.terminal(Outcome::Completed));
                }
                updates
            }
            Event::Failed(failure) => self.failed(&failure),
        }
    }

    fn show(&self, change: Change) -> Vec<Update> {
        match change {
            Change::None => Vec::new(),
            Change::Update(update) => vec![update],
            Change::Redraw => vec![self.redraw()],
        }
    }

    fn redraw(&self) -> Update {
        Update::Timeline { task_id: self.id.clone(), view: self.view() }
    }

    fn asked(&mut self, asked: Permission) -> Option<Update> {
        let is_live = self.permissions.iter().any(|live| live.permission_id == asked.permission_id);
        if is_live || self.answered.contains(&asked.permission_id) {
            return None;
        }
        let update = Update::permission_request(&self.id, &asked);
        self.permissions.push(asked);
        Some(update)
    }

    fn replied(&mut self, permission_id: String) -> Option<Update> {
        let at = self.permissions.iter().position(|live| live.permission_id == permission_id);
        self.answered.insert(permission_id.clone());
        self.permissions.remove(at?);
        Some(Update::PermissionResolved { task_id: self.id.clone(), permission_id })
    }

    fn set_status(&mut self, state: TaskState) -> Option<Update> {
        if let (TaskState::Busy | TaskState::Retry, Some(turn)) = (state, &mut self.turn) {
            turn.begun = true;
        }
        let changes = self.status != state;
        self.status = state;
        changes.then(|| Update::Status { task_id: self.id.clone(), state })
    }

    /// The turn is over, and the person learns why.
    fn failed(&mut self, failure: &Failure) -> Vec<Update> {
        let over = self.turn.take().is_some();
        let outcome = if failure.aborted { Outcome::Aborted } else { Outcome::Error };
        let told = (!failure.aborted).then(|| Update::Error {
            task_id: Some(self.id.clone()),
            message: format!("the agent failed: {}", failure.message),
            retry: false,
        });
        told.into_iter().chain(over.then(|| self.terminal(outcome))).collect()
    }

    fn terminal(&self, outcome: Outcome) -> Update {
        Update::Terminal { task_id: self.id.clone(), outcome }
    }

    /// Everything was fetched anew: what was shown is thrown away, and the whole is published.
    pub(super) fn rehydrated(
        &mut self,
        timeline: Timeline,
        status: TaskState,
        permissions: Vec<Permission>,
    ) -> Update {
        self.timeline = timeline;
        self.permissions = permissions;
        // Not through an update of its own (the view has it), but a turn may have begun meanwhile.
        let _in_the_view = self.set_status(status);
        self.redraw()
    }

    /// An answer to this request is further on in the events that wait: do not ask for it any more.
    pub(super) fn will_be_replied(&mut self, permission_id: &str) {
        self.answered.insert(permission_id.to_owned());
    }

    /// After a refresh: if the turn ended in the gap, nobody will say so any more.
    pub(super) fn settle(&mut self) -> Vec<Update> {
        let Some(turn) = &self.turn else {
            return Vec::new();
        };
        let answer = self.timeline.newest().filter(|newest| Some(&newest.id) != turn.before.as_ref());
        let has_answer = answer.is_some_and(|answer| answer.completed || answer.failure.is_some());
        if self.status != TaskState::Idle || !(turn.begun || has_answer) {
            return Vec::new();
        }
        match answer.and_then(|answer| answer.failure.clone()) {
            Some(failure) => self.failed(&failure),
            None => {
                self.turn = None;
                // A server that died in mid-turn leaves a message that nobody completes.
                vec![self.terminal(if has_answer { Outcome::Completed } else { Outcome::Aborted })]
            }
        }
    }
}
