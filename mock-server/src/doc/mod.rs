//! What a release documents of itself: its operations, found by method and path, and what a request for one must be.
//! The real servers check requests against the very schemas that `/doc` is made of, so the recorded `/doc` is what the
//! stand-in checks them against, in the same words.

mod limits;
mod order;
mod problem;
mod read;
mod schema;
mod settings;
#[cfg(test)]
mod tests;
mod unwritten;

use crate::javascript;
use crate::target::{self, Unreadable};
use fixtures::ServerKind;
use order::RuleOrder;
use problem::Problem;
use read::{Index, Terms};
use schema::{Absent, Schemas};
use serde_json::{Value, json};
pub(crate) use settings::{Mistake, SettingsOf};
use std::sync::OnceLock;

/// The operations of a release; its `/doc` is read when somebody asks for one of them.
#[derive(Debug)]
pub(crate) struct Operations {
    server: ServerKind,
    index: OnceLock<Index>,
}

/// A method and a path that `/doc` knows.
#[derive(Debug)]
pub(crate) struct Operation {
    method: String,
    /// As `/doc` writes it.
    pub(crate) path: String,
    segments: Vec<Segment>,
    /// `session.create`, ….
    pub(crate) id: String,
    /// What a request for it must be.
    terms: Terms,
}

#[derive(Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Parameter(String),
    /// All that follows, which may be nothing.
    Rest,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    is_in_path: bool,
    is_required: bool,
    schema: Value,
}

/// Why a request is refused before anybody looks at what it wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// With the words of a schema, and the part of the request that they are about.
    Bad { message: String, kind: &'static str },
    /// Without words.
    Tagged,
    /// Without words, by the older name.
    Named,
    /// As if there were no such place.
    Lost,
    /// As if the server had failed.
    Unexpected,
    /// The body is of a type that nobody reads.
    ContentType(String),
}

/// A request, as far as it is checked.
pub(crate) struct Asked<'a> {
    pub(crate) path: &'a str,
    pub(crate) query: &'a [(String, String)],
    pub(crate) content_type: Option<&'a str>,
    pub(crate) body: &'a [u8],
}

/// Operations that look at their session's id as at any other.
const DIRECT: &[&str] = &["backgroundProcess.", "kilocode.resumeSession"];
/// This stands in a session's place and is none, where there is the operation.
const NO_SESSION: &str = "viewed";
const VIEWED: &str = "session.viewed";
/// The servers' routers know no longer parameter.
const PARAMETER_MAX: usize = 100;

/// These read their body by themselves, whatever its type is, and do not say what is wrong with it.
const LOOSE_BODIES: &[&str] = &["session.create", "session.fork"];
/// This one does, too, and needs a body.
const READS_BY_ITSELF: &str = "provider.oauth.authorize";

/// Parameters that are checked otherwise than `/doc` says: operation, parameter, what it must be.
type Hidden = (&'static str, &'static str, fn() -> Value);
const HIDDEN: &[Hidden] = &[
    ("experimental.session.list", "worktrees", || json!({"type": "string", "enum": ["true", "false"]})),
    ("v2.session.list", "limit", || json!({"type": "integer", "exclusiveMinimum": 0})),
    ("v2.session.messages", "limit", || json!({"type": "integer", "minimum": 1, "maximum": 200})),
    ("v2.session.history", "limit", || json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 100})),
    ("v2.session.history", "after", || json!({"type": "integer", "minimum": 0})),
    ("v2.session.events", "after", || json!({"type": "integer", "minimum": 0})),
    (
        "kilocode.sessionBoard",
        "limit",
        || json!({"type": "integer", "minimum": 1, "maximum": 50, unwritten::BETWEEN: true}),
    ),
    ("backgroundProcess.get", "processID", || json!({"type": "string"})),
    ("backgroundProcess.logs", "processID", || json!({"type": "string"})),
    ("backgroundProcess.restart", "processID", || json!({"type": "string"})),
    ("backgroundProcess.stop", "processID", || json!({"type": "string"})),
    ("v2.fs.find", "limit", || json!({"type": "integer", "exclusiveMinimum": 0})),
];

