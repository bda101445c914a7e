//! Rule: a file or module is named for what it holds. Some names hold anything, and so they fill up.

use super::Finding;
use super::repo::Repo;
use super::rust_text::{self, is_name};
use std::collections::BTreeSet;

const BANNED: [&str; 9] =
    ["utils", "util", "common", "helpers", "helper", "misc", "types", "manager", "context"];

/// The endings of source files; data may be named as its format wants it.
const SOURCE: [&str; 7] = [".rs", ".py", ".js", ".mjs", ".ts", ".tsx", ".sh"];

const MEND: &str = "name it for the one thing it holds";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = BTreeSet::new();
    for file in repo.files() {
        if let Some(ending) = SOURCE.iter().find(|ending| file.path.ends_with(*ending)) {
            let path = file.path.trim_end_matches(*ending);
            for name in path.split('/').filter(|name| BANNED.contains(name)) {
                findings.insert(Finding::whole(&file.path, wrong(name), MEND));
            }
        }
    }
    for (path, text) in repo.texts(".rs") {
        findings.extend(inline_modules(path, text));
    }
    findings.into_iter().collect()
}

/// Modules written inside another file; `mod name;` has a file, which is found by its name.
fn inline_modules(file: &str, text: &str) -> Vec<Finding> {
    let code = rust_text::code(text);
    let mut findings = Vec::new();
    for line in rust_text::lines_with(&code, "mod") {
        let text = code.lines().nth(line - 1).unwrap_or_default();
        let after = text.rsplit("mod ").next().unwrap_or_default().trim_start();
        let name = after.split(|c| !is_name(c)).next().unwrap_or_default();
        if BANNED.contains(&name) && after.contains('{') {
            findings.push(Finding::at(file, line, wrong(name), MEND));
        }
    }
    findings
}

fn wrong(name: &str) -> String {
    format!("`{name}` is no name for a file, folder or module")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn files_folders_and_modules() {
        let told = told(
            check,
            &[
                ("a/src/utils.rs", ""),
                ("a/src/common/b.rs", ""),
                ("adapters/ts/types.ts", ""),
                ("a/src/lib.rs", "//! A.\npub(crate) mod helpers {\n}\nmod context;\n"),
            ],
        );
        assert_eq!(
            told,
            [
                "a/src/common/b.rs: `common` is no name for a file, folder or module; name it for the one thing it holds",
                "a/src/lib.rs:2: `helpers` is no name for a file, folder or module; name it for the one thing it holds",
                "a/src/utils.rs: `utils` is no name for a file, folder or module; name it for the one thing it holds",
                "adapters/ts/types.ts: `types` is no name for a file, folder or module; name it for the one thing it holds",
            ]
        );
    }

    #[test]
    fn data_and_longer_names_pass() {
        let files = [("a/context.toml", ""), ("a/context_menu.rs", "// mod utils {\nlet modest = 1;\n")];
        assert_eq!(told(check, &files).len(), 0);
    }
}
