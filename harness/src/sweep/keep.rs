//! Plans that failed are files, what happened beside them: a person reads them, `standin sweep --plan FILE` runs one again, and the next sweep of the
//! scenario runs them first.

use super::Ground;
use super::player::Played;
use crate::subject::Subject;
use fixtures::fault_plan::FaultPlan;
use fixtures::recording::{Recording, Writer};
use fixtures::redact::Redactor;
use sha1::{Digest as _, Sha1};
use std::path::{Path, PathBuf};

/// The folder of a scenario with a server.
fn folder_of(folder: &Path, ground: &Ground) -> PathBuf {
    // A file may lie anywhere; its plans lie here.
    let name: String = ground
        .name
        .trim_end_matches(".toml")
        .chars()
        .map(|letter| if letter.is_alphanumeric() || "-_/".contains(letter) { letter } else { '-' })
        .collect();
    folder.join(ground.server.word()).join(name.trim_matches('/'))
}

/// The plan as a file; the same plan has the same name.
pub(super) fn save(
    folder: &Path,
    ground: &Ground,
    subject: &Subject,
    plan: &FaultPlan,
    played: &Played,
) -> Result<PathBuf, String> {
    let mut plan = plan.clone();
    plan.about = format!("With {} it fails: {}.", subject.name(), played.red().join(", "));
    let text = text(&plan)?;
    let print = Sha1::digest(text.as_bytes());
    let name: String = print.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let folder = folder_of(folder, ground);
    let file = folder.join(format!("{name}.toml"));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, text));
    written.map_err(|error| format!("failed to write {}: {error}", file.display()))?;
    if let Some(history) = played.history() {
        write_history(history, &file.with_extension("jsonl"))?;
    }
    Ok(file)
}

/// What happened, beside the plan: `standin judge` and `standin tell` read it. No secret is in it.
fn write_history(history: &Recording, file: &Path) -> Result<(), String> {
    let mut redacted = history.clone();
    Redactor::default().recording(&mut redacted);
    let written = Writer::create(file, &redacted.header).and_then(|mut writer| {
        redacted.lines.iter().try_for_each(|line| writer.push(line))?;
        writer.finish()
    });
    written.map(drop).map_err(|error| error.to_string())
}

/// The plan as people write it.
pub fn text(plan: &FaultPlan) -> Result<String, String> {
    toml::to_string(plan).map_err(|error| format!("the plan can't be written: {error}"))
}

/// The plans that are kept of a scenario with a server, by name. What is no plan any more is left out.
pub(super) fn saved(folder: &Path, ground: &Ground) -> Vec<(PathBuf, FaultPlan)> {
    let entries = std::fs::read_dir(folder_of(folder, ground)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).ok()?;
        FaultPlan::parse(&file, &text).ok().map(|plan| (file, plan))
    };
    files.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::schedule;
    use fixtures::fault_plan::Action;
    use fixtures::fault_plan::action::Drop;
    use fixtures::{ServerKind, catalog};

    #[test]
    fn what_is_saved_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let scenario = catalog::scenario("text/plain").unwrap();
        let ground = Ground { name: "./my own.toml".to_owned(), scenario, server: ServerKind::Kilo };
        let lost = Action::Drop(Drop { drop: "*".to_owned() });
        let plan = FaultPlan { faults: vec![schedule::at_frame(3, lost)], ..FaultPlan::default() };
        let file = save(folder.path(), &ground, &Subject::Reference, &plan, &Played::default()).unwrap();
        assert!(file.starts_with(folder.path()), "{}", file.display());
        let again = saved(folder.path(), &ground);
        assert_eq!((again.len(), &again[0].1.faults), (1, &plan.faults));
        let elsewhere = Ground { server: ServerKind::Opencode, ..ground };
        assert_eq!(saved(folder.path(), &elsewhere), []);
    }
}