impl Operations {
    /// Those of the pinned release.
    pub(crate) fn of(server: ServerKind) -> &'static Self {
        static KILO: Operations = Operations::unread(ServerKind::Kilo);
        static OPENCODE: Operations = Operations::unread(ServerKind::Opencode);
        match server {
            ServerKind::Kilo => &KILO,
            ServerKind::Opencode => &OPENCODE,
        }
    }

    const fn unread(server: ServerKind) -> Self {
        Self { server, index: OnceLock::new() }
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::read(self.server))
    }

    fn schemas(&self) -> &Schemas {
        &self.index().schemas
    }

    fn list(&self) -> &[Operation] {
        &self.index().list
    }

    fn named(&self, id: &str) -> Option<&Operation> {
        self.list().iter().find(|operation| operation.id == id)
    }

    /// The operation that a request means.
    pub(crate) fn find(&self, method: &str, path: &str) -> Option<&Operation> {
        self.find_at(method, &target::segments(path))
    }

    fn find_at(&self, method: &str, segments: &[String]) -> Option<&Operation> {
        self.list().iter().find(|operation| operation.method == method && operation.is_at(segments))
    }

    /// A path as it was sent → as `/doc` would write it, with the parameters in it.
    pub(crate) fn path(&self, method: &str, raw: &str) -> Result<String, Unreadable> {
        let mut given = target::read(raw)?;
        if let Some(operation) = self.find_at(method, &given) {
            for (segment, given) in operation.segments.iter().zip(&mut given) {
                if let Segment::Literal(word) = segment {
                    given.clone_from(word);
                }
            }
            // What is left of a path may begin with a slash of its own.
            if let Some(before) = operation.segments.iter().position(|segment| *segment == Segment::Rest)
                && target::has_spare_slash(raw, before)
                && let Some(rest) = given.get_mut(before)
            {
                rest.insert(0, '/');
            }
        } else if matches!(&given[..], [word] if word.eq_ignore_ascii_case("doc")) {
            // It describes all operations but itself.
            return Ok("/doc".to_owned());
        }
        Ok(target::path_of(given.iter().map(String::as_str)))
    }

    /// Is this the name of an operation or of a schema?
    #[cfg(test)]
    fn knows(&self, name: &str) -> bool {
        self.schemas().knows(name) || self.named(name).is_some()
    }

    /// The fields that the body of an operation may have.
    pub(crate) fn fields_of_body(&self, id: &str) -> Vec<String> {
        let body = self.named(id).and_then(Operation::body);
        body.map(|schema| self.schemas().fields(schema)).unwrap_or_default()
    }

    /// A body with what the operation knows of it, in its order.
    pub(crate) fn known_body(&self, id: &str, body: Value) -> Value {
        match self.named(id).and_then(Operation::body) {
            Some(schema) => self.schemas().in_order(schema, body, RuleOrder::AsKnown),
            None => body,
        }
    }

    /// The same of settings that no client sends: their rules stay in the order in which they are said.
    pub(crate) fn known_settings(&self, said: Value) -> Value {
        match self.named("config.update").and_then(Operation::body) {
            Some(schema) => self.schemas().in_order(schema, said, RuleOrder::AsSaid),
            None => said,
        }
    }

    /// What is wrong with a request for an operation; none if it may be looked at.
    pub(crate) fn complaint(&self, operation: &Operation, asked: &Asked<'_>) -> Option<Complaint> {
        self.wrong_path(operation, asked.path)
            .or_else(|| self.wrong_query(operation, asked.query))
            .or_else(|| self.wrong_body(operation, asked))
    }

    fn wrong_path(&self, operation: &Operation, path: &str) -> Option<Complaint> {
        for (segment, given) in operation.segments.iter().zip(target::segments(path)) {
            let Segment::Parameter(name) = segment else { continue };
            if given.len() > PARAMETER_MAX {
                return Some(Complaint::Lost);
            }
            let schema = operation.parameters().iter().find(|p| p.is_in_path && p.name == *name);
            let Some(schema) = schema.map(|parameter| &parameter.schema) else { continue };
            let Some(problem) = self.schemas().problem(schema, &json!(given), Absent::Never) else {
                continue;
            };
            // A session is looked for before anything else is read, unless the path is known to be about none.
            let is_about_one = given != NO_SESSION || self.named(VIEWED).is_none();
            if name == "sessionID"
                && is_about_one
                && !DIRECT.iter().any(|prefix| operation.id.starts_with(prefix))
            {
                return Some(Complaint::Unexpected);
            }
            return Some(problem.at(name).complaint("Params"));
        }
        None
    }

    fn wrong_query(&self, operation: &Operation, query: &[(String, String)]) -> Option<Complaint> {
        for parameter in operation.parameters().iter().filter(|parameter| !parameter.is_in_path) {
            let given: Vec<&str> = query
                .iter()
                .filter(|(name, _)| *name == parameter.name)
                .map(|(_, value)| value.as_str())
                .collect();
            let thing = self.schemas().thing_as_text(&parameter.schema, &given);
            let problem = match given[..] {
                _ if thing.is_some() => thing,
                [] if parameter.is_required => Some(Problem::missing()),
                [] => None,
                [value] => self.schemas().problem_of_text(&parameter.schema, value),
                _ => Some(self.schemas().repeated(&parameter.schema, &given, parameter.is_required)),
            };
            if let Some(problem) = problem {
                return Some(problem.at(&parameter.name).complaint("Query"));
            }
        }
        None
    }

    fn wrong_body(&self, operation: &Operation, asked: &Asked<'_>) -> Option<Complaint> {
        let schema = operation.body()?;
        if operation.id == READS_BY_ITSELF {
            let body = javascript::parse(asked.body);
            let is_right = body.is_some_and(|body| {
                self.schemas().problem(schema, &body, Absent::Never).is_none()
                    && body.get("inputs") != Some(&Value::Null)
            });
            return (!is_right).then_some(Complaint::Named);
        }
        let is_loose = LOOSE_BODIES.contains(&operation.id.as_str());
        let is_json = |kind: &str| kind.split(';').next().unwrap_or_default().trim() == "application/json";
        let value = match asked {
            Asked { body: [], .. } if is_loose => return None,
            Asked { body: [], .. } => None,
            Asked { content_type: Some(kind), .. } if !is_loose && !is_json(kind) => {
                return Some(Complaint::ContentType((*kind).to_owned()));
            }
            Asked { body, .. } => match javascript::parse(body) {
                Some(value) => Some(value),
                None if is_loose => return Some(Complaint::Tagged),
                None => return Some(Complaint::Unexpected),
            },
        };
        let problem = self.schemas().problem_of_body(schema, value.as_ref())?;
        Some(if is_loose { Complaint::Tagged } else { problem.complaint("Payload") })
    }
}

impl Operation {
    fn parameters(&self) -> &[Parameter] {
        &self.terms.said(&self.id).parameters
    }

    fn body(&self) -> Option<&Value> {
        self.terms.said(&self.id).body.as_ref()
    }

    fn is_at(&self, segments: &[String]) -> bool {
        let rest = self.segments.last() == Some(&Segment::Rest);
        let fits = |(known, given): (&Segment, &String)| match known {
            // The servers' routers look at no case.
            Segment::Literal(word) => word.eq_ignore_ascii_case(given),
            Segment::Parameter(_) | Segment::Rest => true,
        };
        let long_enough = if rest {
            segments.len() + 1 >= self.segments.len()
        } else {
            segments.len() == self.segments.len()
        };
        long_enough && self.segments.iter().zip(segments).all(fits)
    }

    /// As a person would write it.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl Problem {
    fn complaint(self, kind: &'static str) -> Complaint {
        Complaint::Bad { message: self.message(), kind }
    }
}
