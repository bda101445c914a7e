//! A schema as the set of what a value may be. Generators spell the same set in many ways (`const` or a list of one,
//! `anyOf` or a list of types, inline or by reference); here it has one spelling.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// References that lead to references, and unions in unions, end somewhere; a document that says otherwise is broken.
const DEEPEST: usize = 32;
/// A union of unions multiplies; beyond this nobody reads it.
const MOST: usize = 2000;
/// Keywords that make fewer values right.
const LIMITS: &[&str] = &[
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// How a generator for JavaScript spells that a number is a number.
const NO_NUMBERS: &[&str] = &["\"NaN\"", "\"Infinity\"", "\"-Infinity\""];

/// What a value may be.
#[derive(Debug, Default)]
pub(super) struct Alternatives<'d> {
    /// Anything at all.
    pub(super) any: bool,
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    /// Any text, within the limits.
    pub(super) text: bool,
    /// Single values, as JSON.
    pub(super) values: BTreeSet<String>,
    /// Lists, by what stands in them.
    pub(super) lists: Vec<&'d Value>,
    pub(super) objects: Vec<Object<'d>>,
    /// Keyword and value.
    pub(super) limits: BTreeMap<&'static str, &'d Value>,
}

/// One form of an object.
#[derive(Debug, Clone, Default)]
pub(super) struct Object<'d> {
    /// The name by which it was referred to.
    pub(super) name: Option<&'d str>,
    pub(super) fields: BTreeMap<&'d str, &'d Value>,
    pub(super) required: BTreeSet<&'d str>,
    /// What stands behind names that are not listed; nothing is said, or nothing may stand there: `None`.
    pub(super) others: Option<&'d Value>,
}

impl Object<'_> {
    /// Is it the same piece of the document?
    fn is(&self, other: &Self) -> bool {
        let same = |(one, two): (&&Value, &&Value)| std::ptr::eq(*one, *two);
        self.name == other.name
            && self.required == other.required
            && self.fields.keys().eq(other.fields.keys())
            && self.fields.values().zip(other.fields.values()).all(same)
    }
}

/// A document in which references are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doc<'d> {
    pub(super) root: &'d Value,
}

/// One way through the unions of a schema: what has to hold together, and the last name on the way.
#[derive(Clone, Default)]
struct Branch<'d> {
    name: Option<&'d str>,
    pieces: Vec<&'d Value>,
}

impl<'d> Doc<'d> {
    /// What a schema says, and the name that it has, if it is referred to.
    pub(super) fn resolve(self, schema: &'d Value) -> (&'d Value, Option<&'d str>) {
        let (mut schema, mut name) = (schema, None);
        for _ in 0..DEEPEST {
            let Some(reference) = schema["$ref"].as_str() else { break };
            let Some(found) = reference.strip_prefix('#').and_then(|path| self.root.pointer(path)) else {
                break;
            };
            name = reference.rsplit('/').next();
            schema = found;
        }
        (schema, name)
    }

