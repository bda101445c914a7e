//! What differs between the servers that the stand-in can be. The world asks the profile; it never asks "which
//! server am I?".

mod kilo;
mod opencode;

use fixtures::ServerKind;
use serde_json::{Value, json};

/// One release of one server, as data.
#[derive(Debug)]
pub struct Profile {
    /// The family.
    pub server: ServerKind,
    /// The release.
    pub version: &'static str,
    /// The name of the agent that works by default.
    pub agent: &'static str,
    /// `sync` twins are sent on `/event` too (they always are on `/global/event`).
    pub sync_on_event: bool,
    /// A turn is framed by `session.turn.open` and `session.turn.close`; an abort is told by
    /// `session.drain.interrupted`, too.
    pub turn_events: bool,
    /// When the model is asked for a title.
    pub title: TitleTiming,
    /// The session's own summary counts its changes (else it stays at zero, and `session.diff` is empty).
    pub session_summary: bool,
    /// So long after the end of a turn, in milliseconds, who reads a prompt finds no summary that came with the end.
    pub last_summary_ms: u64,
    /// How the diffs of summaries are written.
    pub diff_style: DiffStyle,
    /// Tool parts tell who allowed them, and show their output while they run.
    pub tool_progress: bool,
    /// A write's question and result carry a `filediff` beside the `diff`.
    pub file_diffs: bool,
    /// `step-finish` parts carry `metrics` and `time`.
    pub step_metrics: bool,
    /// The prompt that the model sees ends in an `<environment_details>` text.
    pub environment_details: bool,
    /// A step that says nothing and calls tools is told to the model with `null`, not with an empty text.
    pub wordless_is_null: bool,
    /// Whatever an agent's own prompt is, it is told first that it is a coding agent; but for who writes titles.
    pub introduces_all: bool,
    /// A permission given for always is written to the configuration, and that is told.
    pub keeps_rules: bool,
    /// A missing file is looked for in its folder: rules are about the folder, and there is none to ask about when
    /// the folder is missing too.
    pub asks_for_folder_of_missing: bool,
    /// Who reads a missing file is told the names that are near its own.
    pub names_near_files: bool,
    /// A call that needs nothing from outside ends before the text that was said before it.
    pub quick_calls_end_first: bool,
    /// The host of a page that is fetched is spelled as it is looked for.
    pub spells_hosts: bool,
    /// Kinds of images that are fetched for nobody.
    pub refused_images: &'static [&'static str],
    /// Who asks for fewer lines of a file or entries of a folder gets so many.
    pub least_lines: usize,
    /// Notebooks are read by their cells.
    pub reads_notebooks: bool,
    /// What is read is shown with its resolved path, not with the one that the call gave.
    pub shows_resolved_paths: bool,
    /// What becomes of a prompt that is sent while a turn runs.
    pub follow_ups: FollowUps,
    /// The person is told when an answer got too long.
    pub warns_of_length: bool,
    /// An answer that says that it calls tools, and calls none, is the last of its turn.
    pub empty_calls_end: bool,
    /// A prompt that is said again, under its own id, has its answer already.
    pub answers_once: bool,
    /// As whom the model is told that its agent may take no more steps.
    pub ends_steps_as: &'static str,
    /// Terminals are there for both generations, outlive their instance, and begin as large as somebody wants them.
    pub shares_terminals: bool,
    /// A picture may be at an address.
    pub pictures_at_addresses: bool,
    /// A terminal with a shell that is asked for begins as at a login, as one with the usual shell does.
    pub logs_in_to_shells: bool,
    /// The list of open questions tells whether each blocks the session.
    pub lists_blocking: bool,
    /// A prompt dismisses the questions that are open in its session; while one waits, none is asked.
    pub prompts_dismiss: bool,
    /// What a person allows for always answers what all sessions of the folder ask, by all rules (else what its own
    /// session asks, by what was allowed for always).
    pub always_answers_all: bool,
    /// Who works for another agent goes on when the person says no.
    pub rejected_children_go_on: bool,
    /// That the provider withholds the rest of an answer is told with the end of its step already.
    pub tells_filters_early: bool,
    /// The turn of a session that is deleted meanwhile ends as soon as something of it can't be kept (else with its step).
    pub lost_parts_end_turns: bool,
    /// What a provider says in place of an answer is read with care: a number in its words is no status, and an error
    /// without a kind is one of the provider's interface.
    pub strict_about_refusals: bool,
    /// An answer of the model that breaks off is asked for again even when some of it has come.
    pub retries_begun_answers: bool,
    /// The `finish` of an answer that ends without saying why.
    pub unfinished: &'static str,
    /// After such an answer the model is asked for a further step.
    pub unfinished_goes_on: bool,
    /// The next prompt takes away the message of a turn that failed before it said anything.
    pub removes_empty_failures: bool,
    /// A prompt that names no agent goes to the one that works in the session (else to the default one); so it is
    /// with the variant of its model.
    pub prompts_keep_agent: bool,
    /// The tools that a prompt switches on and off are added to the session's rules (else they replace them).
    pub tool_switches_add: bool,
    /// A part that belongs to no message is taken, and forgotten (else it is a mistake of the server).
    pub forgives_lost_parts: bool,
    /// A fork goes on with the model of what it was forked from.
    pub forks_keep_model: bool,
    /// What a fork takes over is told to have cost nothing.
    pub forks_are_free: bool,
    /// The sessions in which a session's tasks were done are copied with it.
    pub forks_copy_children: bool,
    /// A fork is made in the directory that its request names (else where the session is that it is made of).
    pub forks_elsewhere: bool,
    /// A fork is told whether its commands run in a sandbox.
    pub tells_sandbox: bool,
    /// Who reverts or unreverts puts back the files that the agent changed, and tells of it (else the whole folder).
    pub restores_only_changed: bool,
    /// Who reads a file's bytes may say in the query which one.
    pub reads_path_of_query: bool,
    /// Agents whose own rules no other rule can lift.
    pub strict_agents: &'static [&'static str],
    /// A question that the person dismisses ends its call well (else in an error); the turn ends in either case.
    pub dismissal_completes: bool,
    /// An instance that ends dismisses what is asked in it.
    pub disposal_dismisses: bool,
    /// A list of what is to be done is told before its call is told to run.
    pub todos_before_running: bool,
    /// Who writes that list is told what has changed in it.
    pub shows_todo_changes: bool,
    /// Who is asked to end ends its turns first, and tells of it.
    pub says_goodbye: bool,
    /// A server of tools may be started in a folder of its own.
    pub servers_have_folders: bool,
    /// A model that is given patches writes no whole files.
    pub patches_write: bool,
    /// From the second shell line on the person is asked before the call is told to run.
    pub quick_shell: bool,
    /// The question about a shell line, and its result, tell the agent's description of it; letters that could be
    /// taken for the shell's own are hidden in what rules are about.
    pub describes_shell: bool,
    /// Another name by which the settings may call an agent of the release, and its own.
    pub other_name: Option<(&'static str, &'static str)>,
    /// All that there is to tell of an agent, in the order in which it is told.
    pub agent_keys: &'static [&'static str],
    /// All that there is to tell of a command of the settings, in the order in which it is told.
    pub command_keys: &'static [&'static str],
    /// Where the rules of the settings stand among those of an agent of the release, if not behind them.
    pub settings_places: &'static [(&'static str, SettingsPlace)],
    /// An agent that a person chooses can't be given work by another.
    pub refuses_primary: bool,
    /// A session of such an agent is told apart: it has a fixed list of rules, its sandbox is told, and its prompt says
    /// which tools are taken away; the call is told to run before any of it.
    pub subagent_rules: bool,
    /// What another agent costs is charged to the message that gave it work.
    pub charges_giver: bool,
    /// What a person allows for always does not lift a narrower rule that asks; a refusal names the one rule that
    /// decided (else all that are about the permission).
    pub keeps_narrow_questions: bool,
    /// Searches take options: lines around, a limit, letters as they stand, any case; and a pattern may be absolute.
    pub search_options: bool,
    /// A skill that the server comes with has no files beside it.
    pub own_skills_stand_alone: bool,
    /// A search for lines in one file searches it alone, not all of its folder.
    pub searches_one_file: bool,
    /// An agent that follows another one in a session is told so.
    pub tells_agent_changes: bool,
    /// What the agent that only plans is told.
    pub plan: PlanWords,
    /// Pictures that a prompt carries get their ids first; a file that can't be read is told, and the prompt goes on.
    pub names_pictures_first: bool,
    /// How many of the latest prompts a summary may leave as they are; all that fit when absent.
    pub tail_turns: Option<usize>,
    /// What a model has thought takes of its room, even where the model tells a sum without it.
    pub thoughts_take_room: bool,
    /// A longer patch, in bytes, is told to listeners and read as none.
    pub patch_read_max: Option<usize>,
    /// A prompt that leaves no room for its answer is sent again behind the summary.
    pub replays_prompts: bool,
    /// The words of a command are kept with its name; unknown ones are told with the client's own, sorted.
    pub names_commands: bool,
    /// A turn that is aborted is told to be idle before the other agents that work for it are done.
    pub children_end_late: bool,
    /// What is told of arguments that a tool can't take.
    pub misuse: MisuseWords,
    /// When an instance tells about its plugins.
    pub boot: BootTiming,
    /// The plugins that it tells about, in order.
    pub plugins: &'static [&'static str],
    /// The plugin behind which it already tells that there are models; all of them are there after the last one.
    pub catalog_behind: Option<&'static str>,
    /// The other events of the boot, before the plugins.
    pub boot_first: fn() -> Vec<(&'static str, Value)>,
    /// The tools offered to the model, in order.
    pub tools: &'static [&'static str],
    /// Who gives or takes away a provider's key ends all instances.
    pub keys_dispose: bool,
    /// Every provider that was given something is told as connected, be it of use or not.
    pub keys_connect: bool,
    /// A command for the terminal that has no meaning is passed on without a name.
    pub unknown_commands_pass: bool,
    /// Where a project's settings are written, relative to its directory.
    pub project_config: &'static str,
    /// They are read there, too, and changes of settings are told.
    pub reads_project_config: bool,
    /// In a folder that its repository does not have there are no agents: neither lists nor prompts are answered.
    pub agents_need_folder: bool,
    /// Each change to the server's own settings is asked about, whatever the rules say.
    pub asks_about_own_settings: bool,
    /// Of the prompts whose work is left undone the first has its turn, and not the last.
    pub oldest_errand_first: bool,
    /// No step begins in a folder that is not there.
    pub steps_need_folder: bool,
    /// The files of a workspace that hold settings, the later ones counting more.
    pub project_settings: &'static [&'static str],
    /// The folders of a workspace that hold settings, agents, commands and skills, alike.
    pub settings_folders: &'static [&'static str],
    /// The files of settings there, alike.
    pub folder_settings: &'static [&'static str],
    /// The files that hold settings for the next generation, in a workspace and in those folders, in order.
    pub next_settings: &'static [&'static str],
    /// An instance of the next generation ends with the other one of its directory.
    pub next_ends: bool,
    /// What the server lets git ignore there.
    pub settings_ignored: &'static str,
    /// A file of settings that says what can't be understood keeps the instance from beginning (else it is warned of).
    pub stumbles_over_files: bool,
    /// What stands in a workspace is told nothing of the server's environment, and its skills are told not to be trusted.
    pub distrusts_files: bool,
    /// The address of the schema that is written into a file of settings.
    pub config_schema: &'static str,
    /// Of a project, only the directories in which sessions worked are kept before and after a step (else, beside
    /// them, what the project held at first).
    pub snapshots_directory_alone: bool,
    /// What is told of a message says how it is when it is sent: where no state of files has to be kept before a step
    /// is complete, it is told as complete twice.
    pub tells_as_it_is: bool,
    /// Who wants to upgrade to a release has to name one.
    pub upgrades_to_versions: bool,
    /// A session that nobody shares may be unshared (else that fails without a network).
    pub unshares_nothing: bool,
    /// What a request of the next generation leads to by itself is told to those who listen to events, too.
    pub next_tells_requests: bool,
    /// A session of the next generation is created in an instance, which begins with that.
    pub next_creates_in_instance: bool,
    /// There, events tell their time in letters.
    pub next_writes_times: bool,
    /// The model that works in the next generation when nobody says: its provider, its id.
    pub next_model: (&'static str, &'static str),
    /// The header that names a directory.
    pub directory_header: &'static str,
    /// The sites whose pages may talk to the server.
    pub sites: &'static [&'static str],
    /// What an unknown route answers.
    pub unknown_route: UnknownRoute,
}

