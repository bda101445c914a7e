//! Files of keys that the adapter is asked to look at, and where their keys, and the passwords of servers that it has
//! started, are found in the end.

use super::{Run, Troubled, broken};
use crate::protocol::Request;
use crate::protocol::{CredentialsCheck, CredentialsJudged};
use crate::secret::random_letters;
use crate::witness::Witnessed;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use fixtures::recording::{Line, Speaker, TroubleKind};
use parity_specs::CredentialsFile;
use parity_specs::case::ADAPTER_LANE;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The name that the servers give to the file.
const NAME: &str = "auth.json";
/// And to one to which that name is a link.
const BEHIND: &str = "auth-behind-a-link.json";

/// What was placed.
#[derive(Default)]
pub(super) struct Keys {
    /// Their folders.
    homes: Vec<TempDir>,
    /// The files in the workspace.
    own: BTreeSet<PathBuf>,
    secrets: Vec<String>,
}

impl Run {
    /// Places each file, and asks the adapter to look at it.
    pub(super) async fn ask_credentials(&mut self, files: &[CredentialsFile]) -> Result<(), Troubled> {
        for file in files {
            let path = self.place(file).map_err(|error| {
                (TroubleKind::Harness, format!("failed to place a file of keys: {error}"))
            })?;
            let mode = u32::from(file.mode);
            Witnessed::CredentialsPlaced { mode, in_workspace: file.in_workspace }
                .note(self.stand_in.journal());
            let path = path.display().to_string();
            let answer = self.ask(Request::CredentialsCheck(CredentialsCheck { path })).await?;
            serde_json::from_value::<CredentialsJudged>(answer)
                .map_err(|error| broken(format!("credentials/check: {error}")))?;
        }
        Ok(())
    }

    fn place(&mut self, file: &CredentialsFile) -> std::io::Result<PathBuf> {
        let home = tempfile::tempdir()?;
        let folder = if file.in_workspace { Path::new(self.stand_in.workspace()) } else { home.path() };
        let path = folder.join(if file.linked { BEHIND } else { NAME });
        // Letters alone, which the redactor can't know: a key that leaks is seen to leak.
        let secret = random_letters()?;
        let content = json!({ "openai": { "type": "api", "key": secret } });
        fs::write(&path, content.to_string())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(file.mode.into()))?;
        if file.in_workspace {
            self.keys.own.insert(path.clone());
        }
        let told = folder.join(NAME);
        if file.linked {
            symlink(BEHIND, &told)?;
        }
        self.keys.secrets.push(secret);
        self.keys.homes.push(home);
        Ok(told)
    }

    /// Looks for the passwords of its servers, and for that of a server that it was told, in all that the adapter has said.
    pub(super) fn seek_passwords(&self) {
        let passwords = match &self.spawned {
            Some(spawned) => spawned.desk.passwords(),
            // In memory it is a word that everybody knows.
            None => (!self.is_virtual).then(|| self.password.clone()).into_iter().collect(),
        };
        if self.spawned.is_none() && passwords.is_empty() {
            return;
        }
        let holds = |text: &str| passwords.iter().any(|password| text.contains(password.as_str()));
        // A request carries its credentials where they belong; whoever quotes that header has told the password.
        let tells = |line: &Line, text: &str| !matches!(line, Line::Request(_)) && holds(&unwrapped(text));
        let lines = self.stand_in.journal().lines();
        let in_lines = lines
            .iter()
            .filter(|line| said_by_adapter(line).is_some_and(|text| holds(&text) || tells(line, &text)));
        let found: BTreeSet<String> = in_lines.map(what).collect();
        if self.spawned.is_some() || !found.is_empty() {
            Witnessed::PasswordsSought { found: found.into_iter().collect() }.note(self.stand_in.journal());
        }
    }

    /// Looks for the keys in all that the adapter has said, asked and left behind.
    pub(super) fn seek_credentials(&self) {
        if self.keys.secrets.is_empty() {
            return;
        }
        let holds = |text: &str| self.keys.secrets.iter().any(|secret| text.contains(secret.as_str()));
        let lines = self.stand_in.journal().lines();
        let in_lines = lines.iter().filter(|line| said_by_adapter(line).is_some_and(|text| holds(&text)));
        let mut found: BTreeSet<String> = in_lines.map(what).collect();
        for path in files_below(Path::new(self.stand_in.workspace())) {
            let text = fs::read(&path).unwrap_or_default();
            if holds(&String::from_utf8_lossy(&text)) && !self.keys.own.contains(&path) {
                let name = path.strip_prefix(self.stand_in.workspace()).unwrap_or(&path);
                found.insert(format!("{} of the workspace", name.display()));
            }
        }
        Witnessed::CredentialsSought { found: found.into_iter().collect() }.note(self.stand_in.journal());
    }
}

/// What a text has in base64, as `Basic` credentials and tokens are.
fn unwrapped(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"+/-_".contains(letter));
    let standard = |word: &str| word.replace('-', "+").replace('_', "/");
    let bytes = words.filter_map(|word| STANDARD_NO_PAD.decode(standard(word)).ok());
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect::<Vec<_>>().join(" ")
}

/// The words of the adapter in a line.
fn said_by_adapter(line: &Line) -> Option<String> {
    match line {
        Line::Adapter(said) if said.from == Speaker::Adapter => Some(said.message.to_string()),
        Line::Request(request) if request.lane.as_deref() == Some(ADAPTER_LANE) => {
            serde_json::to_string(request).ok()
        }
        Line::Note(note) => Some(note.text.clone()),
        Line::Trouble(trouble) => Some(trouble.what.clone()),
        _ => None,
    }
}

fn what(line: &Line) -> String {
    let words = match line {
        Line::Adapter(said) => match said.message["method"].as_str() {
            Some("log") => "a log line",
            Some("telemetry") => "a signal",
            Some(_) => "what the person sees",
            None => "an answer to the harness",
        },
        Line::Request(_) => "a request to the server",
        _ => "what the adapter writes on its standard error",
    };
    words.to_owned()
}

/// All files below a folder; links are not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(files_below(&entry.path())),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};

    #[test]
    fn a_password_is_seen_in_the_header_that_carries_it() {
        for user in ["kilo", "opencode", "me?>", ""] {
            let pair = format!("{user}:s3cret?>ÿ");
            for word in [BASE64_STANDARD.encode(&pair), BASE64_URL_SAFE.encode(&pair)] {
                let line = format!("{{\"authorization\":\"Basic {word}\"}}");
                assert!(unwrapped(&line).contains("s3cret?>ÿ"), "{line}");
            }
        }
        assert!(!unwrapped("the server answered: a word of its own").contains("s3cret"));
    }
}
