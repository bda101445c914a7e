//! Files that are kept open from one look to the next: one that is renamed over another leaves that as it was, and one that is
//! written where it stands does not. So what a kill in the midst of a write would leave is seen without a kill at the right
//! microsecond.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The files, by their names, and what they held.
#[derive(Default)]
pub(crate) struct Held(BTreeMap<String, (File, Vec<u8>)>);

/// A file that holds something else by now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Its name below the folder.
    pub(crate) name: String,
    /// What it held at the look before.
    pub(crate) before: Vec<u8>,
    /// What it holds now.
    pub(crate) now: Vec<u8>,
    /// It is still the same file: the old bytes are nowhere.
    pub(crate) is_over: bool,
}

impl Held {
    /// Which of the files hold something else by now. Those of these names are kept from here on.
    pub(crate) fn look(&mut self, folder: &Path, names: impl IntoIterator<Item = String>) -> Vec<Changed> {
        let mut changed = Vec::new();
        for (name, (mut file, before)) in std::mem::take(&mut self.0) {
            let Ok(now) = fs::read(folder.join(&name)) else { continue };
            if now != before {
                let is_over = held(&mut file).is_none_or(|now| now != before);
                changed.push(Changed { name, before, now, is_over });
            }
        }
        let open = |name: String| {
            let mut file = File::open(folder.join(&name)).ok()?;
            let text = held(&mut file)?;
            Some((name, (file, text)))
        };
        self.0 = names.into_iter().filter_map(open).collect();
        changed
    }
}

/// What a file holds, from its beginning.
fn held(file: &mut File) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut text)).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_renamed_there_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let names = ["over", "renamed", "same"].map(str::to_owned);
        let mut held = Held::default();
        for name in &names {
            fs::write(path(name), "before").unwrap();
        }
        assert_eq!(held.look(folder.path(), names.clone()), vec![]);
        fs::write(path("over"), "after").unwrap();
        fs::write(path("partial"), "after").unwrap();
        fs::rename(path("partial"), path("renamed")).unwrap();
        let changed = |name: &str, is_over| Changed {
            name: name.to_owned(),
            before: b"before".to_vec(),
            now: b"after".to_vec(),
            is_over,
        };
        assert_eq!(
            held.look(folder.path(), names.clone()),
            [changed("over", true), changed("renamed", false)]
        );
        assert_eq!(held.look(folder.path(), names), vec![]);
    }
}
