//! An edit that says nothing of pictures leaves them as the client declares; one that says there are none takes them away.

use super::{Episode, carries, episodes, messages, pictures, words_of};
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
        for list in ["user", "model"] {
            earlier(&episode, list, &mut examined);
            edited(&episode, list, &wanted, &mut examined);
        }
    }
    examined
}

/// The edited message has its pictures in both lists: from them the next request is made.
fn edited(episode: &Episode<'_>, list: &str, wanted: &[&Value], examined: &mut Examined) {
    let (Some(stays), now) = (episode.turns_that_stay(list), &episode.after["snapshot"][list]) else {
        return;
    };
    let mut turns = now.as_array().into_iter().flatten().filter(|entry| entry["says"] != "checkpoint");
    let Some(entry) = turns.nth(stays).filter(|_| !episode.is_on_server()) else { return };
    let has: Vec<&Value> = entry["images"].as_array().into_iter().flatten().collect();
    examined.fact(has == wanted, || {
        let (has, wanted) = (json!(has), json!(wanted));
        format!(
            "{}: in the list of the {list} the edited message has the pictures {has} in place of {wanted}",
            episode.name()
        )
    });
}

/// Whoever had pictures before the edited message has them still, in both lists.
fn earlier(episode: &Episode<'_>, list: &str, examined: &mut Examined) {
    let (Some(stays), now) = (episode.turns_that_stay(list), &episode.after["snapshot"][list]) else {
        return;
    };
    let entries = |list: &'_ Value| -> Vec<(String, Vec<Value>)> {
        let all = list.as_array().into_iter().flatten().filter(|entry| entry["says"] != "checkpoint");
        let pictures = |entry: &Value| entry["images"].as_array().cloned().unwrap_or_default();
        all.take(stays).map(|entry| (entry["text"].to_string(), pictures(entry))).collect()
    };
    for (before, now) in entries(&episode.told[list]).iter().zip(&entries(now)) {
        examined.fact(before.1 == now.1, || {
            let (words, had, has) = (&before.0, json!(before.1), json!(now.1));
            let name = episode.name();
            format!("{name}: in the list of the {list} {words} had the pictures {had}, and has {has}")
        });
    }
}
