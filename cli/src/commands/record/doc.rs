//! The server's `/doc`, beside its recordings.

use super::super::Failure;
use super::release_folder;
use fixtures::recording::Header;
use fixtures::redact::Secrets;
use std::io::Write as _;
use std::path::Path;

/// `/doc` belongs to the release: every scenario reads the same one. As a recording it has its name when all of it is
/// there, and is its owner's alone.
pub(super) fn keep_doc(doc: &[u8], secrets: &Secrets, out: &Path, header: &Header) -> Result<(), Failure> {
    let path = release_folder(out, header).join("doc.json");
    let doc = String::from_utf8_lossy(doc);
    match secrets.scan(&doc).first() {
        None => write_whole(&path, &doc).map_err(|error| {
            Failure::CouldNot(format!(
                "failed to write {}: {}",
                path.display(),
                super::super::io_words(&error)
            ))
        }),
        Some(finding) => Err(Failure::Fails(format!(
            "{} would hold a secret and was not written: {finding}",
            path.display()
        ))),
    }
}

/// Written beside its place, readable by its owner alone, and put there when it is whole.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix("doc.json.").suffix(".new").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
