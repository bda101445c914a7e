//! Is what the agent has changed shown as the server says it: the files, the counts, nothing, or that nobody could tell?

use super::convergence::knows_better;
use super::{Check, Examined};
use crate::course::{Course, Started};
use crate::history;
use crate::protocol::{Capability, ChangedFile, Diff, Update};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "changes",
    about: "What the agent of a task has changed is shown as the server tells it of this session: each file, its patch, its counts; \
            nothing where nothing is changed; after a reconnect as it is read then; and not at all where it can't be read.",
    needs: &[Capability::Diffs],
    has_occasion: |course| course.tasks.iter().any(|task| last_told(course, &task.session).is_some()),
    examine,
};

/// What the adapter was told of a session's changes.
struct Told {
    line: usize,
    /// The files; `None` when it asked and could not read them.
    files: Option<Vec<ChangedFile>>,
}

fn files(list: &Value) -> Option<Vec<ChangedFile>> {
    let file = |file: &Value| {
        let text = |field: &str| file[field].as_str().map(str::to_owned);
        let (additions, deletions) = (file["additions"].as_u64()?, file["deletions"].as_u64()?);
        let (status, patch) = (text("status"), text("patch"));
        Some(ChangedFile { file: text("file")?, additions, deletions, status, patch })
    };
    list.as_array()?.iter().map(file).collect()
}

/// All that the adapter was told of a session, in order.
fn told(course: &Course<'_>, session: &str) -> Vec<Told> {
    let events = course.streams().flat_map(|stream| &stream.events);
    let events = events.filter(|sent| sent.kind() == "session.diff" && sent.session() == Some(session));
    let events = events.filter_map(|sent| {
        let files = files(&sent.event["properties"]["diff"])?;
        Some(Told { line: sent.line, files: Some(files) })
    });
    let path = format!("/session/{session}/diff");
    let reads = course.exchanges.iter().filter(|asked| asked.method == "GET" && asked.path == path);
    let reads = reads.map(|asked| {
        let read = asked.answer.as_ref().filter(|_| asked.is_good()).and_then(|answer| files(&answer.body));
        let line = asked.answer.as_ref().map_or(asked.line, |answer| answer.line);
        Told { line, files: read }
    });
    let mut told: Vec<Told> = events.chain(reads).collect();
    told.sort_by_key(|told| told.line);
    told
}

/// What was told last to eyes that no fault touches.
fn last_told(course: &Course<'_>, session: &str) -> Option<Vec<ChangedFile>> {
    let told = course.events.iter().rev().filter(|sent| sent.session() == Some(session));
    told.filter(|sent| sent.kind() == "session.diff")
        .find_map(|sent| files(&sent.event["properties"]["diff"]))
}

/// Where the stream of a task's folder was asked for again last, before a line.
fn reopened(course: &Course<'_>, task: &Started, before: usize) -> usize {
    let own = course.streams().filter(|stream| course.folder_of(stream) == task.folder);
    own.skip(1).map(|stream| stream.line).filter(|line| *line < before).last().unwrap_or_default()
}

