//! `cargo xtask tidy`: the house rules that no compiler knows, as code.
//!
//! A rule is a pure function over [`Repo`], in a file of its own, and each has a test which shows that it bites.
//! A new rule is a file and a line in [`RULES`]. The same rules run as a test, so that `cargo test` holds them too.

mod dependencies;
mod ladder;
mod leftovers;
mod links;
mod machine_paths;
mod manifest;
mod markdown;
mod names;
mod quoted_commands;
mod registration;
mod repo;
mod rust_paths;
mod rust_text;
mod size;
mod snapshots;
mod source;
mod walls;

use crate::outcome::Outcome;
use harness::say;
use repo::Repo;
use std::fmt;
use std::path::Path;

type Rule = fn(&Repo) -> Vec<Finding>;

/// All rules; the order is that of their files' names.
const RULES: &[Rule] = &[
    dependencies::check,
    ladder::check,
    leftovers::check,
    links::check,
    machine_paths::check,
    names::check,
    quoted_commands::check,
    registration::check,
    size::check,
    snapshots::check,
    source::check,
    walls::check,
];

/// A place where a rule is broken. Displayed as `file:line: what is wrong; how to mend it`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    file: String,
    line: Option<usize>,
    wrong: String,
    mend: String,
}

impl Finding {
    /// A finding that concerns the whole file.
    fn whole(file: &str, wrong: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, wrong: wrong.into(), mend: mend.into() }
    }

    /// A finding on one line (1-based).
    fn at(file: &str, line: usize, wrong: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::whole(file, wrong, mend) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; {}", self.wrong, self.mend)
    }
}

/// Reads the repository and applies every rule.
pub(crate) fn run(root: &Path) -> Outcome {
    let repo = match Repo::read(root) {
        Ok(repo) => repo,
        Err(why) => return Outcome::Untestable(format!("tidy: {why}")),
    };
    let findings = check(&repo);
    if findings.is_empty() {
        say!("tidy: {} files, {} rules: all hold", repo.files().len(), RULES.len());
        return Outcome::Holds;
    }
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Outcome::Fails(lines.join("\n"))
}

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(repo)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a rule says about a repository of these files.
    pub(super) fn told(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
        let mut findings = rule(&Repo::of(files));
        findings.sort();
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn this_repository_keeps_its_rules() {
        match run(crate::root()) {
            Outcome::Holds => {}
            Outcome::Fails(lines) | Outcome::Misuse(lines) | Outcome::Untestable(lines) => {
                panic!("\n{lines}")
            }
        }
    }

    #[test]
    fn findings_come_in_the_order_of_files_and_lines() {
        let repo = Repo::of(&[("b.rs", "//! B.\n"), ("a.rs", "fn a() {}\n// FIXME\n")]);
        let told: Vec<String> = check(&repo).iter().map(|finding| finding.file.clone()).collect();
        assert!(told.is_sorted(), "{told:?}");
        assert!(told.iter().filter(|file| *file == "a.rs").count() >= 2, "{told:?}");
    }
}