    /// The set of what a value may be.
    pub(super) fn alternatives(self, schema: &'d Value) -> Alternatives<'d> {
        let mut all = Alternatives::default();
        for branch in self.branches(schema, 0) {
            all.add(&branch);
        }
        all.settle();
        all
    }

    fn branches(self, schema: &'d Value, depth: usize) -> Vec<Branch<'d>> {
        let (schema, name) = self.resolve(schema);
        let mut all = vec![Branch::default()];
        if depth > DEEPEST {
            return all;
        }
        let mut is_union = false;
        for union in ["anyOf", "oneOf"] {
            if let Some(members) = schema[union].as_array().filter(|members| !members.is_empty()) {
                is_union = true;
                let members: Vec<_> =
                    members.iter().flat_map(|member| self.branches(member, depth + 1)).collect();
                all = product(&all, &members);
            }
        }
        for member in schema["allOf"].as_array().into_iter().flatten() {
            let mut members = self.branches(member, depth + 1);
            // What is put together is named as a whole.
            members.iter_mut().for_each(|member| member.name = None);
            all = product(&all, &members);
        }
        for branch in &mut all {
            // A member of a union is not named as the union is.
            branch.name = branch.name.or(name.filter(|_| !is_union));
            branch.pieces.push(schema);
        }
        all
    }
}

fn product<'d>(all: &[Branch<'d>], members: &[Branch<'d>]) -> Vec<Branch<'d>> {
    let both = |one: &Branch<'d>, two: &Branch<'d>| Branch {
        name: two.name.or(one.name),
        pieces: one.pieces.iter().chain(&two.pieces).copied().collect(),
    };
    let pairs = all.iter().flat_map(|one| members.iter().map(move |two| both(one, two)));
    pairs.take(MOST).collect()
}

impl<'d> Alternatives<'d> {
    fn add(&mut self, branch: &Branch<'d>) {
        let pieces = || branch.pieces.iter().copied();
        // Each piece narrows what the others allow.
        let mut literals: Option<BTreeSet<String>> = None;
        let mut types: Option<BTreeSet<&str>> = None;
        for piece in pieces() {
            if let Some(found) = literals_of(piece) {
                literals = Some(match literals {
                    Some(known) => known.intersection(&found).cloned().collect(),
                    None => found,
                });
            }
            if let Some(found) = types_of(piece) {
                types = Some(match types {
                    Some(known) => known.intersection(&found).copied().collect(),
                    None => found,
                });
            }
        }
        if let Some(literals) = literals {
            self.null |= literals.contains("null");
            self.values.extend(literals.into_iter().filter(|literal| literal != "null"));
            return;
        }
        let Some(types) = types else {
            self.any = true;
            return;
        };
        for limit in LIMITS {
            if let Some(value) =
                pieces().find_map(|piece| piece.get(limit)).filter(|value| !is_no_limit(value))
            {
                self.limits.insert(limit, value);
            }
        }
        for one in types {
            match one {
                "null" => self.null = true,
                "boolean" => self.boolean = true,
                "integer" => self.integer = true,
                "number" => self.number = true,
                "string" => self.text = true,
                "array" => {
                    let items = |piece: &'d Value| piece.get("items").or_else(|| piece.get("prefixItems"));
                    self.lists.push(pieces().find_map(items).unwrap_or(&Value::Null));
                }
                "object" => {
                    let object = object(branch);
                    // A union that names a member twice has it once.
                    if !self.objects.iter().any(|known| known.is(&object)) {
                        self.objects.push(object);
                    }
                }
                _ => self.any = true,
            }
        }
    }

    /// Takes away what says nothing beside the rest.
    fn settle(&mut self) {
        if self.number || self.integer {
            self.values.retain(|value| !NO_NUMBERS.contains(&value.as_str()));
        }
        if self.values.contains("true") && self.values.contains("false") {
            self.boolean = true;
        }
        let (boolean, number, text) = (self.boolean, self.number || self.integer, self.text);
        self.values.retain(|value| match value.as_bytes().first() {
            Some(b'"') => !text,
            Some(b't' | b'f') => !boolean,
            _ => !number,
        });
        self.integer &= !self.number;
        if self.any {
            *self = Self { any: true, ..Self::default() };
        }
    }

    /// On the wire, a parameter is text: whether a document says number or text makes no difference there.
    pub(super) fn on_the_wire(mut self) -> Self {
        if std::mem::take(&mut self.boolean) {
            self.values.extend(["\"true\"".to_owned(), "\"false\"".to_owned()]);
        }
        let (integer, number) = (std::mem::take(&mut self.integer), std::mem::take(&mut self.number));
        if integer || number {
            self.limits.clear();
            self.text = true;
        }
        if self.text {
            self.limits.retain(|limit, _| *limit != "pattern");
        }
        let spelled =
            |value: &String| if value.starts_with('"') { value.clone() } else { format!("\"{value}\"") };
        self.values = if self.text { BTreeSet::new() } else { self.values.iter().map(spelled).collect() };
        self
    }

    /// The kinds of values, in words.
    pub(super) fn kinds(&self) -> BTreeSet<&'static str> {
        let literal = |starts: &[u8]| {
            self.values
                .iter()
                .any(|value| value.as_bytes().first().is_some_and(|first| starts.contains(first)))
        };
        let all = [
            (self.boolean || literal(b"tf"), "boolean"),
            (self.number, "number"),
            (self.integer || literal(b"-0123456789"), "integer"),
            (self.text || literal(b"\""), "text"),
            (!self.lists.is_empty(), "list"),
            (!self.objects.is_empty(), "object"),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, kind)| kind).collect()
    }

    /// The set in a few words.
    pub(super) fn words(&self) -> String {
        let mut words: Vec<&str> = self.kinds().into_iter().collect();
        words.extend(self.null.then_some("null"));
        words.extend(self.any.then_some("anything"));
        if words.is_empty() { "nothing".to_owned() } else { words.join(" or ") }
    }
}

/// The values that alone are right, as JSON.
fn literals_of(piece: &Value) -> Option<BTreeSet<String>> {
    if let Some(literal) = piece.get("const") {
        return Some(BTreeSet::from([literal.to_string()]));
    }
    Some(piece.get("enum")?.as_array()?.iter().map(Value::to_string).collect())
}

fn types_of(piece: &Value) -> Option<BTreeSet<&str>> {
    match &piece["type"] {
        Value::String(one) => {
            let null = piece["nullable"].as_bool().unwrap_or(false).then_some("null");
            Some(null.into_iter().chain([one.as_str()]).collect())
        }
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ if piece.get("properties").is_some() || piece.get("additionalProperties").is_some() => {
            Some(BTreeSet::from(["object"]))
        }
        _ if piece.get("items").is_some() => Some(BTreeSet::from(["array"])),
        _ => None,
    }
}

/// The largest whole number that JavaScript counts to is none that anybody means.
fn is_no_limit(value: &Value) -> bool {
    const COUNTED: f64 = 9_007_199_254_740_991.0;
    value.as_f64().is_some_and(|number| number.abs() >= COUNTED)
}

fn object<'d>(branch: &Branch<'d>) -> Object<'d> {
    let mut object = Object { name: branch.name, ..Object::default() };
    for &piece in &branch.pieces {
        if let Some(fields) = piece["properties"].as_object() {
            object.fields.extend(fields.iter().map(|(name, field)| (name.as_str(), field)));
        }
        object.required.extend(piece["required"].as_array().into_iter().flatten().filter_map(Value::as_str));
        let others = piece.get("additionalProperties").filter(|others| others.is_object());
        let patterns = piece["patternProperties"].as_object().and_then(|patterns| patterns.values().next());
        object.others = object.others.or(others).or(patterns);
    }
    object
}
