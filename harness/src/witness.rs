//! What the harness itself has seen of the machine, beside what adapter and server say: notes in a history, so that a
//! saved one is judged again by the same facts.

use fixtures::fault_plan::StartAction;
use fixtures::paths::Policy;
use fixtures::recording::{Line, Note};
use mock_server::Journal;
use serde::{Deserialize, Serialize};

/// A note that begins so is one of these. What an adapter writes on its stderr begins otherwise.
const WORD: &str = "witness ";

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Witnessed {
    /// What is asked next with `path/check` is this case of the corpus.
    PathAsked {
        /// Its full name.
        case: String,
        /// By which rules.
        policy: Policy,
    },
    /// Adapters start the server in this case; what is in their way.
    Spawning {
        /// There is such a program.
        program: bool,
        /// Somebody else listens at the port that it is told to take.
        port_taken: bool,
    },
    /// The adapter has started a server.
    Started {
        /// The how manieth.
        number: u32,
        /// What goes wrong with it, in words and as it was told to it.
        does: Option<String>,
        /// The same as it was told to it.
        fault: Option<StartAction>,
        /// It has a password, and no server had that before.
        fresh_password: bool,
        /// Where it was told to listen.
        host: String,
        /// It is the server within a wrapper that was started as this one.
        wrapped: bool,
    },
    /// A server listens.
    Listens {
        /// Which.
        number: u32,
        /// Where.
        port: u16,
    },
    /// A server has ended.
    Ended {
        /// Which.
        number: u32,
    },
    /// A server ends by itself in a moment: it crashes.
    Crashes {
        /// Which.
        number: u32,
    },
    /// What is left of all servers that were started.
    Left {
        /// At which moment: `before`, `closed` or `after`.
        when: String,
        /// Processes that live.
        processes: usize,
        /// Ports of theirs at which somebody listens.
        ports: usize,
    },
    /// What is asked next with `credentials/check` is a file with this mode.
    CredentialsPlaced {
        /// Who may do what with it, as the system has it.
        mode: u32,
        /// It lies in the workspace.
        in_workspace: bool,
    },
    /// The keys were looked for in all that the adapter has said, asked and left behind.
    CredentialsSought {
        /// Where they were found.
        found: Vec<String>,
    },
    /// The passwords of the servers that the adapter has started were looked for in all that it has said and asked.
    PasswordsSought {
        /// Where they were found.
        found: Vec<String>,
    },
    /// These names in the workspace are links out of it.
    LinksOut {
        /// As the case names them.
        names: Vec<String>,
    },
    /// A canary outside of the workspace was looked at in the end.
    Canary {
        /// Its place, as the case names it.
        place: String,
        /// It is not as it was.
        touched: bool,
    },
}

impl Witnessed {
    /// Writes it into the history.
    pub(crate) fn note(&self, journal: &Journal) {
        // An enum of texts and numbers is always JSON.
        let words = serde_json::to_string(self).unwrap_or_default();
        journal.push(|at_us| Line::Note(Note { at_us, text: format!("{WORD}{words}") }));
    }

    /// Reads a line of a history.
    fn of(line: &Line) -> Option<Self> {
        let Line::Note(note) = line else { return None };
        serde_json::from_str(note.text.strip_prefix(WORD)?).ok()
    }
}

/// All that was seen, each with its line.
pub fn witnessed(lines: &[Line]) -> impl Iterator<Item = (usize, Witnessed)> {
    lines.iter().enumerate().filter_map(|(at, line)| Some((at, Witnessed::of(line)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_adapter_writes_is_no_witness() {
        let seen = Witnessed::Canary { place: "canary.txt".to_owned(), touched: true };
        let words = serde_json::to_string(&seen).unwrap();
        let note = |text: String| Line::Note(Note { at_us: 0, text });
        let lines = [note(format!("the adapter's stderr: {WORD}{words}")), note(format!("{WORD}{words}"))];
        assert_eq!(witnessed(&lines).collect::<Vec<_>>(), [(1, seen)]);
    }
}
