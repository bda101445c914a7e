//! Which fields there are, of which types and with which words. Fields of forms are told apart by the word that names
//! the form (`type`, `role`, `status`, …), and names that somebody gave are one name, `{}`.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::{HEARTBEAT, Seen, is_free, is_word, kind, operation, payload};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A field of these names tells what the object is.
const TELLING: &[&str] = &["type", "role", "status", "tool", "_tag"];
/// Fields of these names hold words of the protocol; other texts are anybody's.
const WORDED: &[&str] = &[
    "type", "role", "status", "_tag", "state", "reason", "finish", "mode", "action", "reply", "kind", "code",
    "level", "variant", "priority", "source",
];
/// An object with more names than this, all of which hold objects, is a catalogue: its names are no fields.
const MOST_FIELDS: usize = 24;
/// What the names of a recording stand for: a number, where its value is another one each time.
const NUMBERS: &[&str] = &["<time>", "<measured>"];

/// What was seen at a place.
#[derive(Default)]
struct At {
    count: usize,
    kinds: BTreeSet<&'static str>,
    words: BTreeSet<String>,
    /// The place around it.
    around: String,
    /// The recordings in which it was seen.
    names: BTreeSet<String>,
}

/// What is at the top has a blank behind it, and the path inside follows.
type Places = BTreeMap<String, At>;

/// What one side shows.
struct Shapes<'c> {
    places: Places,
    catalogues: &'c BTreeSet<String>,
}

/// Compares the shapes of all events and answers.
pub(super) fn compare(pairs: &[(Seen, Seen)], findings: &mut Findings) {
    // What is a catalogue on one side is none of fields on the other.
    let mut catalogues = BTreeSet::new();
    for (old, new) in pairs {
        for seen in [old, new] {
            each(seen, |place, value| find_catalogues(place, value, &mut catalogues));
        }
    }
    let side = |which: fn(&(Seen, Seen)) -> &Seen| {
        let mut shapes = Shapes { places: BTreeMap::new(), catalogues: &catalogues };
        pairs.iter().for_each(|pair| shapes.take(which(pair)));
        shapes.places
    };
    differences(&side(|(old, _)| old), &side(|(_, new)| new), findings);
}

/// Everything that was sent: the place at the top, and the value.
fn each(seen: &Seen, mut take: impl FnMut(&str, &Value)) {
    for stream in &seen.streams {
        for timed in &stream.events {
            take(&format!("event {} ", kind(&timed.event)), payload(&timed.event));
            if let Some(wrapper) = timed.event.as_object().filter(|event| event.contains_key("payload")) {
                let rest = wrapper.iter().filter(|(field, _)| *field != "payload");
                let rest: Map<_, _> = rest.map(|(field, value)| (field.clone(), value.clone())).collect();
                take(&format!("wrapper on {} ", stream.stream.path()), &Value::Object(rest));
            }
        }
    }
    for exchange in &seen.transcript.exchanges {
        let response = &exchange["response"];
        if !response["body"].is_null() {
            take(&format!("{} {} ", operation(exchange), response["status"]), &response["body"]);
        }
    }
}

/// Notes the places of objects with more names than anybody gives to fields.
fn find_catalogues(place: &str, value: &Value, catalogues: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => {
            let inner = format!("{place}[]");
            items.iter().for_each(|item| find_catalogues(&inner, item, catalogues));
        }
        Value::Object(fields) => {
            let is_catalogue = fields.len() > MOST_FIELDS && fields.values().all(Value::is_object);
            if is_catalogue {
                catalogues.insert(place.to_owned());
            }
            let form = form(fields, place);
            for (field, value) in fields.iter().filter(|(_, value)| value.is_object() || value.is_array()) {
                let folded = if is_catalogue || is_free(field) { "{}" } else { field };
                find_catalogues(&format!("{place}{form}/{folded}"), value, catalogues);
            }
        }
        _ => {}
    }
}

impl Shapes<'_> {
    fn take(&mut self, seen: &Seen) {
        each(seen, |place, value| self.value(place, "", value, &seen.name));
    }

    fn see(&mut self, place: &str, around: &str, name: &str) -> &mut At {
        let at = self.places.entry(place.to_owned()).or_default();
        at.count += 1;
        if at.around.is_empty() {
            around.clone_into(&mut at.around);
        }
        if !at.names.contains(name) {
            at.names.insert(name.to_owned());
        }
        at
    }

    fn value(&mut self, place: &str, around: &str, value: &Value, name: &str) {
        let at = self.see(place, around, name);
        at.kinds.insert(kind_of(value));
        match value {
            Value::Object(fields) => self.object(place, fields, name),
            Value::Array(items) => {
                let inner = format!("{place}[]");
                items.iter().for_each(|item| self.value(&inner, place, item, name));
            }
            Value::String(word) if is_worded(place) && is_word(word) => {
                at.words.insert(word.clone());
            }
            _ => {}
        }
    }

    /// The fields of an object, at the place of its form.
    fn object(&mut self, place: &str, fields: &Map<String, Value>, name: &str) {
        let is_catalogue = self.catalogues.contains(place);
        let form = form(fields, place);
        let around = place;
        let place = format!("{place}{form}");
        if !form.is_empty() {
            self.see(&place, around, name);
        }
        for (field, value) in fields {
            let folded = if is_catalogue || is_free(field) { "{}" } else { field };
            self.value(&format!("{place}/{folded}"), &place, value, name);
        }
    }
}

