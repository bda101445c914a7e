//! Permissions and questions of the next generation: what may an agent do, who is asked, what was allowed for always.

use super::super::routes::body_of;
use super::super::{ApiRequest, ReplyBody, World, rules};
use crate::roster::Roster;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The agent that works when nobody says.
const AGENT: &str = "build";

/// Questions that wait, and rules that a person has given.
#[derive(Debug, Default)]
pub(crate) struct Consents {
    open: Vec<Open>,
    saved: Vec<Saved>,
}

impl Consents {
    /// The rules that a person has given.
    pub(in crate::world) fn saved(&self) -> &[Saved] {
        &self.saved
    }

    /// These are the rules that a person has given.
    pub(in crate::world) fn keep(&mut self, saved: Vec<Saved>) {
        self.saved = saved;
    }
}

#[derive(Debug, Clone)]
struct Open {
    wire: Value,
    agent: Option<String>,
    directory: String,
}

/// A rule that a person has given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Saved {
    id: String,
    project: String,
    action: String,
    resource: String,
}

/// Action, resource, effect.
type Rule = (String, String, String);

impl World {
    pub(super) fn answer_consent_next(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        session: &str,
        segments: &[&str],
    ) -> Option<()> {
        let ticket = request.ticket;
        let id = segments.get(4).copied().unwrap_or_default();
        match operation {
            "v2.session.permission.create" => self.ask_next(request, session),
            "v2.session.permission.list" => {
                let open = self.consents.open.iter().filter(|open| open.wire["sessionID"] == session);
                let data: Vec<Value> = open.map(|open| open.wire.clone()).collect();
                self.reply_json(ticket, json!({"data": data}));
            }
            "v2.session.permission.get" => match self.open_consent(session, id) {
                Some(open) => self.reply_json(ticket, json!({"data": open.wire})),
                None => self.no_such_request(ticket, "Permission", id),
            },
            "v2.session.permission.reply" => self.reply_next(request, session, id),
            "v2.permission.request.list" => {
                let directory = self.directory_of(request);
                let open = self.consents.open.iter().filter(|open| open.directory == directory);
                let data: Vec<Value> = open.map(|open| open.wire.clone()).collect();
                let location = self.location(&directory);
                self.reply_json(ticket, json!({"location": location, "data": data}));
            }
            "v2.permission.saved.list" | "v2.permission.saved.remove" if self.profile.keeps_rules => {
                self.unknown_error(ticket);
            }
            "v2.permission.saved.list" => self.list_saved(request),
            "v2.permission.saved.remove" => {
                let id = segments.last().copied().unwrap_or_default();
                self.consents.saved.retain(|saved| saved.id != id);
                self.no_content(ticket);
            }
            "v2.session.question.list" => self.reply_json(ticket, json!({"data": []})),
            "v2.session.question.reply" | "v2.session.question.reject" => {
                self.no_such_request(ticket, "Question", id);
            }
            _ => return None,
        }
        Some(())
    }

    fn no_such_request(&mut self, ticket: u64, kind: &str, id: &str) {
        let message = format!("{kind} request not found: {id}");
        let body = json!({"_tag": format!("{kind}NotFoundError"), "requestID": id, "message": message});
        self.reply(ticket, 404, ReplyBody::Json(body));
    }

    fn open_consent(&self, session: &str, id: &str) -> Option<Open> {
        let mut open = self.consents.open.iter();
        open.find(|open| open.wire["id"] == id && open.wire["sessionID"] == session).cloned()
    }

    fn list_saved(&mut self, request: &ApiRequest) {
        let project =
            super::query(request, "projectID").map_or_else(|| self.config.project.id.clone(), str::to_owned);
        let here = self.consents.saved.iter().filter(|saved| saved.project == project);
        let wire = |saved: &Saved| json!({"id": saved.id, "projectID": saved.project, "action": saved.action, "resource": saved.resource});
        let data: Vec<Value> = here.map(wire).collect();
        self.reply_json(request.ticket, json!({"data": data}));
    }

