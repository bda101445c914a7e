//! The stand-in's state, and what happens to it: sans-IO.
//!
//! [`World::step`] takes one input and the time, and returns outputs in order. It reads no clock, opens no file,
//! knows no socket, no scenario and no recording. Whoever drives it ([`crate::engine`]) performs the effects and
//! brings their results back as inputs.
//!
//! * `routes` — a request → the part of the world that answers it; `entrance` — what happens before.
//! * `session` — sessions, messages and parts, and the JSON that they are on the wire.
//! * `sessions`, `messages` — the routes that make, list, change and delete them.
//! * `fork` — a session's copy (`fork_children`: with the sessions of its tasks); `revert` — a session is taken back, with the files.
//! * `prompt` — what a person sends: at once, or a follow-up; `letter` — what it carries is read.
//! * `command`, `person_line` — commands and lines of the person; `agents` — who can work.
//! * `turn` — from a prompt to idle: one step of the model after the other; `run` — what is known of it meanwhile.
//! * `answer` — the deltas of one answer of the model → parts.
//! * `failure` — answers that do not come, or not whole; `refusal` — what a provider says then; `offline` — a model that is out
//!   of reach is waited for; `abort` — the person ends a turn.
//! * `tools` — what the agent's tools do, one file each.
//! * `permission` — who may do what; `consent` — what a person answers; `rules` — what the rules say.
//! * `ghost` — a session that is deleted while its turn runs; `circles` — the same call again and again; `sandbox` —
//!   whether a session's commands are kept apart.
//! * `around` — the routes about no session, with the files of their own: `files` (and `fuzzy`), `find_lines`, `projects`, `vcs`,
//!   `config` (and `sources`), `accounts`, `mcp`, `signals`, `worktrees`, `market`, `tui_settings`; `instance` — a directory that somebody has named, until it is disposed of.
//! * `next` — sessions, permissions and events as the next generation (`/api/…`) has them.
//! * `apart` — what is asked of a network, of accounts, of others: a stand-in is alone. `memory` — Kilo's, of a project.
//! * `surroundings` — what is asked of the machine for them. `alongside` — what runs or waits beside the turns.
//! * `patch` — two contents → a diff, in each server's spelling; `line_diff`, `git_diff` — which lines are the same.
//! * `summary` — the background jobs: what changed; `title` — the session's title.
//! * `conversation` — what the model is told; `tokens` — what that cost; `history` — what of it counts; `reminders` — what is told beside.
//! * `compaction` — a conversation is summed up (`room`: when it is due; `too_long`: the provider took no more; `in_words`); `prune` — old outputs are forgotten; `subtask` — a prompt gives work to another agent.
//! * `telling` — the envelopes of events; `told_order` — how the fields of what they tell stand. `ids` — ids of the real form; `io` — the vocabulary of inputs and outputs.
//! * `restart` — a server ends, and another one begins over what it has kept; `kept` — the other one is another process.
//! * `start` — what a world starts with; `purpose` — what a result is for; `goal` — the server prompts its own agent.

mod abort;
mod accounts;
mod agent_file;
mod agents;
mod alongside;
mod answer;
mod apart;
mod around;
mod aside;
mod boards;
mod circles;
mod command;
mod commit_words;
mod compaction;
mod config;
mod consent;
mod conversation;
mod customs;
mod effect;
mod entrance;
mod failure;
mod files;
mod find_lines;
mod folders;
mod fork;
mod fork_children;
mod fuzzy;
mod ghost;
mod git_diff;
mod git_renames;
mod goal;
mod history;
mod ids;
mod import;
mod in_words;
mod instance;
mod io;
mod kept;
mod late;
mod letter;
mod line_diff;
mod market;
mod mcp;
mod media;
mod memory;
mod messages;
mod model_usage;
mod models;
mod news;
mod next;
mod offline;
mod own_settings;
mod patch;
mod permission;
mod person_line;
mod planning;
mod projects;
mod prompt;
mod prune;
mod purpose;
mod ranges;
mod recall;
mod refusal;
mod reminders;
mod restart;
mod revert;
mod room;
mod routes;
mod rule_files;
mod rules;
mod run;
mod sandbox;
mod session;
mod sessions;
mod settings_form;
mod signals;
mod skill_lines;
mod sources;
mod start;
mod structured;
mod subtask;
mod summary;
mod surroundings;
mod sync_history;
mod telling;
mod template;
mod terms;
mod title;
mod tokens;
mod told_order;
mod too_long;
pub(crate) mod tools;
mod tui_settings;
mod turn;
mod vcs;
mod words;
mod worktrees;

