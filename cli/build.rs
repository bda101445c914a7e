//! How the released command is linked.
//!
//! At a fixed place: a program that may lie anywhere corrects fifty thousand addresses before its first line, which is a
//! third of the time until the ready line; and this one is started anew for every test. And with what it calls until it is
//! ready side by side, as `start-up.ld` lists it: an idle server holds a third of the memory then.

use std::env::var;

/// Linkers that follow no list.
const OTHERS: [&str; 3] = ["mold", "gold", "wild"];

#[expect(clippy::disallowed_methods, reason = "a build is told of its target by the environment alone")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=start-up.ld");
    let is = |key: &str, value: &str| var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        let names_linker =
            ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_LINKER"].map(|key| var(key).unwrap_or_default());
        let is_other = names_linker.iter().any(|words| OTHERS.iter().any(|other| words.contains(other)));
        if let Ok(folder) = var("CARGO_MANIFEST_DIR")
            && is("CARGO_CFG_TARGET_ARCH", "x86_64")
            && !is_other
        {
            println!("cargo:rustc-link-arg-bins=-T{folder}/start-up.ld");
        }
    }
}
