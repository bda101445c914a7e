//! Decision 7: after a gap everything is fetched anew, and the events wait until all of it is here.

use super::channel::Phase;
use super::core::Core;
use super::event::{self, Event};
use super::family::Family;
use super::history::Reverted;
use super::io::Timer;
use super::strategy::{Gap, OnGap, Strategies};
use super::task::Task;
use super::timeline::Timeline;
use super::turn::Fetched;
use crate::protocol::{Diff, Permission, Question, TaskState, TodoItem, Update};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Before a client that fetches again unasked does so (unscaled).
const FETCH_AGAIN_MS: u64 = 100;

/// One thing that is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fetch {
    /// The messages of a task.
    Messages(String),
    /// The things to do of a task.
    Todos(String),
    /// What the agent of a task has changed.
    Changes(String),
    /// The status of all sessions.
    Status,
    /// The permission requests of all sessions.
    Permissions,
    /// The questions of all sessions.
    Questions,
    /// The sessions: who has created whom.
    Sessions,
}

/// A refresh that waits for its answers.
#[derive(Debug)]
pub(super) struct Refresh {
    gap: Gap,
    /// The tasks that are fetched.
    tasks: BTreeSet<String>,
    /// Request → what it fetches.
    waiting: BTreeMap<u64, Fetch>,
    /// What is fetched once the status is here: a session that was idle before its messages were read has said all.
    later: Vec<(String, Fetch)>,
    timelines: BTreeMap<String, Timeline>,
    todos: BTreeMap<String, Vec<TodoItem>>,
    diffs: BTreeMap<String, Diff>,
    status: BTreeMap<String, TaskState>,
    /// Each with the session that asks.
    permissions: Vec<(String, Permission)>,
    questions: Vec<(String, Question)>,
    parents: Vec<(String, String)>,
    reverted: BTreeMap<String, Reverted>,
    /// What could not be fetched: for one task, or for all of them.
    missing: BTreeMap<Option<String>, String>,
    /// Events of this stream, with their sessions, in order.
    pub(super) buffered: Vec<(String, Event)>,
    /// Other tasks that are in doubt meanwhile.
    doubted: BTreeSet<String>,
}

impl Refresh {
    fn new(gap: Gap, tasks: BTreeSet<String>) -> Self {
        Self {
            gap,
            tasks,
            waiting: BTreeMap::new(),
            later: Vec::new(),
            timelines: BTreeMap::new(),
            todos: BTreeMap::new(),
            diffs: BTreeMap::new(),
            status: BTreeMap::new(),
            permissions: Vec::new(),
            questions: Vec::new(),
            parents: Vec::new(),
            reverted: BTreeMap::new(),
            missing: BTreeMap::new(),
            buffered: Vec::new(),
            doubted: BTreeSet::new(),
        }
    }

    /// Takes the answer to a request, if it is one of this refresh; is everything here now, or known to be missing?
    fn take(&mut self, request: u64, body: Result<&str, String>, strategies: &Strategies) -> bool {
        let Some(fetch) = self.waiting.remove(&request) else { return false };
        if let Err(why) = body.and_then(|body| self.read(&fetch, body, strategies)) {
            let (task, what) = match fetch {
                // What was said is shown all the same.
                Fetch::Changes(task) => {
                    self.diffs.insert(task, strategies.changes.unread());
                    return self.waiting.is_empty();
                }
                Fetch::Messages(task) => (Some(task), "messages"),
                Fetch::Todos(task) => (Some(task), "todos"),
                Fetch::Status => (None, "status"),
                Fetch::Permissions => (None, "permissions"),
                Fetch::Questions => (None, "questions"),
                Fetch::Sessions => (None, "sessions"),
            };
            if strategies.gap.bears(what) {
                return self.waiting.is_empty();
            }
            let task = strategies.gap.concerned(task);
            self.missing.entry(task).or_insert_with(|| format!("{what}: {why}"));
        }
        self.waiting.is_empty()
    }

    fn read(&mut self, fetch: &Fetch, body: &str, strategies: &Strategies) -> Result<(), String> {
        let value: Value = serde_json::from_str(body).map_err(|error| format!("bad JSON: {error}"))?;
        let list = || value.as_array().ok_or("not a list");
        match fetch {
            Fetch::Messages(task) => {
                self.timelines.insert(task.clone(), Timeline::from_rest(task, &value, &*strategies.deltas)?);
            }
            Fetch::Todos(task) => {
                self.todos.insert(task.clone(), event::todos(&value)?);
            }
            Fetch::Changes(task) => {
                self.diffs.insert(task.clone(), Diff::Known(event::changes(&value)?));
            }
            Fetch::Status => {
                for (session, status) in value.as_object().ok_or("not a map of sessions")? {
                    self.status.insert(session.clone(), event::status(status)?);
                }
            }
            Fetch::Permissions => {
                for asked in list()? {
                    self.permissions.push((event::text(asked, "sessionID")?, event::permission(asked)?));
                }
            }
            Fetch::Questions => {
                for asked in list()? {
                    self.questions.push((event::text(asked, "sessionID")?, event::question(asked)?));
                }
            }
            Fetch::Sessions => {
                for session in list()? {
                    if let Some(reverted) = Reverted::of(session)
                        && strategies.history.loads_reverted()
                    {
                        self.reverted.insert(event::text(session, "id")?, reverted);
                    }
                    if let Some(parent) = session["parentID"].as_str() {
                        self.parents.push((event::text(session, "id")?, parent.to_owned()));
                    }
                }
            }
        }
        Ok(())
    }

