//! What is wrong with a value, said so that the same mistake has the same words wherever it appears.

use jsonschema::{Registry, ValidationError, Validator};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What schemas call the `/doc` that they point into.
const DOC: &str = "https://stand-in.invalid/doc";

/// All schemas of a `/doc`, read once; a test has no more than two of them.
pub(crate) fn registry(doc: Value) -> &'static Registry<'static> {
    let registry = Registry::new().add(DOC, doc).unwrap().prepare().unwrap();
    Box::leak(Box::new(registry))
}

/// The schema at a JSON pointer into the `/doc`.
pub(crate) fn at(pointer: &str) -> Value {
    json!({"$ref": format!("{DOC}#{pointer}")})
}

/// A schema, compiled when it is first asked for.
pub(crate) struct Schema {
    schema: Value,
    validator: OnceLock<Validator>,
}

impl Schema {
    pub(crate) fn new(schema: Value) -> Self {
        Self { schema, validator: OnceLock::new() }
    }

    /// `<where> <which rule>`, each once; without the numbers of items.
    pub(crate) fn breaches(&self, value: &Value, registry: &Registry<'_>) -> impl Iterator<Item = String> {
        let compiled = || jsonschema::options().with_registry(registry).build(&self.schema).unwrap();
        let validator = self.validator.get_or_init(compiled);
        let mut breaches = Vec::new();
        // To name the mistakes takes long, to see that there are none does not.
        if !validator.is_valid(value) {
            validator.iter_errors(value).for_each(|error| collect(&error, &mut breaches));
        }
        breaches.sort();
        breaches.dedup();
        breaches.into_iter()
    }
}

/// What is wrong; in a choice of forms, what is wrong with the one that is meant.
fn collect(error: &ValidationError<'_>, breaches: &mut Vec<String>) {
    use jsonschema::error::ValidationErrorKind::{AnyOf, OneOfNotValid};
    let (AnyOf { context } | OneOfNotValid { context }) = error.kind() else {
        breaches.push(said(error, &rule(error)));
        return;
    };
    let depth = error.instance_path().as_str().matches('/').count();
    let is_meant = |form: &&Vec<ValidationError<'_>>| !form.iter().any(|error| is_other(error, depth));
    match context.iter().filter(is_meant).min_by_key(|form| form.len()) {
        Some(form) => form.iter().for_each(|error| collect(error, breaches)),
        None => breaches.push(said(error, "is none of the forms")),
    }
}

/// Does the error say that another form is meant: a wrong tag, or another kind of value?
fn is_other(error: &ValidationError<'_>, depth: usize) -> bool {
    let inner = error.instance_path().as_str().matches('/').count() - depth;
    match error.kind().keyword() {
        "enum" | "const" => inner <= 1 && error.instance().is_string(),
        "type" => inner == 0,
        _ => false,
    }
}

fn said(error: &ValidationError<'_>, what: &str) -> String {
    format!("{} {what}", place(error)).trim_start().to_owned()
}

fn place(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str().split('/').skip(1);
    path.map(|name| if name.parse::<usize>().is_ok() { "/[]".to_owned() } else { format!("/{name}") })
        .collect()
}

fn rule(error: &ValidationError<'_>) -> String {
    use jsonschema::error::ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Required { property } => format!("lacks {}", spoken(property)),
        Kind::AdditionalProperties { unexpected } => format!("has {}", unexpected.join(", ")),
        Kind::Enum { .. } | Kind::Constant { .. } => format!("can't be {}", spoken(error.instance())),
        Kind::Type { .. } => format!("can't be {}", kind_of(error.instance())),
        kind => format!("breaks {}", kind.keyword()),
    }
}

fn spoken(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What an event is called: its type; for the record of another event, that one's, too.
pub(crate) fn kind(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or_default();
    match event["syncEvent"]["type"].as_str() {
        Some(inner) => format!("{kind} {inner}"),
        None => kind.to_owned(),
    }
}

/// The variants of a choice in `/doc`, by the type of event that each is for. `inner` names the field that holds the
/// choice, if the events are wrapped.
pub(crate) fn variants(doc: &Value, place: &str, inner: &str) -> BTreeMap<String, Schema> {
    let Some(whole) = doc.pointer(place) else { return BTreeMap::new() };
    let mut place = place.to_owned();
    if !inner.is_empty() {
        place = format!("{place}/properties/{inner}");
    }
    let word = if doc.pointer(&place).unwrap().get("anyOf").is_some() { "anyOf" } else { "oneOf" };
    let forms = doc.pointer(&format!("{place}/{word}")).and_then(Value::as_array).unwrap();
    let mut variants = BTreeMap::new();
    for (number, variant) in forms.iter().enumerate() {
        let resolved = match variant["$ref"].as_str() {
            Some(path) => doc.pointer(path.trim_start_matches('#')).unwrap(),
            None => variant,
        };
        let mut schema = at(&format!("{place}/{word}/{number}"));
        if !inner.is_empty() {
            let variant = std::mem::replace(&mut schema, whole.clone());
            schema["properties"][inner] = variant;
        }
        variants.insert(named(resolved), Schema::new(schema));
    }
    variants
}

/// As [`kind`], by the schema.
fn named(schema: &Value) -> String {
    let only = |schema: &Value| schema["properties"]["type"]["enum"][0].as_str().map(str::to_owned);
    let kind = only(schema).unwrap_or_default();
    match only(&schema["properties"]["syncEvent"]) {
        Some(inner) => format!("{kind} {inner}"),
        None => kind,
    }
}
