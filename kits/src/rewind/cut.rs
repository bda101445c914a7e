//! How the reference finds the place of an edited message in both lists: by the prompts themselves, and never by time. The
//! ways of its mutants stand beside it.

use serde_json::Value;

fn is_prompt(entry: &Value) -> bool {
    entry["says"] == "prompt"
}

/// A prompt is told to the model as it is, or within the words that frame a task.
fn holds(told: &Value, words: &Value) -> bool {
    let (Some(told), Some(words)) = (told["text"].as_str(), words["text"].as_str()) else { return false };
    told == words || told.contains(&format!("<task>\n{words}\n</task>"))
}

/// So many entries of both lists stay; an error says why that can't be told.
pub(super) fn find(
    user: &[Value],
    model: &[Value],
    edit: &Value,
    mutant: Option<&str>,
) -> Result<(usize, usize), &'static str> {
    let is_meant = |entry: &Value| is_prompt(entry) && entry["ts"].is_u64() && entry["ts"] == edit["ts"];
    if let Some(mutant) = mutant
        && let Some(found) = by_a_mutant(user, model, edit, mutant)
    {
        return found;
    }
    let meant: Vec<usize> = (0..user.len()).filter(|place| is_meant(&user[*place])).collect();
    let named = edit["place"].as_u64().and_then(|place| usize::try_from(place).ok());
    let at = match (named, &meant[..]) {
        (Some(place), meant) if meant.contains(&place) => place,
        (None, [place]) => *place,
        (_, []) => return Err("there is no such message"),
        _ => return Err("several messages could be meant"),
    };
    Ok((at, same_in_model(user, model, at)?))
}

/// The place of a prompt in the model's list: prompts are matched from the last one back, so that equal words are told apart.
fn same_in_model(user: &[Value], model: &[Value], at: usize) -> Result<usize, &'static str> {
    let mut end = model.len();
    for place in (at..user.len()).rev().filter(|place| is_prompt(&user[*place])) {
        let found =
            (0..end).rev().find(|other| is_prompt(&model[*other]) && holds(&model[*other], &user[place]));
        match found {
            Some(other) => end = other,
            None if place == at && model[..end].iter().any(|entry| entry["says"] == "summary") => {
                return Err("the message is within a summary");
            }
            None => {}
        }
    }
    Ok(end)
}

/// Ways that clients have; none where the mutant breaks something else.
fn by_a_mutant(
    user: &[Value],
    model: &[Value],
    edit: &Value,
    mutant: &str,
) -> Option<Result<(usize, usize), &'static str>> {
    if mutant == "refuses-untimed" {
        let is_untimed = model.iter().any(|entry| !entry["ts"].is_u64());
        return is_untimed.then_some(Err("an entry has no time"));
    }
    let ts = edit["ts"].as_u64()?;
    let from = ts.saturating_sub(1000);
    let first = |is_cut: &dyn Fn(Option<u64>) -> bool| {
        model.iter().position(|entry| is_cut(entry["ts"].as_u64())).unwrap_or(model.len())
    };
    let words = || user.iter().find(|entry| entry["ts"] == edit["ts"]).cloned().unwrap_or_default();
    let place = match mutant {
        "cut-a-second-before" => first(&|entry| entry.is_some_and(|entry| entry != 0 && entry >= from)),
        "untimed-is-zero" => first(&|entry| entry.unwrap_or(0) >= from),
        "cut-at-ts" => first(&|entry| entry.is_some_and(|entry| entry >= ts)),
        "cut-user-only" => model.len(),
        "first-of-these-words" => {
            model.iter().position(|entry| holds(entry, &words())).unwrap_or(model.len())
        }
        _ => return None,
    };
    Some(
        user.iter()
            .position(|entry| entry["ts"] == edit["ts"])
            .map(|user| (user, place))
            .ok_or("no such message"),
    )
}