/// What the agent that only plans is told with its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanWords {
    /// And where its plan is to be written.
    WithFile {
        /// That it is to plan.
        words: &'static str,
        /// The place; `${workspace}`, `${created}` and `${end}` are filled in.
        file: &'static str,
        /// What becomes of the plan.
        end: &'static str,
        /// The same for a client that an agent on stdin and stdout speaks with.
        end_of_agent: &'static str,
    },
    /// And, once another agent works, that planning is over.
    WithEnd {
        /// That it is to plan.
        words: &'static str,
        /// That it is over.
        end: &'static str,
    },
}

/// What is told of arguments that a tool can't take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MisuseWords {
    /// All that is wrong; several such calls in a row end the turn, and an unknown tool is an error.
    All,
    /// The first thing that is wrong; the call of an unknown tool becomes one of another tool, which says so.
    First,
}

/// Where the rules of the settings stand among those of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsPlace {
    /// Nothing is said to it.
    Nowhere,
    /// Behind all of its own.
    Last,
    /// Before the first rule about this permission, and once more.
    TwiceBefore(&'static str),
    /// Before the rules about this permission that end its own.
    BeforeLast {
        /// The permission.
        permission: &'static str,
        /// What the settings forbid stands behind them once more.
        forbids: bool,
    },
    /// It only reads: what the settings say holds for what it is offered, and what it must never do is said again.
    Guarded {
        /// It writes plans, so of the edits that are forbidden only those count that nothing allows later.
        plans: bool,
    },
}

