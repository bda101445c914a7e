//! One task: its messages, what it asks, and how far the answer to its last prompt is.

use super::event::{Event, Failure};
use super::history::Reverted;
use super::strategy::turn::{OnIdle, Turn as Known};
use super::strategy::{Asking, Strategies, Turns};
use super::timeline::{Change, Timeline};
use super::turn::{Fetched, News, Turn};
use crate::protocol::{Item, Outcome, Permission, Question, TaskState, TodoItem, Update, View};
use std::collections::BTreeSet;

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
            status: self.status,
        }
    }

    /// The rows, without those that the session has gone back from.
    fn shown_items(&self) -> Vec<Item> {
        let mut items = self.timeline.items();
        items.retain(|item| !self.is_reverted(&item.message_id, &item.part_id));
        items
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
    pub(super) fn is_delicate(&self) -> bool {
        !self.permissions.is_empty() || !self.questions.is_empty() || self.timeline.has_running_tool()
    }

    /// Takes in one event of the session, or of a session that its agent has created.
    pub(super) fn apply(&mut self, event: Event, of_child: bool, strategies: &Strategies) -> News {
        let (deltas, asking, turns) = (&*strategies.deltas, &*strategies.asking, &*strategies.turns);
        match event {
            Event::Asked(asked) => News::of(self.asked(asked, asking)),
            Event::Replied(id) if asking.hears_others() => News::of(self.replied(id)),
            Event::Question(question) => News::of(self.question(question)),
            Event::QuestionOver(id) if asking.hears_others() => News::of(self.question_over(id)),
            // What a child says and does is its own.
            _ if of_child => News::default(),
            Event::Replied(_) | Event::QuestionOver(_) => News::default(),
            Event::Session { reverted, .. } => {
                let before = self.shown_items();
                self.reverted = reverted.filter(|_| strategies.history.hides_reverted());
                News::of((before != self.shown_items()).then(|| self.redraw()))
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
            Event::Status(state) => News::of(self.set_status(state)),
            Event::Idle => self.idle(turns),
            Event::Failed(failure) => self.error(failure, turns),
        }
    }

    fn show(&self, change: Change) -> Vec<Update> {
        match change {
            Change::None => Vec::new(),
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
        let asked = Permission { permission: asking.kind_told(asked.permission), ..asked };
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

    fn idle(&mut self, turns: &dyn Turns) -> News {
        let mut news = News::of(self.set_status(TaskState::Idle));
        let Some(turn) = &self.turn else { return news };
        let answer = self.answer_to(turn);
        let answered =
            answer.is_some_and(|answer| answer.completed && answer.last && answer.failure.is_none());
        // A turn that is over has no call at work: of one that has, the end was not heard.
        let is_whole = turn.failure.is_none() && !self.timeline.has_running_tool();
        let known = Known { begun: turn.begun, answered: answered && is_whole };
        match turns.on_idle(known) {
            OnIdle::Over => {
                let next = self.unanswered();
                news.updates.push(self.end(Outcome::Completed));
                self.turn = next;
            }
            OnIdle::Ask => news.doubt = true,
            OnIdle::Ignore => {}
        }
        news
    }

    fn error(&mut self, failure: Failure, turns: &dyn Turns) -> News {
        if turns.error_ends() {
            return News::of(self.failed(&failure));
        }
        // Whose it is, is not known yet: it may be an older turn's, and late.
        if let Some(turn) = &mut self.turn {
            turn.failure = Some(failure);
        }
        News::default()
    }

    /// Prompts that were sent and are not answered by what has ended are a turn of their own.
    fn unanswered(&self) -> Option<Turn> {
        let turn = self.turn.as_ref()?;
        let newest = self.timeline.newest();
        let all = self.timeline.prompts();
        let arrived = all.difference(&turn.prompts).count().min(turn.sent);
        // Ids ascend, so what came after the prompt that was answered waits.
        let answered = newest.and_then(|newest| newest.parent.as_ref());
        let waits = |prompt: &&String| answered.is_some_and(|answered| *prompt > answered);
        let waiting = all.difference(&turn.prompts).filter(waits).count();
        let sent = waiting + (turn.sent - arrived);
        let prompts = all.iter().filter(|prompt| !waits(prompt)).cloned().collect();
        let before = newest.map(|message| message.id.clone());
        let (begun, failure, asked_about, waits_since_ms) = (false, None, 0, Some(self.heard_ms));
        (sent > 0).then_some(Turn { before, prompts, sent, begun, failure, asked_about, waits_since_ms })
    }

    /// The newest message of the assistant, if it came after the prompt.
    fn answer_to(&self, turn: &Turn) -> Option<&super::event::Message> {
        self.timeline.newest().filter(|newest| Some(&newest.id) != turn.before.as_ref())
    }

    /// The turn is over, and the person learns why.
    pub(super) fn failed(&mut self, failure: &Failure) -> Vec<Update> {
        let over = self.turn.take().is_some();
        let outcome = if failure.aborted { Outcome::Aborted } else { Outcome::Error };
        let told = (!failure.aborted).then(|| Update::Error {
            task_id: Some(self.id.clone()),
            message: format!("the agent failed: {}", failure.message),
            retry: false,
        });
        told.into_iter().chain(over.then(|| self.terminal(outcome))).collect()
    }

    /// The turn is over.
    pub(super) fn end(&mut self, outcome: Outcome) -> Update {
        self.turn = None;
        self.terminal(outcome)
    }

    fn terminal(&self, outcome: Outcome) -> Update {
        Update::Terminal { task_id: self.id.clone(), outcome }
    }

    /// Everything was fetched anew: what was shown is thrown away, and the whole is published. When the stream went
    /// on all the while, only what differs is news.
    pub(super) fn rehydrated(&mut self, mut fetched: Fetched, stream_went_on: bool) -> Option<Update> {
        let before = self.view();
        if stream_went_on {
            fetched.timeline.keep_running(&self.timeline);
        }
        self.stale = false;
        self.timeline = fetched.timeline;
        self.permissions = fetched.permissions;
        self.questions = fetched.questions;
        self.todos = fetched.todos;
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

    /// After a refresh: if the turn ended in the gap, nobody will say so any more.
    pub(super) fn settle(&mut self, patience: u32) -> Vec<Update> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        if self.status != TaskState::Idle {
            // It goes on: what was told of a failure was told of an older turn.
            turn.failure = None;
            return Vec::new();
        }
        let Some(turn) = &self.turn else { return Vec::new() };
        let answer = self.answer_to(turn);
        let failure = answer.and_then(|answer| answer.failure.clone()).or_else(|| turn.failure.clone());
        let has_answer = answer.is_some_and(|answer| answer.completed);
        match failure {
            Some(failure) if turn.begun || answer.is_some() || turn.asked_about > 0 => self.failed(&failure),
            // A server that died in mid-turn leaves a message that nobody completes.
            _ if turn.begun || has_answer => {
                vec![self.end(if has_answer { Outcome::Completed } else { Outcome::Aborted })]
            }
            _ if turn.asked_about >= patience => {
                let message =
                    "the server took the prompt and did not begin with it; send it again".to_owned();
                let told = Update::Error { task_id: Some(self.id.clone()), message, retry: false };
                vec![told, self.end(Outcome::Error)]
            }
            _ => Vec::new(),
        }
    }
}
