//! What a request must be, and the words of its refusal: those of zod, by which the real agents read.

use crate::javascript::kind_of;
use serde_json::{Map, Value, json};

/// What a value has to be.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Switch,
    /// The number of a protocol.
    Version,
    /// This word.
    Word(&'static str),
    List(&'static Shape),
    Object(&'static [Field]),
    /// All of these.
    All(&'static [Shape]),
    /// One of these. What is wrong with each is told as if it stood at the top.
    OneOf(&'static [Shape]),
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
struct Field {
    name: &'static str,
    shape: Shape,
    /// It may be left out, or be nothing.
    is_optional: bool,
}

const fn field(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_optional: false }
}

const fn text(name: &'static str) -> Field {
    field(name, Shape::Text)
}

const fn maybe(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_optional: true }
}

const PAIRS: Shape = Shape::List(&Shape::Object(&[text("name"), text("value")]));
const REMOTE: Shape = Shape::Object(&[field("headers", PAIRS), text("name"), text("url")]);
const SERVERS: Shape = Shape::List(&Shape::OneOf(&[
    Shape::All(&[REMOTE, Shape::Object(&[field("type", Shape::Word("http"))])]),
    Shape::All(&[REMOTE, Shape::Object(&[field("type", Shape::Word("sse"))])]),
    Shape::Object(&[
        field("args", Shape::List(&Shape::Text)),
        text("command"),
        field("env", PAIRS),
        text("name"),
    ]),
]));

const RESOURCE: Shape = Shape::OneOf(&[
    Shape::Object(&[maybe("mimeType", Shape::Text), text("text"), text("uri")]),
    Shape::Object(&[text("blob"), maybe("mimeType", Shape::Text), text("uri")]),
]);
const BLOCKS: Shape = Shape::List(&Shape::OneOf(&[
    Shape::All(&[Shape::Object(&[text("text")]), Shape::Object(&[field("type", Shape::Word("text"))])]),
    Shape::All(&[
        Shape::Object(&[text("data"), text("mimeType"), maybe("uri", Shape::Text)]),
        Shape::Object(&[field("type", Shape::Word("image"))]),
    ]),
    Shape::All(&[
        Shape::Object(&[text("data"), text("mimeType")]),
        Shape::Object(&[field("type", Shape::Word("audio"))]),
    ]),
    Shape::All(&[
        Shape::Object(&[
            maybe("description", Shape::Text),
            maybe("mimeType", Shape::Text),
            text("name"),
            maybe("title", Shape::Text),
            text("uri"),
        ]),
        Shape::Object(&[field("type", Shape::Word("resource_link"))]),
    ]),
    Shape::All(&[
        Shape::Object(&[field("resource", RESOURCE)]),
        Shape::Object(&[field("type", Shape::Word("resource"))]),
    ]),
]));

const CLIENT_CAPABILITIES: Shape = Shape::Object(&[
    maybe(
        "fs",
        Shape::Object(&[maybe("readTextFile", Shape::Switch), maybe("writeTextFile", Shape::Switch)]),
    ),
    maybe("terminal", Shape::Switch),
]);

const OPTION: Shape = Shape::All(&[
    Shape::OneOf(&[
        Shape::Object(&[field("type", Shape::Word("boolean")), field("value", Shape::Switch)]),
        Shape::Object(&[text("value")]),
    ]),
    Shape::Object(&[text("configId"), text("sessionId")]),
]);

/// What the params of each method must be.
const METHODS: &[(&str, Shape)] = &[
    (
        "initialize",
        Shape::Object(&[
            maybe("clientCapabilities", CLIENT_CAPABILITIES),
            maybe("clientInfo", Shape::Object(&[text("name"), maybe("title", Shape::Text), text("version")])),
            field("protocolVersion", Shape::Version),
        ]),
    ),
    ("authenticate", Shape::Object(&[text("methodId")])),
    ("session/new", Shape::Object(&[text("cwd"), field("mcpServers", SERVERS)])),
    ("session/load", Shape::Object(&[text("cwd"), field("mcpServers", SERVERS), text("sessionId")])),
    ("session/resume", Shape::Object(&[text("cwd"), maybe("mcpServers", SERVERS), text("sessionId")])),
    ("session/fork", Shape::Object(&[text("cwd"), maybe("mcpServers", SERVERS), text("sessionId")])),
    ("session/list", Shape::Object(&[maybe("cursor", Shape::Text), maybe("cwd", Shape::Text)])),
    (
        "session/prompt",
        Shape::Object(&[maybe("messageId", Shape::Text), field("prompt", BLOCKS), text("sessionId")]),
    ),
    ("session/set_mode", Shape::Object(&[text("modeId"), text("sessionId")])),
    ("session/set_model", Shape::Object(&[text("modelId"), text("sessionId")])),
    ("session/set_config_option", OPTION),
    ("session/close", Shape::Object(&[text("sessionId")])),
    ("session/cancel", Shape::Object(&[text("sessionId")])),
];

/// A mistake.
#[derive(Debug)]
struct Mistake {
    path: Vec<String>,
    words: String,
    /// It was found in one of several shapes, and nobody knows any more where those stand.
    is_adrift: bool,
}

impl Mistake {
    fn here(words: impl Into<String>) -> Vec<Self> {
        vec![Self { path: Vec::new(), words: words.into(), is_adrift: false }]
    }

    /// The same, of what has the value that it is in.
    fn within(mut self, name: &str) -> Self {
        if !self.is_adrift {
            self.path.insert(0, name.to_owned());
        }
        self
    }
}

/// What is wrong with the params, as the data of a refusal; a message may have none.
pub(super) fn wrong(method: &str, params: Option<&Value>) -> Option<Value> {
    let known = METHODS.iter().find(|(name, _)| *name == method && params.is_some_and(Value::is_object));
    let mistakes = mistakes(known.map_or(Shape::Object(&[]), |(_, shape)| *shape), params);
    if mistakes.is_empty() {
        return None;
    }
    let mut told = json!({"_errors": []});
    for Mistake { path, words, .. } in mistakes {
        let mut place = &mut told;
        for name in path {
            let places = place.as_object_mut()?;
            place = places.entry(name).or_insert_with(|| json!({"_errors": []}));
        }
        place["_errors"].as_array_mut()?.push(json!(words));
    }
    Some(told)
}

fn mistakes(shape: Shape, value: Option<&Value>) -> Vec<Mistake> {
    let expected =
        |what: &str| Mistake::here(format!("Invalid input: expected {what}, received {}", kind_of(value)));
    match shape {
        Shape::Text if value.is_some_and(Value::is_string) => Vec::new(),
        Shape::Text => expected("string"),
        Shape::Switch if value.is_some_and(Value::is_boolean) => Vec::new(),
        Shape::Switch => expected("boolean"),
        Shape::Version => match value.and_then(Value::as_f64) {
            None => expected("number"),
            Some(version) if version.fract() != 0.0 => expected("int"),
            Some(version) if version > 65535.0 => Mistake::here("Too big: expected number to be <=65535"),
            Some(version) if version < 0.0 => Mistake::here("Too small: expected number to be >=0"),
            Some(_) => Vec::new(),
        },
        Shape::Word(word) if value.is_some_and(|value| value == word) => Vec::new(),
        Shape::Word(word) => Mistake::here(format!("Invalid input: expected \"{word}\"")),
        Shape::List(of) => {
            let Some(items) = value.and_then(Value::as_array) else { return expected("array") };
            let each = items.iter().enumerate();
            let within = |(at, item): (usize, &Value)| {
                let place = at.to_string();
                let found = mistakes(*of, Some(item));
                found.into_iter().map(|mistake| mistake.within(&place)).collect::<Vec<_>>()
            };
            each.flat_map(within).collect()
        }
        Shape::Object(fields) => {
            let Some(found) = value.and_then(Value::as_object) else { return expected("object") };
            fields.iter().flat_map(|field| field.mistakes(found)).collect()
        }
        Shape::All(shapes) => shapes.iter().flat_map(|shape| mistakes(*shape, value)).collect(),
        Shape::OneOf(shapes) => {
            let each: Vec<Vec<Mistake>> = shapes.iter().map(|shape| mistakes(*shape, value)).collect();
            if each.iter().any(Vec::is_empty) {
                return Vec::new();
            }
            each.into_iter().flatten().map(|mistake| Mistake { is_adrift: true, ..mistake }).collect()
        }
    }
}

impl Field {
    fn mistakes(&self, found: &Map<String, Value>) -> Vec<Mistake> {
        let value = found.get(self.name);
        if self.is_optional && value.is_none_or(Value::is_null) {
            return Vec::new();
        }
        mistakes(self.shape, value).into_iter().map(|mistake| mistake.within(self.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(what: &str) -> String {
        format!("Invalid input: expected {what}")
    }

    #[test]
    fn what_fits_one_of_its_shapes_is_right() {
        let server =
            json!({"name": "x", "command": "y", "args": ["z"], "env": [{"name": "k", "value": "v"}]});
        let params = json!({"cwd": "/", "mcpServers": [server]});
        assert_eq!(wrong("session/new", Some(&params)), None);
        let linked = json!({"type": "resource_link", "name": "x", "uri": "u", "title": null});
        let text = json!({"type": "resource", "resource": {"uri": "u", "text": "t"}});
        let params = json!({"sessionId": "s", "prompt": [linked, text]});
        assert_eq!(wrong("session/prompt", Some(&params)), None);
        assert_eq!(wrong("session/list", Some(&json!({"cwd": null}))), None);
        assert_eq!(wrong("initialize", Some(&json!({"protocolVersion": 1.0}))), None);
    }

    #[test]
    fn what_is_wrong_in_each_shape_is_told_as_if_it_stood_at_the_top() {
        let told =
            |server: Value| wrong("session/new", Some(&json!({"cwd": "/", "mcpServers": [server]}))).unwrap();
        let object = words("object, received string");
        assert_eq!(told(json!("s")), json!({"_errors": [object, object, object, object, object]}));
        let header = json!({"type": "http", "name": "x", "url": "u", "headers": [{"name": 1}]});
        let list = json!({"_errors": [words("array, received undefined")]});
        let twice = |what: &str| json!({"_errors": [words(what), words(what)]});
        let name = twice("string, received number");
        let value = twice("string, received undefined");
        let wanted = json!({
            "_errors": [],
            "headers": {"_errors": [], "0": {"_errors": [], "name": name, "value": value}},
            "type": {"_errors": [words("\"sse\"")]},
            "args": list, "env": list,
            "command": {"_errors": [words("string, received undefined")]},
        });
        assert_eq!(told(header), wanted);
        let params = json!({"sessionId": "s", "prompt": [{"type": "resource", "resource": "x"}]});
        let resource = wrong("session/prompt", Some(&params)).unwrap();
        assert_eq!(resource["_errors"], json!([object, object]));
        assert!(resource.get("resource").is_none() && resource.get("prompt").is_none());
    }

    #[test]
    fn an_option_is_a_word_or_a_switch_that_says_so() {
        let told = |value: Value| {
            let mut params = json!({"sessionId": "s", "configId": "mode"});
            crate::world::merge(params.as_object_mut().unwrap(), &value);
            wrong("session/set_config_option", Some(&params))
        };
        assert_eq!(told(json!({"value": "plan"})), None);
        assert_eq!(told(json!({"type": "boolean", "value": true})), None);
        let switch = told(json!({"value": true})).unwrap();
        assert_eq!(switch["type"]["_errors"], json!([words("\"boolean\"")]));
        assert_eq!(switch["value"]["_errors"], json!([words("string, received boolean")]));
    }
}
