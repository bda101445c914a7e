//! The query of a login's address is a secret: it stands in no log.

use super::{Check, Examined};
use crate::acp::heard::messages;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "secrets", about: "No log has the query of a login's address.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let logs: Vec<&str> = story
        .updates_of("log")
        .filter_map(|told| told.update["text"].as_str())
        .chain(story.stderr())
        .collect();
    for message in messages(story).filter(|message| message.method() == Some("_kiro.dev/mcp/oauth_request")) {
        let url = message.value["params"]["authUrl"].as_str().unwrap_or_default();
        let Some((_, query)) = url.split_once('?') else { continue };
        examined.fact(!logs.iter().any(|log| log.contains(query)), || format!("a log has {query}"));
    }
    examined
}
