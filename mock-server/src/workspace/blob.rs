//! Files as git keeps them, and those that were read already: a workspace may be large, and every step of an agent wants to
//! know the state of all of it.

use super::tree::{LINK, PLAIN, PROGRAM, id_of};
use crate::clock::machine_ms;
use bytes::Bytes;
use std::collections::HashMap;
use std::fs::{self, FileType, Metadata};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Who was changed so short a time before it was read may change again and look the same: the clock of a disk ticks slowly.
const MAY_LOOK_THE_SAME_MS: i64 = 2_000;

/// A file as git keeps it. The content of a link is where it leads to. States of a workspace share what did not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blob {
    pub(super) mode: &'static str,
    pub(super) id: [u8; 20],
    pub(super) content: Bytes,
}

impl Blob {
    pub(super) fn new(mode: &'static str, content: Vec<u8>) -> Self {
        Self { mode, id: id_of("blob", &content), content: content.into() }
    }
}

/// The files that were read, each with how it looked from outside then.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<PathBuf, (Looks, Blob)>);

/// How a file looks without being read; one that is written to looks otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Looks {
    disk: u64,
    number: u64,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Looks {
    fn of(file: &Metadata) -> Self {
        Self {
            disk: file.dev(),
            number: file.ino(),
            mode: file.permissions().mode(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    /// Would a change after this moment be seen?
    fn are_settled(self, now_ms: i64) -> bool {
        let (seconds, nanos) = self.modified.max(self.changed);
        seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000) < now_ms - MAY_LOOK_THE_SAME_MS
    }
}

impl Known {
    /// Looks at all files that `read` asks for; of the others nothing is known any more.
    pub(super) fn look<T>(
        &mut self,
        read: impl FnOnce(&mut dyn FnMut(&Path, FileType) -> Option<Blob>) -> T,
    ) -> T {
        let before = std::mem::take(&mut self.0);
        let now = i64::try_from(machine_ms()).unwrap_or(i64::MAX);
        read(&mut |path, kind| {
            if kind.is_symlink() {
                return Some(Blob::new(LINK, fs::read_link(path).ok()?.into_os_string().into_vec()));
            }
            let looks = Looks::of(&kind.is_file().then(|| fs::metadata(path).ok())??);
            if let Some((_, blob)) = before.get(path).filter(|(then, _)| *then == looks) {
                self.0.insert(path.to_owned(), (looks, blob.clone()));
                return Some(blob.clone());
            }
            let blob = Blob::new(if looks.mode & 0o100 != 0 { PROGRAM } else { PLAIN }, fs::read(path).ok()?);
            if looks.are_settled(now) {
                self.0.insert(path.to_owned(), (looks, blob.clone()));
            }
            Some(blob)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::{Duration, UNIX_EPOCH};

    fn seen(known: &mut Known, path: &Path) -> Option<Blob> {
        known.look(|read| read(path, fs::symlink_metadata(path).ok()?.file_type()))
    }

    /// As if nobody had touched it for long.
    fn let_settle(known: &mut Known) {
        for (looks, _) in known.0.values_mut() {
            (looks.modified, looks.changed) = ((0, 0), (0, 0));
        }
    }

    #[test]
    fn what_was_changed_lately_is_read_again_though_it_looks_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let mut known = Known::default();
        fs::write(&path, "one").unwrap();
        assert_eq!(seen(&mut known, &path).unwrap().content, "one");
        fs::write(&path, "two").unwrap();
        assert_eq!(seen(&mut known, &path).unwrap().content, "two");
        assert!(known.0.is_empty(), "nobody can say whether it changes again");
    }

    #[test]
    fn what_looks_as_it_did_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "one").unwrap();
        let looks = Looks::of(&fs::metadata(&path).unwrap());
        let kept = Blob::new(PLAIN, b"kept".to_vec());
        let mut known = Known(HashMap::from([(path.clone(), (looks, kept.clone()))]));
        assert_eq!(seen(&mut known, &path), Some(kept.clone()));
        assert_eq!(seen(&mut known, &path), Some(kept), "and is still known");
        let_settle(&mut known);
        assert_eq!(seen(&mut known, &path).unwrap().content, "one", "it looks otherwise");
        File::open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(60)).unwrap();
        assert_eq!(seen(&mut known, &path).unwrap().content, "one");
        assert!(known.0.is_empty(), "that its time was set back was seen by the disk now");
    }

    #[test]
    fn of_who_is_not_looked_at_nothing_is_known() {
        let path = Path::new("gone.txt").to_path_buf();
        let looks = Looks { disk: 0, number: 0, mode: 0, size: 0, modified: (0, 0), changed: (0, 0) };
        let mut known = Known(HashMap::from([(path, (looks, Blob::new(PLAIN, Vec::new())))]));
        known.look(|_| ());
        assert!(known.0.is_empty());
    }
}
