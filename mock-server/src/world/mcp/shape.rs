//! What the answers of a tool have to look like, where its server says so.

use super::EffectId;
use crate::javascript::kind_of;
use crate::world::World;
use serde_json::Value;

impl World {
    /// The schema of a tool's answers.
    pub(super) fn shape_of(&self, link: EffectId, tool: &str) -> Option<Value> {
        let open = self.links.get(&link)?;
        let servers = self.instances.get(&open.directory)?.servers.as_ref()?;
        let server = servers.list.iter().find(|server| server.name == open.name)?;
        let (_, tools) = server.client.as_ref()?;
        tools.iter().find(|known| known.name == tool)?.shape.clone()
    }
}

/// What is wrong with an answer, in the words of the library that the real servers check it with.
pub(super) fn misshapen(tool: &str, shape: &Value, answer: &Value) -> Option<String> {
    let structured = answer.get("structuredContent").filter(|structured| !structured.is_null());
    let Some(structured) = structured else {
        let words = format!("Tool {tool} has an output schema but did not return structured content");
        return (answer["isError"] != true).then(|| format!("MCP error -32600: {words}"));
    };
    let wrong = first_mistake(shape, structured, "")?;
    Some(format!("MCP error -32602: Structured content does not match the tool's output schema: data{wrong}"))
}

/// The first thing in a value that its schema does not allow: where, and what it must be. What is looked at are types,
/// fields, elements and listed values; other demands are taken for met.
fn first_mistake(schema: &Value, value: &Value, place: &str) -> Option<String> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_a(kind, value)) {
        return Some(format!("{place} must be {}", kinds.join(",")));
    }
    if let Some(fields) = value.as_object() {
        let properties = schema["properties"].as_object();
        let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
            return Some(format!("{place} must have required property '{missing}'"));
        }
        let is_known = |name: &String| properties.is_some_and(|known| known.contains_key(name));
        if schema["additionalProperties"] == false && !fields.keys().all(is_known) {
            return Some(format!("{place} must NOT have additional properties"));
        }
        let inside = properties.into_iter().flatten().find_map(|(name, schema)| {
            first_mistake(schema, fields.get(name)?, &format!("{place}/{}", escaped(name)))
        });
        if inside.is_some() {
            return inside;
        }
    }
    if let (Some(elements), true) = (value.as_array(), schema["items"].is_object()) {
        let mut numbered = elements.iter().enumerate();
        let inside = numbered
            .find_map(|(at, element)| first_mistake(&schema["items"], element, &format!("{place}/{at}")));
        if inside.is_some() {
            return inside;
        }
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        return Some(format!("{place} must be equal to one of the allowed values"));
    }
    let wanted = schema.get("const").filter(|wanted| *wanted != value);
    wanted.map(|_| format!("{place} must be equal to constant"))
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        kind => kind_of(Some(value)) == kind,
    }
}

/// A name in a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_has_the_shape_that_its_server_has_told() {
        let shape = json!({"type": "object", "properties": {"v": {"type": "number"}}, "required": ["v"]});
        let wrong = |answer: Value| misshapen("t", &shape, &answer);
        assert_eq!(wrong(json!({"structuredContent": {"v": 1}})), None);
        assert_eq!(wrong(json!({"isError": true})), None);
        let told = wrong(json!({"structuredContent": {"v": "s"}})).unwrap();
        assert!(told.ends_with("output schema: data/v must be number"), "{told}");
        let told = wrong(json!({"structuredContent": {}})).unwrap();
        assert!(told.ends_with("data must have required property 'v'"), "{told}");
        let told = wrong(json!({"content": []})).unwrap();
        assert!(told.starts_with("MCP error -32600: Tool t has an output schema"), "{told}");
    }
}
