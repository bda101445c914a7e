//! The data folders of this crate, as the binary carries them.

use include_dir::{Dir, include_dir};
use std::path::PathBuf;

static DATA: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR");

/// The path and the text of every file of the matrix and of the evidence, sorted.
pub(crate) fn texts() -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    collect(&DATA, &mut texts);
    texts.sort();
    texts
}

fn collect(dir: &Dir<'_>, texts: &mut Vec<(PathBuf, String)>) {
    for file in dir.files() {
        let is_toml = file.path().extension().is_some_and(|extension| extension == "toml");
        if let Some(text) = file.contents_utf8().filter(|_| is_toml) {
            texts.push((file.path().to_path_buf(), text.to_owned()));
        }
    }
    for inner in dir.dirs() {
        collect(inner, texts);
    }
}
