//! Where what lasts lies: a folder with one file for each text of [`Kept`]. A file is whole or not there, whenever the
//! process ends, and another process may write beside this one.

use super::Engine;
use crate::performer::Act;
use crate::world::{Input, Kept};
use fixtures::error::io_words;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{ErrorKind, Result, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const ENDING: &str = ".json";
/// What does not stand for itself in the name of a file.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-');

/// A folder of texts.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// The files as this process knows them.
    known: BTreeMap<String, Mark>,
}

/// A file that is written anew is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Mark {
    fn of(path: &Path) -> Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self {
            inode: found.ino(),
            length: found.len(),
            seconds: found.mtime(),
            nanoseconds: found.mtime_nsec(),
        })
    }
}

impl Store {
    /// The store in this folder, which is made if it is not there.
    pub fn open(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        // Who can't write here is to know it now.
        tempfile::NamedTempFile::new_in(&folder)?;
        Ok(Self { folder, known: BTreeMap::new() })
    }

    /// Where a text lies. Clients choose names of sessions: none of them leads out of the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}{ENDING}", utf8_percent_encode(name, ESCAPED)))
    }

    /// What others have written or taken away since this was asked last.
    pub fn news(&mut self) -> Result<Vec<Kept>> {
        let mut gone = std::mem::take(&mut self.known);
        let mut news = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let file = path.file_name().and_then(|name| name.to_str());
            let Some(name) = file.and_then(|file| file.strip_suffix(ENDING)) else { continue };
            let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
            let (mark, text) = match Mark::of(&path).and_then(|mark| match gone.remove(&name) {
                Some(known) if known == mark => Ok((mark, None)),
                _ => fs::read_to_string(&path).map(|text| (mark, Some(text))),
            }) {
                Ok(found) => found,
                // It was taken away in this moment.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            self.known.insert(name.clone(), mark);
            news.extend(text.map(|text| Kept { name, text: Some(text) }));
        }
        news.extend(gone.into_keys().map(|name| Kept { name, text: None }));
        news.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(news)
    }

    /// Writes a text, or takes it away.
    pub fn keep(&mut self, kept: &Kept) -> Result<()> {
        let path = self.path(&kept.name);
        let Some(text) = &kept.text else {
            self.known.remove(&kept.name);
            return match fs::remove_file(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                done => done,
            };
        };
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        let mark = Mark::of(file.path())?;
        file.persist(&path).map_err(|failed| failed.error)?;
        self.known.insert(kept.name.clone(), mark);
        Ok(())
    }
}

impl Engine {
    /// Begins with what the processes before this one have kept, and keeps it on.
    #[must_use]
    pub fn with_store(mut self, store: Store, kept: Vec<Kept>) -> Self {
        self.world = self.world.keeping(kept.len());
        for kept in kept {
            self.world.step(Input::Recall(kept), 0);
        }
        Self { store: Some(store), ..self }
    }

    /// Writes what is to last, before anybody is told of it.
    pub(super) fn keep(&mut self, kept: &Kept) -> Option<Act> {
        let store = self.store.as_mut()?;
        let failed = store.keep(kept).err()?;
        let path = store.path(&kept.name);
        Some(Act::Note(format!("failed to keep {}: {}", path.display(), io_words(&failed))))
    }

    /// Takes up what another process has kept meanwhile.
    pub(super) fn recalled(&mut self, now: &dyn Fn() -> u64) -> Vec<Act> {
        let Some(store) = &mut self.store else { return Vec::new() };
        let news = match store.news() {
            Ok(news) => news,
            Err(error) => {
                let told = format!("failed to read what is kept: {}", io_words(&error));
                return vec![Act::Note(told)];
            }
        };
        let mut acts = Vec::new();
        let mut inputs = VecDeque::new();
        for kept in news {
            match kept.check() {
                Ok(()) => inputs.push_back(Input::Recall(kept)),
                Err(wrong) => {
                    acts.push(Act::Note(format!("can't use {}: {wrong}", store.path(&kept.name).display())))
                }
            }
        }
        if !inputs.is_empty() {
            acts.extend(self.settle(inputs, now));
        }
        acts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, text: &str) -> Kept {
        Kept { name: name.to_owned(), text: Some(text.to_owned()) }
    }

    #[test]
    fn one_hears_of_what_another_one_has_written_and_taken_away_and_not_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(folder.path().join("store")).unwrap();
        let (mut one, mut other) = (open(), open());
        one.keep(&kept("ses_a", "1")).unwrap();
        assert_eq!(one.news().unwrap(), []);
        assert_eq!(other.news().unwrap(), [kept("ses_a", "1")]);
        assert_eq!(other.news().unwrap(), []);
        // As long as before, and in the same moment.
        other.keep(&kept("ses_a", "2")).unwrap();
        other.keep(&kept("rest", "3")).unwrap();
        assert_eq!(one.news().unwrap(), [kept("rest", "3"), kept("ses_a", "2")]);
        let gone = Kept { name: "ses_a".to_owned(), text: None };
        one.keep(&gone).unwrap();
        one.keep(&gone).unwrap();
        assert_eq!(other.news().unwrap(), [gone]);
        assert_eq!(open().news().unwrap(), [kept("rest", "3")]);
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Store::open(folder.path().join("store")).unwrap();
        let named = [kept("../out", "1"), kept(".", "2"), kept("/a%2Fb", "3"), kept("ses_ä b", "4")];
        named.iter().for_each(|kept| open().keep(kept).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut found = open().news().unwrap();
        found.sort_by(|one, other| one.text.cmp(&other.text));
        assert_eq!(found, named);
    }

    #[test]
    fn what_is_half_written_is_nothing_yet() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path().to_path_buf()).unwrap();
        fs::write(folder.path().join(".tmpQ1w2E3"), "{\"half\":").unwrap();
        assert_eq!(store.news().unwrap(), []);
    }
}
