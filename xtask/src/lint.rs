//! `cargo xtask lint`: what can be said about the code without running it.

use crate::outcome::Outcome;
use crate::{cargo_tool, step, tidy};
use harness::say;
use std::path::Path;

pub(crate) fn run(root: &Path) -> Outcome {
    let format = step::run(root, &["cargo", "fmt", "--all", "--check"], &[]);
    let clippy = step::run(
        root,
        &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        &[],
    );
    say!("\n== cargo xtask tidy");
    Outcome::of_all([format, clippy, tidy::run(root), deny(root)])
}

/// The list of advisories comes from the network, and a machine without one is no failure either; but it is said.
fn advisories(root: &Path) -> Outcome {
    if step::answers(&["cargo", "deny", "--locked", "fetch", "db"]) {
        return step::run(root, &["cargo", "deny", "--locked", "check", "advisories"], &[]);
    }
    say!("\n== cargo deny check advisories");
    say!(
        "not checked: the list of advisories could not be fetched from github.com; run it where there is a network"
    );
    Outcome::Holds
}

/// Licences, bans, sources and advisories of the dependencies. The tool is large, so a machine without it is no failure;
/// but it is said.
fn deny(root: &Path) -> Outcome {
    if cargo_tool::is_installed("deny") {
        let offline =
            step::run(root, &["cargo", "deny", "--locked", "check", "licenses", "bans", "sources"], &[]);
        return Outcome::of_all([offline, advisories(root)]);
    }
    say!("\n== cargo deny check");
    say!("not checked: cargo-deny is not installed; get it with `cargo install --locked cargo-deny`");
    Outcome::Holds
}
