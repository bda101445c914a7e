//! One entry is taken out of settings as people write them; all else stays as it was written, but for the neighbour of
//! the entry, whose line is spread out.

use super::jsonc::read;

/// What stands below a name in an object: where its name begins, and its value.
#[derive(Debug, Clone, Copy)]
struct Member<'t> {
    /// As it is written.
    name: &'t str,
    from: usize,
    value: usize,
    to: usize,
}

impl Member<'_> {
    fn is_called(&self, name: &str) -> bool {
        serde_json::from_str::<String>(self.name).is_ok_and(|own| own == name)
    }
}

/// How deep the entries of a list of the settings are written.
const INDENT: &str = "    ";

/// The text without `name` in the object that stands below `list`; `None` where there is no such entry.
pub(crate) fn without(text: &str, list: &str, name: &str) -> Option<String> {
    let top = members(text, past_blanks(text, 0))?;
    let list = top.into_iter().find(|member| member.is_called(list))?;
    let entries = members(text, list.value)?;
    let at = entries.iter().position(|entry| entry.is_called(name))?;
    let gone = entries[at];
    Some(match (at.checked_sub(1).map(|before| entries[before]), entries.get(at + 1)) {
        (Some(before), _) => {
            format!("{}{}{}", &text[..before.from], spread(text, before), &text[gone.to..])
        }
        (None, Some(next)) => {
            let open = &text[..=list.value];
            format!("{open}\n{INDENT}{}{}", spread(text, *next), &text[next.to..])
        }
        (None, None) => format!("{}{}", &text[..=list.value], &text[gone.to..]),
    })
}

/// An entry that stands in one line, in as many as a tidy writer takes.
fn spread(text: &str, entry: Member<'_>) -> String {
    let written = &text[entry.from..entry.to];
    let value = read(&text[entry.value..entry.to])
        .filter(|value| !value.as_object().is_none_or(|all| all.is_empty()));
    let (Some(value), false) = (value, written.contains('\n')) else { return written.to_owned() };
    let lines =
        serde_json::to_string_pretty(&value).unwrap_or_default().replace('\n', &format!("\n{INDENT}"));
    format!("{}: {lines}", entry.name)
}

/// The members of the object that begins at a place.
fn members(text: &str, open: usize) -> Option<Vec<Member<'_>>> {
    let mut found = Vec::new();
    let mut at = past_blanks(text, text[open..].strip_prefix('{').map(|_| open + 1)?);
    while !text[at..].starts_with('}') {
        let from = at;
        let end = past_value(text, from)?;
        let name = Some(&text[from..end]).filter(|name| name.starts_with('"'))?;
        let colon = past_blanks(text, end);
        let value = past_blanks(text, text[colon..].strip_prefix(':').map(|_| colon + 1)?);
        let to = past_value(text, value)?;
        found.push(Member { name, from, value, to });
        at = past_blanks(text, to);
        if text[at..].starts_with(',') {
            at = past_blanks(text, at + 1);
        }
    }
    Some(found)
}

/// Behind blanks and comments.
fn past_blanks(text: &str, mut at: usize) -> usize {
    loop {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        let (closing, opening) = match rest.get(..2) {
            Some("//") => ("\n", 2),
            Some("/*") => ("*/", 2),
            _ => return start,
        };
        let length = rest[opening..].find(closing).map_or(rest.len(), |end| opening + end + closing.len());
        at = start + length;
    }
}

/// Behind the value that begins at a place; `None` when it has no end.
fn past_value(text: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = from;
    loop {
        let letter = text[at..].chars().next()?;
        let behind = at + letter.len_utf8();
        match letter {
            '"' => at = past_string(text, behind)?,
            '{' | '[' => (depth, at) = (depth + 1, behind),
            '}' | ']' => (depth, at) = (depth.checked_sub(1)?, behind),
            _ => {
                let word = text[at..].find([',', '}', ']', '/', '"', '{', '[', '\n']).map(|end| at + end);
                let comment = past_blanks(text, at);
                at = if comment > at { comment } else { word.filter(|end| *end > at).unwrap_or(behind) };
                if depth == 0 {
                    return Some(from + text[from..at].trim_end().len());
                }
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Behind a string whose first letter stands at a place.
fn past_string(text: &str, from: usize) -> Option<usize> {
    let mut letters = text[from..].char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '"' => return Some(from + at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    const SETTINGS: &str = "{\n  // agents\n  \"agent\": {\n    \"two\": { \"mode\": \"x // }\" }, // of two\n    \"twin\": \
                            { \"mode\": \"all\" },\n    /* last */ \"tail\": { \"steps\": 1 }\n  },\n  \"n\": [1, 2,],\n}\n";

    #[test]
    fn an_entry_goes_as_the_real_server_takes_it_out() {
        let first = without(SETTINGS, "agent", "two").unwrap();
        assert_eq!(
            first,
            "{\n  // agents\n  \"agent\": {\n    \"twin\": {\n      \"mode\": \"all\"\n    },\n    /* last */ \"tail\": { \
             \"steps\": 1 }\n  },\n  \"n\": [1, 2,],\n}\n"
        );
        let last = without(&first, "agent", "tail").unwrap();
        assert!(last.contains("\"mode\": \"all\"\n    }\n  },\n  \"n\""), "{last}");
        assert!(without(&last, "agent", "twin").unwrap().contains("\"agent\": {\n  },"));
        assert_eq!(without(SETTINGS, "agent", "nobody"), None);
        assert_eq!(without(SETTINGS, "mode", "two"), None);
        assert_eq!((without("{", "agent", "two"), without("", "agent", "two")), (None, None));
    }

    proptest! {
        #[test]
        fn nothing_but_the_entry_goes(names in prop::collection::btree_set("[a-z\\\\\"é{},/]{1,6}", 1..6), pick in 0usize..6) {
            let names: Vec<String> = names.into_iter().collect();
            let entries = names.iter().map(|name| (name.clone(), json!({"about": name})));
            let mut all: Map<String, Value> = entries.collect();
            let written = |all: &Map<String, Value>| json!({"a": 1, "agent": all, "z": [null]});
            let text = serde_json::to_string(&written(&all)).unwrap();
            let name = &names[pick % names.len()];
            let made = without(&text, "agent", name);
            all.shift_remove(name);
            prop_assert_eq!(read(&made.unwrap()), Some(written(&all)));
        }

        #[test]
        fn no_text_is_too_odd(text in "[{}\\[\\],:/*\"\\\\a \n]{0,40}") {
            let _made = without(&text, "a", "a");
        }
    }
}
