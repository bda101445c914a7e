//! Gives a recording its name on disk, once it is known to hold no secret.
//!
//! It is written as `.partial`, readable by its owner alone, scanned as it stands on disk, and renamed. On a
//! finding nothing is kept, and the message names line and detector, never the value.

use fixtures::FileError;
use fixtures::recording::{Body, Line, Recording, Writer};
use fixtures::redact::{Finding, Secrets, hide_telling_values};
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

/// Writes a recording, with values under telling keys replaced; `secrets` must not be found in what is written.
pub fn keep(recording: &Recording, secrets: &Secrets, path: &Path) -> Result<(), KeepError> {
    let mut redacted = recording.clone();
    redacted.lines.iter_mut().for_each(redact);
    let mut writer = Writer::create(path, &redacted.header)?;
    let findings = match write_and_scan(&mut writer, &redacted.lines, secrets) {
        Ok(findings) => findings,
        Err(error) => {
            writer.discard()?;
            return Err(error.into());
        }
    };
    if !findings.is_empty() {
        writer.discard()?;
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

/// Replaces the values under telling keys.
pub(crate) fn redact(line: &mut Line) {
    let body = match line {
        Line::Request(request) => &mut request.body,
        Line::Response(response) => &mut response.body,
        Line::Model(call) => {
            call.messages.iter_mut().for_each(hide_telling_values);
            return;
        }
        _ => return,
    };
    if let Body::Json(value) = body {
        hide_telling_values(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;
    use fixtures::recording::{Chunk, FORMAT, FileKind, Header, Performer, Provenance, Response};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt as _;

    fn recording(lines: Vec<Line>) -> Recording {
        let header = Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server: ServerKind::Kilo,
            version: "7.7.7".into(),
            performer: Performer::Real,
            scenario: "a/b".into(),
            workspace: "/tmp/w".into(),
            by: "test".into(),
            provenance: Provenance::default(),
        };
        Recording { header, lines, torn: false }
    }

    #[test]
    fn what_is_kept_is_private_and_without_telling_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/x.jsonl");
        let body = Body::Json(json!({"provider": {"options": {"apiKey": "abcdefgh-ijkl"}}}));
        let response = Response { at_us: 1, exchange: 1, status: 200, headers: vec![], body };
        keep(&recording(vec![Line::Response(response)]), &Secrets::default(), &path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("redacted-reda") && !text.contains("abcdefgh"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_secret_keeps_everything_off_the_disk_and_out_of_the_message() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let mut secrets = Secrets::default();
        secrets.add("correct-horse-battery");
        let chunk = Line::Chunk(Chunk::new(1, 1, b"data: {\"text\":\"correct-horse-battery\"}\n\n"));
        let error = keep(&recording(vec![chunk]), &secrets, &path).unwrap_err().to_string();
        assert!(error.ends_with("was deleted: line 2: a secret of this run"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
