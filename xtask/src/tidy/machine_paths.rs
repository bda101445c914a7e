//! Rule: no path of somebody's machine. It breaks the file for everyone else, and says more than it should.

use super::Finding;
use super::repo::Repo;

/// In two halves, so that this file keeps its own rule.
const FOLDERS: [(&str, &str); 4] = [("/ho", "me/"), ("/ro", "ot/"), ("/Us", "ers/"), ("/wo", "rk/")];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let ours = repo.files().iter().filter(|file| !is_exempt(&file.path));
    let texts = ours.filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)));
    texts.flat_map(|(path, text)| check_file(path, text)).collect()
}

/// Recordings and the data of tests keep what real servers said.
fn is_exempt(path: &str) -> bool {
    let test_data = (path.starts_with("tests/") || path.contains("/tests/")) && !path.ends_with(".rs");
    path.starts_with("fixtures/recordings/") || test_data
}

fn check_file(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in FOLDERS.map(|(start, end)| format!("{start}{end}")) {
        for (index, line) in text.lines().enumerate() {
            if names(line, &folder) {
                let wrong = format!("an absolute path of somebody's machine (`{folder}…`)");
                let mend = "use a path from the repository's root, or a placeholder such as `${workspace}`";
                findings.push(Finding::at(file, index + 1, wrong, mend));
            }
        }
    }
    findings
}

/// The folder stands at the start of a path, not inside one such as `${workspace}/…` or a web address.
fn names(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~$}>)*/".contains(c))
            || line[..at].ends_with("://")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn a_path_of_a_machine_is_found_wherever_it_starts() {
        for (start, end) in FOLDERS {
            for before in ["", "see ", "\"", "a=", "file://"] {
                let text = format!("first\n{before}{start}{end}anna/x\n");
                assert_eq!(
                    told(check, &[("README.md", &text)]),
                    [format!(
                        "README.md:2: an absolute path of somebody's machine (`{start}{end}…`); \
                     use a path from the repository's root, or a placeholder such as `${{workspace}}`"
                    )]
                );
            }
        }
    }

    #[test]
    fn inside_another_path_it_is_no_machine() {
        for (start, end) in FOLDERS {
            for before in ["${workspace}", "example.org", "..", "a"] {
                assert_eq!(told(check, &[("README.md", &format!("{before}{start}{end}x"))]).len(), 0);
            }
        }
    }

    #[test]
    fn recordings_and_test_data_keep_what_was_said() {
        let (start, end) = FOLDERS[0];
        let text = format!("{start}{end}x");
        for (file, found) in [
            ("fixtures/recordings/kilo-7.7.7/plain.jsonl", 0),
            ("recorder/tests/data/plain.txt", 0),
            ("recorder/tests/plain.rs", 1),
            ("fixtures/scenarios/a.toml", 1),
        ] {
            assert_eq!(told(check, &[(file, &text)]).len(), found, "{file}");
        }
    }
}