    /// Do the events of this task wait? One that has begun meanwhile has missed nothing; whose a session is that nobody
    /// knows is not known yet.
    pub(super) fn concerns(&self, task: Option<&str>) -> bool {
        task.is_none_or(|task| self.tasks.contains(task))
    }

    /// Why a task can't be shown anew.
    fn missing_for(&self, task_id: &str) -> Option<&str> {
        let own = self.missing.get(&Some(task_id.to_owned()));
        own.or_else(|| self.missing.get(&None)).map(String::as_str)
    }

    /// What was fetched of a task; a session that the server does not list is idle.
    fn of(&mut self, (task_id, task): (&str, &Task), family: &Family, strategies: &Strategies) -> Fetched {
        let session = task.session_id();
        let asking = &strategies.asking;
        let is_ours = |by: &str| {
            let asks_for_children = asking.asks_for_children() && asking.loads_children();
            let is_childs = || asks_for_children && family.line_of(by).contains(&session);
            by == session || is_childs() || asking.asks_for_all()
        };
        let absent_is_idle = strategies.turns.absent_is_idle();
        let status = self.status.get(session).copied();
        Fetched {
            timeline: self.timelines.remove(task_id).unwrap_or_else(|| Timeline::new(task_id)),
            todos: self.todos.remove(task_id).unwrap_or_default(),
            diff: self.diffs.remove(task_id),
            reverted: self.reverted.remove(session),
            status: if absent_is_idle { Some(status.unwrap_or_default()) } else { status },
            permissions: self
                .permissions
                .iter()
                .filter(|(by, _)| is_ours(by))
                .map(|(_, p)| p.clone())
                .collect(),
            questions: self.questions.iter().filter(|(by, _)| is_ours(by)).map(|(_, q)| q.clone()).collect(),
        }
    }
}

impl Core {
    /// Events may have been missed in a folder.
    pub(super) fn on_gap(&mut self, folder: &str, gap: Gap) {
        if gap == Gap::Reconnected {
            let again = self.strategies.asking.answers_again();
            for (folder, path, body) in std::mem::take(&mut self.unconfirmed).into_values().filter(|_| again)
            {
                self.http(&folder, "POST", &path, Some(body));
            }
        }
        if gap == Gap::Reconnected && !self.strategies.features.remembers_holds() {
            self.held.clear();
            self.typed.clear();
            self.counting.clear();
        }
        let Some(channel) = self.channels.get(folder) else { return };
        let is_open = matches!(channel.phase, Phase::Live | Phase::Refreshing(_));
        let in_folder = self.tasks.iter().filter(|(_, task)| task.directory() == folder);
        let tasks = in_folder.map(|(id, _)| id.clone()).collect();
        if is_open {
            self.refresh(folder, gap, tasks);
        }
    }

    /// Of one task it is not known how it is. The others go on; while they are all being fetched, so is this one.
    pub(super) fn on_doubt(&mut self, task_id: &str) {
        // A task that has stopped waits for the person.
        let Some(task) = self.tasks.get(task_id).filter(|task| !task.stale) else { return };
        let folder = task.directory().to_owned();
        match self.channels.get_mut(&folder).map(|channel| &mut channel.phase) {
            Some(Phase::Live) => self.refresh(&folder, Gap::Quiet, vec![task_id.to_owned()]),
            Some(Phase::Refreshing(refresh)) if !refresh.tasks.contains(task_id) => {
                refresh.doubted.insert(task_id.to_owned());
            }
            _ => {}
        }
    }

    /// Fetches these tasks anew.
    fn refresh(&mut self, folder: &str, gap: Gap, tasks: Vec<String>) {
        let tasks = self.strategies.gap.fetched(tasks);
        if tasks.is_empty() || self.strategies.gap.on_gap(gap) == OnGap::Resume {
            return;
        }
        let mut refresh = Refresh::new(gap, tasks.iter().cloned().collect());
        refresh.later = vec![
            ("/session".to_owned(), Fetch::Sessions),
            ("/permission".to_owned(), Fetch::Permissions),
            ("/question".to_owned(), Fetch::Questions),
        ];
        for task in tasks {
            let Some(session) = self.tasks.get(&task).map(Task::session_id) else { continue };
            let messages = self.strategies.gap.asks_for(format!("/session/{session}/message"));
            refresh.later.push((messages, Fetch::Messages(task.clone())));
            refresh.later.push((format!("/session/{session}/todo"), Fetch::Todos(task.clone())));
            if self.strategies.changes.reads_after_gap() {
                refresh.later.push((format!("/session/{session}/diff"), Fetch::Changes(task)));
            }
        }
        refresh.waiting.insert(self.http(folder, "GET", "/session/status", None), Fetch::Status);
        self.set_phase(folder, Phase::Refreshing(Box::new(refresh)));
    }

