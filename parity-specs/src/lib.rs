//! The parity matrix as data: what must hold, how it is shown, and what is still owed.
//!
//! * [`requirement`] — `requirements/<feature>.toml`: one file a feature page or decision.
//! * [`case`] — `cases/<area>/<slug>.toml`: a scenario, what breaks, and which requirements it proves.
//! * [`plan`] — `plans/<plan>/`: how many statements the plan has, and which ask for nothing; [`ordinal`] names one.
//! * [`trigger`] — `triggers.toml`: what sends users back to the old backend.
//! * [`gate`] — `phases.toml` and `debt.toml`: what a phase asks for, and what nobody proves yet.
//! * [`evidence`] — `evidence/<question>.toml`: what is known of the real servers, as questions that recordings answer.
//! * [`commands`] — `commands/<slug>.toml`: cases for clients that are commands and nothing else.
//! * [`kit`] — `kits/<kit>/<feature>.toml`: what a kit asks for, which judges another kind of system.
//! * [`matrix`] — all of it, checked against itself.

pub mod case;
pub mod commands;
mod data;
pub mod evidence;
pub mod gate;
pub mod kit;
pub mod matrix;
pub mod ordinal;
pub mod plan;
pub mod requirement;
pub mod trigger;

pub use case::{Case, CredentialsFile, NamedCase, Spawn};
pub use gate::{Debt, Phase};
pub use matrix::Matrix;
pub use requirement::{Evidence, Requirement};
pub use trigger::Trigger;
