//! Rule: a dependency is a decision. Each stands once, in the workspace's manifest; comes from the registry; and
//! has its reason in ARCHITECTURE.md.

use super::Finding;
use super::manifest::{self, Dependency, ROOT};
use super::repo::Repo;

const REASONS: &str = "ARCHITECTURE.md";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let reasons = repo.text(REASONS).unwrap_or_default();
    let mut findings = Vec::new();
    for dependency in manifest::workspace_dependencies(repo) {
        findings.extend(foreign_source(ROOT, &dependency));
        if !dependency.has("path") && !has_reason(reasons, &dependency.package) {
            let name = &dependency.package;
            let mend = format!("add a line \"- `{name}` - why it is needed\" there, or do without it");
            findings.push(Finding::at(
                ROOT,
                dependency.line,
                format!("no reason for the dependency `{name}` in {REASONS}"),
                mend,
            ));
        }
    }
    for member in manifest::members(repo) {
        for dependency in &member.dependencies {
            findings.extend(foreign_source(&member.file, dependency));
            if !dependency.has("workspace") && !dependency.has("path") {
                let name = &dependency.package;
                let mend =
                    format!("name it in [workspace.dependencies], and write `{name}.workspace = true` here");
                let wrong = format!("`{name}` has a version of its own");
                findings.push(Finding::at(&member.file, dependency.line, wrong, mend));
            }
        }
    }
    findings
}

fn foreign_source(file: &str, dependency: &Dependency) -> Option<Finding> {
    let key = ["git", "registry", "registry-index"].into_iter().find(|key| dependency.has(key))?;
    let wrong = format!("the dependency `{}` has a `{key}` source", dependency.package);
    Some(Finding::at(file, dependency.line, wrong, "use a version that is published in the default registry"))
}

/// There is a bullet that starts with the name, and something follows it.
fn has_reason(reasons: &str, name: &str) -> bool {
    let marker = format!("`{name}`");
    reasons.lines().any(|line| {
        let bullet = line.trim_start().strip_prefix(['-', '*']).map(str::trim_start);
        let reason = bullet.and_then(|text| text.strip_prefix(&marker));
        reason.is_some_and(|text| text.contains(char::is_alphabetic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    fn root(dependencies: &str) -> String {
        format!("[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\n{dependencies}")
    }

    #[test]
    fn a_dependency_needs_a_reason() {
        let manifest = root("a = { path = \"a\" }\nserde = \"1\"\ntoml = \"1\"\n");
        let told =
            told(check, &[("Cargo.toml", &manifest), (REASONS, "- `serde` - reads files\n- `toml`:\n")]);
        assert_eq!(
            told,
            ["Cargo.toml:6: no reason for the dependency `toml` in ARCHITECTURE.md; \
             add a line \"- `toml` - why it is needed\" there, or do without it"]
        );
    }

    #[test]
    fn a_dependency_comes_from_the_registry() {
        let told = told(
            check,
            &[
                ("Cargo.toml", &root("b = { git = \"https://example.org/b\" }\n")),
                (REASONS, "- `b` - for a test\n"),
                (
                    "a/Cargo.toml",
                    "[package]\nname = \"a\"\n[dependencies]\nc = { registry = \"x\", workspace = true }\n",
                ),
            ],
        );
        assert_eq!(
            told,
            [
                "Cargo.toml:4: the dependency `b` has a `git` source; \
             use a version that is published in the default registry",
                "a/Cargo.toml:4: the dependency `c` has a `registry` source; \
             use a version that is published in the default registry",
            ]
        );
    }

    #[test]
    fn a_version_stands_in_one_place() {
        let member = "[package]\nname = \"a\"\n[dev-dependencies]\nserde = \"1\"\n";
        assert_eq!(
            told(check, &[("Cargo.toml", &root("")), ("a/Cargo.toml", member)]),
            ["a/Cargo.toml:4: `serde` has a version of its own; \
             name it in [workspace.dependencies], and write `serde.workspace = true` here"]
        );
    }
}
