//! Subcommands of cargo that do not come with it. They are used where they are, and named where they are not.

use crate::step;

/// `cargo <name>` is installed.
pub(crate) fn is_installed(name: &str) -> bool {
    step::answers(&["cargo", name, "--version"])
}
