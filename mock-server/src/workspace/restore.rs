//! Which files are put back at once. The servers ask git for the names of several, and take one that git quotes for a file
//! that was not there.

use crate::world::RestoredFile;
use std::collections::BTreeSet;

/// So many files are put back at once.
const AT_ONCE: usize = 100;

/// Files of one snapshot that stand behind each other go together; each file once, as it comes first.
pub(super) fn batches(files: &[RestoredFile]) -> Vec<Vec<&RestoredFile>> {
    let mut done = BTreeSet::new();
    let mut batches: Vec<Vec<&RestoredFile>> = Vec::new();
    for file in files.iter().filter(|file| file.path.is_none() || done.insert(file.path.as_deref())) {
        let open = batches.last_mut().filter(|batch| {
            let is_apart = |other: &&RestoredFile| match (&other.path, &file.path) {
                (Some(one), Some(two)) => !is_below(one, two) && !is_below(two, one),
                _ => false,
            };
            batch.len() < AT_ONCE && batch[0].tree == file.tree && batch.iter().all(is_apart)
        });
        match open {
            Some(batch) => batch.push(file),
            None => batches.push(vec![file]),
        }
    }
    batches
}

fn is_below(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Does git name a file as it is called, and does nobody cut blanks off?
pub(super) fn is_told_as_it_is(path: &str) -> bool {
    let is_plain = |letter: char| matches!(letter, ' '..='~') && letter != '"' && letter != '\\';
    path.chars().all(is_plain) && path.trim() == path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tree: &str, path: &str) -> RestoredFile {
        RestoredFile { tree: tree.to_owned(), path: Some(path.to_owned()) }
    }

    #[test]
    fn neighbours_of_one_snapshot_go_together() {
        let files = [
            file("t", "a"),
            file("t", "b"),
            file("u", "c"),
            file("t", "a"),
            file("t", "d"),
            file("t", "d/e"),
        ];
        let paths = |batch: &Vec<&RestoredFile>| {
            batch.iter().filter_map(|file| file.path.clone()).collect::<Vec<_>>().join(" ")
        };
        let batches: Vec<String> = batches(&files).iter().map(paths).collect();
        assert_eq!(batches, ["a b", "c", "d", "d/e"]);
    }

    #[test]
    fn names_that_git_quotes_are_not_known() {
        for (path, is_known) in [("a b.txt", true), ("neu ü.txt", false), ("a\"b", false), (" a", false)] {
            assert_eq!(is_told_as_it_is(path), is_known, "{path}");
        }
    }
}