fn words(files: &[ChangedFile]) -> String {
    let word = |file: &ChangedFile| format!("{} +{} -{}", file.file, file.additions, file.deletions);
    match files.is_empty() {
        true => "nothing".to_owned(),
        false => files.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}

/// The lines that came and went in a patch, counted again; `None` where it has none to count.
fn counted(patch: &str) -> Option<(u64, u64)> {
    let mut lines = patch.lines().skip_while(|line| !line.starts_with("@@")).peekable();
    lines.peek()?;
    let (mut came, mut went) = (0, 0);
    for line in lines {
        came += u64::from(line.starts_with('+'));
        went += u64::from(line.starts_with('-'));
    }
    Some((came, went))
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for task in course.tasks.iter().filter(|task| !course.closed.contains_key(&task.task)) {
        let told = told(course, &task.session);
        for (said, update) in course.shown().filter(|(_, update)| update.task_id() == Some(&task.task)) {
            let (diff, from) = match update {
                Update::Diff { diff, .. } => (diff, 0),
                // What is shown anew after a reconnect is what was told since.
                Update::Timeline { view, .. } => match &view.diff {
                    Some(diff) => (diff, reopened(course, task, said.line)),
                    None => continue,
                },
                _ => continue,
            };
            // Of a stream that goes on, what is told and what is shown of it may be written down in any order.
            let until = if from == 0 { usize::MAX } else { said.line };
            let since: Vec<&Told> = told.iter().filter(|told| (from..until).contains(&told.line)).collect();
            shown(task, diff, &since, &mut examined);
        }
        if !knows_better(course, &task.task) {
            in_the_end(course, task, &told, &mut examined);
        }
    }
    examined
}

/// What is shown has been told; and what is said to be unknown could not be read, or nobody has asked.
fn shown(task: &Started, diff: &Diff, told: &[&Told], examined: &mut Examined) {
    let task = &task.task;
    match diff {
        Diff::Known(files) => {
            examined.fact(told.iter().any(|told| told.files.as_ref() == Some(files)), || {
                let last = match told.last().map(|told| &told.files) {
                    Some(Some(last)) => format!("and was told {}", words(last)),
                    Some(None) => "and could not read it".to_owned(),
                    None => "and was told nothing of its session".to_owned(),
                };
                format!("{task} shows as changed {}, {last}", words(files))
            });
            count(task, files, told, examined);
        }
        Diff::Unavailable => {
            let is_unread = told.is_empty() || told.iter().any(|told| told.files.is_none());
            examined.fact(is_unread, || {
                format!("{task} says that nobody could tell what is changed, and nothing was in the way")
            });
        }
    }
}

/// The counts are those of the patches, unless the server counts otherwise.
fn count(task: &str, files: &[ChangedFile], told: &[&Told], examined: &mut Examined) {
    let is_servers =
        |file: &ChangedFile| told.iter().any(|told| told.files.iter().flatten().any(|of| of == file));
    for file in files {
        let Some((came, went)) = file.patch.as_deref().and_then(counted) else { continue };
        let is_so = (came, went) == (file.additions, file.deletions);
        examined.fact(is_so || is_servers(file), || {
            format!(
                "{task} shows {}, and in its patch {came} lines came and {went} went",
                words(&[file.clone()])
            )
        });
    }
}

/// In the end the screen says what the server says, or what was told last by a stream that goes on to this day.
fn in_the_end(course: &Course<'_>, task: &Started, told: &[Told], examined: &mut Examined) {
    let read = history::last_read(course.lines, &format!("/session/{}/diff", task.session));
    let (Some(read), Some(last)) = (read.as_ref().and_then(files), last_told(course, &task.session)) else {
        return;
    };
    let screen = history::screen(course.lines).tasks.remove(&task.task).unwrap_or_default();
    let since = reopened(course, task, usize::MAX);
    let own = told.iter().rfind(|told| told.line >= since);
    let is_so = match &screen.diff {
        Some(Diff::Known(files)) => {
            let is_own = own.is_some_and(|own| own.files.as_ref() == Some(files));
            *files == read || *files == last || is_own
        }
        // Who could not read it, or was told nothing, shows nothing; and so does who has nothing to show.
        Some(Diff::Unavailable) => own.is_none_or(|own| own.files.is_none()),
        None => own.is_none_or(|own| own.files.as_ref().is_none_or(Vec::is_empty)),
    };
    examined.fact(is_so, || {
        let shown = match &screen.diff {
            Some(Diff::Known(files)) => words(files),
            Some(Diff::Unavailable) => "that nobody could tell".to_owned(),
            None => "nothing at all".to_owned(),
        };
        format!("in the end {} shows as changed {shown}, and the server says {}", task.task, words(&read))
    });
}
