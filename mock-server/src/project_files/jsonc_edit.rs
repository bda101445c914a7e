//! Entries are set in settings as people write them, and taken out of them; all else stays as it was written, but for the
//! neighbour of an entry, whose line is spread out.

use super::jsonc::read;
use serde_json::{Map, Value, json};

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

/// The text without `name` in the object that stands below `list`; `None` where there is no such entry.
pub(crate) fn without(text: &str, list: &str, name: &str) -> Option<String> {
    let top = members(text, past_blanks(text, 0))?;
    let list = top.into_iter().find(|member| member.is_called(list))?;
    let entries = members(text, list.value)?;
    let at = entries.iter().position(|entry| entry.is_called(name))?;
    Some(taken_out(text, list.value, &entries, at, 2))
}

/// The text with what a patch says: its members are set, one by one, and those are taken out that are null. `None` where the text
/// is no settings.
pub(crate) fn changed(text: &str, patch: &Map<String, Value>) -> Option<String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    read(text).filter(Value::is_object)?;
    put_all(text.to_owned(), &[], patch)
}

fn put_all(text: String, path: &[&str], patch: &Map<String, Value>) -> Option<String> {
    patch.iter().try_fold(text, |text, (name, value)| {
        let path = [path, &[name]].concat();
        let all = read(&text)?;
        let known = path.iter().try_fold(&all, |inside, name| inside.as_object()?.get(*name));
        match (value, known) {
            (Value::Object(more), None | Some(Value::Object(_))) => put_all(text, &path, more),
            // A permission that was one word holds for all that nothing else is said about.
            (Value::Object(more), Some(word)) if path.len() == 2 && path[0] == "permission" => {
                let mut members = Map::from_iter([("*".to_owned(), word.clone())]);
                members.extend(more.clone());
                put(&text, &path, &Value::Object(members))
            }
            (Value::Null, None) => Some(text),
            _ => put(&text, &path, value),
        }
    })
}

/// Sets what stands at a path, or takes it out.
fn put(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let mut open = past_blanks(text, 0);
    let mut depth = 0;
    let (entries, at) = loop {
        let entries = members(text, open)?;
        let at = entries.iter().rposition(|entry| entry.is_called(path[depth]));
        match at.map(|at| entries[at].value) {
            Some(inner) if depth + 1 < path.len() => (open, depth) = (inner, depth + 1),
            _ => break (entries, at),
        }
    };
    let indent = "  ".repeat(depth + 1);
    let name = json!(path[depth]);
    let value = path[depth + 1..].iter().rev().fold(value.clone(), |value, name| json!({*name: value}));
    let written = || spaced(&value, &indent);
    Some(match (at, entries.last()) {
        (Some(at), _) if value.is_null() => taken_out(text, open, &entries, at, depth + 1),
        (Some(at), _) => format!("{}{}{}", &text[..entries[at].value], written(), &text[entries[at].to..]),
        (None, Some(last)) => {
            let (before, behind) = (&text[..last.from], &text[last.to..]);
            format!("{before}{},\n{indent}{name}: {}{behind}", spread(text, *last, &indent), written())
        }
        (None, None) => {
            let rest = &text[open + 1..];
            let rest = if rest.trim_start().starts_with('}') { rest.trim_start() } else { rest };
            format!("{}\n{indent}{name}: {}\n{}{rest}", &text[..=open], written(), &indent[2..])
        }
    })
}

