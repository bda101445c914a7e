//! Which moments of a recording wait for which.
//!
//! A session's moments wait for that session's causes only, so that two sessions may be repeated in another order
//! than the recorded one. What names no session goes with what came before it on its stream. A cause that belongs
//! to no session holds for all of them.

use super::course::{Cause, Course, Moment, What, id_of};
use fixtures::fault_plan::StreamName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Whose moments wait for each other: a session and its sub-agents; everybody, when absent.
pub(super) type Thread = Option<Arc<str>>;

/// Which moments wait for each other.
pub(super) struct Threads {
    /// Session → the session that stands for its thread.
    roots: BTreeMap<String, Arc<str>>,
    parents: BTreeMap<String, String>,
    /// The sessions that a client asked for.
    made: BTreeSet<String>,
    /// The thread of the latest cause.
    latest: Thread,
    /// The thread of what came last on each stream.
    on_stream: HashMap<StreamName, Thread>,
}

impl Threads {
    pub(super) fn new(course: &Course, whats: &[What]) -> Self {
        let mut parents = BTreeMap::new();
        for sent in whats.iter().filter_map(What::sent) {
            if let (Some(session), Some(parent)) = (sent.session(), sent.parent()) {
                parents.insert(session.to_owned(), parent.to_owned());
            }
        }
        let made = course.causes.iter().filter_map(Cause::made).filter_map(|made| id_of(&made)).collect();
        Self { roots: BTreeMap::new(), parents, made, latest: None, on_stream: HashMap::new() }
    }

    pub(super) fn tie(mut self, whats: Vec<What>, course: &Course) -> Vec<Moment> {
        let mut of_causes: Vec<Thread> = vec![None; course.causes.len()];
        let mut moments = Vec::with_capacity(whats.len());
        for what in whats {
            let thread = match &what {
                What::Cause(index) => {
                    let thread = self.of_cause(&course.causes[*index], course);
                    of_causes[*index].clone_from(&thread);
                    self.latest.clone_from(&thread);
                    if thread.is_none() {
                        self.on_stream.clear();
                    }
                    thread
                }
                What::Answer(index) => of_causes[*index].clone(),
                What::Read(_) | What::Opened(_) => None,
                What::Gone { .. } => {
                    self.on_stream.clear();
                    None
                }
                What::Closed(closed) => self.on_stream.get(&closed.audience.stream).cloned().flatten(),
                What::Sent(sent) => {
                    let stream = sent.audience.stream;
                    if let Some(session) = sent.session() {
                        let thread = Some(self.root(session));
                        self.on_stream.insert(stream, thread);
                    }
                    self.on_stream.get(&stream).cloned().flatten()
                }
            };
            moments.push(Moment { thread, at_ms: 0, what });
        }
        moments
    }

    fn of_cause(&mut self, cause: &Cause, course: &Course) -> Thread {
        let asking = cause.asks.question().and_then(|id| course.questions.get(id).cloned());
        let session = asking
            .or_else(|| cause.asks.session().map(str::to_owned))
            .or_else(|| cause.made().as_ref().and_then(id_of));
        session.map(|session| self.root(&session))
    }

    /// The thread of a session: its parent's; its own, when a client asked for it; else that of the cause that
    /// must have led to it.
    fn root(&mut self, session: &str) -> Arc<str> {
        if let Some(root) = self.roots.get(session) {
            return root.clone();
        }
        let parent = self.parents.remove(session);
        let root = match (parent, &self.latest) {
            (Some(parent), _) => self.root(&parent),
            (None, Some(latest)) if !self.made.contains(session) => latest.clone(),
            (None, _) => Arc::from(session),
        };
        self.roots.insert(session.to_owned(), root.clone());
        root
    }
}
