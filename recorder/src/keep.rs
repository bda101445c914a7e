//! Gives a recording its name on disk, once it is known to hold no secret.
//!
//! It is redacted, written as `.partial`, readable by its owner alone, scanned as it stands on disk, and renamed. On
//! a finding nothing is kept, and the message names line, place and detector, never the value.

use fixtures::FileError;
use fixtures::recording::{Line, Recording, Writer};
use fixtures::redact::{Finding, Redactor, Secrets};
use std::fs;
use std::path::{Path, PathBuf};

/// Why a recording was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The disk.
    #[error(transparent)]
    File(#[from] FileError),
    /// A secret.
    #[error("{} would hold a secret and was deleted: {}", path.display(), listed(findings))]
    Secret {
        /// The file.
        path: PathBuf,
        /// Where.
        findings: Vec<Finding>,
    },
}

fn listed(findings: &[Finding]) -> String {
    let shown: Vec<String> = findings.iter().take(5).map(ToString::to_string).collect();
    shown.join("; ")
}

/// Writes a recording without its secrets; `secrets` are those that the writer knows. What is found in the written
/// file all the same keeps it from its name.
pub fn keep(recording: &Recording, secrets: &Secrets, path: &Path) -> Result<(), KeepError> {
    let mut redacted = recording.clone();
    Redactor::new(secrets).recording(&mut redacted);
    // Beside what was written during the recording: a kill in this moment loses nothing of it.
    let mut writer = Writer::create_apart(path, &redacted.header)?;
    let findings = match write_and_scan(&mut writer, &redacted.lines, secrets) {
        Ok(findings) => findings,
        Err(error) => {
            writer.discard()?;
            return Err(error.into());
        }
    };
    if !findings.is_empty() {
        writer.discard_all()?;
        return Err(KeepError::Secret { path: path.to_path_buf(), findings });
    }
    Ok(writer.finish()?)
}

fn write_and_scan(writer: &mut Writer, lines: &[Line], secrets: &Secrets) -> Result<Vec<Finding>, FileError> {
    lines.iter().try_for_each(|line| writer.push(line))?;
    let on_disk = fs::read_to_string(writer.partial());
    let text = on_disk.map_err(|error| FileError::io(writer.partial(), "read it again", &error))?;
    Ok(secrets.scan(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header;
    use fixtures::recording::{Body, Chunk, Response};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt as _;

    fn recording(lines: Vec<Line>) -> Recording {
        Recording { header: header(), lines, torn: false }
    }

    #[test]
    fn what_is_kept_is_private_and_without_telling_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/x.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.with_extension("jsonl.partial"), "left by an earlier run, readable by all").unwrap();
        let body = Body::Json(json!({"provider": {"options": {"apiKey": "abcdefgh-ijkl"}}}));
        let response = Response { at_us: 1, exchange: 1, status: 200, headers: vec![], body };
        keep(&recording(vec![Line::Response(response)]), &Secrets::default(), &path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("redacted-aaaa") && !text.contains("abcdefgh"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no partial is left");
    }

    #[test]
    fn a_known_secret_split_over_chunks_is_replaced_and_the_cuts_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut secrets = Secrets::default();
        secrets.add("correct-horse-battery");
        let pieces = ["data: {\"text\":\"correct-", "horse", "-battery\"}\n\n"];
        let chunks = pieces.map(|piece| Line::Chunk(Chunk::new(1, 1, piece.as_bytes())));
        keep(&recording(chunks.to_vec()), &secrets, &path).unwrap();
        let kept = Recording::read(&path).unwrap();
        let texts: Vec<_> = kept
            .lines
            .iter()
            .map(|line| match line {
                Line::Chunk(chunk) => chunk.text.clone().unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["data: {\"text\":\"redacted", "-aaaa", "aa-redac\"}\n\n"]);
    }

    #[test]
    fn what_only_the_scan_finds_keeps_everything_off_the_disk_and_out_of_the_message() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut secrets = Secrets::default();
        secrets.add("correct-horse-battery");
        // Nothing replaces it backwards.
        let chunk = Line::Chunk(Chunk::new(1, 1, b"data: {\"text\":\"yrettab-esroh-tcerroc\"}\n\n"));
        let error = keep(&recording(vec![chunk]), &secrets, &path).unwrap_err().to_string();
        assert!(
            error.contains("was deleted: line 2, /chunk/text: a secret of this run, backwards"),
            "{error}"
        );
        assert!(!error.contains("horse") && !error.contains("esroh"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
