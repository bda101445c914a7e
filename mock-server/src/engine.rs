//! Drives a world: performs its effects in order, and turns its outputs into bytes.
//!
//! Everything waits in one queue, first in, first out. So what a request leads to happens in one order, the same
//! each time, and a session's files, model and rules can't overtake each other.

mod asking;
mod coming;
mod effects;
#[cfg(test)]
mod person;
mod replies;
pub(crate) mod store;

use crate::exhibits::Exhibits;
use crate::frames::{COMMENT, frame, global_beat, open, send, send_next};
use crate::model::{Beat, ModelNews, Reading, Report, Script};
use crate::performer::{Act, Asked, Audience, Frame, Gate, Performer, WireReply};
use crate::profile::Profile;
use crate::project_files::Elsewhere;
use crate::workspace::{Grounds, Workspace};
use crate::world::{
    ApiRequest, Effect, EffectId, EffectResult, Input, ModelFailure, Output, Page, ProgramNews, ShellNews,
    World, WorldConfig,
};
use bytes::Bytes;
use fixtures::catalog;
use fixtures::fault_plan::{During, StreamName};
use fixtures::scenario::{BreakOff, Ending};
use replies::wire_reply;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use store::Store;

/// A world with the folders in which its agents work, and its model.
#[derive(Debug)]
pub struct Engine {
    profile: &'static Profile,
    world: World,
    grounds: Grounds,
    mind: Mind,
    pages: Pages,
    model_calls: u64,
    open_gates: BTreeSet<String>,
    held: Vec<Held>,
    /// What is known of answers that a script gives byte by byte.
    read: BTreeMap<EffectId, Reading>,
    /// The answers of a remote model that are under way.
    answering: BTreeSet<EffectId>,
    /// Calls that may begin when the answer that has them is over, or after a moment; each with its answer.
    delayed: BTreeMap<EffectId, EffectId>,
    /// What is done when a moment is over.
    paused: BTreeMap<EffectId, Effect>,
    /// Prompts with which it has not begun yet, and how many there have been.
    coming: BTreeMap<u64, ApiRequest>,
    prompts: u64,
    model_pause_ms: u64,
    /// Where the server keeps what it is told to keep, and finds settings.
    elsewhere: Elsewhere,
    /// What of that outlives this process.
    store: Option<Store>,
    /// Somebody has asked for the events of the next generation.
    next_listens: bool,
    /// It stops behind each step that tells of events.
    takes_steps: bool,
    /// What it has stopped before.
    left: VecDeque<Input>,
}

/// Who plays the agent's part.
#[derive(Debug, Clone)]
pub enum Mind {
    /// The scripted model, in this process.
    Script(Box<Script>),
    /// The model at this address; whoever drives the engine asks it. A call begins when the answer that it stands in
    /// is over, or after so long.
    Remote {
        /// Its address.
        url: String,
        /// How long a call waits.
        call_wait_ms: u64,
    },
}

/// What a release answers byte for byte.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// The release whose `/doc` and web page are sent.
    pub release: Option<String>,
    /// What it says about itself.
    pub exhibits: Exhibits,
}

/// An answer of the model that waits at a gate.
#[derive(Debug)]
struct Held {
    gate: String,
    effect: EffectId,
    rest: VecDeque<Beat>,
}

impl Engine {
    /// A world at its beginning.
    #[must_use]
    pub fn new(profile: &'static Profile, config: WorldConfig, workspace: Workspace, mind: Mind) -> Self {
        Self {
            profile,
            world: World::new(profile, config),
            grounds: Grounds::new(workspace),
            mind,
            pages: Pages::default(),
            model_calls: 0,
            open_gates: BTreeSet::new(),
            held: Vec::new(),
            read: BTreeMap::new(),
            answering: BTreeSet::new(),
            delayed: BTreeMap::new(),
            paused: BTreeMap::new(),
            coming: BTreeMap::new(),
            prompts: 0,
            model_pause_ms: 0,
            elsewhere: Elsewhere::default(),
            store: None,
            next_listens: false,
            takes_steps: false,
            left: VecDeque::new(),
        }
    }

    /// Keeps what the server is told to keep in this home, and reads the settings that lie there.
    #[must_use]
    pub fn with_elsewhere(self, elsewhere: Elsewhere) -> Self {
        Self { elsewhere, ..self }
    }

