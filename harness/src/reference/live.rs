//! What an event of the stream does.

use super::channel::Phase;
use super::core::Core;
use super::event::{self, Event, Read};
use super::io::Output;
use super::strategy::showing::session_of;
use super::strategy::{Gap, OnUnknown};
use super::task::Task;
use super::turn::News;
use crate::protocol::{LogLevel, Permission, Update};
use serde_json::Value;

impl Core {
    pub(super) fn stream_event(&mut self, folder: &str, data: &str) {
        self.stream_live(folder);
        let parsed: Result<Value, String> =
            serde_json::from_str(data).map_err(|error| format!("bad JSON: {error}"));
        let Some(channel) = self.channels.get_mut(folder) else { return };
        if let Ok(value) = &parsed
            && self.strategies.seen.is_seen(value["id"].as_str(), data, &mut channel.latest)
        {
            return;
        }
        let parsed = parsed.map(|value| self.strategies.unknown.read_as(value));
        let read = parsed.and_then(|value| event::read(&value).map(|read| (value, read)));
        let read = read.and_then(|(value, read)| self.belongs(&value, &read).map(|()| (value, read)));
        match read {
            Ok((value, Read::Event(event))) => {
                for session in self.listeners(&value) {
                    self.session_event(folder, &session, event.clone());
                }
            }
            Ok((_, Read::Ignored)) => {}
            Ok((value, Read::Unknown(kind))) => self.unknown(&value, &kind, data),
            Err(why) => {
                let payload = self.strategies.telling.payload(data);
                self.log(LogLevel::Warn, format!("an event could not be read: {why}; {payload}"), None);
                self.on_gap(folder, Gap::UnreadableEvent);
            }
        }
    }

    /// The sessions that get an event.
    fn listeners(&self, value: &Value) -> Vec<String> {
        let ours: Vec<&str> = self.tasks.values().map(Task::session_id).collect();
        self.strategies.routing.sessions_of(value, &ours)
    }

    /// An event that can't be true was mixed up on its way.
    fn belongs(&self, value: &Value, read: &Read) -> Result<(), String> {
        let Read::Event(event) = read else { return Ok(()) };
        let routing = &self.strategies.routing;
        let Some(session) = session_of(value) else {
            let is_of_all = matches!(event, Event::Failed(_));
            return if is_of_all || !routing.needs_session() {
                Ok(())
            } else {
                Err("field `sessionID` is missing".to_owned())
            };
        };
        let properties = &value["properties"];
        let inner = [&properties["part"]["sessionID"], &properties["info"]["sessionID"]];
        let message = [&properties["messageID"], &properties["part"]["messageID"], &properties["info"]["id"]];
        let message = message.into_iter().find_map(Value::as_str).unwrap_or_default();
        let foreign = |task: &Task| task.session_id() != session && task.timeline().knows(message);
        let is_mixed_up = inner.into_iter().filter_map(Value::as_str).any(|inner| inner != session)
            || self.tasks.values().any(foreign);
        if is_mixed_up && routing.knows_owners() {
            return Err(format!("it names {session} and speaks of another session"));
        }
        Ok(())
    }

    fn session_event(&mut self, folder: &str, session: &str, event: Event) {
        if let Event::Session { parent: Some(parent), .. } = &event {
            self.family.add(session.to_owned(), parent.clone());
        }
        let holds = self.strategies.gap.holds_events();
        let task = self.task_of(session).map(|(task, _)| task);
        let Some(channel) = self.channels.get_mut(folder) else { return };
        match &mut channel.phase {
            Phase::Refreshing(refresh) if holds && refresh.concerns(task.as_deref()) => {
                refresh.buffered.push((session.to_owned(), event));
            }
            Phase::Live | Phase::Refreshing(_) => self.show(session, event),
            Phase::Off | Phase::Opening | Phase::Waiting => {}
        }
    }

