//! The cases for commands that nobody has put behind an adapter: small ones, in which a person only prompts. They are
//! cases like the others, but prove no requirement: those are about what a person sees.

use crate::case::{ADAPTER_LANE, Case, NamedCase};
use crate::data;
use fixtures::error::{FileError, parse_toml};
use fixtures::fault_plan::{Performed, Place, check_names};
use std::path::Path;

/// The area that their names begin with.
const AREA: &str = "command";

/// All of them, by name.
///
/// # Errors
/// A file that is no case, or names something that there is not.
pub fn cases() -> Result<Vec<NamedCase>, FileError> {
    let mut cases = Vec::new();
    for (path, text) in data::texts() {
        let Ok(inner) = path.strip_prefix("commands") else { continue };
        let file = Path::new("parity-specs").join(&path);
        let case: Case = parse_toml(&file, &text)?;
        let releases: Vec<String> = case.servers.iter().map(|server| server.release()).collect();
        let (lanes, performed) = (&[ADAPTER_LANE], &[Performed::Library]);
        check_names(
            &file,
            &text,
            &Place { lanes, more_lanes: "a case has no other", releases: &releases, performed },
        )?;
        cases.push(NamedCase { name: format!("{AREA}/{}", inner.with_extension("").display()), case });
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::catalog;

    #[test]
    fn they_are_read_and_their_scenarios_are_there() {
        let cases = cases().unwrap();
        assert!(cases.iter().any(|named| named.name == "command/stream-cut"));
        assert!(
            cases.iter().any(|named| named.case.plain && !named.case.breaks()),
            "one that whoever can talk passes"
        );
        for named in &cases {
            catalog::scenario(&named.case.scenario).unwrap();
            named.case.fault_plan().unwrap();
        }
    }
}
