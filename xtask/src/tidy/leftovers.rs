//! Rule: no leftovers. A snapshot that nobody has accepted, or half a recording, means that a run was not read to
//! its end.

use super::Finding;
use super::repo::{LEFTOVERS, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files() {
        if LEFTOVERS.iter().any(|ending| file.path.ends_with(ending)) {
            let mend = if file.path.contains(".partial") {
                "delete it, and record again"
            } else {
                "read it, then accept it with `INSTA_UPDATE=always`, or delete it"
            };
            findings.push(Finding::whole(&file.path, "a leftover of a run that was not finished", mend));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn each_kind_is_found() {
        assert_eq!(
            told(
                check,
                &[("a.snap.new", ""), ("b.jsonl.partial", ""), ("c.rs.pending-snap", ""), ("d.snap", "")]
            ),
            [
                "a.snap.new: a leftover of a run that was not finished; \
             read it, then accept it with `INSTA_UPDATE=always`, or delete it",
                "b.jsonl.partial: a leftover of a run that was not finished; delete it, and record again",
                "c.rs.pending-snap: a leftover of a run that was not finished; \
             read it, then accept it with `INSTA_UPDATE=always`, or delete it",
            ]
        );
    }
}
