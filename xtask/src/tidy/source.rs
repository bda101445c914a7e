//! Rule: a Rust file is short, says why it exists, and holds nothing unfinished, switched off, unsafe, or waiting
//! for a while instead of for a fact.

use super::Finding;
use super::repo::Repo;
use super::rust_text::{code, code_and_comments, lines_with};

/// Longer files hold more than one thing.
const LONGEST: usize = 400;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    repo.texts(".rs").flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > LONGEST {
        let wrong = format!("the file has {lines} lines, {LONGEST} are allowed");
        findings.push(Finding::whole(file, wrong, "split it where it changes its subject"));
    }
    let header = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    if header.is_none_or(|words| words.trim().is_empty()) {
        let wrong = "the file does not start with a `//!` header";
        findings.push(Finding::at(file, 1, wrong, "say in its first lines why it exists"));
    }
    let code = code(text);
    for line in ignored_tests(&code) {
        let mend = "delete the test, or make it run everywhere; tests that need a tool belong to `--extra`";
        findings.push(Finding::at(file, line, "a test is ignored", mend));
    }
    let unfinished = "finish it, or let the code say that it is unsupported";
    for (word, mend) in [
        ("todo!", unfinished),
        ("unimplemented!", unfinished),
        ("unsafe", "the workspace has none; find a safe way"),
    ] {
        let lines = lines_with(&code, word);
        findings.extend(lines.into_iter().map(|line| Finding::at(file, line, format!("`{word}`"), mend)));
    }
    let words = code_and_comments(text);
    for word in ["TODO", "FIXME"] {
        let mend = "do it now, or enter it in the ledger of debt with a reason";
        let lines = lines_with(&words, word);
        findings.extend(lines.into_iter().map(|line| Finding::at(file, line, format!("a {word}"), mend)));
    }
    if is_test_file(file) {
        let mend = "wait for the fact that the test is about";
        let lines = lines_with(&code, "sleep(");
        findings.extend(lines.into_iter().map(|line| Finding::at(file, line, "a test sleeps", mend)));
    }
    findings
}

/// `#[ignore]`, with or without a reason, also by way of `cfg_attr`.
fn ignored_tests(code: &str) -> Vec<usize> {
    let lines = lines_with(code, "ignore").into_iter();
    let is_attribute = |line: &str| line.contains("#[ignore") || line.contains("cfg_attr");
    lines.filter(|number| code.lines().nth(number - 1).is_some_and(is_attribute)).collect()
}

fn is_test_file(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.split('/').rev().skip(1).any(|folder| folder == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    fn told_of(text: &str) -> Vec<String> {
        told(check, &[("a/tests/b.rs", &format!("//! B.\n{text}"))])
    }

    #[test]
    fn a_file_that_is_too_long() {
        assert_eq!(told_of(&"\n".repeat(399)).len(), 0);
        assert_eq!(
            told_of(&"\n".repeat(400)),
            ["a/tests/b.rs: the file has 401 lines, 400 are allowed; split it where it changes its subject"]
        );
    }

    #[test]
    fn a_file_without_a_header() {
        for text in ["", "// A.\n", "//!\nfn a() {}\n", "\n//! A.\n", "/// A.\n"] {
            assert_eq!(
                told(check, &[("a.rs", text)]),
                ["a.rs:1: the file does not start with a `//!` header; say in its first lines why it exists"],
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_ignored_test() {
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(unix, ignore)]"] {
            assert_eq!(
                told_of(attribute),
                ["a/tests/b.rs:2: a test is ignored; delete the test, or make it run everywhere; \
                 tests that need a tool belong to `--extra`"]
            );
        }
        assert_eq!(told_of("let ignore = 1;").len(), 0);
    }

    #[test]
    fn unfinished_and_unsafe_code() {
        assert_eq!(
            told_of("fn a() { todo!() }\nfn b() { unimplemented!() }\nunsafe fn c() {}"),
            [
                "a/tests/b.rs:2: `todo!`; finish it, or let the code say that it is unsupported",
                "a/tests/b.rs:3: `unimplemented!`; finish it, or let the code say that it is unsupported",
                "a/tests/b.rs:4: `unsafe`; the workspace has none; find a safe way",
            ]
        );
        assert_eq!(told_of("let a = \"todo!() unsafe\"; // unsafe\n#![forbid(unsafe_code)]").len(), 0);
    }

    #[test]
    fn a_note_to_self() {
        assert_eq!(
            told_of("// TODO: later\n/* FIXME */"),
            [
                "a/tests/b.rs:2: a TODO; do it now, or enter it in the ledger of debt with a reason",
                "a/tests/b.rs:3: a FIXME; do it now, or enter it in the ledger of debt with a reason",
            ]
        );
        assert_eq!(told_of("let a = \"TODO\"; let todo = 1;").len(), 0);
    }

    #[test]
    fn a_test_that_sleeps() {
        let code = "//! A.\ntokio::time::sleep(x).await;\n";
        for file in ["a/tests/b.rs", "a/src/launch/tests.rs", "tests/a.rs"] {
            assert_eq!(
                told(check, &[(file, code)]),
                [format!("{file}:2: a test sleeps; wait for the fact that the test is about")]
            );
        }
        assert_eq!(told(check, &[("a/src/clock.rs", code)]).len(), 0);
    }
}
