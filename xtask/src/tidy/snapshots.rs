//! Rule: a parity case and its snapshot come in pairs. A case without one expects nothing, and a snapshot without
//! a case is read by nobody.

use super::Finding;
use super::repo::Repo;

const CASES: &str = "parity-specs/cases/";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let cases = repo.files().iter().map(|file| file.path.as_str()).filter(|path| path.starts_with(CASES));
    cases.filter_map(|path| check_file(repo, path)).collect()
}

fn check_file(repo: &Repo, path: &str) -> Option<Finding> {
    if let Some(stem) = path.strip_suffix(".toml") {
        let snapshot = format!("{stem}.snap");
        let mend = "write it with `INSTA_UPDATE=always cargo test -p harness`, and read it";
        (!repo.has(&snapshot)).then(|| Finding::whole(path, format!("the case has no {snapshot}"), mend))
    } else if let Some(stem) = path.strip_suffix(".snap") {
        let case = format!("{stem}.toml");
        let mend = "delete it, or write the case";
        (!repo.has(&case)).then(|| Finding::whole(path, format!("the snapshot has no {case}"), mend))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn one_without_the_other() {
        let told = told(
            check,
            &[
                ("parity-specs/cases/stream/cut.toml", ""),
                ("parity-specs/cases/stream/gone.snap", ""),
                ("parity-specs/cases/stream/pair.toml", ""),
                ("parity-specs/cases/stream/pair.snap", ""),
                ("parity-specs/requirements/stream.toml", ""),
            ],
        );
        assert_eq!(
            told,
            [
                "parity-specs/cases/stream/cut.toml: the case has no parity-specs/cases/stream/cut.snap; \
             write it with `INSTA_UPDATE=always cargo test -p harness`, and read it",
                "parity-specs/cases/stream/gone.snap: the snapshot has no parity-specs/cases/stream/gone.toml; \
             delete it, or write the case",
            ]
        );
    }
}
