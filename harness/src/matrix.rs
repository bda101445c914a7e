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
    know_triggers(&matrix, &known)?;
    know_words(&matrix)?;
    Ok(matrix)
}

/// The mutants and capabilities that cases name.
fn know_words(matrix: &Matrix) -> Result<(), FileError> {
    let mutants: Vec<&str> = mutants::all().iter().map(|mutant| mutant.name).collect();
    let capabilities: Vec<String> = Capability::ALL.into_iter().map(Capability::word).collect();
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

/// The checks that fire triggers.
fn know_triggers(matrix: &Matrix, known: &[&str]) -> Result<(), FileError> {
    match matrix.triggers.iter().find(|trigger| !known.contains(&trigger.check.as_str())) {
        None => Ok(()),
        Some(trigger) => {
            Err(FileError::whole("parity-specs/phases.toml", unknown("check", &trigger.check, known)))
        }
    }
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
    use std::path::PathBuf;

    #[test]
    fn an_unknown_check_is_told_with_its_line() {
        let mut matrix = embedded().unwrap();
        matrix.triggers[0].check = "escapes".to_owned();
        let told = know_triggers(&matrix, &["escape", "prefix"]).unwrap_err().to_string();
        assert!(told.starts_with("parity-specs/phases.toml: there is no check 'escapes'"), "{told}");
        let text = "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nsource = \"s\"\nphase = 2\nmvp = true\nevidence = \"checked\"\ncheck = \"convergance\"\n";
        let matrix = Matrix::read(&[(PathBuf::from("requirements/a.toml"), text.to_owned())]).unwrap();
        let told = know_checks(&matrix, &["convergence", "prefix"]).unwrap_err().to_string();
        assert_eq!(
            told,
            "parity-specs/requirements/a.toml:10: there is no check 'convergance'; there are: convergence, prefix"
        );
    }
}
