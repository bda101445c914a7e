//! The diff of many files. Which of those that are new were there before under another name, git tells by their contents.

use super::FileChange;
use super::patch::of_git;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// How alike two files are that have all in common.
const ALL: u64 = 60_000;
/// Files that have less in common are two.
const LEAST: u64 = ALL / 2;
/// The same for a file of the same name in another folder, which is looked at first.
const LEAST_OF_NAMESAKE: u64 = ALL * 3 / 4;
/// A longer line counts as several.
const PIECE_MAX: usize = 64;

/// The diff of all files, as git writes it.
pub(crate) fn whole(changes: &[FileChange]) -> String {
    let (renames, moved) = (renames(changes), old_places(changes));
    let diffs = changes.iter().enumerate().filter(|(_, change)| !moved.contains(change.path.as_str()));
    let diffs = diffs.map(|(place, change)| match renames.get(&place) {
        Some(rename) => renamed(rename, change),
        None => of_git(change),
    });
    diffs.collect::<String>().trim().to_owned()
}

/// Where files were that are somewhere else now.
pub(crate) fn old_places(changes: &[FileChange]) -> HashSet<&str> {
    renames(changes).values().map(|rename| rename.from.path.as_str()).collect()
}

fn renamed(rename: &Rename, change: &FileChange) -> String {
    let (old, new) = (&rename.from.path, &change.path);
    let mut text = format!("diff --git a/{old} b/{new}\n");
    let (old_mode, new_mode) = (rename.from.modes.0, change.modes.1);
    if old_mode != new_mode {
        let _ = writeln!(text, "old mode {old_mode}\nnew mode {new_mode}");
    }
    let _ = writeln!(text, "similarity index {}%\nrename from {old}\nrename to {new}", rename.similarity);
    if rename.from.before != change.after {
        let whole = FileChange {
            before: rename.from.before.clone(),
            modes: (new_mode, new_mode),
            blobs: (rename.from.blobs.0.clone(), change.blobs.1.clone()),
            ..change.clone()
        };
        let diff = of_git(&whole).replacen(&format!("\n--- a/{new}"), &format!("\n--- a/{old}"), 1);
        text.push_str(diff.split_once('\n').map_or("", |(_, rest)| rest));
    }
    text
}

/// A file that has another name than before.
struct Rename<'a> {
    from: &'a FileChange,
    /// How much of it is the same, in hundredths.
    similarity: u64,
}

/// For each new file that had another name, by its place among the changes, what it was.
fn renames(changes: &[FileChange]) -> HashMap<usize, Rename<'_>> {
    let gone: Vec<&FileChange> = changes.iter().filter(|change| change.after.is_none()).collect();
    let mut search = Search { gone, is_taken: Vec::new(), found: HashMap::new() };
    search.is_taken.resize(search.gone.len(), false);
    let new: Vec<(usize, &FileChange)> =
        changes.iter().enumerate().filter(|(_, change)| change.before.is_none()).collect();
    search.same(&new);
    search.namesakes(&new);
    search.alike(&new);
    search.found
}

struct Search<'a> {
    gone: Vec<&'a FileChange>,
    is_taken: Vec<bool>,
    found: HashMap<usize, Rename<'a>>,
}