use crate::doc::Operations;
use crate::profile::Profile;
use crate::project_files::NextFiles;
use crate::workspace::Project;
pub(crate) use config::{configured, merge};
pub use customs::Customs;
pub(crate) use effect::NO_BLOB;
pub use effect::{
    Beside, Chosen, Effect, EffectResult, FileChange, Footing, Found, OnScreen, Page, PageWish, RestoredFile,
    ShellEnd, ShellLine, ShellNews, ShellWish, Sight,
};
use ids::Ids;
pub use io::{
    ApiReply, ApiRequest, EffectId, Event, Input, Knock, ModelFailure, Output, Overlay, Refusal, ReplyBody,
    Subscription, Ticket,
};
pub use kept::Kept;
pub use mcp::{Address, Program, ProgramNews, ToolServer};
pub(crate) use models::{first_choice, is_offered, thinks_in};
use permission::Permissions;
use purpose::Purpose;
pub(crate) use rules::at_home;
pub use rules::matches as fits_pattern;
use serde_json::{Map, Value, json};
use session::Session;
pub(crate) use session::iso_time;
pub(crate) use settings_form::{in_use, of_tools, permissions, whole, whole_agent};
pub use start::WorldConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub use surroundings::{Browsed, MarketFound, MarketWish, PlaceFound, PlaceWish, TuiFound, TuiWish};
pub(crate) use terms::variants;
pub(crate) use tools::place::resolved;
pub use tools::{Formatter, Skill};
pub use worktrees::{Compared, WorktreeFound, WorktreeWish};

/// The state of a stand-in.
#[derive(Debug)]
pub struct World {
    profile: &'static Profile,
    operations: &'static Operations,
    config: WorldConfig,
    ids: Ids,
    now_ms: u64,
    /// By id; ids sort newest first, which is how they are listed.
    sessions: BTreeMap<String, Session>,
    permissions: Permissions,
    /// The questions that wait for the person.
    questions: Vec<tools::OpenQuestion>,
    /// The turns that wait for the network.
    network_waits: Vec<offline::NetworkWait>,
    /// Who can work, in the server's own folder.
    agents: Arc<agents::Agents>,
    /// What holds in other folders, and who works there.
    abroad: customs::AllAbroad,
    /// The directories that somebody has named.
    instances: instance::Instances,
    /// What keeps other directories from having one.
    obstacles: BTreeMap<String, instance::Obstacle>,
    /// The server's own settings have changed, and nobody has looked at them again.
    settings_moved: bool,
    /// What the files of directories say to the next generation.
    next_files: BTreeMap<String, Arc<NextFiles>>,
    /// The programs of their servers of tools.
    links: BTreeMap<EffectId, mcp::Link>,
    /// What is remembered of each directory's project.
    memories: BTreeMap<String, memory::Memory>,
    /// The models that a person likes.
    favorites: Value,
    /// Who may do what in the next generation.
    consents: next::Consents,
    /// The projects that somebody has visited, in order.
    projects: Vec<projects::Project>,
    /// The keys of providers.
    keys: Map<String, Value>,
    /// What clients have set.
    settings: config::Settings,
    /// An instance is being disposed of.
    disposes: bool,
    /// The folders about which files were read for an instance that is no more.
    old_files: BTreeSet<String>,
    /// The folders that are not there, of those that were asked about.
    gone_folders: BTreeSet<String>,
    /// The projects of folders that belong to another one than the server's own.
    other_projects: BTreeMap<String, Project>,
    booted: BTreeSet<String>,
    booted_next: BTreeSet<String>,
    /// The directories where new sessions run their commands in a sandbox.
    sandboxed: BTreeSet<String>,
    /// When the grammar of shell lines is there; it is loaded when the first line comes.
    grammar_from_ms: Option<u64>,
    waiting: BTreeMap<EffectId, Purpose>,
    next_effect: EffectId,
    outputs: Vec<Output>,
    told: sync_history::SyncHistory,
    alongside: alongside::Alongside,
    /// Prompts whose summary is to be read from this time on.
    late_summaries: BTreeMap<String, u64>,
    /// What sessions had changed that are deleted, where a server still tells it.
    left_diffs: BTreeMap<String, Vec<Value>>,
    keeping: kept::Keeping,
}

