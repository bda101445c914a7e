//! A file that has changed is read again once, when it has been quiet for a while: each file by itself.

use super::{excused, in_time, is_deletion, text};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    name: "changes",
    about: "Each changed file is indexed once, 500 ms after its last change, whichever others change meanwhile.",
    examine,
};

/// So long a file has to be quiet.
const QUIET_MS: f64 = 500.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let mut changes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for call in story.calls_of("fs/event").filter(|call| !is_deletion(call)) {
        changes.entry(text(&call.params["path"])).or_default().push(call.at.ms);
    }
    for (path, times) in changes {
        let indexed = story.updates_of("indexed").filter(|told| text(&told.update["path"]) == path);
        let indexed: Vec<f64> = indexed.map(|told| told.at.ms).collect();
        // A change within the quiet time of the one before belongs to it.
        let last_ones: Vec<f64> = times
            .iter()
            .enumerate()
            .filter(|(index, at)| times.get(index + 1).is_none_or(|next| next - **at >= QUIET_MS))
            .map(|(_, at)| *at)
            .collect();
        // A timer of a busy machine that is late comes after the next change, which begins it anew.
        let is_close = |two: &[f64]| (QUIET_MS..QUIET_MS + excused(story)).contains(&(two[1] - two[0]));
        let finding = || format!("{path} was indexed {} times instead of {}", indexed.len(), last_ones.len());
        examined.facts += 1;
        if indexed.len() != last_ones.len() {
            match indexed.len() < last_ones.len() && times.windows(2).any(is_close) {
                true => examined.doubts.push(finding()),
                false => examined.findings.push(finding()),
            }
        }
        for (at, last) in indexed.iter().zip(&last_ones) {
            in_time(&mut examined, story, at - last, QUIET_MS, || {
                format!("{path} was indexed {:.0} ms after its last change", at - last)
            });
        }
    }
    examined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::checks::index;
    use crate::guards::play::WANTED;
    use fixtures::recording::{AdapterLine, Line, Note, Speaker};
    use serde_json::{Value, json};

    fn said(from: Speaker, message: Value) -> Line {
        Line::Adapter(AdapterLine { at_us: 0, from, message })
    }

    /// What both checks find when an index is there, a file changes or goes, and nothing is shown of it.
    fn findings(kind: &str) -> usize {
        let calls = [("index/build", json!({})), ("fs/event", json!({"path": "a.rs", "kind": kind}))];
        let mut lines = Vec::new();
        for (id, (method, params)) in calls.into_iter().enumerate() {
            lines.push(said(
                Speaker::Harness,
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
            ));
            lines.push(said(Speaker::Adapter, json!({"jsonrpc": "2.0", "id": id, "result": {"files": 1}})));
            let wanted = json!({"method": method, "nth": 0, "files": 1});
            lines.push(Line::Note(Note { at_us: 0, text: format!("witness {WANTED} {wanted}") }));
        }
        let story = Story::of(&lines);
        examine(&story).findings.len() + (index::CHECK.examine)(&story).findings.len()
    }

    #[test]
    fn nothing_is_read_of_a_file_that_is_gone() {
        assert_eq!(findings("deleted"), 0);
        assert_eq!(findings("changed"), 2, "who changes a file waits for its words");
    }
}
