//! The token stands nowhere in what the client says or shows.

use crate::kit::Check;
use crate::story::Story;
use fixtures::recording::{Line, Speaker};
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "secret", about: "The token stands in no log, on no screen and in no answer.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // What it says is kept without secrets; whether the token was in it is seen before.
    if story.seen_of("token").next().is_none() || story.calls_of("notifications/fetch").next().is_none() {
        return examined;
    }
    let said =
        story.lines.iter().filter(|line| matches!(line, Line::Adapter(it) if it.from == Speaker::Adapter));
    examined.facts += said.count();
    examined.findings.extend(story.said_secrets().map(|(_, place)| match place {
        "stderr" => "the token stands on its stderr".to_owned(),
        _ => "the token stands in what the client says".to_owned(),
    }));
    examined
}