impl World {
    /// A world without sessions.
    #[must_use]
    pub fn new(profile: &'static Profile, mut config: WorldConfig) -> Self {
        let settings = config.customs.settings.clone();
        let settings = settings_form::in_use(settings_form::whole(settings, profile.server));
        config.customs = Arc::new(Customs { settings, ..(*config.customs).clone() });
        let places = agents::Places::of(&config, &config.project.worktree, &config.customs);
        let agents = agents::Agents::new(profile, config.customs.settings.clone(), places);
        let agents = Arc::new(agents);
        Self {
            profile,
            operations: Operations::of(profile.server),
            ids: Ids::new(config.seed),
            permissions: Permissions::new(profile),
            agents,
            config,
            now_ms: 0,
            sessions: BTreeMap::new(),
            questions: Vec::new(),
            network_waits: Vec::new(),
            instances: instance::Instances::new(),
            obstacles: BTreeMap::new(),
            settings_moved: false,
            next_files: BTreeMap::new(),
            links: BTreeMap::new(),
            memories: BTreeMap::new(),
            favorites: json!([]),
            consents: next::Consents::default(),
            projects: Vec::new(),
            keys: Map::new(),
            settings: config::Settings::default(),
            disposes: false,
            abroad: customs::AllAbroad::new(),
            old_files: BTreeSet::new(),
            gone_folders: BTreeSet::new(),
            other_projects: BTreeMap::new(),
            booted: BTreeSet::new(),
            booted_next: BTreeSet::new(),
            sandboxed: BTreeSet::new(),
            grammar_from_ms: None,
            waiting: BTreeMap::new(),
            next_effect: 1,
            outputs: Vec::new(),
            told: sync_history::SyncHistory::default(),
            alongside: alongside::Alongside::default(),
            late_summaries: BTreeMap::new(),
            left_diffs: BTreeMap::new(),
            keeping: kept::Keeping::default(),
        }
    }

    /// Takes one input at one time; returns what follows from it, in order.
    pub fn step(&mut self, input: Input, now_ms: u64) -> Vec<Output> {
        self.now_ms = now_ms;
        match input {
            Input::Request(request) => self.answer_request(&request),
            Input::Model(effect, delta) => self.model_said(effect, &delta),
            Input::ModelFailed(effect, failure) => self.model_failed(effect, failure),
            Input::Done(effect, result) => self.effect_done(effect, result),
            Input::Shell(effect, news) => self.shell_told(effect, news),
            Input::Forget => self.forget(),
            Input::Restart { is_asked } => self.restart(is_asked),
            Input::Program(effect, news) => self.program_told(effect, news),
            Input::Recall(kept) => self.recall(kept),
        }
        self.hand_out();
        std::mem::take(&mut self.outputs)
    }

    /// A heartbeat for one subscriber.
    pub fn heartbeat(&mut self, now_ms: u64) -> Value {
        let id = self.ids.ascending("evt", now_ms);
        json!({"id": id, "type": "server.heartbeat", "properties": {}})
    }