/// The text without one of the entries of the object that begins at a place, so deep.
fn taken_out(text: &str, open: usize, entries: &[Member<'_>], at: usize, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let gone = entries[at];
    match (at.checked_sub(1).map(|before| entries[before]), entries.get(at + 1)) {
        (Some(before), _) => {
            format!("{}{}{}", &text[..before.from], spread(text, before, &indent), &text[gone.to..])
        }
        (None, Some(next)) => {
            let open = &text[..=open];
            format!("{open}\n{indent}{}{}", spread(text, *next, &indent), &text[next.to..])
        }
        (None, None) => format!("{}{}", &text[..=open], &text[gone.to..]),
    }
}

/// An entry that stands in one line, in as many as a tidy writer takes.
fn spread(text: &str, entry: Member<'_>, indent: &str) -> String {
    let written = &text[entry.from..entry.to];
    let value = read(&text[entry.value..entry.to])
        .filter(|value| !value.as_object().is_none_or(|all| all.is_empty()));
    let (Some(value), false) = (value, written.contains('\n')) else { return written.to_owned() };
    format!("{}: {}", entry.name, spaced(&value, indent))
}

/// A value as a tidy writer writes it, below an entry that stands so far to the right.
fn spaced(value: &Value, indent: &str) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default().replace('\n', &format!("\n{indent}"))
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

    /// As the real server has written it.
    #[test]
    fn what_is_set_stands_where_the_real_server_puts_it() {
        let mut text = "{\n  // mine\n  \"instructions\": [\"A.md\"], // the list\n  \"permission\": {\"bash\": \"deny\"},\n  \
                        \"indexing\": {},\n  \"agent\": {\"y\": {\"prompt\": \"q\"}},\n}\n"
            .to_owned();
        for patch in [
            json!({"snapshot": false}),
            json!({"instructions": ["B.md"]}),
            json!({"permission": {"bash": {"ls *": "allow"}}}),
            json!({"indexing": {"model": "m", "kilo": {"apiKey": "k"}}}),
            json!({"snapshot": null, "lsp": {}, "nothing": null}),
        ] {
            text = changed(&text, patch.as_object().unwrap()).unwrap();
        }
        assert_eq!(
            text,
            "{\n  // mine\n  \"instructions\": [\n    \"B.md\"\n  ], // the list\n  \"permission\": {\"bash\": {\n      \"*\": \
             \"deny\",\n      \"ls *\": \"allow\"\n    }},\n  \"indexing\": {\n    \"model\": \"m\",\n    \"kilo\": {\n      \
             \"apiKey\": \"k\"\n    }\n  },\n  \"agent\": {\n    \"y\": {\n      \"prompt\": \"q\"\n    }\n  },\n}\n"
        );
        assert_eq!((changed("[]", &Map::new()), changed("{", &Map::new())), (None, None));
        assert_eq!(changed("", json!({"a": 1}).as_object().unwrap()).unwrap(), "{\n  \"a\": 1\n}");
    }

    /// What a patch means for settings, without their text.
    fn apply(into: &mut Map<String, Value>, patch: &Map<String, Value>) {
        for (name, value) in patch {
            match (value, into.get_mut(name)) {
                (Value::Null, _) => drop(into.shift_remove(name)),
                (Value::Object(more), Some(Value::Object(known))) => apply(known, more),
                (Value::Object(more), None) => {
                    let mut members = Map::new();
                    apply(&mut members, more);
                    if !members.is_empty() {
                        into.insert(name.clone(), Value::Object(members));
                    }
                }
                (value, _) => drop(into.insert(name.clone(), value.clone())),
            }
        }
    }

    fn settings(with_null: bool) -> impl Strategy<Value = Map<String, Value>> {
        let leaf = prop_oneof![
            Just(if with_null { Value::Null } else { json!(0) }),
            any::<bool>().prop_map(Value::from),
            "[a-z\\\"{},/ ]{0,4}".prop_map(Value::from),
            Just(json!([1, {"x": 2}])),
        ];
        let inside = leaf.prop_recursive(3, 12, 3, |inner| {
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|all| Value::Object(all.into_iter().collect()))
        });
        prop::collection::btree_map("[a-d]", inside, 0..4).prop_map(|all| all.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_text_that_is_changed_says_what_was_said_and_what_is_said_now(
            said in settings(false), patch in settings(true), is_tidy in any::<bool>()
        ) {
            let write = if is_tidy { serde_json::to_string_pretty } else { serde_json::to_string };
            let made = changed(&write(&said).unwrap(), &patch).unwrap();
            let mut meant = said;
            apply(&mut meant, &patch);
            prop_assert_eq!(read(&made), Some(Value::Object(meant)), "{}", made);
        }

        #[test]
        fn no_settings_are_too_odd(text in "[{}\\[\\],:/*\"\\\\a \n]{0,40}", patch in settings(true)) {
            let _made = changed(&text, &patch);
        }

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
