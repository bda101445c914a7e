//! What is wrong with settings that a file says: all of it, each with its place. A file is asked for what the requests
//! that change settings are asked for, but nothing can be `null` in it unless that is its way to take something back.

use super::schema::{Absent, Schemas};
use super::{Operation, Operations};
use serde_json::{Value, json};

/// What a file says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsOf {
    /// Everything.
    Server,
    /// One agent.
    Agent,
    /// One command.
    Command,
    /// The screen of Kilo's own client.
    Tui,
}

/// Where something is wrong, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// From the outside in, as words.
    pub(crate) path: Vec<String>,
    pub(crate) what: String,
}

impl Mistake {
    /// As the wire has it.
    pub(crate) fn wire(&self) -> Value {
        json!({"path": self.path, "message": self.what})
    }
}

impl Operations {
    /// What is wrong with what a file says.
    pub(crate) fn mistakes(&self, of: SettingsOf, said: &Value) -> Vec<Mistake> {
        let operation = if of == SettingsOf::Tui { "tui.config.update" } else { "config.update" };
        let Some(whole) = self.named(operation).and_then(Operation::body) else { return Vec::new() };
        let one_of = |key: &str| {
            let (whole, _) = self.schemas().resolved(whole);
            whole["properties"][key]["additionalProperties"].clone()
        };
        let schema = match of {
            SettingsOf::Server | SettingsOf::Tui => whole.clone(),
            SettingsOf::Agent => one_of("agent"),
            SettingsOf::Command => one_of("command"),
        };
        let mut mistakes = Vec::new();
        gather(self.schemas(), &schema, said, Absent::Never, &mut Vec::new(), &mut mistakes);
        mistakes
    }
}

fn gather(
    schemas: &Schemas,
    schema: &Value,
    said: &Value,
    absent: Absent,
    path: &mut Vec<String>,
    mistakes: &mut Vec<Mistake>,
) {
    let (thing, _) = schemas.resolved(schema);
    let Some(fields) = said.as_object().filter(|_| thing["type"] == "object") else {
        if let Some(problem) = schemas.problem(schema, said, absent) {
            mistakes.extend(problem.mistakes(path));
        }
        return;
    };
    let known = thing["properties"].as_object();
    for (name, property) in known.into_iter().flatten() {
        let required = thing["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        path.push(name.clone());
        match fields.get(name) {
            None if required => mistakes.push(Mistake { path: path.clone(), what: "Missing key".to_owned() }),
            None => {}
            Some(said) => {
                let absent = if required { Absent::Never } else { Absent::in_file(property) };
                if !(said.is_null() && absent == Absent::NullOrUndefined) {
                    gather(schemas, property, said, absent, path, mistakes);
                }
            }
        }
        path.pop();
    }
    let others = &thing["additionalProperties"];
    for (name, said) in fields
        .iter()
        .filter(|(name, _)| others.is_object() && !known.is_some_and(|known| known.contains_key(*name)))
    {
        path.push(name.clone());
        gather(schemas, others, said, Absent::Never, path, mistakes);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    #[test]
    fn all_mistakes_are_told_in_the_order_of_the_schema() {
        // Seen on the real servers.
        let said = json!({"username": 1, "share": "never", "agent": {"x": {"mode": "odd"}}, "nonsense": 2});
        for server in ServerKind::ALL {
            let mistakes = Operations::of(server).mistakes(SettingsOf::Server, &said);
            let told: Vec<String> =
                mistakes.iter().map(|one| format!("{}: {}", one.path.join("."), one.what)).collect();
            assert_eq!(
                told,
                [
                    r#"share: Expected "manual" | "auto" | "disabled", got "never""#,
                    "username: Expected string | undefined, got 1",
                    r#"agent.x.mode: Expected "subagent" | "primary" | "all", got "odd""#,
                ]
            );
            let of_command =
                Operations::of(server).mistakes(SettingsOf::Command, &json!({"template": "x", "subtask": 3}));
            assert_eq!(of_command[0].what, "Expected boolean | undefined, got 3");
        }
        let kilo = Operations::of(ServerKind::Kilo)
            .mistakes(SettingsOf::Server, &json!({"agent": {"x": {"model": []}}}));
        assert_eq!(kilo[0].what, "Expected string | null | undefined, got []");
    }
}
