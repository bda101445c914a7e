//! Are servers of tools the server's: is it asked which there are, and told of each new one?

use super::errands::{Errand, errands};
use super::{Check, Examined};
use crate::course::{Course, Exchange};
use crate::protocol::{Capability, Request};
use serde_json::{Value, json};

pub(super) const CHECK: Check = Check {
    name: "tool-servers",
    about: "Servers of tools are listed, added and connected by the server's own operations, and the person is told what it \
            says of them.",
    needs: &[Capability::ToolServers],
    has_occasion: |course| !wanted(course).is_empty(),
    examine,
};

fn wanted<'a>(course: &'a Course<'_>) -> Vec<Errand<'a>> {
    errands(course, |request| {
        matches!(request, Request::McpList | Request::McpAdd(_) | Request::McpConnect(_))
    })
}

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    for errand in wanted(course) {
        let (method, path, body) = match errand.request {
            Request::McpList => ("GET", "/mcp".to_owned(), Value::Null),
            Request::McpAdd(add) => {
                ("POST", "/mcp".to_owned(), json!({ "name": add.name, "config": add.config }))
            }
            Request::McpConnect(server) => ("POST", format!("/mcp/{}/connect", server.name), Value::Null),
            _ => continue,
        };
        let asked: Vec<&Exchange> = errand.asked(course, method, &path);
        examined.fact(asked.len() == 1, || {
            format!(
                "{} was wanted, and {method} {path} was asked {} times",
                errand.request.method(),
                asked.len()
            )
        });
        let Some(asked) = asked.first() else { continue };
        if !body.is_null() {
            examined.fact(asked.body == body, || {
                format!("the person adds {body}, and the server is told {}", asked.body)
            });
        }
        examined.fact(errand.is_done() == asked.is_good(), || match asked.is_good() {
            true => format!("the server has answered {method} {path}, and the person is told otherwise"),
            false => format!("the server has not taken {method} {path}, and the person is told otherwise"),
        });
        let told = errand.answer.and_then(|answer| answer.as_ref().ok()).map(|answer| &answer["servers"]);
        let said = asked.answer.as_ref().map(|answer| &answer.body).filter(|_| asked.is_good());
        if let (Some(Value::Object(told)), Some(Value::Object(said))) = (told, said) {
            let states: serde_json::Map<String, Value> =
                said.iter().map(|(name, state)| (name.clone(), state["status"].clone())).collect();
            examined.fact(*told == states, || {
                format!(
                    "the server says {}, the person is told {}",
                    Value::Object(states.clone()),
                    Value::Object(told.clone())
                )
            });
        }
    }
    examined
}
