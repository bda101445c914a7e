//! How the released command is linked: at a fixed place. A program that may lie anywhere corrects fifty thousand addresses
//! before its first line, which is a third of the time until the ready line; and this one is started anew for every test.

use std::env::var;

#[expect(clippy::disallowed_methods, reason = "a build is told of its target by the environment alone")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
