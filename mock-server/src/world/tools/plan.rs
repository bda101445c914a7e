//! What a call has found out by the time it asks and acts.

use crate::world::alongside::ProcessPlan;
use crate::world::boards;
use crate::world::goal::ReportPlan;

/// What a call found out before it acts.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// Read a file.
    Read(Box<super::read::ReadPlan>),
    /// Run a shell line.
    Shell(Box<super::bash::ShellPlan>),
    /// Replace words of a file.
    Edit(super::edit::EditPlan),
    /// Apply a patch.
    Patch(Box<super::apply_patch::PatchPlan>),
    /// Write a file.
    Write(super::write::WritePlan),
    /// Leave the workspace.
    Leave(Box<super::outside::LeavePlan>),
    /// Ask the person.
    Ask(super::question::QuestionPlan),
    /// Show what could come next.
    Suggest,
    /// Start a program and leave it running.
    Process(Box<ProcessPlan>),
    /// Have another agent do something.
    Task(Box<super::task::TaskPlan>),
    /// Get a page.
    Fetch(super::webfetch::FetchPlan),
    /// Look for files or lines.
    Search(Box<super::search::SearchPlan>),
    /// Pass it on to a server of tools.
    Served(super::served::ServedPlan),
    /// Load instructions.
    Skill(Box<super::skill::SkillPlan>),
    /// Write down what is to be done.
    Todos(super::todos::TodoPlan),
    /// Report the end of a goal.
    Report(Box<ReportPlan>),
    /// Leave a note on the board.
    Post(Box<boards::PostPlan>),
    /// Read the board.
    BoardRead(boards::ReadPlan),
}
