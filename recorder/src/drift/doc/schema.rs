//! Two schemas: what a client reads, or what it sends. Which way a difference breaks depends on that: of what is read
//! nothing may go and nothing may become uncertain, of what is sent nothing may be asked for and nothing refused.

use super::super::report::{Change, Findings, Source};
use super::super::rule::Rule;
use super::alternatives::{Alternatives, Doc, Object};
use super::forms;
use super::place::{Place, Way, event, same_name, users};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Compares schemas; a pair that is met again is compared once.
pub(super) struct Schemas<'d> {
    pub(super) old: Doc<'d>,
    pub(super) new: Doc<'d>,
    pub(super) findings: &'d mut Findings,
    met: BTreeSet<(usize, usize, Way)>,
    /// Which roots are reached from which: an operation reaches what its schemas refer to.
    uses: BTreeMap<String, BTreeSet<String>>,
    renamed: BTreeSet<(&'d str, &'d str)>,
}

/// The two sides of something.
type Both<T> = (T, T);

impl<'d> Schemas<'d> {
    pub(super) fn new(old: Doc<'d>, new: Doc<'d>, findings: &'d mut Findings) -> Self {
        Self { old, new, findings, met: BTreeSet::new(), uses: BTreeMap::new(), renamed: BTreeSet::new() }
    }

    pub(super) fn push(&mut self, rule: Rule, place: &Place, old: Option<String>, new: Option<String>) {
        let change =
            Change { rule, source: Source::Doc, place: place.told(), old, new, reaches: vec![place.key()] };
        self.findings.push(change);
    }

    pub(super) fn count(&mut self) {
        self.findings.compared.paths += 1;
    }

    /// Says of each difference which operations it reaches.
    pub(super) fn tell_users(&mut self) {
        let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let uses = &self.uses;
        self.findings.reach(|root| known.entry(root.to_owned()).or_insert_with(|| users(uses, root)).clone());
    }

    /// Compares two schemas at a place.
    pub(super) fn compare(&mut self, schemas: Both<&'d Value>, place: &Place) {
        let ((old, old_name), (new, new_name)) = (self.old.resolve(schemas.0), self.new.resolve(schemas.1));
        let mut place = place.clone();
        if let (Some(one), Some(two)) = (old_name, new_name) {
            if one != two && self.renamed.insert((one, two)) {
                let (old, new) = (Some(one.to_owned()), Some(two.to_owned()));
                self.push(Rule::SchemaRenamed, &Place { path: String::new(), ..place.clone() }, old, new);
            }
            if same_name(one, two) && place.event.is_none() {
                place = self.enter(&place, one.to_owned());
            }
        }
        if !self.met.insert((address(old), address(new), place.way)) {
            return;
        }
        self.count();
        self.words(old, new, &place);
        let (mut one, mut two) = (self.old.alternatives(old), self.new.alternatives(new));
        if place.way == Way::Parameter {
            (one, two) = (one.on_the_wire(), two.on_the_wire());
        }
        self.sets(&one, &two, &place);
        self.forms((&one.objects, &two.objects), &place);
        if let ([one], [two]) = (&one.lists[..], &two.lists[..]) {
            self.compare((*one, *two), &place.below("[]"));
        }
    }

    /// A place in something that has a name of its own.
    fn enter(&mut self, place: &Place, root: String) -> Place {
        let inner = Place { root, path: String::new(), event: None, way: place.way };
        if inner.root != place.root {
            self.uses.entry(inner.key()).or_default().insert(place.key());
        }
        inner
    }

    pub(super) fn words(&mut self, old: &Value, new: &Value, place: &Place) {
        for key in ["title", "summary", "description"] {
            if let (Some(one), Some(two)) = (old[key].as_str(), new[key].as_str())
                && one != two
            {
                let path = format!("{} ({key})", place.path.trim_end()).trim_start().to_owned();
                self.push(Rule::WordsOther, &Place { path, ..place.clone() }, None, None);
            }
        }
    }

    /// What a value may be, without what stands in lists and objects.
    fn sets(&mut self, old: &Alternatives<'d>, new: &Alternatives<'d>, place: &Place) {
        let is_read = place.way == Way::Read;
        let words = || (Some(old.words()), Some(new.words()));
        if old.any || new.any {
            if old.any != new.any {
                let rule = match (is_read, old.any) {
                    (true, true) => Rule::Narrowed,
                    (true, false) => Rule::TypeNew,
                    (false, true) => Rule::SentNarrowed,
                    (false, false) => Rule::SentWidened,
                };
                let (one, two) = words();
                self.push(rule, place, one, two);
            }
            return;
        }
        if old.null != new.null {
            let rule = match (is_read, new.null) {
                (true, true) => Rule::NullNow,
                (true, false) => Rule::Narrowed,
                (false, true) => Rule::SentTypeNew,
                (false, false) => Rule::SentTypeGone,
            };
            let (one, two) = words();
            self.push(rule, place, one, two);
        }
        self.kinds(old, new, is_read, place);
        self.values(old, new, is_read, place);
        if old.kinds() == new.kinds() {
            self.limits(old, new, is_read, place);
        }
    }

