//! Reads a release's `/doc` no further than somebody asks. It is long, and a stand-in that has just begun is asked for
//! little: so it begins at once, and stays small.

use super::schema::Schemas;
use super::unwritten::completed;
use super::{HIDDEN, Operation, Parameter, Segment};
use fixtures::{ServerKind, catalog};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What `/doc` names.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) schemas: Schemas,
    /// A word in a path stands before a parameter at its place.
    pub(super) list: Vec<Operation>,
}

/// What an operation wants of a request: as `/doc` has it, and as it was read.
#[derive(Debug)]
pub(super) struct Terms {
    server: ServerKind,
    parameters: Option<&'static RawValue>,
    body: Option<&'static RawValue>,
    said: OnceLock<Said>,
}

#[derive(Debug)]
pub(super) struct Said {
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Doc<'a> {
    #[serde(borrow)]
    paths: BTreeMap<String, BTreeMap<String, Written<'a>>>,
    #[serde(borrow)]
    components: Components<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Components<'a> {
    #[serde(borrow)]
    schemas: BTreeMap<String, &'a RawValue>,
}

/// An operation.
#[derive(Debug, Deserialize)]
struct Written<'a> {
    #[serde(rename = "operationId")]
    id: String,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestBody")]
    body: Option<&'a RawValue>,
}

#[cfg(test)]
thread_local! {
    /// How often one was read, for the test that a server begins without.
    pub(super) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Index {
    /// That of the pinned release.
    pub(super) fn read(server: ServerKind) -> Self {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        let doc = catalog::doc(&server.release()).unwrap_or_default();
        let Doc { paths, components } = serde_json::from_slice(doc).unwrap_or_default();
        let mut list = Vec::new();
        for (path, methods) in paths {
            list.extend(methods.into_iter().map(|(method, of)| of.operation(server, &path, &method)));
        }
        let parameters = |operation: &Operation| {
            operation.segments.iter().map(|s| !matches!(s, Segment::Literal(_))).collect::<Vec<_>>()
        };
        list.sort_by_key(parameters);
        Self { schemas: Schemas::of(server, components.schemas), list }
    }
}

impl Written<'static> {
    fn operation(self, server: ServerKind, path: &str, method: &str) -> Operation {
        let segment = |segment: &str| match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}'))
        {
            Some(name) => Segment::Parameter(name.to_owned()),
            None if segment == "*" => Segment::Rest,
            None => Segment::Literal(segment.to_owned()),
        };
        let Self { id, parameters, body } = self;
        Operation {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            segments: path.split('/').filter(|segment| !segment.is_empty()).map(segment).collect(),
            id,
            terms: Terms { server, parameters, body, said: OnceLock::new() },
        }
    }
}

impl Terms {
    /// Those of the operation of this name.
    pub(super) fn said(&self, id: &str) -> &Said {
        self.said.get_or_init(|| {
            let parameters = self.parameters.map(value_of).unwrap_or_default();
            let body = self.body.map(value_of).unwrap_or_default();
            let body = body.pointer("/content/application~1json/schema").cloned();
            Said {
                parameters: parameters
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|one| parameter(id, one))
                    .collect(),
                body: body.map(|body| completed(self.server, id, body)),
            }
        })
    }
}

fn parameter(of: &str, said: &Value) -> Parameter {
    let hidden = HIDDEN.iter().find(|(id, name, _)| *id == of && said["name"] == *name);
    Parameter {
        name: said["name"].as_str().unwrap_or_default().to_owned(),
        is_in_path: said["in"] == "path",
        is_required: said["required"] == true,
        schema: hidden.map_or_else(|| said["schema"].clone(), |(.., range)| range()),
    }
}

/// A part of `/doc`, which has been read as JSON once.
pub(super) fn value_of(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).unwrap_or_default()
}
