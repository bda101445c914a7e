//! Who says it in which words. The agent itself speaks the standard; a dialect changes what goes out and what comes in,
//! and says by what a turn ends.

mod kiro_seed;
pub(super) mod seed_names;
pub(super) mod written;

use fixtures::FileError;
use fixtures::scenario::Scenario;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// In which words an agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The standard, version 1.
    #[default]
    AcpV1,
    /// With `models` in sessions and `session/set_model`, which the standard had until June 2026.
    AcpV1LegacyModels,
    /// As a public design for a bot writes `kiro-cli acp`, to the letter: vocabulary of a documentation, not of a wire.
    KiroSeed,
    /// As captures of `kiro-cli acp` show it (second-hand: versions 1.26 to 2.21).
    Kiro,
}

/// By what a client learns that a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The answer to the prompt, as the standard has it.
    Response,
    /// An update that says so, and then the answer.
    UpdateThenResponse,
    /// The answer, and then an update.
    ResponseThenUpdate,
    /// An update, and never an answer.
    UpdateOnly,
    /// Nothing at all.
    Neither,
}

/// What an agent makes of the words of another dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// It refuses them, as real agents do.
    #[default]
    Strict,
    /// It takes them, and says so on stderr.
    Lenient,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::AcpV1, Self::AcpV1LegacyModels, Self::KiroSeed, Self::Kiro];

    /// The word on a command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::AcpV1 => "acp-v1",
            Self::AcpV1LegacyModels => "acp-v1-legacy-models",
            Self::KiroSeed => "kiro-seed",
            Self::Kiro => "kiro",
        }
    }

    /// By what a turn ends, if nobody says otherwise.
    #[must_use]
    pub fn turn_end(self) -> TurnEnd {
        match self {
            Self::AcpV1 | Self::AcpV1LegacyModels => TurnEnd::Response,
            Self::KiroSeed | Self::Kiro => TurnEnd::UpdateThenResponse,
        }
    }

    /// Does it have the extensions of Kiro?
    #[must_use]
    pub fn is_kiro(self) -> bool {
        matches!(self, Self::KiroSeed | Self::Kiro)
    }

    /// What its agent does when it is asked what its own examples ask, if it has any.
    ///
    /// # Errors
    /// Never: the examples are this crate's own, and tests read them.
    pub fn scenario(self) -> Result<Option<Scenario>, FileError> {
        let own = include_str!("dialect/kiro_seed.toml");
        let read = || Scenario::parse(Path::new("kiro_seed.toml"), own);
        (self == Self::KiroSeed).then(read).transpose()
    }

    /// A request or notice of the client, in the words of the standard.
    pub(super) fn hears(self, method: &str, params: Value) -> Value {
        match self {
            Self::KiroSeed => kiro_seed::heard(method, params),
            _ => params,
        }
    }

    /// The answer to a request, from the words of the standard. `params` are the client's.
    pub(super) fn answers(self, method: &str, params: &Value, result: Value) -> Value {
        match self {
            Self::AcpV1 => result,
            Self::KiroSeed => kiro_seed::answered(method, params, result),
            Self::AcpV1LegacyModels => with_legacy(method, params, result, false),
            Self::Kiro => with_legacy(method, params, result, true),
        }
    }

    /// An update, from the words of the standard; `None` where the dialect has none for it. `is_first` is said of the first
    /// that tells with what a tool was called.
    pub(super) fn updates(self, update: Value, is_first: bool) -> Option<Value> {
        match self {
            Self::KiroSeed => kiro_seed::update(&update, is_first),
            _ => Some(update),
        }
    }

    /// The update that ends a turn.
    pub(super) fn turn_end_update(self) -> Value {
        match self {
            Self::KiroSeed => json!({"type": "TurnEnd"}),
            _ => json!({"sessionUpdate": "turn_end"}),
        }
    }
}

/// Modes and models as sessions had them; Kiro's `session/load` says its session's id again.
fn with_legacy(method: &str, params: &Value, mut result: Value, is_kiro: bool) -> Value {
    if !matches!(method, "session/new" | "session/load" | "session/resume") {
        return result;
    }
    let option = |id: &str| {
        let options = result["configOptions"].as_array().into_iter().flatten();
        options.clone().find(|option| option["id"] == id).cloned()
    };
    let (mode, model) = (option("mode"), option("model"));
    let renamed = |option: &Value, id: &str| {
        let mut renamed = json!({id: option["value"], "name": option["name"]});
        if let Some(description) = option.get("description") {
            renamed["description"] = description.clone();
        }
        renamed
    };
    let listed = |option: &Value, id: &str| -> Vec<Value> {
        option["options"].as_array().into_iter().flatten().map(|option| renamed(option, id)).collect()
    };
    if let Some(mode) = mode {
        result["modes"] =
            json!({"currentModeId": mode["currentValue"], "availableModes": listed(&mode, "id")});
    }
    if let Some(model) = model {
        result["models"] =
            json!({"currentModelId": model["currentValue"], "availableModels": listed(&model, "modelId")});
    }
    if is_kiro {
        if let Some(result) = result.as_object_mut() {
            result.remove("configOptions");
        }
        if method == "session/load" {
            result["sessionId"] = params["sessionId"].clone();
        }
    }
    result
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.map(Self::word);
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.word() == word)
            .ok_or_else(|| fixtures::near_names::unknown("dialect", word, &known))
    }
}

impl FromStr for TurnEnd {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = [
            ("response", Self::Response),
            ("update-then-response", Self::UpdateThenResponse),
            ("response-then-update", Self::ResponseThenUpdate),
            ("update-only", Self::UpdateOnly),
            ("neither", Self::Neither),
        ];
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let found = known.iter().find(|(name, _)| *name == word).map(|(_, end)| *end);
        found.ok_or_else(|| fixtures::near_names::unknown("end of a turn", word, &names))
    }
}
