//! An edit that says nothing of pictures leaves them as the client declares; one that says there are none takes them away.

use super::{carries, episodes, messages, pictures, words_of};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::{Value, json};

pub(super) const CHECK: Check =
    Check { name: "images", about: "Pictures of an edited message stay or go as the edit says.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let replaces = story.declares.get("editImages").is_some_and(|word| word == "replace");
    for episode in episodes(story) {
        let had = episode.told["images"].as_array().map_or(&[][..], Vec::as_slice);
        let Some(edit) = episode.done().filter(|_| !had.is_empty()) else { continue };
        let wanted: Vec<&Value> = match episode.told["edit_images"].as_array() {
            Some(said) => said.iter().collect(),
            None if replaces => Vec::new(),
            None => had.iter().collect(),
        };
        for asked in episode.asked.iter().filter(|asked| carries(asked, words_of(edit))) {
            let last = messages(asked).pop().unwrap_or(&Value::Null);
            let sent = pictures(last);
            examined.fact(sent == wanted, || {
                format!("{}: pictures {} in place of {}", episode.name(), json!(sent), json!(wanted))
            });
        }
    }
    examined
}
