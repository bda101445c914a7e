//! Which form of an object in OLD is which one in NEW. A field with a single value tells them apart (`type`, `role`,
//! `status`); where none does, their names or what they have in common.

use super::alternatives::{Doc, Object};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Where several fields would do, the one that people would name.
const TELLING: &[&str] = &["type", "_tag", "name", "role", "status"];

/// Pairs of forms, with what they are told by, and the forms that stand alone.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) both: Vec<(usize, usize, Option<String>)>,
    pub(super) old: Vec<(usize, Option<String>)>,
    pub(super) new: Vec<(usize, Option<String>)>,
    /// The field that tells them apart.
    pub(super) key: Option<String>,
}

/// Pairs the forms of two unions.
pub(super) fn pairs(old: (Doc<'_>, &[Object<'_>]), new: (Doc<'_>, &[Object<'_>])) -> Pairs {
    let key = telling(old, new);
    let tags = |(doc, forms): (Doc<'_>, &[Object<'_>])| -> Vec<Option<String>> {
        forms.iter().map(|form| key.as_deref().and_then(|key| tag(doc, form, key))).collect()
    };
    let (old_tags, new_tags) = (tags(old), tags(new));
    // One form on each side is the same one, unless it says otherwise.
    if let ([one], [two]) = (&old_tags[..], &new_tags[..])
        && (one.is_none() || two.is_none())
    {
        return Pairs { both: vec![(0, 0, None)], ..Pairs::default() };
    }
    let mut pairs = Pairs { key: key.clone(), ..Pairs::default() };
    let groups: BTreeSet<&Option<String>> = old_tags.iter().chain(&new_tags).collect();
    for group in groups {
        let of = |tags: &[Option<String>]| -> Vec<usize> {
            (0..tags.len()).filter(|at| tags[*at] == *group).collect()
        };
        let (mut left, mut right) = (of(&old_tags), of(&new_tags));
        while let Some((one, two)) = best(old.1, &left, new.1, &right, group.is_some()) {
            left.retain(|at| *at != one);
            right.retain(|at| *at != two);
            pairs.both.push((one, two, group.clone()));
        }
        pairs.old.extend(left.into_iter().map(|at| (at, group.clone())));
        pairs.new.extend(right.into_iter().map(|at| (at, group.clone())));
    }
    pairs
}

/// The two that are most alike; those without anything that tells must have half of their fields in common.
fn best(
    old: &[Object<'_>],
    left: &[usize],
    new: &[Object<'_>],
    right: &[usize],
    told: bool,
) -> Option<(usize, usize)> {
    let all = left.iter().flat_map(|one| right.iter().map(move |two| (*one, *two)));
    let scored = all.map(|(one, two)| (likeness(&old[one], &new[two]), one, two));
    let enough = scored.filter(|(score, ..)| told || *score >= 50);
    // Of those that are alike the first.
    let best = enough.max_by_key(|(score, one, two)| (*score, std::cmp::Reverse((*one, *two))));
    best.map(|(_, one, two)| (one, two))
}

/// In hundredths; the same name is more than anything that they have in common.
fn likeness(old: &Object<'_>, new: &Object<'_>) -> usize {
    if old.name.is_some() && old.name == new.name {
        return 200;
    }
    let common = old.fields.keys().filter(|field| new.fields.contains_key(*field)).count();
    let all = old.fields.len() + new.fields.len() - common;
    (common * 100).checked_div(all).unwrap_or(100)
}

/// The field that tells most forms apart.
fn telling(old: (Doc<'_>, &[Object<'_>]), new: (Doc<'_>, &[Object<'_>])) -> Option<String> {
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for (doc, forms) in [old, new] {
        for form in forms {
            for (field, schema) in &form.fields {
                if single(doc, schema).is_some() {
                    *told.entry(field).or_default() += 1;
                }
            }
        }
    }
    let rank = |field: &str| TELLING.iter().position(|known| *known == field).unwrap_or(TELLING.len());
    let best = told.into_iter().max_by_key(|(field, count)| (*count, std::cmp::Reverse(rank(field))))?;
    Some(best.0.to_owned())
}

/// What tells a form, if this field does.
fn tag(doc: Doc<'_>, form: &Object<'_>, key: &str) -> Option<String> {
    single(doc, form.fields.get(key)?)
}

/// The single text that a field can hold.
fn single(doc: Doc<'_>, schema: &Value) -> Option<String> {
    let (schema, _) = doc.resolve(schema);
    let value = match (schema.get("const"), schema["enum"].as_array()) {
        (Some(value), _) => value,
        (None, Some(values)) if values.len() == 1 => &values[0],
        _ => return None,
    };
    value.as_str().map(str::to_owned)
}
