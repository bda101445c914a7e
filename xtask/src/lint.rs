//! `cargo xtask lint`: what can be said about the code without running it.

use crate::outcome::Outcome;
use crate::{cargo_tool, step, tidy};
use std::path::Path;

pub(crate) fn run(root: &Path) -> Outcome {
    let format = step::run(root, &["cargo", "fmt", "--all", "--check"], &[]);
    let clippy = step::run(
        root,
        &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        &[],
    );
    println!("\n== cargo xtask tidy");
    Outcome::of_all([format, clippy, tidy::run(root), deny(root)])
}

/// Licences, advisories and sources of the dependencies. The tool is large, so a machine without it is no failure;
/// but it is said.
fn deny(root: &Path) -> Outcome {
    if cargo_tool::is_installed("deny") {
        return step::run(root, &["cargo", "deny", "--locked", "check"], &[]);
    }
    println!("\n== cargo deny check");
    println!("not checked: cargo-deny is not installed; get it with `cargo install --locked cargo-deny`");
    Outcome::Holds
}
