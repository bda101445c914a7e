//! Two `/doc` documents: the operations, and the schemas that they use. A schema that no operation uses is not looked at.
//!
//! * [`schema`] — two schemas, followed through references and around in circles.
//! * [`alternatives`] — a schema as the set of what a value may be.
//! * [`place`] — where a difference is, and who uses that.
//! * [`forms`] — which form of an object is which.

mod alternatives;
mod forms;
mod place;
mod schema;
#[cfg(test)]
mod tests;

use super::report::Findings;
use super::rule::Rule;
use alternatives::Doc;
use fixtures::fault_plan::StreamName;
use place::{Place, Way};
use schema::Schemas;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const STREAM: &str = "text/event-stream";

/// Compares two documents.
pub(super) fn compare(old: &Value, new: &Value, findings: &mut Findings) {
    let (one, two) = (operations(old), operations(new));
    for (side, operations) in [("OLD", &one), ("NEW", &two)] {
        if operations.is_empty() {
            findings.could_not(format!("/doc of {side}"), "it names no operations", true);
        }
    }
    if one.is_empty() || two.is_empty() {
        return;
    }
    let mut schemas = Schemas::new(Doc { root: old }, Doc { root: new }, findings);
    for (key, operation) in &one {
        let place = Place::of(operation.name());
        match two.get(key) {
            None => schemas.push(Rule::OperationGone, &place, None, None),
            Some(other) => Both { old: operation, new: other, place }.compare(&mut schemas),
        }
    }
    for operation in two.iter().filter(|(key, _)| !one.contains_key(*key)).map(|(_, operation)| operation) {
        schemas.push(Rule::OperationNew, &Place::of(operation.name()), None, None);
    }
    schemas.tell_users();
}

/// An operation of a document.
struct Operation<'d> {
    doc: Doc<'d>,
    method: String,
    path: &'d str,
    told: &'d Value,
    /// Parameters of all operations of the path.
    shared: &'d Value,
}

/// By method and path; how a path calls its parameters is nothing that a client sends.
fn operations(doc: &Value) -> BTreeMap<(String, String), Operation<'_>> {
    let mut operations = BTreeMap::new();
    for (path, item) in doc["paths"].as_object().into_iter().flatten() {
        for (method, told) in item.as_object().into_iter().flatten() {
            if METHODS.contains(&method.as_str()) {
                let method = method.to_ascii_uppercase();
                let nameless = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
                let key = (nameless.collect::<Vec<_>>().join("/"), method.clone());
                let shared = &item["parameters"];
                operations.insert(key, Operation { doc: Doc { root: doc }, method, path, told, shared });
            }
        }
    }
    operations
}

impl<'d> Operation<'d> {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// By place and name; those of the path by their number.
    fn parameters(&self) -> BTreeMap<(String, String), &'d Value> {
        let mut in_path = 0;
        let mut parameters = BTreeMap::new();
        let all = [self.shared, &self.told["parameters"]].into_iter().filter_map(Value::as_array).flatten();
        for parameter in all {
            let (parameter, _) = self.doc.resolve(parameter);
            let (place, name) = (&parameter["in"], &parameter["name"]);
            let (Some(place), Some(name)) = (place.as_str(), name.as_str()) else { continue };
            let mut name = name.to_owned();
            if place == "path" {
                in_path += 1;
                let position = self.path.find(&format!("{{{name}}}")).unwrap_or(in_path);
                name = format!("{position:04}");
            } else if place == "header" {
                name = name.to_ascii_lowercase();
            }
            parameters.insert((place.to_owned(), name), parameter);
        }
        // By number, and not by where they stand: the names before them may have other lengths.
        let (path, mut rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            parameters.into_iter().partition(|((place, _), _)| place == "path");
        rest.extend(
            path.into_values().enumerate().map(|(at, told)| (("path".to_owned(), at.to_string()), told)),
        );
        rest
    }

    fn answers(&self) -> BTreeMap<&'d str, &'d Value> {
        let answers = self.told["responses"].as_object().into_iter().flatten();
        answers.map(|(status, answer)| (status.as_str(), self.doc.resolve(answer).0)).collect()
    }

    fn body(&self) -> Option<&'d Value> {
        self.told.get("requestBody").map(|body| self.doc.resolve(body).0)
    }
}

/// An operation that both documents have.
struct Both<'a, 'd> {
    old: &'a Operation<'d>,
    new: &'a Operation<'d>,
    place: Place,
}

