//! Goal: it is known which of the documented operations a stand-in does not play, and their number does not grow.
//! Method: each is asked once with the least that `/doc` lets a client say; `docs/operations.md` has the list. What is
//! answered is held against `/doc`, but for what the real servers are known to break.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod documented;

use documented::{Documented, unknown};
use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::{Client, Method};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Answered when something happens, or for ever.
const WAITING: &[&str] =
    &["event.subscribe", "global.event", "tui.control.next", "v2.event.subscribe", "v2.session.events"];
/// How many may answer with 501.
const UNPLAYED: [(ServerKind, usize); 2] = [(ServerKind::Kilo, 0), (ServerKind::Opencode, 0)];

/// A release's `/doc`.
struct Doc(Value);

impl Doc {
    fn of(server: ServerKind) -> Self {
        Self(serde_json::from_slice(catalog::doc(&server.release()).unwrap()).unwrap())
    }

    fn operations(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let paths = self.0["paths"].as_object().unwrap();
        paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap();
            methods.iter().map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
        })
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(path) => self.resolved(self.0.pointer(path.trim_start_matches('#')).unwrap()),
            None => schema,
        }
    }

    /// The least that fits a schema.
    fn sample(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(first) = schema.pointer("/enum/0") {
            return first.clone();
        }
        if let Some(first) = schema.pointer("/anyOf/0") {
            return self.sample(first);
        }
        match schema["type"].as_str().unwrap_or_default() {
            "object" => {
                let required = schema["required"].as_array().into_iter().flatten();
                let field = |name: &Value| {
                    let name = name.as_str().unwrap();
                    (name.to_owned(), self.sample(&schema["properties"][name]))
                };
                Value::Object(required.map(field).collect::<Map<_, _>>())
            }
            "array" if schema["minItems"].as_u64().unwrap_or(0) > 0 => json!([self.sample(&schema["items"])]),
            "array" => json!([]),
            "string" => {
                let pattern = schema["pattern"].as_str().unwrap_or_default();
                let prefix: String =
                    pattern.trim_start_matches('^').chars().take_while(char::is_ascii_lowercase).collect();
                json!(if prefix.is_empty() { "x".to_owned() } else { format!("{prefix}_x") })
            }
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(true),
            _ => Value::Null,
        }
    }

    fn target(&self, path: &str, operation: &Value, session: &str) -> String {
        let mut target = path.replace('*', "README.md");
        let mut query = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let sample = self.sample(&parameter["schema"]);
            let text = sample.as_str().map_or_else(|| sample.to_string(), str::to_owned);
            if parameter["in"] == "path" {
                let is_session = ["sessionID", "session"].contains(&name);
                target = target.replace(&format!("{{{name}}}"), if is_session { session } else { &text });
            } else if parameter["required"] == true {
                query.push(format!("{name}={text}"));
            }
        }
        if query.is_empty() { target } else { format!("{target}?{}", query.join("&")) }
    }
}

/// The operations that answer with 501, and how many there are in all.
async fn unplayed(server: ServerKind) -> (Vec<String>, usize) {
    let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let (doc, mut found, mut all) = (Doc::of(server), Vec::new(), 0);
    for (method, path, operation) in doc.operations() {
        all += 1;
        let id = operation["operationId"].as_str().unwrap();
        if WAITING.contains(&id) {
            continue;
        }
        // Each has a session of its own: none is busy with what another began.
        let made = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
        let session = made.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        let target = doc.target(path, operation, &session);
        let verb = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
        let request = client.request(verb, format!("{url}{target}"));
        let body = operation.pointer("/requestBody/content/application~1json/schema");
        let request = match body {
            Some(schema) => request.json(&doc.sample(schema)),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        if status == 501 {
            found.push(format!("`{} {path}` ({id})", method.to_ascii_uppercase()));
        }
        assert!(status != 502 && status < 504, "{method} {target}: {status}");
    }
    let broken = Documented::by(server).breaches(&stand_in.journal().lines());
    let broken: Vec<String> =
        unknown(server, &broken).into_iter().filter(|breach| !breach.contains(" 501\"")).collect();
    assert!(broken.is_empty(), "{server}: {}", broken.join("\n"));
    found.sort();
    (found, all)
}

#[tokio::test]
async fn the_operations_that_are_not_played_are_known() {
    let mut text = String::from(
        "# Operations that are not played\n\nMade by `harness/tests/operations.rs`, which asks for every documented \
         operation with the least that\n`/doc` lets a client say. `INSTA_UPDATE=always cargo test -p harness --test \
         operations` writes it again. These\nanswer 501 with their name; with other bodies and ids some more do \
         (`ARCHITECTURE.md`, \"Where the stand-in is not the\nreal server yet\").\n",
    );
    for (server, most) in UNPLAYED {
        let (found, all) = unplayed(server).await;
        assert!(found.len() <= most, "{} operations are not played, {most} may be: {found:#?}", found.len());
        assert_eq!(found.len(), most, "fewer are left: lower the number");
        write!(text, "\n## {}\n\n{} of {all}.\n\n", server.release(), found.len()).unwrap();
        found.iter().for_each(|line| writeln!(text, "- {line}").unwrap());
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    #[expect(clippy::disallowed_methods, reason = "who asks for new snapshots wants this file, too")]
    if std::env::var("INSTA_UPDATE").is_ok_and(|word| word == "always") {
        std::fs::write(&file, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(kept, text, "docs/operations.md is not what the stand-in does");
}
