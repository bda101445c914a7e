//! What of a folder is given to a server. The folder is a stranger's: settings name programs (servers of tools, plugins,
//! formatters, a shell), and a server that reads them starts them. So only what starts nothing is given, and no server is
//! started on settings that can't be read here, because it might read them all the same.

use super::ProbeError;
use super::declared::{is_index, is_settings};
use super::fields::json;
use super::folder::AgentFolder;
use mock_server::read_settings;
use serde_json::Value;
use std::collections::BTreeMap;

/// The settings that say something and start nothing. What no release knows today may start something tomorrow, and the
/// servers put other texts into `{env:…}` before they read a key: whatever else there is stays behind. `provider` names
/// packages that are loaded as code, and the model is the scripted one anyway.
const HARMLESS: [&str; 14] = [
    "$schema",
    "agent",
    "compaction",
    "default_agent",
    "disabled_providers",
    "enabled_providers",
    "instructions",
    "mode",
    "model",
    "permission",
    "small_model",
    "subagent_depth",
    "tools",
    "username",
];

/// The texts that a server may have.
#[derive(Debug)]
pub(super) struct Given {
    /// Path in the workspace → text.
    pub(super) files: BTreeMap<String, String>,
    /// What it does not get, in words.
    pub(super) notes: Vec<String>,
}

impl Given {
    pub(super) fn of(folder: &AgentFolder) -> Result<Self, ProbeError> {
        let mut given = Self { files: BTreeMap::new(), notes: Vec::new() };
        for (path, text) in &folder.files {
            if is_settings(path) {
                let (text, left_out) = harmless(&folder.told(path), text)?;
                given.files.insert(path.clone(), text);
                if !left_out.is_empty() {
                    let (told, keys) = (folder.told(path), left_out.join("`, `"));
                    given
                        .notes
                        .push(format!("{told}: `{keys}` may start programs, and the server does not see it"));
                }
            } else if has_ending(path, "json") || has_ending(path, "jsonc") {
                // A package.json brings packages with programs of their own, another file a server of tools.
                if is_index(path) {
                    given.files.insert(path.clone(), text.clone());
                } else {
                    given
                        .notes
                        .push(format!("{} is no settings of agents and is left out", folder.told(path)));
                }
            } else {
                given.files.insert(path.clone(), text.clone());
            }
        }
        Ok(given)
    }
}

/// Settings without the keys that may start something; and those keys.
fn harmless(told: &str, text: &str) -> Result<(String, Vec<String>), ProbeError> {
    let refused = |line, why: &str| ProbeError::Settings { file: told.to_owned(), line, why: why.to_owned() };
    json(text).map_err(|error| refused(error.line, &error.why))?;
    let Some(Value::Object(mut settings)) = read_settings(text) else {
        return Err(refused(1, "it is no table of settings"));
    };
    let left_out = settings.keys().filter(|key| !HARMLESS.contains(&key.as_str())).cloned().collect();
    settings.retain(|key, _| HARMLESS.contains(&key.as_str()));
    Ok((format!("{:#}\n", Value::Object(settings)), left_out))
}

fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::super::declared::tests::folder;
    use super::*;

    #[test]
    fn what_may_start_a_program_stays_behind() {
        let settings = r#"{
            // A stranger's.
            "mcp": {"s": {"type": "local", "command": ["touch", "x"]}}, "plugin": ["p"], "formatter": {"f": {"command": ["x"]}},
            "lsp": {"l": {"command": ["x"]}}, "experimental": {"hook": {"session_completed": [{"command": ["x"]}]}},
            "shell": "./x", "command": {"c": {"template": "!`x`"}}, "m{env:NOBODY}cp": {}, "provider": {"a": {"npm": "file://x"}},
            "model": "a/b", "instructions": ["A.md"], "permission": {"bash": {"*": "ask", "a *": "allow"}},
            "agent": {"z": {"tools": {"write": false}}, "a": {}},
        }"#;
        let files = [
            ("kilo.jsonc", settings),
            (".kilo/opencode.json", "{\"mcp\": {}}"),
            (".kilo/package.json", "{\"scripts\": {\"postinstall\": \"x\"}}"),
            (".kilo/mcp.json", "{}"),
            (".kilo/capability-index.json", "{}"),
            (".kilo/agents/a.md", "Does a."),
        ];
        let given = Given::of(&folder(&files)).unwrap();
        let expected = r#"{"model":"a/b","instructions":["A.md"],"permission":{"bash":{"*":"ask","a *":"allow"}},"agent":{"z":{"tools":{"write":false}},"a":{}}}"#;
        let read: Value = serde_json::from_str(&given.files["kilo.jsonc"]).unwrap();
        assert_eq!(read.to_string(), expected);
        let paths: Vec<&String> = given.files.keys().collect();
        assert_eq!(
            paths,
            [".kilo/agents/a.md", ".kilo/capability-index.json", ".kilo/opencode.json", "kilo.jsonc"]
        );
        assert_eq!((given.files[".kilo/opencode.json"].as_str(), given.notes.len()), ("{}\n", 4));
        assert!(given.notes[3].contains("`mcp`, `plugin`, `formatter`, `lsp`"), "{:?}", given.notes);
    }

    #[test]
    fn what_can_not_be_read_is_given_to_nobody() {
        for (text, why) in [
            ("{\"model\": \"a/b\",\n\"agent\": {}, \"agent\": {}}", "second time"),
            ("{\"username\": \"\\ud83d\\ude00\", \"mcp\": {}}", ""),
            ("[]", "no table"),
            ("{\"mcp\": {}} {}", ""),
        ] {
            let error = Given::of(&folder(&[("kilo.json", text)])).unwrap_err().to_string();
            assert!(error.contains("kilo.json:") && error.contains(why), "{error}");
        }
    }
}
