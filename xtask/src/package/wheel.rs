//! A wheel of Python: the program as a script of the environment that it is installed in.

use super::{ABOUT, LICENSE, NAME, Packed, Platform, VERSION};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The wheel of a platform, by its file's name.
pub(super) fn pack(
    program: &[u8],
    beside: &[Packed],
    platform: Platform,
) -> Result<(String, Vec<u8>), String> {
    let stem = format!("{}-{VERSION}", NAME.replace('-', "_"));
    let about = format!("{stem}.dist-info");
    let readme = beside.iter().find(|file| file.path == "README.md").map(|file| file.bytes.clone());
    let readme = String::from_utf8_lossy(&readme.unwrap_or_default()).into_owned();
    let metadata = format!(
        "Metadata-Version: 2.4\nName: {NAME}\nVersion: {VERSION}\nSummary: {ABOUT}\nLicense-Expression: {LICENSE}\n\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
    );
    let tags = platform.wheel.split('.').fold(String::new(), |mut tags, tag| {
        let _ = writeln!(tags, "Tag: py3-none-{tag}");
        tags
    });
    let wheel = format!("Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: false\n{tags}");
    let mut files = vec![
        Packed::program(format!("{stem}.data/scripts/standin"), program),
        Packed::text(format!("{about}/METADATA"), metadata),
        Packed::text(format!("{about}/WHEEL"), wheel),
    ];
    let licenses = beside.iter().filter(|file| file.path.starts_with("LICENSE"));
    files.extend(licenses.map(|file| Packed {
        path: format!("{about}/licenses/{}", file.path),
        bytes: file.bytes.clone(),
        runs: false,
    }));
    let record = record(&files, &format!("{about}/RECORD"));
    files.push(record);
    let name = format!("{stem}-py3-none-{}.whl", platform.wheel);
    let bytes = zipped(&files).map_err(|error| format!("failed to pack {name}: {error}"))?;
    Ok((name, bytes))
}

/// Every file with its sum and its length; of itself nothing can be said.
fn record(files: &[Packed], own: &str) -> Packed {
    let mut lines = String::new();
    for file in files {
        let _ = writeln!(
            lines,
            "{},sha256={},{}",
            file.path,
            URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes)),
            file.bytes.len()
        );
    }
    let _ = writeln!(lines, "{own},,");
    Packed::text(own, lines)
}

fn zipped(files: &[Packed]) -> zip::result::ZipResult<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let mode = if file.runs { 0o755 } else { 0o644 };
        // Without a time of its own a file has the earliest that there is: the same bytes each day.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(mode);
        writer.start_file(&*file.path, options)?;
        writer.write_all(&file.bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}
