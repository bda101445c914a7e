//! Archives: the same files give the same bytes, on every machine and on every day.

use super::{Packed, Platform, VERSION};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use tar::{Builder, EntryType, Header};

/// The program with its texts, for who unpacks it by hand.
pub(super) fn pack(
    program: &[u8],
    beside: &[Packed],
    platform: Platform,
) -> Result<(String, Vec<u8>), String> {
    let folder = format!("standin-{VERSION}-{}", platform.triple);
    let program = Packed::program("standin", program);
    let bytes = tar_gz(&folder, std::iter::once(&program).chain(beside))?;
    Ok((format!("{folder}.tar.gz"), bytes))
}

/// Files below a folder, packed.
pub(super) fn tar_gz<'a>(folder: &str, files: impl Iterator<Item = &'a Packed>) -> Result<Vec<u8>, String> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for file in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(u64::try_from(file.bytes.len()).unwrap_or(u64::MAX));
        header.set_mode(if file.runs { 0o755 } else { 0o644 });
        // 1985: npm refuses times before 1980 for what it packs, and everybody takes this one.
        header.set_mtime(499_162_500);
        let path = format!("{folder}/{}", file.path);
        builder.append_data(&mut header, &path, &*file.bytes).map_err(|error| format!("{path}: {error}"))?;
    }
    let packed = builder.into_inner().and_then(|mut zipped| {
        zipped.flush()?;
        zipped.finish()
    });
    packed.map_err(|error| format!("failed to pack {folder}: {error}"))
}