/// When the model is asked for a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleTiming {
    /// Beside the first step of the first prompt.
    AtFirstPrompt,
    /// After a turn, once there is work to tell about.
    AfterWork,
}

/// What becomes of prompts that are sent while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUps {
    /// The turn ends with its step, and each prompt gets a turn of its own.
    OwnTurns,
    /// One further step of the same turn answers them all.
    NextStep,
}

/// How the diffs of summaries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// `diff --git a/… b/…`.
    Git,
    /// `Index: …`.
    Index,
}

/// When an instance tells about its plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootTiming {
    /// At the first connection.
    AtConnect,
    /// At the first prompt.
    AtPrompt,
}

/// What an unknown route answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownRoute {
    /// 404 with `{"error":"Not Found"}`.
    NotFound,
    /// 200 with the web client's page.
    WebPage {
        /// What the page may load.
        policy: &'static str,
    },
}

impl Profile {
    /// The profile of the pinned release of a server.
    #[must_use]
    pub fn of(server: ServerKind) -> &'static Self {
        match server {
            ServerKind::Kilo => &kilo::PROFILE,
            ServerKind::Opencode => &opencode::PROFILE,
        }
    }

    /// The events of an instance's boot.
    #[must_use]
    pub fn boot_events(&self) -> Vec<(&'static str, Value)> {
        let mut events = (self.boot_first)();
        events.extend(self.plugin_events());
        events
    }

    /// Those about its plugins alone.
    #[must_use]
    pub fn plugin_events(&self) -> Vec<(&'static str, Value)> {
        let mut events = Vec::new();
        for plugin in self.plugins {
            events.push(("plugin.added", json!({"id": plugin})));
            if Some(*plugin) == self.catalog_behind {
                events.push(("catalog.updated", json!({})));
            }
        }
        for last in ["reference.updated", "integration.updated", "catalog.updated"] {
            events.push((last, json!({})));
        }
        events
    }
}

/// A boot that tells about nothing but plugins.
pub(crate) const NO_EVENTS: fn() -> Vec<(&'static str, Value)> = Vec::new;
