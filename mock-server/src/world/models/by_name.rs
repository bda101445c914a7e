//! What the servers know of a model by its name alone: how freely it is to choose its words, how hard it is to think,
//! and what it can be asked for. Names are looked for anywhere in the id that the model's provider knows it by.

use fancy_regex::Regex;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The efforts that most thinking models know.
const EFFORTS: [&str; 3] = ["low", "medium", "high"];
/// Kilo offers these where OpenCode offers none.
const ALL_EFFORTS: [&str; 6] = ["none", "low", "medium", "high", "xhigh", "max"];
/// These think as they like.
const UNASKED: &[&str] = &[
    "deepseek-chat",
    "deepseek-reasoner",
    "deepseek-r1",
    "deepseek-v3",
    "minimax",
    "glm",
    "kimi",
    "k2p",
    "qwen",
    "big-pickle",
];
/// What a provider's first choice is, the best last.
const FAVOURITES: &[&str] = &["gpt-5", "claude-sonnet-4", "big-pickle", "gemini-3-pro"];

static WARM_GEMINI: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let end = "(?:[.-]|$)";
    let generations = format!(r"2[.-]5{end}|3-(?:flash|pro){end}|3[.-]1{end}|3[.-]5-flash(?!-lite){end}");
    Regex::new(&format!("gemini-(?:{generations})")).ok()
});

/// A model by its name.
pub(in crate::world) struct ByName<'n> {
    server: ServerKind,
    /// As the provider knows it.
    id: &'n str,
    lower: String,
}

impl<'n> ByName<'n> {
    pub(in crate::world) fn new(server: ServerKind, id: &'n str) -> Self {
        Self { server, id, lower: id.to_lowercase() }
    }

    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.contains(word))
    }

    fn is_warm_gemini(&self) -> bool {
        WARM_GEMINI.as_ref().is_some_and(|pattern| pattern.is_match(&self.lower).unwrap_or(false))
    }

    /// Kilo knows a family that others have in their names by chance.
    fn is_ling(&self) -> bool {
        self.server == ServerKind::Kilo
            && self.has(&["ling"])
            && !self.has(&["kling", "bling", "spelling", "multilingual"])
    }

    /// How freely it chooses its words.
    pub(in crate::world) fn temperature(&self) -> Option<f64> {
        let is_kilo = self.server == ServerKind::Kilo;
        match () {
            () if self.has(&["north-mini-code"]) => Some(1.0),
            () if is_kilo && self.has(&["qwen"]) => Some(0.55),
            () if self.has(&["claude"]) => None,
            () if self.has(&["gemini"]) => self.is_warm_gemini().then_some(1.0),
            () if self.has(&["glm-4.6", "glm-4.7", "minimax-m2"]) => Some(1.0),
            () if self.has(&["kimi-k2"]) => {
                Some(if self.has(&["thinking", "k2.", "k2p", "k2-5"]) { 1.0 } else { 0.6 })
            }
            () => self.is_ling().then_some(0.3),
        }
    }

    /// From how much of what it may say it chooses.
    pub(in crate::world) fn top_p(&self) -> Option<f64> {
        let has_its_share = ["minimax-m2", "kimi-k2.5", "kimi-k2p5", "kimi-k2-5"];
        match () {
            () if self.server == ServerKind::Kilo && self.has(&["qwen"]) => Some(1.0),
            () if self.has(&["gemini"]) => self.is_warm_gemini().then_some(0.95),
            () if self.has(&has_its_share) || self.is_ling() => Some(0.95),
            () => self.has(&["deepseek-v4-flash-0731", "deepseek-v4-flash:0731"]).then_some(0.95),
        }
    }

    /// The options that it gets unasked.
    pub(in crate::world) fn options(&self) -> Map<String, Value> {
        let thinks = self.id.contains("gpt-5")
            && !["gpt-5-chat", "gpt-5-pro"].iter().any(|name| self.id.contains(name));
        let effort = thinks.then(|| ("reasoningEffort".to_owned(), json!("medium")));
        effort.into_iter().collect()
    }

    /// Kilo does not tell some how much they may say.
    pub(in crate::world) fn is_bounded(&self) -> bool {
        self.server != ServerKind::Kilo || !self.has(&["gpt-5"])
    }

    /// Is it given patches in place of edits? Kilo reads small letters alone, and goes by the model's family, too.
    pub(in crate::world) fn is_given_patches(&self, family: &str) -> bool {
        if self.server == ServerKind::Opencode {
            return self.id.contains("gpt-") && !["oss", "gpt-4"].iter().any(|other| self.id.contains(other));
        }
        let family = family.to_lowercase();
        let is_other = self.has(&["gpt-4", "oss"])
            || family.starts_with("gpt-4")
            || family.contains("oss")
            || family == "gpt-image";
        !is_other && (self.has(&["gpt-"]) || family.starts_with("gpt"))
    }

    /// What it can be asked for, if it thinks. `name` is what its settings call it.
    pub(in crate::world) fn variants(&self, name: &str) -> Map<String, Value> {
        let name = ByName::new(self.server, name);
        let is_either = |words: &[&str]| name.has(words) || self.has(words);
        let efforts = |efforts: &[&str]| -> Map<String, Value> {
            efforts.iter().map(|&effort| (effort.to_owned(), json!({"reasoningEffort": effort}))).collect()
        };
        let is_glm = is_either(&["glm-5.2", "glm-5-2", "glm-5p2"]);
        if self.has(&["minimax-m3"]) {
            let thinking = |kind: &str| json!({"thinking": {"type": kind}});
            let both = [("none", thinking("disabled")), ("thinking", thinking("adaptive"))];
            return both.into_iter().map(|(name, asks)| (name.to_owned(), asks)).collect();
        }
        match () {
            () if is_glm => efforts(&["high", "max"]),
            () if name.has(UNASKED) && self.server == ServerKind::Kilo => efforts(&ALL_EFFORTS),
            () if name.has(UNASKED) => Map::new(),
            () if name.has(&["grok-3-mini"]) => efforts(&["low", "high"]),
            () if self.has(&["north-mini-code"]) => efforts(&["none", "high"]),
            () if self.has(&["deepseek-v4"]) => efforts(&["low", "medium", "high", "max"]),
            () => efforts(&EFFORTS),
        }
    }
}

