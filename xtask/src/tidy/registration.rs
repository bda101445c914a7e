//! Rule: a file in a folder of equals is declared in that folder's mod.rs. A check that is not compiled checks
//! nothing, and nobody would miss it.

use super::Finding;
use super::repo::Repo;
use super::rust_text;

const FOLDERS: [&str; 3] = ["harness/src/checks", "harness/src/mutants", "mock-server/src/fault"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    FOLDERS.iter().flat_map(|folder| check_folder(repo, folder)).collect()
}

fn check_folder(repo: &Repo, folder: &str) -> Vec<Finding> {
    let register = format!("{folder}/mod.rs");
    let declared = rust_text::code(repo.text(&register).unwrap_or_default());
    let mut findings = Vec::new();
    for file in repo.files() {
        let name =
            file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".rs"));
        let Some(name) = name.filter(|name| *name != "mod" && !name.contains('/')) else { continue };
        let declaration = format!("mod {name};");
        if rust_text::lines_with(&declared, &declaration).is_empty() {
            let wrong = format!("the file is not declared in {register}, so it is not compiled");
            findings.push(Finding::whole(&file.path, wrong, format!("add `{declaration}` there")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn a_file_that_is_not_declared() {
        for folder in FOLDERS {
            let file = |name: &str| format!("{folder}/{name}.rs");
            let told = told(
                check,
                &[
                    (
                        &file("mod"),
                        "//! A.\nmod declared;\npub(crate) mod also;\n// mod gone;\nmod gone_too;\n",
                    ),
                    (&file("declared"), ""),
                    (&file("also"), ""),
                    (&file("gone"), ""),
                    (&file("deeper/part"), ""),
                ],
            );
            assert_eq!(
                told,
                [format!(
                    "{folder}/gone.rs: the file is not declared in {folder}/mod.rs, so it is not compiled; \
                 add `mod gone;` there"
                )]
            );
        }
    }

    #[test]
    fn a_folder_without_a_register() {
        assert_eq!(told(check, &[("harness/src/checks/order.rs", "")]).len(), 1);
    }
}
