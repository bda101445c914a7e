//! What is indexed is found, and after a change only what has changed is read.

use super::{is_deletion, text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "index",
    about: "The index has every file as it is; after a change that file alone is read, once, and old words are gone.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let built = wanted(story, "index/build");
    for (call, wanted) in &built {
        let files = call.result().map(|result| result["files"].clone()).unwrap_or_default();
        examined.fact(files == wanted["files"], || {
            format!("{} files are to be indexed, and {files} are", wanted["files"])
        });
    }
    // Changes of a workspace that has no index are another check's.
    let changes = if built.is_empty() { Vec::new() } else { wanted(story, "fs/event") };
    for (nth, (call, _)) in changes.iter().enumerate() {
        let end = changes.get(nth + 1).map_or(usize::MAX, |(next, _)| next.at.line);
        let read =
            story.updates_of("indexed").filter(|told| call.at.line < told.at.line && told.at.line < end);
        let read: Vec<&str> = read.map(|told| text(&told.update["path"])).collect();
        let path = text(&call.params["path"]);
        let is_read = read == [path] || (is_deletion(call) && read.is_empty());
        examined.fact(is_read, || {
            let some: Vec<&str> = read.iter().take(3).copied().collect();
            format!(
                "{path} was {}, and {} files are indexed: {}",
                text(&call.params["kind"]),
                read.len(),
                some.join(", ")
            )
        });
    }
    for (call, wanted) in wanted(story, "index/search") {
        let of = |value: &Value| -> BTreeSet<String> {
            value.as_array().into_iter().flatten().map(|path| text(path).to_owned()).collect()
        };
        let found = call.result().map(|result| of(&result["paths"])).unwrap_or_default();
        examined.fact(found == of(&wanted["finds"]), || {
            format!("{}: it finds {found:?} instead of {}", call.params["word"], wanted["finds"])
        });
    }
    examined
}