impl<'d> Both<'_, 'd> {
    fn compare(&self, schemas: &mut Schemas<'d>) {
        schemas.findings.compared.operations += 1;
        schemas.count();
        let (old, new) = (self.old.told, self.new.told);
        schemas.words(old, new, &self.place);
        let id = |told: &Value| told["operationId"].as_str().map(str::to_owned);
        if id(old) != id(new) {
            schemas.push(Rule::OperationIdOther, &self.place, id(old), id(new));
        }
        if old["deprecated"] != true && new["deprecated"] == true {
            schemas.push(Rule::OperationDeprecated, &self.place, None, None);
        }
        self.parameters(schemas);
        self.body(schemas);
        self.answers(schemas);
    }

    fn parameters(&self, schemas: &mut Schemas<'d>) {
        let (old, new) = (self.old.parameters(), self.new.parameters());
        let place = |key: &(String, String), told: &Value| {
            let name = told["name"].as_str().unwrap_or_default();
            let kind = if key.0 == "path" { "path parameter" } else { &key.0 };
            self.place.below(&format!("{kind} {name}")).made(Way::Parameter)
        };
        for (key, told) in &old {
            let Some(other) = new.get(key) else {
                schemas.push(Rule::ParameterGone, &place(key, told), None, None);
                continue;
            };
            schemas.count();
            let name = |told: &Value| told["name"].as_str().map(str::to_owned);
            if key.0 == "path" && name(told) != name(other) {
                schemas.push(Rule::ParameterRenamed, &self.place, name(told), name(other));
            }
            match (told["required"] == true, other["required"] == true) {
                (false, true) => schemas.push(Rule::ParameterRequired, &place(key, told), None, None),
                (true, false) => schemas.push(Rule::ParameterOptional, &place(key, told), None, None),
                _ => {}
            }
            schemas.compare((&told["schema"], &other["schema"]), &place(key, told));
        }
        for (key, told) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
            let is_needed = told["required"] == true;
            let rule = if is_needed { Rule::ParameterNewRequired } else { Rule::ParameterNew };
            schemas.push(rule, &place(key, told), None, None);
        }
    }

    fn body(&self, schemas: &mut Schemas<'d>) {
        let place = self.place.below("body ").made(Way::Sent);
        match (self.old.body(), self.new.body()) {
            (None, None) => {}
            (Some(_), None) => schemas.push(Rule::BodyGone, &place, None, None),
            (None, Some(body)) => {
                let rule = if body["required"] == true { Rule::BodyNewRequired } else { Rule::BodyNew };
                schemas.push(rule, &place, None, None);
            }
            (Some(old), Some(new)) => {
                match (old["required"] == true, new["required"] == true) {
                    (false, true) => schemas.push(Rule::BodyNewRequired, &place, None, None),
                    (true, false) => schemas.push(Rule::BodyOptional, &place, None, None),
                    _ => {}
                }
                self.content((old, new), &place, schemas);
            }
        }
    }

    fn answers(&self, schemas: &mut Schemas<'d>) {
        let (old, new) = (self.old.answers(), self.new.answers());
        for (status, answer) in &old {
            let place = self.place.below(&format!("{status} "));
            match new.get(status) {
                Some(other) => {
                    schemas.count();
                    schemas.words(answer, other, &place);
                    self.content((answer, other), &place, schemas);
                }
                None if status.starts_with('2') => schemas.push(Rule::StatusGone, &place, None, None),
                None => schemas.push(Rule::FailureGone, &place, None, None),
            }
        }
        for status in new.keys().filter(|status| !old.contains_key(*status)) {
            schemas.push(Rule::StatusNew, &self.place.below(&format!("{status} ")), None, None);
        }
    }

    /// Bodies by their media type.
    fn content(&self, both: (&'d Value, &'d Value), place: &Place, schemas: &mut Schemas<'d>) {
        let (old, new) = (media(both.0), media(both.1));
        let (gone, come) = match place.way {
            Way::Read => (Rule::MediaGone, Rule::MediaNew),
            Way::Sent | Way::Parameter => (Rule::SentMediaGone, Rule::SentMediaNew),
        };
        for (kind, schema) in &old {
            match new.get(kind) {
                None => schemas.push(gone, place, Some(kind.clone()), None),
                Some(other) => {
                    let event = (kind == STREAM).then(|| self.stream());
                    schemas.compare((schema, other), &Place { event, ..place.clone() });
                }
            }
        }
        let known: BTreeSet<&String> = old.keys().collect();
        for kind in new.keys().filter(|kind| !known.contains(kind)) {
            schemas.push(come, place, None, Some(kind.clone()));
        }
    }

    /// How events of a stream are called: those of the streams that everybody reads need no more than their type.
    fn stream(&self) -> String {
        match StreamName::from_path(self.old.path) {
            Some(_) => String::new(),
            None => self.old.path.to_owned(),
        }
    }
}

/// The schemas of a body by media type, without its parameters.
fn media(told: &Value) -> BTreeMap<String, &Value> {
    let content = told["content"].as_object().into_iter().flatten();
    let essence = |kind: &str| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    content.map(|(kind, body)| (essence(kind), &body["schema"])).collect()
}
