//! Rule: some folders may not name some things, because their promise hangs on it: the world does no input or
//! output, the reference adapter knows nothing of the server it is tested against, fixtures are plain functions.

use super::Finding;
use super::repo::Repo;
use super::rust_paths::{self, NamedPath};

struct Wall {
    /// Files and folders (these end in `/`) that it stands around.
    around: &'static [&'static str],
    /// Crates, paths and types that may not be named inside.
    keeps_out: &'static [&'static str],
    /// The promise.
    because: &'static str,
    mend: &'static str,
}

const WALLS: &[Wall] = &[
    Wall {
        around: &["harness/src/reference/", "harness/src/bin/reference-adapter.rs"],
        keeps_out: &["mock_server", "recorder"],
        because: "the reference adapter is a client like any other",
        mend: "talk to the server over its protocol only",
    },
    Wall {
        around: &["mock-server/src/world/"],
        keeps_out: &[
            "tokio",
            "axum",
            "std::fs",
            "std::net",
            "fixtures::scenario",
            "fixtures::catalog",
            "fixtures::recording",
        ],
        because: "the world does no input or output and knows no scenario",
        mend: "return an effect, and let the shell around the world perform it",
    },
    Wall {
        around: &["fixtures/src/"],
        keeps_out: &["tokio", "reqwest", "axum", "std::net", "SystemTime", "Instant"],
        because: "fixtures know no async, no network and no clock",
        mend: "take the value as an argument, or move the code up the ladder",
    },
];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    repo.texts(".rs").flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(file: &str, text: &str) -> Vec<Finding> {
    let inside = |wall: &&Wall| {
        let mut around = wall.around.iter();
        around.any(|place| file == *place || (place.ends_with('/') && file.starts_with(place)))
    };
    let mut findings = Vec::new();
    for wall in WALLS.iter().filter(inside) {
        for path in rust_paths::named_in(text) {
            if let Some(outside) = wall.keeps_out.iter().find(|outside| names(&path, outside)) {
                let wrong = format!("`{outside}` may not be named here: {}", wall.because);
                findings.push(Finding::at(file, path.line, wrong, wall.mend));
            }
        }
    }
    findings.dedup();
    findings
}

/// The path names this crate, module or type, or imports all that lies around it.
fn names(path: &NamedPath, outside: &str) -> bool {
    let outside: Vec<&str> = outside.split("::").collect();
    if let [name] = outside[..] {
        let is_type = name.starts_with(char::is_uppercase);
        let first = path.parts.first().is_some_and(|part| part == name);
        return if is_type {
            path.parts.iter().any(|part| part == name)
        } else {
            first && (path.parts.len() > 1 || path.imported)
        };
    }
    let all_around = path.imported && path.parts.last().is_some_and(|part| part == "*");
    let pairs = || path.parts.iter().zip(&outside);
    if all_around && path.parts.len() <= outside.len() {
        return pairs().take(path.parts.len() - 1).all(|(part, name)| part == name);
    }
    path.parts.len() >= outside.len() && pairs().all(|(part, name)| part == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    const WORLD: &str = "mock-server/src/world/turn.rs";

    #[test]
    fn each_wall_bites() {
        assert_eq!(
            told(check, &[(WORLD, "//! A.\nuse std::{collections::BTreeMap, fs::File};\n")]),
            [
                "mock-server/src/world/turn.rs:2: `std::fs` may not be named here: the world does no input or output \
             and knows no scenario; return an effect, and let the shell around the world perform it"
            ]
        );
        assert_eq!(
            told(check, &[("harness/src/bin/reference-adapter.rs", "fn main() { mock_server::run() }\n")]),
            [
                "harness/src/bin/reference-adapter.rs:1: `mock_server` may not be named here: the reference adapter is \
             a client like any other; talk to the server over its protocol only"
            ]
        );
        assert_eq!(
            told(check, &[("fixtures/src/sse.rs", "use std::time::Instant;\n")]),
            [
                "fixtures/src/sse.rs:1: `Instant` may not be named here: fixtures know no async, no network and no \
             clock; take the value as an argument, or move the code up the ladder"
            ]
        );
    }

    #[test]
    fn every_word_is_kept_out() {
        for wall in WALLS {
            let place = wall.around[0];
            let file = if place.ends_with('/') { format!("{place}deep/a.rs") } else { place.to_owned() };
            for outside in wall.keeps_out {
                assert_eq!(told(check, &[(&file, &format!("use {outside};\n"))]).len(), 1, "{outside}");
            }
        }
    }

    #[test]
    fn other_ways_to_name_it_are_seen() {
        for code in [
            "fn f() { std::fs::read(x); }",
            "use std::*;",
            "use fixtures::{server, scenario as s};",
            "#[tokio::test] fn f() {}",
            "use tokio as t;",
            "extern crate axum;",
        ] {
            assert_eq!(told(check, &[(WORLD, code)]).len(), 1, "{code}");
        }
    }

    #[test]
    fn what_only_looks_like_it_passes() {
        let code =
            "// tokio::spawn\nlet tokio = \"std::fs\"; use fixtures::server; use std::fmt::*; my::std::fs();";
        assert_eq!(told(check, &[(WORLD, code)]).len(), 0);
        assert_eq!(told(check, &[("mock-server/src/http/mod.rs", "use tokio::net;")]).len(), 0);
    }
}