    /// The model takes so long before it begins to answer, and the server before it begins with a prompt.
    #[must_use]
    pub fn with_model_pause(self, model_pause_ms: u64) -> Self {
        Self { model_pause_ms, ..self }
    }

    /// Answers with these bytes.
    #[must_use]
    pub fn with_pages(self, pages: Pages) -> Self {
        Self { pages, ..self }
    }

    /// The model says what it says up to the next closed gate.
    fn play(&mut self, effect: EffectId, mut beats: VecDeque<Beat>, queue: &mut VecDeque<Input>) {
        while let Some(beat) = beats.pop_front() {
            match beat {
                Beat::Delta(delta) => queue.push_back(Input::Model(effect, delta)),
                Beat::Gate(name) if self.open_gates.contains(&name) => {}
                Beat::Gate(gate) => {
                    self.held.push(Held { gate, effect, rest: beats });
                    return;
                }
                Beat::Raw(bytes) => {
                    let mut is_over = false;
                    self.read.entry(effect).or_default().bytes(bytes.as_bytes(), &mut |news| {
                        is_over |= news.is_the_end();
                        queue.push_back(input(effect, news));
                    });
                    if is_over {
                        self.read.remove(&effect);
                        return;
                    }
                }
                Beat::BreakOff(BreakOff::Stall) => return,
                Beat::BreakOff(BreakOff::Clean) => {
                    let read = self.read.remove(&effect).unwrap_or_default();
                    queue.push_back(input(effect, read.end()));
                }
                Beat::BreakOff(_) => queue.push_back(Input::ModelFailed(effect, ModelFailure::CutOff)),
            }
        }
    }

    /// Takes what has happened, and all that follows from it; step by step, all up to the next events.
    fn settle(&mut self, mut queue: VecDeque<Input>, now: &dyn Fn() -> u64) -> Vec<Act> {
        let mut acts = Vec::new();
        queue.append(&mut self.left);
        while let Some(input) = queue.pop_front() {
            for output in self.world.step(input, now()) {
                match output {
                    Output::Reply(ticket, reply) => {
                        acts.push(Act::Reply(ticket, wire_reply(reply, &self.pages)))
                    }
                    Output::Open(ticket, subscription) => {
                        self.next_listens |= subscription.stream == StreamName::NextEvent;
                        acts.push(open(ticket, subscription));
                    }
                    Output::Event(event) => {
                        acts.extend(send(&event));
                        acts.extend(
                            self.next_listens.then(|| send_next(&event, self.profile.server)).flatten(),
                        );
                    }
                    Output::SessionEvent(session, event) => {
                        let directory = Some(Arc::from(session));
                        let to = Audience { stream: StreamName::SessionEvent, directory };
                        acts.push(Act::Send(to, frame(&event)));
                    }
                    Output::Close(directory) => acts.push(Act::Close(Audience {
                        stream: StreamName::Event,
                        directory: Some(Arc::from(directory)),
                    })),
                    Output::Drop(effect) => {
                        self.held.retain(|held| held.effect != effect);
                        self.answering.remove(&effect);
                        self.paused.remove(&effect);
                        acts.push(Act::EndRun(effect));
                    }
                    Output::HangUp { politely } => acts.push(Act::HangUp { politely }),
                    Output::Tell(program, line) => acts.push(Act::Tell(program, line)),
                    Output::Draw(terminal, rows, columns) => acts.push(Act::Draw(terminal, rows, columns)),
                    Output::Keep(kept) => acts.extend(self.keep(&kept)),
                    Output::Effect(id, effect) => self.perform(id, effect, now(), &mut queue, &mut acts),
                }
            }
            if self.takes_steps && acts.iter().any(|act| matches!(act, Act::Send(..))) {
                break;
            }
        }
        self.left = queue;
        acts
    }
}

impl Performer for Engine {
    fn take(&mut self, request: ApiRequest, now: &dyn Fn() -> u64) -> Vec<Act> {
        if (request.method.as_str(), request.path.as_str()) == ("GET", "/doc")
            && let Some(doc) = self.pages.release.as_deref().and_then(catalog::doc)
        {
            let content_type = Some("application/json".to_owned());
            let reply = WireReply::new(200, content_type, Bytes::from_static(doc));
            return vec![Act::Reply(request.ticket, reply)];
        }
        let mut acts = self.recalled(now);
        acts.extend(self.take_in_time(request, now));
        acts
    }

