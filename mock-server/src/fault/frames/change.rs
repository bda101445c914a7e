//! Alters what an event says: an unknown type, part, field or value; a session id that is missing or another's.

use fixtures::fault_plan::action::Change;
use serde_json::{Map, Value};

/// Alters an event; `filled` has what a value of the plan stands for.
pub(super) fn act(change: &Change, event: &mut Value, filled: impl Fn(&Value) -> Option<Value>) {
    for (path, value) in &change.change {
        if let Some(value) = filled(value) {
            put(event, path, value);
        }
    }
    for path in &change.remove {
        take(event, path);
    }
}

/// Is there something to alter?
pub(super) fn can(change: &Change, event: &Value) -> bool {
    !change.change.is_empty() || change.remove.iter().any(|path| at(event, path).is_some())
}

/// What stands at a dotted path; a number is a place in a list.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

fn put(value: &mut Value, path: &str, new: Value) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let place = match value {
        Value::Array(items) => match step.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
            Some(place) => place,
            None => return,
        },
        Value::Object(fields) => fields.entry(step).or_insert(Value::Null),
        other => {
            *other = Value::Object(Map::new());
            return put(other, path, new);
        }
    };
    match rest {
        Some(rest) => put(place, rest, new),
        None => *place = new,
    }
}

fn take(value: &mut Value, path: &str) {
    let (folder, last) = path.rsplit_once('.').map_or(("", path), |(folder, last)| (folder, last));
    let place = if folder.is_empty() {
        Some(value)
    } else {
        folder.split('.').try_fold(value, |value, step| match value {
            Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            value => value.get_mut(step),
        })
    };
    match place {
        Some(Value::Object(fields)) => {
            fields.shift_remove(last);
        }
        Some(Value::Array(items)) => {
            if let Some(at) = last.parse::<usize>().ok().filter(|at| *at < items.len()) {
                items.remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_through_things_and_lists() {
        let mut value = json!({"a": {"b": [1, {"c": 2}]}, "d": 3});
        assert_eq!(at(&value, "a.b.1.c"), Some(&json!(2)));
        assert_eq!(at(&value, "a.b.9"), None);
        put(&mut value, "a.b.1.c", json!("new"));
        put(&mut value, "e.f", json!(true));
        put(&mut value, "d.deep", json!(null));
        put(&mut value, "a.b.9.c", json!("nowhere"));
        take(&mut value, "a.b.0");
        take(&mut value, "a.x.y");
        take(&mut value, "nothing");
        assert_eq!(value, json!({"a": {"b": [{"c": "new"}]}, "d": {"deep": null}, "e": {"f": true}}));
        take(&mut value, "a");
        assert_eq!(value, json!({"d": {"deep": null}, "e": {"f": true}}));
    }
}
