//! The matrix that travels in the binary, with what only this crate can say of it: that the checks exist.

use crate::protocol::Capability;
use crate::{checks, mutants};
use fixtures::error::FileError;
use fixtures::near_names::unknown;
use parity_specs::Matrix;
use parity_specs::matrix::{Named, Outside};

/// The embedded matrix.
///
/// # Errors
/// A name in it leads nowhere; the error names the file, and the line.
pub fn embedded() -> Result<Matrix, FileError> {
    let matrix = Matrix::embedded()?;
    know_names(&matrix)?;
    Ok(matrix)
}

/// The checks, mutants, capabilities and signals that the matrix names.
fn know_names(matrix: &Matrix) -> Result<(), FileError> {
    let owned = |names: Vec<&str>| -> Vec<String> { names.into_iter().map(str::to_owned).collect() };
    let checks = owned(checks::all().iter().map(|check| check.name).collect());
    let mutants = owned(mutants::all().iter().map(|mutant| mutant.name).collect());
    let capabilities: Vec<String> = Capability::ALL.into_iter().map(Capability::word).collect();
    let signals = owned(checks::SIGNALS.to_vec());
    for Named { what, name, file, line } in &matrix.named {
        let (word, known) = match what {
            Outside::Check => ("check", &checks),
            Outside::Mutant => ("mutant", &mutants),
            Outside::Capability => ("capability", &capabilities),
            Outside::Signal => ("signal", &signals),
        };
        if !known.contains(name) {
            return Err(FileError::at(file, *line, unknown(word, name, known)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{needs, scenario_of};
    use std::path::PathBuf;

    /// The phase from which on a capability is asked for.
    fn due(matrix: &Matrix, capability: Capability) -> u32 {
        let word = capability.word();
        let phase = matrix.phases.iter().find(|phase| phase.adds.contains(&word));
        phase.map_or(0, |phase| phase.number)
    }

    /// All cases of these take a question for leave: whoever has none by then is not asked for them before phase 3.
    const LATER: [&str; 8] = [
        "cutover.flag",
        "cutover.fresh",
        "lifecycle.local",
        "parallel.folders",
        "parallel.one-server",
        "parallel.one-stream",
        "paths.no-escape",
        "tasks.let-go",
    ];

    #[test]
    fn what_a_phase_asks_for_is_proven_by_what_a_client_has_by_then() {
        let matrix = embedded().unwrap();
        let mut unproven = Vec::new();
        for requirement in matrix.requirements.values() {
            let Some(check) = requirement.check.as_deref().and_then(checks::find) else { continue };
            let cases: Vec<_> = matrix.cases_for(&requirement.id).collect();
            let is_by_then = |needed: Capability| due(&matrix, needed) <= requirement.phase;
            let is_shown = cases.iter().any(|named| {
                let scenario = scenario_of(named).unwrap();
                needs(named, &scenario).chain(check.needs.iter().copied()).all(is_by_then)
            });
            let is_excused = requirement.degraded.is_some() || LATER.contains(&requirement.id.as_str());
            if !is_shown && !cases.is_empty() && !is_excused {
                unproven.push(format!("{} (phase {})", requirement.id, requirement.phase));
            }
        }
        assert!(unproven.is_empty(), "{unproven:#?}");
    }

    /// All that is known here is named in files of a crate that does not know it.
    #[test]
    fn a_name_that_leads_nowhere_is_told_with_its_line() {
        let index = "title = \"P\"\n[[heading]]\nid = \"a\"\ntitle = \"A\"\nbullets = 1\n";
        let requirement = |check: &str| {
            format!(
                "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nclaims = [\"p §a bullet 1\"]\nphase = 2\nmvp = true\nevidence = \"checked\"\ncheck = \"{check}\"\n"
            )
        };
        let told = |check: &str, path: &str, text: &str| {
            let requirement = requirement(check);
            let files = [("plans/p/index.toml", index), ("requirements/a.toml", &requirement), (path, text)];
            let matrix = Matrix::read(&files.map(|(path, text)| (PathBuf::from(path), text.to_owned())));
            let told = know_names(&matrix.unwrap()).unwrap_err().to_string();
            told.split(" There are: ").next().unwrap_or_default().to_owned()
        };
        let case =
            |more: &str| format!("about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n{more}\n");
        let trigger = "[[trigger]]\nid = \"t\"\nabout = \"x\"\nclaims = []\nphase = 2\nsignal = { name = \"kilo.cli.chat.ttfx_ms\", of = \"p95\", more_than = 1, by = \"ours\" }\naction = \"a\"\n";
        let phases = "[[phase]]\nnumber = 2\nname = \"two\"\nadds = [\n  \"tolls\"]\n";
        assert_eq!(
            [
                told("convergance", "debt.toml", ""),
                told("convergence", "cases/x/y.toml", &case("catches = [\n  \"asks_from_a_pag\"]")),
                told("convergence", "cases/x/y.toml", &case("needs = [\"permission\"]")),
                told("convergence", "triggers.toml", trigger),
                told("convergence", "phases.toml", phases),
            ],
            [
                "parity-specs/requirements/a.toml:10: there is no check 'convergance'; did you mean 'convergence'?",
                "parity-specs/cases/x/y.toml:5: there is no mutant 'asks_from_a_pag'; did you mean 'asks_from_a_page'?",
                "parity-specs/cases/x/y.toml:4: there is no capability 'permission'; did you mean 'permissions'?",
                "parity-specs/triggers.toml:6: there is no signal 'kilo.cli.chat.ttfx_ms'; did you mean 'kilo.cli.chat.ttft_ms'?",
                "parity-specs/phases.toml:5: there is no capability 'tolls'; did you mean 'tools'?",
            ]
        );
    }
}
