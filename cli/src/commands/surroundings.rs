//! What the real commands take from their environment: credentials, and settings with the places where they lie.

use super::Failure;
use super::stage::Set;
use fixtures::ServerKind;
use mock_server::{Client, Elsewhere, Options, Play, read_settings};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

#[expect(clippy::disallowed_methods, reason = "the real servers take these from the environment")]
fn given(server: ServerKind, name: &str) -> Option<String> {
    std::env::var(format!("{}_{name}", server.env_prefix())).ok().filter(|value| !value.is_empty())
}

/// The shell and the name of the person.
#[expect(clippy::disallowed_methods, reason = "the real servers take these from the environment")]
pub(super) fn person(options: &mut Options) {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    options.shell = named("SHELL");
    options.user = named("USER");
}

fn is_on(server: ServerKind, name: &str) -> bool {
    given(server, name).is_some_and(|value| matches!(value.to_lowercase().as_str(), "1" | "true"))
}

/// The password that the server would take.
pub(super) fn password_of(server: ServerKind) -> Option<String> {
    given(server, "SERVER_PASSWORD")
}

/// Credentials and settings. Where somebody gives settings, those of the tour are out of place: a server that was told
/// nothing of permissions asks for none.
pub(super) fn surround(set: &mut Set) -> Result<(), Failure> {
    let server = set.options.server;
    set.options.password = password_of(server);
    set.options.username = given(server, "SERVER_USERNAME");
    set.options.client =
        Client { name: given(server, "CLIENT"), asks: is_on(server, "ENABLE_QUESTION_TOOL") };
    person(&mut set.options);
    let Play::Scenario(scenario) = &mut set.options.play else { return Ok(()) };
    set.options.elsewhere = settings(server)?;
    if set.is_tour && set.options.elsewhere.says_something() {
        scenario.workspace.config.clear();
    }
    Ok(())
}

/// The settings that an environment says, and where others lie.
pub(super) fn settings(server: ServerKind) -> Result<Elsewhere, Failure> {
    let mut last = Map::new();
    let off = |name: &str, setting: &str| is_on(server, name).then(|| (setting.to_owned(), json!(false)));
    let compaction: Map<String, Value> =
        [off("DISABLE_AUTOCOMPACT", "auto"), off("DISABLE_PRUNE", "prune")].into_iter().flatten().collect();
    if !compaction.is_empty() {
        last.insert("compaction".to_owned(), Value::Object(compaction));
    }
    if let Some(text) = given(server, "PERMISSION") {
        let rules = read_settings(&text).filter(Value::is_object).ok_or_else(|| {
            let name = format!("{}_PERMISSION", server.env_prefix());
            Failure::Misuse(format!("{name} is no JSON object: it names permissions and what they are, as in {{\"bash\": \"ask\"}}"))
        })?;
        last.insert("permission".to_owned(), rules);
    }
    let content = given(server, "CONFIG_CONTENT");
    Ok(Elsewhere {
        home: None,
        file: given(server, "CONFIG").map(PathBuf::from),
        folder: given(server, "CONFIG_DIR").map(PathBuf::from),
        text: content.map(|text| (format!("{}_CONFIG_CONTENT", server.env_prefix()), text)),
        last,
        skips_workspace: is_on(server, "DISABLE_PROJECT_CONFIG"),
    })
}