    fn kinds(&mut self, old: &Alternatives<'d>, new: &Alternatives<'d>, is_read: bool, place: &Place) {
        let (one, two) = (old.kinds(), new.kinds());
        // A whole number is a number too.
        let holds = |set: &BTreeSet<&str>, kind: &str| {
            set.contains(kind) || (kind == "integer" && set.contains("number"))
        };
        let gone = one.iter().any(|kind| !holds(&two, kind));
        let come = two.iter().any(|kind| !holds(&one, kind));
        let common = one.iter().any(|kind| holds(&two, kind)) || two.iter().any(|kind| holds(&one, kind));
        // Of nothing but null nothing is known.
        if one.is_empty() || two.is_empty() {
            return;
        }
        let rule = match (is_read, common, gone, come) {
            (_, _, false, false) => return,
            (true, false, ..) => Rule::TypeOther,
            (true, true, _, true) => Rule::TypeNew,
            (true, true, true, false) => Rule::Narrowed,
            (false, _, true, _) => Rule::SentTypeGone,
            (false, _, false, true) => Rule::SentTypeNew,
        };
        self.push(rule, place, Some(old.words()), Some(new.words()));
    }

    /// Single values. Where any text can stand on one side, none of them says anything.
    fn values(&mut self, old: &Alternatives<'d>, new: &Alternatives<'d>, is_read: bool, place: &Place) {
        let is_open = |all: &Alternatives<'d>, value: &str| match value.as_bytes().first() {
            Some(b'"') => all.text,
            Some(b't' | b'f') => all.boolean,
            _ => all.number || all.integer,
        };
        let listed = |values: Vec<&String>| values.into_iter().cloned().collect::<Vec<_>>().join(", ");
        let opened: Vec<&String> = old.values.iter().filter(|value| is_open(new, value)).collect();
        let closed: Vec<&String> = new.values.iter().filter(|value| is_open(old, value)).collect();
        if !opened.is_empty() {
            let rule = if is_read { Rule::Widened } else { Rule::SentWidened };
            self.push(rule, place, Some(listed(opened)), Some(new.words()));
        }
        if !closed.is_empty() {
            let rule = if is_read { Rule::Narrowed } else { Rule::SentNarrowed };
            self.push(rule, place, Some(old.words()), Some(listed(closed)));
        }
        self.findings.compared.paths += old.values.intersection(&new.values).count();
        // Where a kind has come or gone as a whole, that has been said.
        let (one, two) = (old.kinds(), new.kinds());
        let is_told = |value: &str| {
            let kind = match value.as_bytes().first() {
                Some(b'"') => "text",
                Some(b't' | b'f') => "boolean",
                _ => "integer",
            };
            !(one.contains(kind) && two.contains(kind))
        };
        for value in
            old.values.difference(&new.values).filter(|value| !is_open(new, value) && !is_told(value))
        {
            let rule = if is_read { Rule::ValueGone } else { Rule::SentValueGone };
            self.push(rule, place, Some(value.clone()), None);
        }
        for value in
            new.values.difference(&old.values).filter(|value| !is_open(old, value) && !is_told(value))
        {
            let rule = if is_read { Rule::ValueNew } else { Rule::SentValueNew };
            self.push(rule, place, None, Some(value.clone()));
        }
    }

    fn limits(&mut self, old: &Alternatives<'d>, new: &Alternatives<'d>, is_read: bool, place: &Place) {
        let keys: BTreeSet<&str> = old.limits.keys().chain(new.limits.keys()).copied().collect();
        for key in keys {
            let (one, two) = (old.limits.get(key), new.limits.get(key));
            if one == two || key == "pattern" && one.map(open_ended) == two.map(open_ended) {
                continue;
            }
            let is_wider = match (one.and_then(|value| value.as_f64()), two.and_then(|value| value.as_f64()))
            {
                (Some(one), Some(two)) if key.starts_with("min") || key.starts_with("exclusiveMin") => {
                    two < one
                }
                (Some(one), Some(two)) => two > one,
                _ => two.is_none(),
            };
            let rule = match (is_read, is_wider) {
                (true, _) => Rule::LimitTold,
                (false, true) => Rule::SentWidened,
                (false, false) => Rule::SentNarrowed,
            };
            let told = |value: Option<&&Value>| value.map(|value| format!("{key} {value}"));
            self.push(rule, place, told(one), told(two));
        }
    }

    fn forms(&mut self, forms: Both<&[Object<'d>]>, place: &Place) {
        if forms.0.is_empty() || forms.1.is_empty() {
            return;
        }
        let is_union = forms.0.len() + forms.1.len() > 2;
        let pairs = forms::pairs((self.old, forms.0), (self.new, forms.1));
        let key = pairs.key.unwrap_or_default();
        // On a stream the type names the event.
        let stream = place.event.as_ref().filter(|_| key == "type");
        for (one, two, tag) in &pairs.both {
            let inner = match (stream, tag) {
                (Some(stream), Some(tag)) => {
                    self.findings.compared.events += 1;
                    self.enter(place, event(stream, tag))
                }
                (_, Some(tag)) if is_union => {
                    self.form_place(place, (&forms.0[*one], &forms.1[*two]), &format!("[{key}={tag}]"))
                }
                _ => self.form_place(place, (&forms.0[*one], &forms.1[*two]), ""),
            };
            self.objects(&forms.0[*one], &forms.1[*two], &inner);
        }
        let known: BTreeSet<&String> = pairs.both.iter().filter_map(|(.., tag)| tag.as_ref()).collect();
        for (is_old, alone) in [(true, &pairs.old), (false, &pairs.new)] {
            for (at, tag) in alone {
                let form = if is_old { &forms.0[*at] } else { &forms.1[*at] };
                match (stream, tag) {
                    (Some(stream), Some(tag)) if !known.contains(tag) => {
                        let rule = if is_old { Rule::EventGone } else { Rule::EventNew };
                        let (place, reaches) = (event(stream, tag), vec![place.key()]);
                        let (old, new, source) = (None, None, Source::Doc);
                        self.findings.push(Change { rule, source, place, old, new, reaches });
                    }
                    (_, tag) => {
                        self.lone_form(form, tag.as_ref().map(|tag| format!("{key} {tag}")), is_old, place)
                    }
                }
            }
        }
    }

    /// A form that one side alone has.
    fn lone_form(&mut self, form: &Object<'d>, tag: Option<String>, is_old: bool, place: &Place) {
        let name = tag.unwrap_or_else(|| described(form));
        let rule = match (place.way == Way::Read, is_old) {
            (true, true) => Rule::VariantGone,
            (true, false) => Rule::VariantNew,
            (false, true) => Rule::SentVariantGone,
            (false, false) => Rule::SentVariantNew,
        };
        let (old, new) = if is_old { (Some(name), None) } else { (None, Some(name)) };
        self.push(rule, place, old, new);
    }

    /// A form with a name of its own is a place of its own.
    fn form_place(&mut self, place: &Place, forms: Both<&Object<'d>>, step: &str) -> Place {
        let mut inner = match (forms.0.name, forms.1.name) {
            (Some(one), Some(two)) if same_name(one, two) && one != place.root => {
                self.enter(place, one.to_owned())
            }
            _ => place.below(step),
        };
        inner.event.clone_from(&place.event);
        inner
    }

    fn objects(&mut self, old: &Object<'d>, new: &Object<'d>, place: &Place) {
        let is_read = place.way == Way::Read;
        for (name, schema) in &old.fields {
            let inner = Place {
                // On the stream of all directories an event stands in a wrapper.
                event: place.event.clone().filter(|_| *name == "payload"),
                ..place.below(&format!("/{name}"))
            };
            let Some(other) = new.fields.get(name) else {
                self.push(if is_read { Rule::FieldGone } else { Rule::SentFieldGone }, &inner, None, None);
                continue;
            };
            let rule = match (is_read, old.required.contains(name), new.required.contains(name)) {
                (true, true, false) => Some(Rule::FieldOptional),
                (true, false, true) => Some(Rule::FieldRequired),
                (false, true, false) => Some(Rule::SentFieldOptional),
                (false, false, true) => Some(Rule::SentFieldRequired),
                _ => None,
            };
            if let Some(rule) = rule {
                self.push(rule, &inner, None, None);
            }
            self.count();
            self.compare((*schema, *other), &inner);
        }
        for name in new.fields.keys().filter(|name| !old.fields.contains_key(*name)) {
            let rule = match (is_read, new.required.contains(name)) {
                (true, _) => Rule::FieldNew,
                (false, true) => Rule::SentFieldNewRequired,
                (false, false) => Rule::SentFieldNew,
            };
            self.push(rule, &place.below(&format!("/{name}")), None, None);
        }
        if let (Some(one), Some(two)) = (old.others, new.others) {
            self.compare((one, two), &place.below("/{}"));
        }
    }
}

/// A form that nothing tells: its name, or its fields.
fn described(form: &Object<'_>) -> String {
    let fields = || form.fields.keys().copied().collect::<Vec<_>>().join(", ");
    form.name.map_or_else(|| format!("{{{}}}", fields()), str::to_owned)
}

/// What is the same piece of a document is at the same address.
fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}

/// A pattern may stand anywhere in a text: that anything may follow says nothing.
fn open_ended<'v>(pattern: &&'v Value) -> Option<&'v str> {
    let pattern = pattern.as_str()?;
    Some(pattern.strip_suffix(".*").unwrap_or(pattern))
}