/// The field of its answers in which a model thinks, by its settings or else by its name; what it has thought is told
/// back to it there.
pub(crate) fn thinks_in<'s>(id: &str, settings: &'s Value) -> Option<&'s str> {
    let said = &settings["interleaved"];
    let by_name = || id.to_lowercase().contains("deepseek").then_some("reasoning_content");
    said.as_str().or_else(|| said["field"].as_str()).or_else(|| by_name().filter(|_| said.is_null()))
}

/// Which of a provider's models is its first choice.
pub(crate) fn first_choice<'n>(models: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let favour = |model: &str| FAVOURITES.iter().position(|name| model.contains(name));
    models.max_by_key(|model| (favour(model), model.contains("latest"), *model))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(server: ServerKind, id: &str) -> ByName<'_> {
        ByName::new(server, id)
    }

    #[test]
    fn names_say_how_warm_a_model_is() {
        let warm = |server, id| (of(server, id).temperature(), of(server, id).top_p());
        let both = [ServerKind::Kilo, ServerKind::Opencode];
        for (id, wanted) in [
            ("some-model", (None, None)),
            ("Gemini-2.5-pro", (Some(1.0), Some(0.95))),
            ("gemini-1.5", (None, None)),
            ("gemini-3.5-flash", (Some(1.0), Some(0.95))),
            ("gemini-3.5-flash-lite", (None, None)),
            ("gemini-3-ultra", (None, None)),
            ("claude-glm-4.6", (None, None)),
            ("kimi-k2", (Some(0.6), None)),
            ("kimi-k2.5", (Some(1.0), Some(0.95))),
            ("deepseek-v4-flash-0731", (None, Some(0.95))),
        ] {
            assert_eq!(both.map(|server| warm(server, id)), [wanted; 2], "{id}");
        }
        assert_eq!(both.map(|server| warm(server, "qwen3")), [(Some(0.55), Some(1.0)), (None, None)]);
        assert_eq!(both.map(|server| warm(server, "ling-1")), [(Some(0.3), Some(0.95)), (None, None)]);
        assert_eq!(warm(ServerKind::Kilo, "multilingual"), (None, None));
    }

    #[test]
    fn names_say_how_hard_a_model_thinks() {
        let asked = |id| of(ServerKind::Opencode, id).options().contains_key("reasoningEffort");
        assert_eq!(
            ["gpt-5", "gpt-5.1-codex", "GPT-5", "gpt-5-pro", "gpt-5-chat-latest", "gpt-4"].map(asked),
            [true, true, false, false, false, false]
        );
        let keys = |server, id, name| of(server, id).variants(name).keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(ServerKind::Kilo, "qwen3", "qwen3"), ALL_EFFORTS);
        assert!(keys(ServerKind::Opencode, "qwen3", "qwen3").is_empty());
        // What its settings call it and what its provider does both count, for different things.
        assert_eq!(keys(ServerKind::Opencode, "qwen3", "mine"), EFFORTS);
        assert_eq!(keys(ServerKind::Opencode, "x/glm-5.2", "mine"), ["high", "max"]);
        assert_eq!(keys(ServerKind::Opencode, "minimax-m3", "m"), ["none", "thinking"]);
        assert_eq!(
            keys(ServerKind::Opencode, "deepseek-v4", "deepseek-v4"),
            ["low", "medium", "high", "max"]
        );
    }

    #[test]
    fn names_say_who_is_given_patches() {
        let given = |server, id, family| of(server, id).is_given_patches(family);
        assert!(given(ServerKind::Opencode, "gpt-5", "") && given(ServerKind::Kilo, "GPT-5", ""));
        assert!(!given(ServerKind::Opencode, "GPT-5", "") && !given(ServerKind::Opencode, "mine", "gpt"));
        assert!(given(ServerKind::Kilo, "mine", "gpt") && !given(ServerKind::Kilo, "mine", "gpt-image"));
        for other in ["gpt-4o", "gpt-oss-20b", "mine"] {
            assert!(
                !given(ServerKind::Opencode, other, "") && !given(ServerKind::Kilo, other, ""),
                "{other}"
            );
        }
        assert!(!given(ServerKind::Kilo, "gpt-5", "gpt-4"));
    }

    #[test]
    fn the_first_choice_is_a_favourite_the_latest_or_the_last() {
        let first = |models: &[&'static str]| first_choice(models.iter().copied());
        assert_eq!(first(&["qwen", "gpt-5", "x-latest"]), Some("gpt-5"));
        assert_eq!(first(&["gpt-5", "gemini-3-pro-a", "gemini-3-pro-b"]), Some("gemini-3-pro-b"));
        assert_eq!(first(&["z", "a-latest"]), Some("a-latest"));
        assert_eq!(first(&["a", "b"]), Some("b"));
        assert_eq!(first(&[]), None);
    }
}
