//! What a server says behind its agent's change to a file of settings: whether it could use the file.

use super::{faults, jsonc, misspelled, unknown_keys};
use crate::doc::{Operations, SettingsOf};
use crate::profile::Profile;
use std::path::Path;

/// Folders of Markdown that settings are made of.
const MARKDOWN: [&str; 6] = ["agent", "agents", "command", "commands", "mode", "modes"];

/// The server's words about the file; none about what is no file of settings. `shown` is its path in words.
pub(crate) fn opinion(profile: &Profile, path: &str, shown: &str, text: &str) -> Option<String> {
    let place = Path::new(path);
    let ending = place.extension()?.to_str()?.to_lowercase();
    let folder = place.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let words = match ending.as_str() {
        "json" | "jsonc" => of_settings(profile, shown, text),
        // It has lost the instance that it wants to read them for.
        "md" if folder.is_some_and(|folder| MARKDOWN.contains(&folder)) => {
            format!("ERROR: {shown}\n  Failed to parse frontmatter: No context found for instance")
        }
        _ => return None,
    };
    Some(format!("\n\n<config_validation>\n{words}\n</config_validation>"))
}

fn of_settings(profile: &Profile, shown: &str, text: &str) -> String {
    let mistakes = misspelled::in_short(text);
    if !mistakes.is_empty() {
        return format!("ERROR: Config file at {shown} is not valid JSON(C)\n  {}", mistakes.join("\n"));
    }
    let said = jsonc::read(text).unwrap_or_default();
    let operations = Operations::of(profile.server);
    let unknown = unknown_keys(operations, &said);
    let invalid = |why: &str| format!("WARNING: Configuration is invalid at {shown}\n{why}");
    if !unknown.is_empty() {
        return invalid(&faults::unknown(&unknown));
    }
    if !operations.mistakes(SettingsOf::Server, &said).is_empty() {
        return invalid("ConfigInvalidError");
    }
    "Config file validated successfully.".to_owned()
}
