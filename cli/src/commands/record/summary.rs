//! What `standin record` says in the end.

use fixtures::recording::{Header, Line};
use harness::performance::Performance;
use mock_server::model::Report;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The stand-in and the recordings that travel with it are of one release; this one is of another.
pub(super) fn other_release(header: &Header) -> Option<String> {
    let Header { server, version, .. } = header;
    let pinned = server.pinned_version();
    (version != pinned).then(|| {
        format!("this is {server} {version}; the stand-in is made after {pinned}, so what differs may be the release")
    })
}

/// What was recorded.
pub(super) struct Summary<'a> {
    header: &'a Header,
    events: usize,
    exchanges: usize,
    model_calls: usize,
    script: &'a Report,
    kept: PathBuf,
}

impl<'a> Summary<'a> {
    pub(super) fn of(performance: &'a Performance, kept: PathBuf) -> Self {
        let lines = &performance.recording.lines;
        let mut streams: BTreeMap<u64, fixtures::sse::Parser> = BTreeMap::new();
        let mut events = 0;
        for line in lines {
            if let Line::Chunk(chunk) = line {
                events += streams.entry(chunk.exchange).or_default().feed(&chunk.bytes()).len();
            }
        }
        let count = |is: fn(&Line) -> bool| lines.iter().filter(|line| is(line)).count();
        Self {
            header: &performance.recording.header,
            events,
            exchanges: count(|line| matches!(line, Line::Request(_))),
            model_calls: count(|line| matches!(line, Line::Model(_))),
            script: &performance.script,
            kept,
        }
    }

    pub(super) fn text(&self) -> String {
        let Header { server, version, scenario, .. } = self.header;
        let note = other_release(self.header).map(|note| format!("note: {note}\n")).unwrap_or_default();
        // One that never asks has a model of its own.
        let unused = self
            .script
            .unused
            .iter()
            .filter(|_| self.model_calls > 0)
            .map(|part| format!("the server never asked for: {part}\n"));
        let unscripted = self.script.unscripted.iter().map(|why| format!("asked for in vain: {why}\n"));
        let script: String = unused.chain(unscripted).collect();
        format!(
            "{server} {version} performed {scenario}: {} events, {} exchanges, {} model calls\n{script}{note}{}\n",
            self.events,
            self.exchanges,
            self.model_calls,
            self.kept.display()
        )
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "server": self.header.server,
            "version": self.header.version,
            "scenario": self.header.scenario,
            "events": self.events,
            "exchanges": self.exchanges,
            "model_calls": self.model_calls,
            "never_asked_for": self.script.unused,
            "asked_for_in_vain": self.script.unscripted,
            "note": other_release(self.header),
            "file": self.kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::place;
    use super::*;
    use fixtures::ServerKind;
    use fixtures::recording::{FORMAT, FileKind, Performer, Provenance};
    use std::path::Path;

    fn header(version: &str) -> Header {
        Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server: ServerKind::Opencode,
            version: version.into(),
            performer: Performer::Real,
            scenario: "a/b".into(),
            workspace: "/tmp/w".into(),
            by: "test".into(),
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn the_place_is_the_file_or_below_the_folder_by_release() {
        let header = header("1.2.3");
        assert_eq!(place(Path::new("x/y.jsonl"), &header), Path::new("x/y.jsonl"));
        assert_eq!(place(Path::new("x"), &header), Path::new("x/opencode-1.2.3/a/b.jsonl"));
    }

    #[test]
    fn another_release_is_noted() {
        let summary = |version| {
            let header = &header(version);
            Summary {
                header,
                events: 1,
                exchanges: 2,
                model_calls: 3,
                script: &Report::default(),
                kept: "k".into(),
            }
            .text()
        };
        assert_eq!(
            summary("1.2.3"),
            "opencode 1.2.3 performed a/b: 1 events, 2 exchanges, 3 model calls\n\
             note: this is opencode 1.2.3; the stand-in is made after 1.18.33, so what differs may be the release\n\
             k\n"
        );
        assert!(!summary(ServerKind::Opencode.pinned_version()).contains("note"));
    }
}
