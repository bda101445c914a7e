//! Goal: the recorder works without npm. Method: the stand-in, started as a child as a real server is, is recorded;
//! the recording must equal that of the real server.

use crate::programs::{SCENARIO, serving};
use fixtures::recording::{Line, Recording};
use fixtures::redact::Secrets;
use fixtures::{ServerKind, catalog};
use harness::performance::{Piece, Program};
use harness::truth::{differences, stand_in_limits};
use recorder::keep::keep;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[expect(clippy::disallowed_methods, reason = "a child needs a PATH to find git with")]
fn path_env() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

#[tokio::test]
async fn the_stand_in_as_a_child_is_recorded_like_a_real_server() {
    for server in ServerKind::ALL {
        let piece = Piece { name: SCENARIO.into(), scenario: catalog::scenario(SCENARIO).unwrap(), server };
        let program = Program {
            path: PathBuf::from("/bin/sh"),
            // The recorder says `serve --hostname … --port …`; the shell adds what only a stand-in needs.
            args: vec!["-c".into(), serving(server), "sh".into()],
            path_env: path_env(),
            model_pause: Duration::ZERO,
            server_log: None,
            secrets: Secrets::default(),
        };
        let performance = piece.by_program(&program, &stand_in_limits()).await.unwrap();
        let times: Vec<u64> = performance.recording.lines.iter().map(Line::at_us).collect();
        assert!(times.is_sorted(), "one monotonic time line: {times:?}");
        let mut real = catalog::recording(&server.release(), SCENARIO).unwrap();
        // The child asks its own model, so the calls of the model are not on the recorder's time line.
        real.lines.retain(|line| !matches!(line, Line::Model(_)));
        let floats = catalog::floats(server).unwrap();
        assert_eq!(differences(&real, &performance.recording, &floats), [], "{server}");
        assert_eq!(Some(performance.doc.as_slice()), catalog::doc(&server.release()));

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept.jsonl");
        keep(&performance.recording, &performance.secrets, &path).unwrap();
        let kept = Recording::read(&path).unwrap();
        assert_eq!(differences(&kept, &performance.recording, &floats), [], "what is kept says the same");
        assert_eq!(Secrets::default().scan(&std::fs::read_to_string(&path).unwrap()), []);
    }
}