    /// Applies an event to the task that it belongs to; one of a session without a task is nobody's.
    pub(super) fn show(&mut self, session: &str, event: Event) {
        if let Event::Replied(id) = &event {
            self.unconfirmed.remove(id);
        }
        let Some((task_id, of_child)) = self.task_of(session) else { return };
        if let Event::Asked(asked) = &event
            && (!self.may_ask(asked) || self.rule_takes(&task_id, asked))
        {
            return;
        }
        let (now, follows) = (self.now_ms, self.strategies.gap.follows_stale());
        let Some(task) = self.tasks.get_mut(&task_id).filter(|task| follows || !task.stale) else { return };
        task.heard_ms = now;
        let News { updates, doubt } = task.apply(event, of_child, &self.strategies);
        for update in updates {
            self.tell(update);
        }
        if doubt {
            self.on_doubt(&task_id);
        }
        self.go_on_editing(&task_id);
    }

    /// Is this for the person, or a rule, to decide?
    pub(super) fn may_ask(&self, asked: &Permission) -> bool {
        let asking = &self.strategies.asking;
        (self.settings.tools || asking.asks_without_tools()) && asking.asks_for_kind(&asked.permission)
    }

    /// The task of a session, and whether it is only the task's agent's agent.
    pub(super) fn task_of(&self, session: &str) -> Option<(String, bool)> {
        let own = |session: &str| {
            self.tasks.iter().find(|(_, task)| task.session_id() == session).map(|(id, _)| id.clone())
        };
        let line = self.family.line_of(session);
        let line = if self.strategies.asking.asks_for_children() { &line[..] } else { &line[..1] };
        line.iter().enumerate().find_map(|(depth, session)| Some((own(session)?, depth > 0)))
    }

    fn unknown(&mut self, value: &Value, kind: &str, data: &str) {
        // The type is the server's text: a strange one must not flood the log.
        let kind: String = kind.chars().take(64).collect();
        let task = session_of(value).and_then(|session| self.task_of(session)).map(|(task, _)| task);
        let decided = self.strategies.unknown.on_unknown(&kind);
        if decided != OnUnknown::Ignore {
            self.count("kilo.cli.adapter.unknown_event_type", None);
            let payload = self.strategies.telling.payload(data);
            self.log(LogLevel::Debug, format!("unknown event type {kind:?}, {payload}"), task.as_deref());
        }
        match decided {
            OnUnknown::Die => self.out.push(Output::Exit),
            OnUnknown::Show => {
                let (message_id, part_id) = (kind.clone(), kind.clone());
                let task_id = task.clone().or_else(|| self.tasks.keys().next().cloned()).unwrap_or_default();
                self.tell(Update::AssistantDelta { task_id, message_id, part_id, delta: data.to_owned() });
            }
            OnUnknown::Count | OnUnknown::Ignore => {}
        }
        let Some(task_id) = task else { return };
        let unknown = &self.strategies.unknown;
        let (closed, always) = (unknown.fails_closed(), unknown.fails_always());
        let minds_tools = unknown.minds_tools();
        let Some(task) = self.tasks.get(&task_id).filter(|task| !task.stale) else { return };
        if !(always || (closed && task.is_delicate(minds_tools))) {
            return;
        }
        let of = |is_wanted: &dyn Fn(&Task) -> bool| -> Vec<String> {
            let wanted = self.tasks.iter().filter(|(_, task)| is_wanted(task));
            wanted.map(|(id, _)| id.clone()).collect()
        };
        let (delicate, all) = (of(&|task| task.is_delicate(minds_tools)), of(&|_| true));
        for task_id in self.strategies.unknown.closed(task_id, delicate, all) {
            if let Some(task) = self.tasks.get_mut(&task_id) {
                task.stale = true;
            }
            let message = format!("the server said {kind:?}, which is not understood; retry");
            self.tell(Update::Error { task_id: Some(task_id), message, retry: true });
        }
    }
}
