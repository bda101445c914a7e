//! The token stands nowhere in what the client says or shows.

use crate::kit::Check;
use crate::story::Story;
use fixtures::recording::{Line, Speaker};
use fixtures::tokens;
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "secret", about: "The token stands in no log, on no screen and in no answer.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    // What the adapter was told is kept without its token; which one it was is known by its name.
    let name = story.seen_of("token").next().and_then(|seen| seen.value["name"].as_str());
    let corpus = fixtures::corpus::all::<fixtures::tokens::Case>().unwrap_or_default();
    let Some(token) =
        corpus.iter().find(|case| Some(case.full_name().as_str()) == name).map(tokens::Case::token)
    else {
        return examined;
    };
    if story.calls_of("notifications/fetch").next().is_none() {
        return examined;
    }
    for line in story.lines {
        let said = match line {
            Line::Adapter(said) if said.from == Speaker::Adapter => said.message.to_string(),
            // What a program writes on its stderr.
            Line::Note(note) if !note.text.starts_with("witness ") && !note.text.starts_with("call ") => {
                note.text.clone()
            }
            _ => continue,
        };
        examined.fact(!said.contains(&token), || "the token stands in what the client says".to_owned());
    }
    examined
}