/// What an object says that it is: `[type=tool][tool=write]`. The type of an event is in its place already.
fn form(fields: &Map<String, Value>, place: &str) -> String {
    if place.starts_with("event ") && place.ends_with(' ') {
        return String::new();
    }
    let told = TELLING.iter().filter_map(|key| Some((key, fields.get(*key)?.as_str()?)));
    told.filter(|(_, word)| is_word(word)).map(|(key, word)| format!("[{key}={word}]")).collect()
}

fn is_worded(place: &str) -> bool {
    place.rsplit('/').next().is_some_and(|field| WORDED.contains(&field))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(text) if NUMBERS.contains(&text.as_str()) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn differences(old: &Places, new: &Places, findings: &mut Findings) {
    for (place, one) in old {
        match new.get(place) {
            Some(two) => both(place, (one, old), (two, new), findings),
            None => alone(place, one, new, true, findings),
        }
    }
    for (place, two) in new {
        if !old.contains_key(place) {
            alone(place, two, old, false, findings);
        }
    }
}

/// A place that both sides have.
fn both(place: &str, (one, old): (&At, &Places), (two, new): (&At, &Places), findings: &mut Findings) {
    findings.compared.paths += 1;
    if is_event(place) {
        findings.compared.events += 1;
    }
    let mut push = |rule, old: Option<String>, new: Option<String>, names: &BTreeSet<String>| {
        findings.push(change(rule, place, old, new, names));
    };
    let listed = |kinds: &BTreeSet<&str>| kinds.iter().copied().collect::<Vec<_>>().join(" or ");
    let told = || (Some(listed(&one.kinds)), Some(listed(&two.kinds)));
    if !one.kinds.is_subset(&two.kinds) || !two.kinds.is_subset(&one.kinds) {
        let mut come = two.kinds.difference(&one.kinds);
        let (before, after) = told();
        if one.kinds.is_disjoint(&two.kinds) {
            push(Rule::TypeOther, before, after, &two.names);
        } else if come.clone().count() == 1 && come.any(|kind| *kind == "null") {
            push(Rule::NullNow, before, after, &two.names);
        } else if two.kinds.difference(&one.kinds).next().is_some() {
            push(Rule::TypeNew, before, after, &two.names);
        } else {
            push(Rule::Narrowed, before, after, &one.names);
        }
    }
    if !one.words.is_empty() && !two.words.is_empty() {
        for word in one.words.difference(&two.words) {
            push(Rule::ValueGone, Some(format!("\"{word}\"")), None, &one.names);
        }
        for word in two.words.difference(&one.words) {
            push(Rule::ValueNew, None, Some(format!("\"{word}\"")), &two.names);
        }
    }
    let missing = |at: &At, shapes: &Places| {
        let around = shapes.get(&at.around).map_or(0, |around| around.count);
        (around.saturating_sub(at.count), around)
    };
    if is_field(place) {
        match (missing(one, old), missing(two, new)) {
            ((0, _), (absent, all)) if absent > 0 => {
                let often = format!("absent {absent} of {all} times");
                push(Rule::FieldOptional, Some("always there".to_owned()), Some(often), &two.names);
            }
            ((absent, all), (0, _)) if absent > 0 => {
                let often = format!("absent {absent} of {all} times");
                push(Rule::FieldRequired, Some(often), Some("always there".to_owned()), &two.names);
            }
            _ => {}
        }
    }
}

/// A place that one side alone has: told if the other side has what stands around it.
fn alone(place: &str, at: &At, other: &Places, is_old: bool, findings: &mut Findings) {
    let is_top = at.around.is_empty();
    if !is_top && !other.contains_key(&at.around) {
        return;
    }
    let rule = |gone, new| if is_old { gone } else { new };
    if is_top {
        // Of the answers, statuses are compared request by request.
        // Heartbeats come to who waits long enough: that is a matter of cadence.
        if is_event(place) && place != format!("event {HEARTBEAT} ") {
            findings.push(change(rule(Rule::EventGone, Rule::EventNew), place, None, None, &at.names));
        }
        return;
    }
    if place.ends_with("[]") {
        let side = if is_old { "NEW" } else { "OLD" };
        findings.could_not(place.trim_end(), format!("in {side} the list is empty"), false);
        return;
    }
    let (words, place) = match place.strip_prefix(&at.around) {
        Some(form) if form.starts_with('[') => (Some(form.to_owned()), at.around.as_str()),
        _ => (None, place),
    };
    let (rule, old, new) = match (is_old, words) {
        (true, Some(form)) => (Rule::VariantGone, Some(form), None),
        (false, Some(form)) => (Rule::VariantNew, None, Some(form)),
        (true, None) => (Rule::FieldGone, None, None),
        (false, None) => (Rule::FieldNew, None, None),
    };
    findings.push(change(rule, place, old, new, &at.names));
}

fn is_event(place: &str) -> bool {
    place.strip_prefix("event ").is_some_and(|kind| !kind.contains(['/', '[']))
}

/// Is this a field, whose name is the protocol's?
fn is_field(place: &str) -> bool {
    !place.ends_with(']') && !place.ends_with("/{}")
}

fn change(
    rule: Rule,
    place: &str,
    old: Option<String>,
    new: Option<String>,
    names: &BTreeSet<String>,
) -> Change {
    let reaches = names.iter().cloned().collect();
    Change { rule, source: Source::Recordings, place: place.trim_end().to_owned(), old, new, reaches }
}
