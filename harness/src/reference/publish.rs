//! How updates, signals and log lines leave the adapter: in order, not too often, and with what belongs to them.
//!
//! Pieces of text and of output that come faster than a screen can show them are put together; everything else goes
//! out at once, behind what waits.

use super::core::Core;
use super::io::{Output, Timer};
use crate::protocol::{ConnectionState, LogLevel, LogLine, Notification, Signal, Update};
use std::collections::BTreeMap;

/// What waits to be published.
#[derive(Debug, Default)]
pub(super) struct Publisher {
    tasks: BTreeMap<String, Queue>,
    connection: ConnectionState,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Update>,
    /// Nothing of the task is published before.
    not_before_ms: u64,
    /// A timer will come.
    timed: bool,
}

impl Queue {
    /// Puts a piece behind what waits, or into it.
    fn add(&mut self, update: Update) {
        match (self.waiting.last_mut(), &update) {
            (
                Some(Update::AssistantDelta { part_id, delta, .. }),
                Update::AssistantDelta { part_id: same, delta: more, .. },
            )
            | (
                Some(Update::ReasoningDelta { part_id, delta, .. }),
                Update::ReasoningDelta { part_id: same, delta: more, .. },
            ) if part_id == same => delta.push_str(more),
            (Some(last @ Update::ToolState { .. }), Update::ToolState { .. })
                if is_same_call(last, &update) =>
            {
                *last = update;
            }
            _ => self.waiting.push(update),
        }
    }
}

/// Two words about one call that is at the same point.
fn is_same_call(a: &Update, b: &Update) -> bool {
    match (a, b) {
        (Update::ToolState { tool_id: a, state: x, .. }, Update::ToolState { tool_id: b, state: y, .. }) => {
            a == b && x == y
        }
        _ => false,
    }
}

/// A piece of something that grows, of which a person needs no single step.
fn is_piece(update: &Update) -> bool {
    let grows = matches!(
        update,
        Update::ToolState { output: Some(_), state: crate::protocol::ToolState::Running, .. }
    );
    grows || matches!(update, Update::AssistantDelta { .. } | Update::ReasoningDelta { .. })
}

impl Core {
    /// Something that concerns them all.
    pub(super) fn tell_all_tasks(&mut self, message: &str) {
        if !self.strategies.life.tells_tasks() {
            return;
        }
        let tasks = self.strategies.life.told(self.tasks.keys().cloned().collect());
        for task_id in tasks {
            let (task_id, message) = (Some(task_id), message.to_owned());
            self.tell(Update::Error { task_id, message, retry: false });
        }
    }

    /// Tells the harness what the person sees.
    pub(super) fn tell(&mut self, update: Update) {
        for update in self.strategies.telling.shown(update) {
            self.tell_one(update);
        }
    }

    fn tell_one(&mut self, mut update: Update) {
        if let Update::Terminal { outcome, .. } = &mut update {
            *outcome = self.strategies.telling.ended(*outcome);
        }
        let Some(task_id) = update.task_id().map(str::to_owned) else {
            return self.out.push(Output::Emit(Notification::Update(update)));
        };
        if matches!(update, Update::PermissionRequest { .. }) {
            self.count("kilo.cli.permissions.prompt_count", Some(&task_id));
        }
        self.count_down(&task_id, &update);
        self.first_words(&task_id, &update);
        let every = self.scaled(self.strategies.telling.publish_every_ms());
        let now = self.now_ms;
        let queue = self.publisher.tasks.entry(task_id.clone()).or_default();
        if matches!(update, Update::Timeline { .. }) {
            // It says all that waited.
            queue.waiting.clear();
        }
        if is_piece(&update) && (now < queue.not_before_ms || !queue.waiting.is_empty()) {
            queue.add(update);
            if !queue.timed {
                queue.timed = true;
                let wait = queue.not_before_ms.saturating_sub(now).max(1);
                self.start_timer(Timer::Publish(task_id), wait);
            }
            return;
        }
        if is_piece(&update) {
            queue.not_before_ms = now + every;
        }
        self.publish(&task_id);
        self.out.push(Output::Emit(Notification::Update(update)));
    }

