//! The checkpoints of the last look, kept open: a file that is renamed over one of them leaves it as it was, and one that is
//! written where it stands does not. So it is seen without a kill at the right microsecond.

use super::super::repository::names;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The files, by their names, and what they held.
#[derive(Default)]
pub(super) struct Held(BTreeMap<String, (File, Vec<u8>)>);

impl Held {
    /// Which of the files hold something else by now; and which of these are still the same file. Those that are there now are
    /// kept from here on.
    pub(super) fn look(&mut self, folder: &Path) -> (Vec<String>, Vec<String>) {
        let (mut replaced, mut over) = (Vec::new(), Vec::new());
        for (name, (file, before)) in &mut self.0 {
            let is_other = fs::read(folder.join(&*name)).is_ok_and(|now| now != *before);
            if is_other {
                replaced.push(name.clone());
            }
            if is_other && held(file).is_none_or(|now| now != *before) {
                over.push(name.clone());
            }
        }
        let open = |name: String| {
            let mut file = File::open(folder.join(&name)).ok()?;
            let text = held(&mut file)?;
            Some((name, (file, text)))
        };
        let now = names(folder).into_iter().filter(|name| name.ends_with(".json"));
        self.0 = now.filter_map(open).collect();
        (replaced, over)
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
        let mut held = Held::default();
        for name in ["same.json", "over.json", "renamed.json"] {
            fs::write(path(name), "before").unwrap();
        }
        assert_eq!(held.look(folder.path()), (vec![], vec![]));
        fs::write(path("over.json"), "after").unwrap();
        fs::write(path("partial"), "after").unwrap();
        fs::rename(path("partial"), path("renamed.json")).unwrap();
        let (replaced, over) = held.look(folder.path());
        assert_eq!(
            (replaced.join(" "), over.join(" ")),
            ("over.json renamed.json".to_owned(), "over.json".to_owned())
        );
        assert_eq!(held.look(folder.path()), (vec![], vec![]));
    }
}