    /// `POST /api/session/{id}/permission`.
    fn ask_next(&mut self, request: &ApiRequest, session: &str) {
        let body = body_of(request);
        let (Some(owner), Some(action)) = (self.sessions.get(session), body["action"].as_str()) else {
            return;
        };
        let (project, directory) = (owner.project.clone(), owner.directory.clone());
        let agent = body["agent"].as_str().map(str::to_owned);
        let resources = words(&body["resources"]);
        let effect = self.effect_of(session, agent.as_deref(), &project, action, &resources);
        let id = body["id"].as_str().map(str::to_owned);
        let id = id.unwrap_or_else(|| self.ids.ascending("per", self.now_ms));
        if effect == "ask" {
            if self.consents.open.iter().any(|open| open.wire["id"] == *id) {
                return self.unknown_error(request.ticket);
            }
            let mut wire = json!({"id": id, "sessionID": session, "action": action, "resources": resources});
            for key in ["save", "metadata", "source"] {
                if let Some(value) = body.get(key).filter(|value| !value.is_null()) {
                    wire[key] = value.clone();
                }
            }
            self.emit_outside_project(&directory, "permission.v2.asked", wire.clone());
            self.consents.open.push(Open { wire, agent, directory });
        }
        self.reply_json(request.ticket, json!({"data": {"id": id, "effect": effect}}));
    }

    /// What the rules of an agent say, and those that a person gave; what the agent's own forbid, nobody allows.
    fn effect_of(
        &self,
        session: &str,
        agent: Option<&str>,
        project: &str,
        action: &str,
        resources: &[String],
    ) -> &'static str {
        let named = agent.or_else(|| self.sessions.get(session)?.agent.as_deref()).unwrap_or(AGENT);
        let mut rules = self.rules_next(named);
        let decided = |rules: &[Rule], resource: &String| {
            let fits = |(word, pattern, _): &&Rule| {
                rules::matches(action, word) && rules::matches(resource, pattern)
            };
            rules.iter().rev().find(fits).map_or("ask", |(.., effect)| match effect.as_str() {
                "allow" => "allow",
                "deny" => "deny",
                _ => "ask",
            })
        };
        if resources.iter().any(|resource| decided(&rules, resource) == "deny") {
            return "deny";
        }
        let saved = self.consents.saved.iter().filter(|saved| saved.project == project);
        rules.extend(saved.map(|saved| (saved.action.clone(), saved.resource.clone(), "allow".to_owned())));
        let effects: Vec<&str> = resources.iter().map(|resource| decided(&rules, resource)).collect();
        if effects.contains(&"ask") { "ask" } else { "allow" }
    }

    /// Who is not known may do nothing.
    fn rules_next(&self, agent: &str) -> Vec<Rule> {
        let roster = Roster::of(self.profile.server);
        let Some(agent) = roster.agents_next.iter().find(|known| known["id"] == agent) else {
            return vec![("*".to_owned(), "*".to_owned(), "deny".to_owned())];
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rule = |rule: &Value| {
            let resource = text(&rule["resource"]).replace(&roster.home, &self.config.home);
            (
                text(&rule["action"]),
                resource.replace(&roster.workspace, &self.config.directory),
                text(&rule["effect"]),
            )
        };
        agent["permissions"].as_array().into_iter().flatten().map(rule).collect()
    }

    /// `POST /api/session/{id}/permission/{request}/reply`.
    fn reply_next(&mut self, request: &ApiRequest, session: &str, id: &str) {
        let Some(open) = self.open_consent(session, id) else {
            return self.no_such_request(request.ticket, "Permission", id);
        };
        let reply = body_of(request)["reply"].as_str().unwrap_or_default().to_owned();
        self.replied_next(&open, &reply);
        if reply == "reject" {
            let others = self.consents.open.iter().filter(|other| other.wire["sessionID"] == session);
            for other in others.cloned().collect::<Vec<_>>() {
                self.replied_next(&other, "reject");
            }
        }
        let save = words(&open.wire["save"]);
        if reply == "always" && !save.is_empty() {
            let project = self.project_of(&open.directory);
            for resource in save {
                let id = self.ids.ascending("psv", self.now_ms);
                let action = open.wire["action"].as_str().unwrap_or_default().to_owned();
                self.consents.saved.push(Saved { id, project: project.clone(), action, resource });
            }
            for other in self.consents.open.clone() {
                let owner = other.wire["sessionID"].as_str().unwrap_or_default();
                let action = other.wire["action"].as_str().unwrap_or_default();
                let resources = words(&other.wire["resources"]);
                if self.effect_of(owner, other.agent.as_deref(), &project, action, &resources) == "allow" {
                    self.replied_next(&other, "always");
                }
            }
        }
        self.no_content(request.ticket);
    }

    fn replied_next(&mut self, open: &Open, reply: &str) {
        self.consents.open.retain(|other| other.wire["id"] != open.wire["id"]);
        let told = json!({"sessionID": open.wire["sessionID"], "requestID": open.wire["id"], "reply": reply});
        self.emit_outside_project(&open.directory, "permission.v2.replied", told);
    }
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}
