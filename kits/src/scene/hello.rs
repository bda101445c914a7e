//! What an adapter says of itself, and whether the kit knows all of it: a word that is misspelt would be a promise that
//! nobody asks about.

use crate::kit::Kit;
use crate::story::AdapterClock;
use fixtures::near_names::{did_you_mean, unknown};
use harness::protocol::PROTOCOL;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    protocol: u32,
    #[serde(rename = "name")]
    _name: String,
    #[serde(default, rename = "version")]
    _version: String,
    pub(super) capabilities: BTreeSet<String>,
    #[serde(default)]
    pub(super) clock: AdapterClock,
    #[serde(default)]
    pub(super) declares: BTreeMap<String, String>,
}

impl Hello {
    /// Says what the kit does not know. A declaration under a name of its own is the adapter's business.
    pub(super) fn examine(&self, kit: &dyn Kit) -> Result<(), String> {
        let spoken = self.protocol;
        if spoken != PROTOCOL {
            return Err(format!("it speaks version {spoken} of the protocol, not {PROTOCOL}"));
        }
        let known: Vec<&str> = kit.capabilities().iter().map(|known| known.name).collect();
        if let Some(word) = self.capabilities.iter().find(|word| !known.contains(&word.as_str())) {
            return Err(format!("in the kit {} {}", kit.name(), unknown("capability", word, &known)));
        }
        let known: Vec<&str> = kit.declarations().iter().map(|known| known.name).collect();
        for (name, word) in &self.declares {
            match kit.declarations().iter().find(|known| known.name == name) {
                Some(known) if !known.words.contains(&word.as_str()) => {
                    let words = known.words.join(", ");
                    return Err(format!(
                        "it declares {name} = '{word}'; the kit {} knows {words}",
                        kit.name()
                    ));
                }
                Some(_) => {}
                None => {
                    if let Some(question) = did_you_mean(name, &known) {
                        return Err(format!("it declares '{name}', which says nothing here; {question}"));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn examined(capabilities: &Value, declares: &Value) -> Result<(), String> {
        let said = json!({"protocol": 1, "name": "any", "capabilities": capabilities, "declares": declares});
        let hello: Hello = serde_json::from_value(said).unwrap();
        hello.examine(crate::find("guards").unwrap())
    }

    #[test]
    fn a_misspelt_word_is_no_promise() {
        let can = json!(["guard.path"]);
        assert_eq!(examined(&can, &json!({"policy": "seed", "paths": "lexical"})), Ok(()));
        assert_eq!(examined(&can, &json!({"language": "Python"})), Ok(()));
        for (capabilities, declares, expected) in [
            (&json!(["guard.paths"]), json!({}), "no capability 'guard.paths'; did you mean 'guard.path'?"),
            (
                &can,
                json!({"path": "lexical"}),
                "declares 'path', which says nothing here; did you mean 'paths'?",
            ),
            (
                &can,
                json!({"paths": "Lexical"}),
                "declares paths = 'Lexical'; the kit guards knows realpath, lexical",
            ),
        ] {
            let why = examined(capabilities, &declares).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