impl<'a> Search<'a> {
    fn take(&mut self, place: usize, from: usize, score: u64) {
        self.is_taken[from] = true;
        let rename = Rename { from: self.gone[from], similarity: score * 100 / ALL };
        self.found.insert(place, rename);
    }

    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.gone.len()).filter(|from| !self.is_taken[*from])
    }

    /// First those that are the same, of the same name if there are several.
    fn same(&mut self, new: &[(usize, &'a FileChange)]) {
        for (place, file) in new {
            let same = self.free().filter(|from| self.gone[*from].before == file.after);
            let best = same.min_by_key(|from| !is_namesake(self.gone[*from], file));
            if let Some(from) = best {
                self.take(*place, from, ALL);
            }
        }
    }

    /// Then those whose name is the same and the only one of its kind.
    fn namesakes(&mut self, new: &[(usize, &'a FileChange)]) {
        let open: Vec<_> = new.iter().filter(|(place, _)| !self.found.contains_key(place)).collect();
        for (place, file) in &open {
            let mut sources = self.free().filter(|from| is_namesake(self.gone[*from], file));
            let (Some(from), None) = (sources.next(), sources.next()) else { continue };
            drop(sources);
            let is_only = open.iter().filter(|(_, other)| is_namesake(other, file)).count() == 1;
            let score = score(self.gone[from], file);
            if is_only && score >= LEAST_OF_NAMESAKE {
                self.take(*place, from, score);
            }
        }
    }

    /// Then those that have most in common.
    fn alike(&mut self, new: &[(usize, &'a FileChange)]) {
        let mut pairs = Vec::new();
        for (place, file) in new.iter().filter(|(place, _)| !self.found.contains_key(place)) {
            for from in self.free() {
                let score = score(self.gone[from], file);
                if score >= LEAST {
                    pairs.push((score, is_namesake(self.gone[from], file), *place, from));
                }
            }
        }
        pairs.sort_by_key(|(score, is_namesake, ..)| Reverse((*score, *is_namesake)));
        for (score, _, place, from) in pairs {
            if !self.is_taken[from] && !self.found.contains_key(&place) {
                self.take(place, from, score);
            }
        }
    }
}

fn is_namesake(one: &FileChange, other: &FileChange) -> bool {
    let name = |file: &FileChange| file.path.rsplit('/').next().map(str::to_owned);
    name(one) == name(other)
}

fn score(from: &FileChange, to: &FileChange) -> u64 {
    let (from, to) = (from.before.as_deref().unwrap_or_default(), to.after.as_deref().unwrap_or_default());
    let longest = from.len().max(to.len()) as u64;
    let difference = longest - from.len().min(to.len()) as u64;
    if from.is_empty() || to.is_empty() || longest * (ALL - LEAST) < difference * ALL {
        return 0;
    }
    let (from, to) = (pieces(from), pieces(to));
    let shared: usize = from.iter().map(|(piece, size)| *size.min(to.get(piece).unwrap_or(&0))).sum();
    shared as u64 * ALL / longest
}

/// How many bytes of a text are in each of its pieces: lines, of which long ones are cut. How a line ends is left out.
fn pieces(text: &str) -> HashMap<Vec<u8>, usize> {
    let mut sizes: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut piece = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\r' && bytes.peek() == Some(&b'\n') {
            continue;
        }
        piece.push(byte);
        if byte == b'\n' || piece.len() == PIECE_MAX || bytes.peek().is_none() {
            let size = piece.len();
            *sizes.entry(std::mem::take(&mut piece)).or_default() += size;
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        FileChange::of_texts(path, before, after)
    }

    fn told(changes: &[FileChange]) -> Vec<(usize, &str, u64)> {
        let mut told: Vec<_> = renames(changes)
            .into_iter()
            .map(|(place, rename)| (place, rename.from.path.as_str(), rename.similarity))
            .collect();
        told.sort_unstable();
        told
    }

    #[test]
    fn a_file_of_another_name_is_known_by_what_it_holds() {
        let four = "one\ntwo\nthree\nfour\n";
        let changed = "one\ntwo\nthree\nfive\n";
        let all = [
            change("a", None, Some(four)),
            change("b", Some(four), None),
            change("c", Some("else\n"), None),
            change("d/e", None, Some(changed)),
            change("f", Some(four), None),
            change("g", None, Some("nothing of all that\n")),
        ];
        // git says the same: R100 b → a, R073 f → d/e.
        assert_eq!(told(&all), [(0, "b", 100), (3, "f", 73)]);
    }
}