    fn take_steps(&mut self, steps: bool) {
        self.takes_steps = steps;
    }

    fn go_on(&mut self, now: &dyn Fn() -> u64) -> Option<Vec<Act>> {
        (!self.left.is_empty()).then(|| self.settle(VecDeque::new(), now))
    }

    fn open_gate(&mut self, name: &str, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.open_gates.insert(name.to_owned());
        let mut queue = VecDeque::new();
        let (freed, held) = std::mem::take(&mut self.held).into_iter().partition(|held| held.gate == name);
        self.held = held;
        let freed: Vec<Held> = freed;
        for Held { effect, rest, .. } in freed {
            self.play(effect, rest, &mut queue);
        }
        self.settle(queue, now)
    }

    fn gate(&self, name: &str) -> Gate {
        if self.open_gates.contains(name) {
            Gate::Open
        } else if self.held.iter().any(|held| held.gate == name) {
            Gate::Waits
        } else {
            Gate::Closed
        }
    }

    fn restart(&mut self, ending: Ending, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.next_listens = false;
        self.left.clear();
        self.settle(VecDeque::from([Input::Restart { is_asked: ending == Ending::Term }]), now)
    }

    fn forget(&mut self, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.next_listens = false;
        self.left.clear();
        self.settle(VecDeque::from([Input::Forget]), now)
    }

    fn holds(&self, during: During) -> bool {
        self.world.holds(during)
    }

    fn asks(&self) -> Vec<Asked> {
        self.world.asks()
    }

    fn lines_begin_by(&self) -> Option<u64> {
        self.world.lines_begin_by()
    }

    fn report(&self) -> Report {
        match &self.mind {
            Mind::Script(script) => script.report(),
            Mind::Remote { .. } => Report::default(),
        }
    }

    fn wake_at(&mut self, effect: u64, now: &dyn Fn() -> u64) -> Vec<Act> {
        if let Some(acts) = self.moment_over(effect, now).or_else(|| self.pause_over(effect, now)) {
            return acts;
        }
        // A call that has begun meanwhile is known to the world no more under this number.
        let result =
            if self.delayed.remove(&effect).is_some() { EffectResult::Yielded } else { EffectResult::Waited };
        self.settle(VecDeque::from([Input::Done(effect, result)]), now)
    }

    fn shell_says(&mut self, effect: u64, news: ShellNews, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.settle(VecDeque::from([Input::Shell(effect, news)]), now)
    }

    fn program_says(&mut self, effect: u64, news: ProgramNews, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.settle(VecDeque::from([Input::Program(effect, news)]), now)
    }

    fn model_says(&mut self, effect: u64, news: Vec<ModelNews>, now: &dyn Fn() -> u64) -> Vec<Act> {
        let is_the_end = news.iter().any(ModelNews::is_the_end);
        let mut queue: VecDeque<Input> = news.into_iter().map(|news| input(effect, news)).collect();
        if is_the_end {
            self.answering.remove(&effect);
            let begun = self.delayed.extract_if(.., |_, answer| *answer == effect);
            queue.extend(begun.map(|(call, _)| Input::Done(call, EffectResult::Yielded)));
        }
        self.settle(queue, now)
    }

    fn fetched(&mut self, effect: u64, got: Result<Page, String>, now: &dyn Fn() -> u64) -> Vec<Act> {
        self.settle(VecDeque::from([Input::Done(effect, EffectResult::Fetched(got))]), now)
    }

    fn heartbeat(&mut self, stream: StreamName, now: &dyn Fn() -> u64) -> Frame {
        let event = self.world.heartbeat(now());
        match stream {
            StreamName::Event => frame(&event),
            StreamName::GlobalEvent => global_beat(&event),
            StreamName::NextEvent | StreamName::SessionEvent => {
                Frame { kind: Arc::from("server.heartbeat"), bytes: Bytes::from_static(COMMENT.as_bytes()) }
            }
        }
    }
}

fn input(effect: EffectId, news: ModelNews) -> Input {
    match news {
        ModelNews::Delta(delta) => Input::Model(effect, delta),
        ModelNews::Failed(failure) => Input::ModelFailed(effect, failure),
    }
}
