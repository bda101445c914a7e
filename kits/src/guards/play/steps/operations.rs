//! Operations as a case writes them: several at once, with a limit of time, measured, of a service.

use super::Planned;
use schemars::JsonSchema;
use serde::Deserialize;

/// Operations that begin together; the host holds each until all that may are under way.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AtOnce {
    /// How many may be under way.
    pub(crate) most: usize,
    /// What each gets, in the order in which they begin.
    pub(crate) replies: Vec<Planned>,
}

/// An operation that has so long.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limited {
    /// How long.
    pub(crate) timeout_ms: f64,
    /// The host answers after that.
    pub(crate) late: bool,
}

/// An operation whose time is taken.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measured {
    /// What it is called.
    pub(crate) label: String,
    /// What the host answers.
    pub(crate) reply: Planned,
    /// And after how long.
    pub(crate) takes_ms: f64,
    /// What takes longer is slow.
    pub(crate) slow_ms: f64,
}

/// A service is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Service {
    /// Which.
    pub(crate) name: String,
    /// By so many at once.
    #[serde(default = "one")]
    pub(crate) times: usize,
    /// What it gets from the host when it initializes itself.
    #[serde(default = "fine")]
    pub(crate) reply: Planned,
    /// So often it does that now.
    pub(crate) initializes: usize,
}

fn one() -> usize {
    1
}

fn fine() -> Planned {
    Planned::Status(200)
}

/// Something that a service does, and tells of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Action {
    /// Its name.
    pub(crate) id: String,
    /// What the host answers.
    pub(crate) reply: Planned,
    /// Who listens to its end throws.
    #[serde(default)]
    pub(crate) listener_throws: bool,
}
