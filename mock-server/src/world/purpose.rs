//! What the world waits for: each effect has a purpose, by which its result finds the part of the world that asked for it.

use super::{
    ApiRequest, Effect, EffectId, Output, ShellNews, Ticket, World, abort, alongside, aside, command, letter,
    revert, summary, surroundings, tools, worktrees,
};

/// What an effect's result is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// `turn`: the files before a step.
    StepStart(String),
    /// `turn`: the files after a step.
    StepEnd(String),
    /// `turn`: which files a step changed.
    StepChanges(String),
    /// `turn`: the model's answer to a step.
    Answer(String),
    /// `abort`: the files at the end of a step that is cut short.
    CutTree(Box<abort::Rest>),
    /// `abort`: which files that step changed.
    CutChanges(Box<abort::Rest>),
    /// `failure`: the model may be asked again.
    Retry(String),
    /// `goal`: the server has waited long enough before it prompts again.
    GoalRest(String),
    /// `tools`: a call may begin.
    CallStart(String, usize),
    /// `answer`: all is said, in this message.
    AnswerEnd(String, String, crate::model::Finish),
    /// What a message says is told late: the session and the message.
    Late(String, String),
    /// `tools`: another agent may begin what a call asks of it.
    TaskStart(String, usize),
    /// `tools`: what a call reads, or is about to change.
    CallRead(String, usize),
    /// `tools`: what stands where a call wants to read.
    CallStudied(String, usize),
    /// `tools`: which of the places that a call names are folders.
    CallLooked(String, usize),
    /// `tools`: the page that a call wants.
    CallFetched(String, usize),
    /// `news`: what the cloud tells.
    News(Ticket),
    /// `mcp`: the program of a server of tools.
    ToolServer,
    /// `mcp`: the patience of whoever asked this of this program is over.
    ToolPatience(EffectId, u64),
    /// `tools`: the shell line of a call.
    Shell(String, usize),
    /// `tools`: the file that a call changes.
    CallWritten(String, usize),
    /// `tools`: the file that a call changes whose turn is over.
    WrittenLate(String, Box<tools::WritePlan>),
    /// `tools`: a formatter of a file that was written.
    FormatterLine(Box<tools::Formatting>),
    /// `tools`: the whole of an output is kept.
    OutputKept,
    /// `permission`: a rule is kept.
    RuleKept,
    /// `summary`: what changed since the session began.
    JobSession(summary::Job),
    /// `summary`: what changed since the prompt.
    JobPrompt(summary::Job),
    /// `revert`: the files are looked at, put back, compared.
    Rewind(Box<revert::Rewind>),
    /// `letter`: what stands at the place that a part of a prompt names.
    Letter(Box<letter::Letter>),
    /// `person_line`: the line of a person.
    PersonLine(String),
    /// `alongside`: what runs in a terminal.
    Terminal(String),
    /// `alongside`: a program that was left running.
    Process(String),
    /// `alongside`: something is due.
    Alongside(alongside::Due),
    /// `command`: a line of a command's template.
    CommandLine(Box<command::Calling>),
    /// `command`: what stands at the place that a template names.
    CommandName(Box<command::Calling>),
    /// `surroundings`: what the machine says.
    Place(Box<surroundings::PlaceAsk>),
    /// `folders`: whether the folder is there that this is about.
    Folder(Box<ApiRequest>),
    /// `worktrees`: its files are there.
    Worktree(Box<worktrees::Begun>),
    /// `worktrees`: a line that prepares one.
    WorktreeLine(Box<worktrees::Begun>),
    /// `instance`: the files of the workspace, before this is answered.
    Project(Box<ApiRequest>),
    /// `next`: what files say to the next generation in this directory, before this is answered, if anything.
    NextFiles(String, Option<Box<ApiRequest>>),
    /// `aside`: what the model is asked beside the work.
    Aside(Box<aside::Aside>),
    /// `aside`: the model may be asked again.
    AsideAgain(Box<aside::Aside>),
    /// `words`: somebody has waited long enough for words.
    WordsLate(Ticket),
    /// `next`: the files before a step.
    NextStep(String),
    /// `next`: the files before a session is taken back to a message.
    NextRevert(Ticket, String, String),
}

impl World {
    pub(super) fn effect(&mut self, purpose: Purpose, effect: Effect) {
        self.named_effect(purpose, effect);
    }

    /// The same, for who wants to name it later.
    pub(super) fn named_effect(&mut self, purpose: Purpose, effect: Effect) -> EffectId {
        let id = self.next_effect;
        self.next_effect += 1;
        self.waiting.insert(id, purpose);
        self.outputs.push(Output::Effect(id, effect));
        id
    }

    /// A line of the shell tells something.
    pub(super) fn shell_told(&mut self, effect: EffectId, news: ShellNews) {
        let goes_on = matches!(news, ShellNews::Printed(_));
        match self.waiting.remove(&effect) {
            Some(Purpose::Shell(session, call)) => {
                if goes_on {
                    self.waiting.insert(effect, Purpose::Shell(session.clone(), call));
                }
                self.shell_says(&session, call, news);
            }
            Some(Purpose::PersonLine(session)) => {
                if goes_on {
                    self.waiting.insert(effect, Purpose::PersonLine(session.clone()));
                }
                self.person_line_says(&session, news);
            }
            Some(Purpose::CommandLine(calling)) => {
                if let Some(calling) = self.command_line_says(*calling, &news) {
                    self.waiting.insert(effect, Purpose::CommandLine(calling));
                }
            }
            Some(Purpose::FormatterLine(written)) => {
                if let Some(written) = self.formatter_says(written, &news) {
                    self.waiting.insert(effect, Purpose::FormatterLine(written));
                }
            }
            Some(Purpose::WorktreeLine(begun)) => {
                if let Some(begun) = self.worktree_line_says(begun, &news) {
                    self.waiting.insert(effect, Purpose::WorktreeLine(begun));
                }
            }
            Some(Purpose::Terminal(id)) => {
                if goes_on {
                    self.waiting.insert(effect, Purpose::Terminal(id.clone()));
                }
                self.terminal_says(&id, &news);
            }
            Some(Purpose::Process(id)) => {
                if goes_on {
                    self.waiting.insert(effect, Purpose::Process(id.clone()));
                }
                self.process_says(&id, &news);
            }
            Some(other) => {
                self.waiting.insert(effect, other);
            }
            None => {}
        }
    }
}
