//! `cargo xtask schemas`: JSON Schemas of the formats that people write, made from the types that read them.
//!
//! They are for editors: `.taplo.toml` says which file has which. A test holds them against the types, so a format
//! can't change without its schema; another one holds every data file against them, with a validator of its own.

use crate::outcome::Outcome;
use fixtures::corpus::CorpusFile;
use fixtures::deviations::Deviations;
use fixtures::fault_plan::FaultPlan;
use fixtures::floats::Floats;
use fixtures::recording::Line;
use fixtures::scenario::Scenario;
use fixtures::{checkpoints, commands, csp, failures, histories, paths, tokens};
use harness::say;
use parity_specs::case::Case;
use parity_specs::evidence::{PlanFile, Question};
use parity_specs::gate::{DebtFile, PhaseFile};
use parity_specs::kit::KitFile;
use parity_specs::plan::{NoneFile, PlanIndex};
use parity_specs::requirement::RequirementFile;
use parity_specs::trigger::TriggerFile;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use std::fs;
use std::path::Path;

/// What `cargo xtask schemas` may be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write the schemas that differ.
    #[arg(long)]
    update: bool,
}

/// A format and the text of its schema.
type Schema = (String, String);

/// All schemas, by the names of their files in `schemas/`.
fn all() -> Vec<Schema> {
    let of_kits = kits::all()
        .into_iter()
        .map(|kit| (format!("kit-case-{}", kit.name()), format!("{:#}\n", kit.schema().as_value())));
    let all = [
        ("scenario", text::<Scenario>()),
        ("fault-plan", text::<FaultPlan>()),
        ("floats", text::<Floats>()),
        ("deviations", text::<Deviations>()),
        ("recording-line", text::<Line>()),
        ("parity-case", text::<Case>()),
        ("requirements", text::<RequirementFile>()),
        ("phases", text::<PhaseFile>()),
        ("debt", text::<DebtFile>()),
        ("evidence", text::<Question>()),
        ("plan", text::<PlanFile>()),
        ("plan-index", text::<PlanIndex>()),
        ("plan-none", text::<NoneFile>()),
        ("triggers", text::<TriggerFile>()),
        ("path-corpus", text::<CorpusFile<paths::Case>>()),
        ("checkpoint-corpus", text::<CorpusFile<checkpoints::Case>>()),
        ("history-corpus", text::<CorpusFile<histories::Case>>()),
        ("token-corpus", text::<CorpusFile<tokens::Case>>()),
        ("command-corpus", text::<CorpusFile<commands::Case>>()),
        ("csp-corpus", text::<CorpusFile<csp::Case>>()),
        ("error-corpus", text::<CorpusFile<failures::Case>>()),
        ("kit-requirements", text::<KitFile>()),
    ];
    all.into_iter().map(|(name, text)| (name.to_owned(), text)).chain(of_kits).collect()
}

/// In the draft that editors know best, and as our reader takes it: what has a default may be left out.
fn text<T: JsonSchema>() -> String {
    let schema = SchemaSettings::draft07().for_deserialize().into_generator().into_root_schema_for::<T>();
    format!("{:#}\n", schema.as_value())
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let mut lines = Vec::new();
    for (name, text) in all() {
        let file = format!("schemas/{name}.json");
        if fs::read_to_string(root.join(&file)).is_ok_and(|found| found == text) {
            continue;
        }
        if !arguments.update {
            lines.push(format!("{file} is not what the types say; `cargo xtask schemas --update` writes it"));
            continue;
        }
        match fs::write(root.join(&file), text) {
            Ok(()) => say!("{file}"),
            Err(error) => lines.push(format!("failed to write {file}: {error}")),
        }
    }
    if lines.is_empty() { Outcome::Holds } else { Outcome::Fails(lines.join("\n")) }
}

#[cfg(test)]
mod tests;
