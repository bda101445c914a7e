//! The matrix that travels in the binary, with what only this crate can say of it: that the checks exist.

use crate::protocol::Capability;
use crate::{checks, mutants};
use fixtures::error::FileError;
use fixtures::near_names::unknown;
use parity_specs::Matrix;

/// The embedded matrix.
///
/// # Errors
/// A name in it leads nowhere; the error names the file, and the line of a check.
pub fn embedded() -> Result<Matrix, FileError> {
    let matrix = Matrix::embedded()?;
    let known: Vec<&str> = checks::all().iter().map(|check| check.name).collect();
    know_checks(&matrix, &known)?;
    know_words(&matrix)?;
    Ok(matrix)
}

/// The mutants and capabilities that cases name.
fn know_words(matrix: &Matrix) -> Result<(), FileError> {
    let mutants: Vec<&str> = mutants::all().iter().map(|mutant| mutant.name).collect();
    let capabilities: Vec<String> = Capability::ALL.into_iter().map(Capability::word).collect();
    let added = matrix.phases.iter().flat_map(|phase| &phase.adds);
    if let Some(wrong) = added.into_iter().find(|word| !capabilities.contains(word)) {
        return Err(FileError::whole(
            "parity-specs/phases.toml",
            unknown("capability", wrong, &capabilities),
        ));
    }
    for named in &matrix.cases {
        let file = format!("parity-specs/cases/{}.toml", named.name);
        if let Some(wrong) = named.case.catches.iter().find(|name| !mutants.contains(&name.as_str())) {
            return Err(FileError::whole(file, unknown("mutant", wrong, &mutants)));
        }
        if let Some(wrong) = named.case.needs.iter().find(|word| !capabilities.contains(word)) {
            return Err(FileError::whole(file, unknown("capability", wrong, &capabilities)));
        }
    }
    Ok(())
}

fn know_checks(matrix: &Matrix, known: &[&str]) -> Result<(), FileError> {
    match matrix.checks.iter().find(|check| !known.contains(&check.name.as_str())) {
        None => Ok(()),
        Some(check) => {
            let message = format!("there is no check '{}'; there are: {}", check.name, known.join(", "));
            Err(FileError::at(&check.file, check.line, message))
        }
    }
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

    #[test]
    fn an_unknown_check_is_told_with_its_line() {
        embedded().unwrap();
        let text = "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nclaims = [\"p §a bullet 1\"]\nphase = 2\nmvp = true\nevidence = \"checked\"\ncheck = \"convergance\"\n";
        let index = "title = \"P\"\n[[heading]]\nid = \"a\"\ntitle = \"A\"\nbullets = 1\n";
        let files = [("plans/p/index.toml", index), ("requirements/a.toml", text)];
        let matrix = Matrix::read(&files.map(|(path, text)| (PathBuf::from(path), text.to_owned()))).unwrap();
        let told = know_checks(&matrix, &["convergence", "prefix"]).unwrap_err().to_string();
        assert_eq!(
            told,
            "parity-specs/requirements/a.toml:10: there is no check 'convergance'; there are: convergence, prefix"
        );
    }
}
