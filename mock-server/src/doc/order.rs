//! A value as a server has read it: with what the schema knows of it, in the schema's order.

use super::schema::Schemas;
use serde_json::{Map, Value, json};

/// Where the rules of an agent are described, whose order decides.
const RULES: &str = "/PermissionConfig";

/// In which order they stand afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleOrder {
    /// As they were said, in a file.
    AsSaid,
    /// That of the schema, as all else: in a request.
    AsKnown,
}

impl Schemas {
    /// A value with the properties that the schema knows, in its order.
    pub(super) fn in_order(&self, schema: &Value, value: Value, rules: RuleOrder) -> Value {
        if rules == RuleOrder::AsSaid && schema["$ref"].as_str().is_some_and(|path| path.ends_with(RULES)) {
            return value;
        }
        let mut members = Vec::new();
        self.members(schema, &mut members);
        let schema = match members.into_iter().find(|member| self.could_be(member, &value)) {
            None => return value,
            Some(member) if self.is_choice(member) => return self.in_order(member, value, rules),
            Some(member) => self.resolved(member).0,
        };
        match value {
            Value::Object(mut fields) => {
                let known = schema["properties"].as_object();
                let known = known.into_iter().flatten().map(|(name, inner)| (name.clone(), inner));
                let mut ordered: Map<String, Value> = known
                    .filter_map(|(name, inner)| {
                        let value = fields.shift_remove(&name)?;
                        Some((name, self.in_order(inner, value, rules)))
                    })
                    .collect();
                let rest = &schema["additionalProperties"];
                if *rest != json!(false) {
                    let rest =
                        fields.into_iter().map(|(name, value)| (name, self.in_order(rest, value, rules)));
                    ordered.extend(rest);
                }
                Value::Object(ordered)
            }
            Value::Array(items) => {
                items.into_iter().map(|item| self.in_order(&schema["items"], item, rules)).collect()
            }
            other => other,
        }
    }
}