    fn fetch(&mut self, folder: &str, fetches: Vec<(String, Fetch)>) {
        for (path, fetch) in fetches {
            let main = self.server.as_ref().map_or(folder, |server| server.directory.as_str());
            let place = match fetch {
                Fetch::Permissions | Fetch::Questions => {
                    self.strategies.asking.loads_in(folder, main).to_owned()
                }
                _ => folder.to_owned(),
            };
            let request = self.http(&place, "GET", &path, None);
            if let Some(Phase::Refreshing(refresh)) =
                self.channels.get_mut(folder).map(|channel| &mut channel.phase)
            {
                refresh.waiting.insert(request, fetch);
            }
        }
    }

    /// The answer to a request that a refresh made.
    pub(super) fn fetched(&mut self, request: u64, answer: Result<(u16, String), String>) {
        let strategies = &self.strategies;
        let body = match &answer {
            Ok((200..=299, body)) => Ok(body.as_str()),
            Ok((status, _)) => Err(format!("the server answered {status}")),
            Err(why) => Err(why.clone()),
        };
        let done = self.channels.iter_mut().find_map(|(folder, channel)| {
            let Phase::Refreshing(refresh) = &mut channel.phase else { return None };
            refresh.take(request, body.clone(), strategies).then(|| folder.clone())
        });
        let Some(folder) = done else { return };
        let Some(channel) = self.channels.get_mut(&folder) else { return };
        if let Phase::Refreshing(refresh) = &mut channel.phase
            && !refresh.later.is_empty()
        {
            let later = std::mem::take(&mut refresh.later);
            return self.fetch(&folder, later);
        }
        if let Phase::Refreshing(refresh) = std::mem::replace(&mut channel.phase, Phase::Live) {
            self.rehydrate(*refresh);
        }
        self.pass_fences();
    }

    fn rehydrate(&mut self, mut refresh: Refresh) {
        for (child, parent) in std::mem::take(&mut refresh.parents) {
            self.family.add(child, parent);
        }
        let stream_went_on = refresh.gap == Gap::Quiet;
        // Who began meanwhile has missed nothing.
        let ids: Vec<String> =
            self.tasks.keys().filter(|task| refresh.tasks.contains(*task)).cloned().collect();
        for task_id in &ids {
            let missing = refresh.missing_for(task_id).map(str::to_owned);
            if let Some(why) = missing
                && !self.strategies.gap.shows_a_part()
            {
                self.not_shown(task_id, &why);
                continue;
            }
            let Some(task) = self.tasks.get(task_id) else { continue };
            let mut fetched = refresh.of((task_id, task), &self.family, &self.strategies);
            fetched.permissions.retain(|asked| self.may_ask(asked));
            fetched.permissions =
                self.strategies.asking.after_refresh(fetched.permissions, task.permissions());
            fetched.permissions.retain(|asked| !self.rule_takes(task_id, asked));
            let Some(task) = self.tasks.get_mut(task_id) else { continue };
            let Strategies { deltas, changes, .. } = &self.strategies;
            let update = task.rehydrated(fetched, stream_went_on, &**deltas, &**changes);
            for (session, event) in &refresh.buffered {
                if let Event::Replied(id) | Event::QuestionOver(id) = event
                    && self.family.line_of(session).contains(&task.session_id())
                {
                    task.will_be_replied(id);
                }
            }
            if let Some(update) = update {
                self.tell(update);
            }
        }
        for (session, event) in refresh.buffered {
            self.show(&session, event);
        }
        let patience = self.strategies.turns.patience();
        let settled: Vec<Update> = ids
            .iter()
            .filter_map(|id| {
                self.tasks.get_mut(id).filter(|task| !task.stale).map(|task| task.settle(patience))
            })
            .flatten()
            .collect();
        for update in settled {
            self.tell(update);
        }
        for id in &ids {
            self.copy_is_shown(id);
            self.go_on_editing(id);
        }
        for task in refresh.doubted {
            self.on_doubt(&task);
        }
    }

    /// A task can't be shown anew: one hard error, and nothing more is shown of it until Retry or a reconnect.
    fn not_shown(&mut self, task_id: &str, why: &str) {
        let folder = self.tasks.get_mut(task_id).map(|task| {
            task.stale = true;
            task.directory().to_owned()
        });
        if let Some(folder) = folder.filter(|_| self.strategies.gap.fetches_again(why)) {
            self.start_timer(Timer::Fetch(folder), self.scaled(FETCH_AGAIN_MS));
        }
        self.count("kilo.cli.session.rehydrate_fail_count", None);
        for _ in 0..self.strategies.gap.errors() {
            let message = format!("the conversation could not be loaded again ({why}); retry");
            self.tell(Update::Error { task_id: Some(task_id.to_owned()), message, retry: true });
        }
    }
}