    /// Publishes what waits of a task.
    fn publish(&mut self, task_id: &str) {
        let every = self.scaled(self.strategies.telling.publish_every_ms());
        let now = self.now_ms;
        let Some(queue) = self.publisher.tasks.get_mut(task_id) else { return };
        let waiting = std::mem::take(&mut queue.waiting);
        if !waiting.is_empty() {
            let pieces = u64::try_from(waiting.len()).unwrap_or(u64::MAX);
            queue.not_before_ms = now.saturating_add(every.saturating_mul(pieces));
        }
        self.out.extend(waiting.into_iter().map(|update| Output::Emit(Notification::Update(update))));
    }

    pub(super) fn publish_due(&mut self, task_id: &str) {
        if let Some(queue) = self.publisher.tasks.get_mut(task_id) {
            queue.timed = false;
        }
        self.publish(task_id);
    }

    /// Publishes all that waits.
    pub(super) fn publish_all(&mut self) {
        let tasks: Vec<String> = self.publisher.tasks.keys().cloned().collect();
        for task in tasks {
            self.publish(&task);
        }
    }

    /// Does anything wait?
    #[cfg(test)]
    pub(super) fn holds_back(&self) -> bool {
        self.publisher.tasks.values().any(|queue| !queue.waiting.is_empty())
    }

    /// The first words of an answer: how long did the person wait for them?
    fn first_words(&mut self, task_id: &str, update: &Update) {
        let is_first = matches!(update, Update::AssistantDelta { delta, .. } | Update::ReasoningDelta { delta, .. } if !delta.is_empty());
        let turn = self.tasks.get_mut(task_id).filter(|_| is_first).and_then(|task| task.turn());
        if let Some(since) = turn.and_then(|turn| turn.waits_since_ms.take()) {
            let waited = self.now_ms.saturating_sub(since);
            self.signal("kilo.cli.chat.ttft_ms", waited, Some(task_id));
        }
    }

    /// Several streams are one connection to the person; what is so already is no news.
    pub(super) fn show_connection(&mut self, state: ConnectionState) {
        if self.publisher.connection != state {
            self.publisher.connection = state;
            self.tell(Update::Connection { state });
        }
    }

    pub(super) fn log(&mut self, level: LogLevel, text: String, task_id: Option<&str>) {
        let server = self.server.as_ref();
        let port =
            server.and_then(|server| server.url.rsplit(':').next()?.trim_end_matches('/').parse().ok());
        let task = task_id.and_then(|id| self.tasks.get(id));
        let directory = task.map(|task| task.directory().to_owned());
        let line = LogLine {
            level,
            text: one_line(&text),
            task_id: task_id.map(str::to_owned),
            session_id: task.map(|task| task.session_id().to_owned()),
            directory: directory
                .or_else(|| server.map(|server| server.directory.clone()))
                .or_else(|| self.spawned_in().map(str::to_owned)),
            port,
        };
        let line = self.strategies.telling.line(line);
        self.out.push(Output::Emit(Notification::Log(line)));
    }

    pub(super) fn count(&mut self, name: &'static str, task_id: Option<&str>) {
        let count = self.counters.entry((name, task_id.map(str::to_owned))).or_default();
        *count += 1;
        let value = *count;
        self.signal(name, value, task_id);
    }

    fn signal(&mut self, name: &str, value: u64, task_id: Option<&str>) {
        if let Some(value) = self.strategies.telling.signal(name, value) {
            let signal = Signal { name: name.to_owned(), value, task_id: task_id.map(str::to_owned) };
            self.out.push(Output::Emit(Notification::Telemetry(signal)));
        }
    }
}

/// The longest text of a log line.
const LONGEST_LINE: usize = 2000;

/// What others say has line feeds and no end.
fn one_line(text: &str) -> String {
    text.chars().take(LONGEST_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
