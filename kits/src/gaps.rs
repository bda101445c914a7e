//! Files that are taken away before the new ones have their names: a kill in between leaves neither. The system tells of it,
//! so that it is seen without a kill at the right microsecond. Where it tells of no such thing (all but Linux), nothing is seen.

use std::collections::BTreeSet;
use std::path::Path;

/// Folders that are looked at.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    #[cfg(target_os = "linux")]
    told: Option<std::os::fd::OwnedFd>,
    /// By the system's number: what stands before the names of a folder's files.
    #[cfg(target_os = "linux")]
    folders: std::collections::BTreeMap<i32, String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// It is there no more.
    Taken,
    /// It has another name now.
    Renamed,
    /// It is there.
    Put,
}

#[cfg(target_os = "linux")]
impl Gaps {
    /// Looks from now on at a folder and at those in it.
    pub(crate) fn below(top: &Path) -> Self {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let kinds = WatchFlags::DELETE | WatchFlags::CREATE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
        let Ok(told) = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) else { return Self::default() };
        let all = walkdir::WalkDir::new(top).into_iter().flatten().filter(|one| one.file_type().is_dir());
        let looked_at = all.filter_map(|folder| {
            let number = add_watch(&told, folder.path(), kinds).ok()?;
            let below = folder.path().strip_prefix(top).ok()?.to_string_lossy().into_owned();
            Some((number, if below.is_empty() { below } else { below + "/" }))
        });
        let folders = looked_at.collect();
        Self { told: Some(told), folders }
    }

    /// The files that were gone for a moment, by their names below the folder.
    pub(crate) fn seen(&self) -> BTreeSet<String> {
        use rustix::fs::inotify::{ReadFlags, Reader};
        let Some(told) = &self.told else { return BTreeSet::new() };
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(told, &mut buffer);
        let mut events = Vec::new();
        while let Ok(entry) = reader.next() {
            let (Some(name), Some(folder)) = (entry.file_name(), self.folders.get(&entry.wd())) else {
                continue;
            };
            let kind = match entry.events() {
                kind if kind.contains(ReadFlags::DELETE) => Event::Taken,
                kind if kind.contains(ReadFlags::MOVED_FROM) => Event::Renamed,
                _ => Event::Put,
            };
            events.push((kind, format!("{folder}{}", name.to_string_lossy())));
        }
        gone_for_a_moment(&events)
    }
}

#[cfg(not(target_os = "linux"))]
impl Gaps {
    /// Nobody tells.
    pub(crate) fn below(_: &Path) -> Self {
        Self {}
    }

    /// Nothing.
    pub(crate) fn seen(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

/// What is taken away and put there with nothing else in between. Who writes another file meanwhile may have all in that.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody tells of events there"))]
fn gone_for_a_moment(events: &[(Event, String)]) -> BTreeSet<String> {
    let taken = events.iter().enumerate().filter(|(_, (kind, _))| *kind == Event::Taken);
    let again = taken.filter(|(at, (_, name))| {
        let mut later = events[at + 1..].iter().skip_while(|(kind, _)| *kind == Event::Renamed);
        later.next().is_some_and(|(kind, other)| *kind == Event::Put && other == name)
    });
    again.map(|(_, (_, name))| name.clone()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_taken_away_before_its_successor_is_there_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str| fs::write(path(name), "a conversation").unwrap();
        fs::create_dir(path("in")).unwrap();
        ["a", "in/b", "c"].iter().for_each(|name| write(name));
        let gaps = Gaps::below(folder.path());
        write("a.new");
        fs::rename(path("a.new"), path("a")).unwrap();
        assert_eq!(gaps.seen(), BTreeSet::new(), "it is renamed over the old one");
        write("in/b.new");
        fs::remove_file(path("in/b")).unwrap();
        fs::rename(path("in/b.new"), path("in/b")).unwrap();
        fs::remove_file(path("c")).unwrap();
        write("c");
        assert_eq!(gaps.seen(), BTreeSet::from(["c", "in/b"].map(str::to_owned)));
        fs::remove_file(path("a")).unwrap();
        write("b.of.now");
        write("a");
        assert_eq!(gaps.seen(), BTreeSet::new(), "another file had it meanwhile");
    }
}