    fn effect_done(&mut self, effect: EffectId, result: EffectResult) {
        let Some(purpose) = self.waiting.remove(&effect) else { return };
        match (purpose, result) {
            (Purpose::StepStart(session), EffectResult::Snapshot(tree)) => self.step_started(&session, &tree),
            (Purpose::StepEnd(session), EffectResult::Snapshot(tree)) => self.step_ended(&session, &tree),
            (Purpose::StepChanges(session), EffectResult::Changes(changes)) => {
                self.step_changed(&session, &changes);
            }
            (Purpose::NextStep(session), EffectResult::Snapshot(tree)) => {
                self.step_next_began(&session, &tree)
            }
            (Purpose::NextRevert(ticket, session, message), EffectResult::Snapshot(tree)) => {
                self.staged(ticket, &session, &message, &tree);
            }
            (Purpose::CutTree(rest), EffectResult::Snapshot(tree)) => self.cut_tree(*rest, tree),
            (Purpose::CutChanges(rest), EffectResult::Changes(changes)) => self.cut_changes(*rest, &changes),
            (Purpose::Retry(session), EffectResult::Waited) => self.retry(&session),
            (Purpose::AsideAgain(aside), EffectResult::Waited) => self.ask_aside_again(*aside),
            (Purpose::WordsLate(ticket), EffectResult::Waited) => self.words_late(ticket),
            (Purpose::Alongside(due), EffectResult::Waited) => self.alongside_due(&due),
            (Purpose::GoalRest(session), EffectResult::Waited) => self.goal_goes_on(&session),
            (Purpose::ToolPatience(server, request), EffectResult::Waited) => {
                self.patience_over(server, request);
            }
            (Purpose::TaskStart(session, call), EffectResult::Yielded) => self.begin_task(&session, call),
            (Purpose::CallStart(session, call), EffectResult::Yielded | EffectResult::Waited) => {
                self.begin_call(&session, call);
            }
            (Purpose::Late(session, message), EffectResult::Waited) => self.looked_late(&session, &message),
            (Purpose::AnswerEnd(session, message, finish), EffectResult::Yielded) => {
                self.answer_ended(&session, &message, finish);
            }
            (Purpose::CallRead(session, call), EffectResult::Read(found)) => {
                self.call_read(&session, call, found);
            }
            (Purpose::CallStudied(session, call), EffectResult::Studied(sight)) => {
                self.call_studied(&session, call, *sight);
            }
            (Purpose::CallLooked(session, call), EffectResult::Looked(looked)) => {
                self.shell_looked(&session, call, &looked);
            }
            (Purpose::CallFetched(session, call), EffectResult::Fetched(got)) => {
                self.call_fetched(&session, call, got);
            }
            (Purpose::News(ticket), EffectResult::Fetched(got)) => self.news_came(ticket, got),
            (Purpose::WrittenLate(session, plan), EffectResult::Written(done)) => {
                self.written_late(&session, plan, &done);
            }
            (Purpose::CallWritten(session, call), EffectResult::Written(done)) => {
                self.call_written(&session, call, done);
            }
            (Purpose::OutputKept, EffectResult::Written(_)) => {}
            (Purpose::RuleKept, EffectResult::Yielded) => {
                self.emit_global("global.config.updated", json!({"sandbox": false}));
            }
            (Purpose::Letter(letter), EffectResult::Read(found)) => self.letter_looked(*letter, found),
            (Purpose::CommandName(of), EffectResult::Read(found)) => self.name_looked_up(*of, found),
            (Purpose::Place(ask), EffectResult::Place(found)) => self.place_told(*ask, found),
            (Purpose::Folder(request), EffectResult::Ground(footing, project)) => {
                self.folder_looked(&request, footing, project.map(|project| *project));
            }
            (Purpose::Worktree(begun), EffectResult::Ground(footing, project)) => {
                self.worktree_filled(*begun, footing, project.map(|project| *project));
            }
            (Purpose::Project(request), EffectResult::Project(files)) => self.learn(&files, &request),
            (Purpose::NextFiles(directory, request), EffectResult::NextFiles(files)) => {
                self.next_learns(&directory, request.as_deref(), files);
            }
            (Purpose::Rewind(rewind), result) => self.rewound(*rewind, result),
            (Purpose::JobSession(job), EffectResult::Changes(changes)) => self.job_session(job, &changes),
            (Purpose::JobPrompt(job), EffectResult::Changes(changes)) => self.job_prompt(&job, &changes),
            (purpose, result) => debug_assert!(false, "{purpose:?} can't take {result:?}"),
        }
    }

    fn reply(&mut self, ticket: Ticket, status: u16, body: ReplyBody) {
        self.reply_with(ticket, ApiReply { status, headers: Vec::new(), body });
    }

    fn reply_with(&mut self, ticket: Ticket, reply: ApiReply) {
        self.outputs.push(Output::Reply(ticket, reply));
    }

    fn reply_json(&mut self, ticket: Ticket, body: Value) {
        self.reply(ticket, 200, ReplyBody::Json(body));
    }
}
