//! The description of the control API as it is served: that of `openapi.json`, with the words of a fault from the types
//! that read them, so that whoever has the description alone knows what `when` and `do` may be.

use super::OPENAPI;
use fixtures::fault_plan::Fault;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Where the schemas of an OpenAPI document stand.
const SCHEMAS: &str = "/components/schemas";

static DESCRIPTION: LazyLock<Value> = LazyLock::new(describe);

/// The description of all operations.
pub fn description() -> &'static Value {
    &DESCRIPTION
}

fn describe() -> Value {
    let mut doc: Value = serde_json::from_str(OPENAPI).unwrap_or_default();
    if let Some(schemas) = doc["components"]["schemas"].as_object_mut() {
        schemas.extend(words_of_faults());
    }
    let operations = doc["paths"].as_object_mut().into_iter().flat_map(serde_json::Map::values_mut);
    for operation in operations.filter_map(Value::as_object_mut).flat_map(serde_json::Map::values_mut) {
        // Whatever is asked, the token is asked for first.
        operation["responses"]["401"] = json!({"$ref": "#/components/responses/Refused"});
    }
    doc
}

/// `Fault`, and all that it is made of.
fn words_of_faults() -> impl Iterator<Item = (String, Value)> {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.definitions_path = SCHEMAS.into();
    });
    let mut generator = settings.into_generator();
    generator.subschema_for::<Fault>();
    generator.take_definitions(true).into_iter().map(|(name, schema)| (name, of_2020(schema)))
}

/// What needs another field stands in editors' schemas in the words of their draft; this one has another word for it.
fn of_2020(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut()
        && let Some(needs) = fields.remove("dependencies")
    {
        fields.insert("dependentRequired".to_owned(), needs);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::catalog;
    use fixtures::fault_plan::FaultPlan;
    use fixtures::scenario::Scenario;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// All addresses within the document that stand in it.
    fn addresses(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| addresses(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| addresses(value, found)),
            _ => {}
        }
    }

    #[test]
    fn whatever_the_description_points_at_is_in_it() {
        let mut found = BTreeSet::new();
        addresses(description(), &mut found);
        let dangling: Vec<_> = found
            .iter()
            .filter(|address| description().pointer(address.trim_start_matches('#')).is_none())
            .collect();
        assert!(found.len() > 50 && dangling.is_empty(), "{dangling:?}");
    }

    #[test]
    fn the_description_of_a_fault_takes_what_the_reader_takes_and_refuses_what_it_refuses() {
        let mut schema = description().clone();
        schema["$ref"] = json!("#/components/schemas/Arm");
        let validator = jsonschema::validator_for(&schema).unwrap();
        let texts =
            catalog::fault_plan_names().into_iter().map(|name| catalog::fault_plan_text(&name).unwrap());
        let faults: Vec<Fault> =
            texts.flat_map(|(path, text)| FaultPlan::parse(&path, &text).unwrap().faults).collect();
        assert!(faults.len() > 20, "{}", faults.len());
        for fault in faults {
            let arm = json!({"faults": [fault]});
            assert!(validator.is_valid(&arm), "{arm}: {:?}", validator.validate(&arm));
        }
        for wrong in [
            json!({"when": {"stream": "event"}}),
            json!({"when": {"stream": "events"}, "do": {"cut": "mid-frame"}}),
            json!({"when": {"stream": "event"}, "do": {"cut": "somewhere"}}),
            json!({"when": {"stream": "event"}, "do": {"vanish": true}}),
            json!({"when": {"request": "rest"}, "do": {"status": "500"}}),
            json!({"when": {"request": "rest", "tiems": 2}, "do": {"status": 500}}),
            json!({"when": {"request": "rest", "connection": 2}, "do": {"status": 500}}),
            json!({"when": {"request": "rest", "nth": 0}, "do": {"status": 500}}),
            json!({"when": {"request": "rest", "times": 0}, "do": {"status": 500}}),
            json!({"when": {"request": "rest", "stream": "event"}, "do": {"status": 500}}),
            json!({"when": {"stream": null}, "do": {"cut": "between-frames"}}),
            json!({"when": {"stream": "event", "event": "a", "after_event": "b"}, "do": {"cut": "between-frames"}}),
            json!({"when": {"stream": "event"}, "do": {}}),
        ] {
            assert!(serde_json::from_value::<Fault>(wrong.clone()).is_err(), "{wrong}");
            assert!(!validator.is_valid(&json!({"faults": [wrong.clone()]})), "{wrong}");
        }
    }

    #[test]
    fn what_the_description_shows_is_read() {
        let doc = description();
        let shown = |pointer: &str| doc.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
        let scenario = shown(
            "/paths/~1__standin__~1scenario/post/requestBody/content/application~1json/schema/properties/toml/examples/0",
        );
        let scenario = Scenario::parse(Path::new("shown"), &scenario).unwrap();
        assert_eq!(scenario.gates(), ["mid"]);
        let plan = shown("/components/schemas/Arm/properties/toml/examples/0");
        assert_eq!(FaultPlan::parse(Path::new("shown"), &plan).unwrap().faults.len(), 1);
        let lines = &doc["components"]["schemas"]["Arm"]["properties"]["lines"];
        let lines = lines["examples"][0].as_array().unwrap();
        assert!(lines.iter().all(|line| Fault::short(line.as_str().unwrap()).is_ok()), "{lines:?}");
    }

    #[test]
    fn at_once_happens_what_the_description_says() {
        let mut schema = description().clone();
        schema["$ref"] = json!("#/components/schemas/AtOnce");
        let validator = jsonschema::validator_for(&schema).unwrap();
        let shown = description()["components"]["schemas"]["AtOnce"]["examples"].as_array().unwrap().clone();
        assert!(!shown.is_empty() && shown.iter().all(|example| validator.is_valid(example)));
        assert!(!validator.is_valid(&json!({"cut": "mid-frame"})));
    }
}
