//! What is known of a turn while it runs: its current step, and the calls of that.

use super::Ticket;
use super::compaction::Compaction;
use super::ghost::LostPart;
use super::person_line::PersonLine;
use super::prompt::{Executed, Queued};
use super::subtask::Subtask;
use crate::model::Finish;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A turn in progress.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Who waits for its end.
    pub(crate) tickets: Vec<Ticket>,
    /// How many of its prompts nobody waits for.
    pub(crate) unwaited: usize,
    /// The message of the prompt that the current step answers.
    pub(crate) prompt: String,
    /// Who gets no more than a yes when it ends.
    pub(crate) yes: Vec<Ticket>,
    /// The commands whose words its prompts are.
    pub(crate) commands: Vec<Executed>,
    /// The prompt that it began with, where it sees no later ones.
    pub(crate) base: Option<String>,
    /// Prompts that the server has put in between.
    pub(crate) prompts: Vec<String>,
    /// The prompt's message that the next summary job tells about, if one is due: the one that the step before
    /// answered.
    pub(crate) summed_up: Option<String>,
    /// A step is over.
    pub(crate) has_stepped: bool,
    /// How many steps have begun, and errands.
    pub(crate) rounds: u32,
    /// A prompt has come since it began; those that waited by then are none of its business.
    pub(crate) has_follow_up: bool,
    /// A line that the person runs.
    pub(crate) line: Option<PersonLine>,
    /// The current step writes a summary of the conversation.
    pub(crate) compaction: Option<Compaction>,
    /// How many summaries the turn has had made by itself.
    pub(crate) compactions: u32,
    /// The current step is what another agent does.
    pub(crate) subtask: Option<Subtask>,
    /// The part that tells the agent in its current step that another one worked before it.
    pub(crate) reminder: Option<String>,
    /// The assistant message of the current step.
    pub(crate) message: String,
    /// The files before the current step.
    pub(crate) start_tree: String,
    /// The parts of the current step that are still written to.
    pub(crate) open_text: Option<usize>,
    pub(crate) open_reasoning: Option<usize>,
    /// What the model has written of the open parts so far.
    pub(crate) partial: BTreeMap<usize, String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Option<Finish>,
    /// The model's answer ended without saying why.
    pub(crate) unfinished: bool,
    /// How often the current step's answer has failed.
    pub(crate) attempt: u32,
    /// While the turn waits to ask again: its status, as the wire has it.
    pub(crate) retry: Option<Value>,
    /// Clients were told that the session is idle.
    pub(crate) rests: bool,
    /// When the model's answer to the current step began.
    pub(crate) answer_began_ms: Option<u64>,
    /// What of the current answer is told late.
    pub(crate) late: Option<super::late::Late>,
    /// The call of another session that waits for the end of this turn.
    pub(crate) for_call: Option<(String, usize)>,
    /// The server has lost patience with the model: the turn ends with this step, in this error.
    pub(crate) stopped: Option<Value>,
    /// The instructions that the reads of the current step have come upon.
    pub(crate) guides: BTreeSet<String>,
    /// The person said no to a call: the turn ends with this step.
    pub(crate) rejected: bool,
    /// What could not be kept, in the words of the mistake.
    pub(crate) lost: Option<LostPart>,
    /// The person is asked whether the agent goes in circles: what comes meanwhile waits.
    pub(crate) suspicion: Option<super::circles::Suspicion>,
    /// How far it has looked at its board.
    pub(crate) board: super::boards::Looked,
}

/// How a turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The agent is done.
    Completed,
    /// The model could not answer.
    Error,
    /// The server has made a mistake.
    Broken,
    /// The person ended it.
    Interrupted,
    /// Another prompt came meanwhile.
    Superseded,
}

impl TurnEnd {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Error | Self::Broken => "error",
            Self::Interrupted => "interrupted",
            Self::Superseded => "superseded",
        }
    }
}

/// A tool call of the current step.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    /// Its part in the message.
    pub(crate) part: usize,
    pub(crate) state: CallState,
    /// That it runs has been told.
    pub(crate) is_told: bool,
    pub(crate) input: Value,
    pub(crate) started_ms: u64,
    /// What it is called while it runs, where that is told.
    pub(crate) title: Option<String>,
    /// What the tool found out before it asked for permission.
    pub(crate) plan: Option<super::tools::Plan>,
    /// Who allowed it.
    pub(crate) approval: Value,
    /// It may leave the workspace.
    pub(crate) has_left: bool,
    /// It is told, and begins after what is on its way, without a delay of its own.
    pub(crate) is_to_begin: bool,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallState {
    /// The model is still writing its arguments.
    Written,
    /// It runs, or waits for permission.
    Running,
    /// It has a result, good or bad.
    Done,
}

impl Run {
    /// Whoever waits for a prompt waits for this turn.
    pub(crate) fn take_waiting(&mut self, prompt: Queued) {
        self.tickets.extend(prompt.ticket);
        self.commands.extend(prompt.command);
        self.unwaited += usize::from(prompt.is_unwaited);
        self.for_call = prompt.of_call.or(self.for_call.take());
    }

    /// Nothing of an answer has come yet.
    pub(crate) fn begin_answer(&mut self) {
        self.open_text = None;
        self.open_reasoning = None;
        self.partial.clear();
        self.calls.clear();
        self.guides.clear();
        self.finish = None;
        self.unfinished = false;
        self.answer_began_ms = None;
        self.late = None;
        self.suspicion = None;
    }

    /// What the session does, as the wire has it; nothing, where it was told to rest.
    pub(crate) fn status(&self) -> Option<Value> {
        (!self.rests).then(|| self.retry.clone().unwrap_or_else(|| json!({"type": "busy"})))
    }
}
