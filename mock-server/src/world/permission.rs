//! Who may do what: rules, the questions that follow from them, and the answers.

use super::{Effect, Purpose, ReplyBody, World};
use crate::profile::Profile;
use serde_json::{Map, Value, json};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Allow,
    Ask,
}

/// One rule; the last that fits decides.
#[derive(Debug, Clone)]
struct Rule {
    permission: String,
    action: Action,
    /// What a call that the rule allows says of it.
    approval: Value,
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) id: String,
    session: String,
    call: usize,
    /// As the event and the list have it.
    wire: Value,
}

/// The rules and the open questions of a server.
#[derive(Debug)]
pub(crate) struct Permissions {
    rules: Vec<Rule>,
    /// The agent whose own rules allow what no other rule is about.
    agent: &'static str,
    pending: Vec<Pending>,
}

/// What a call wants to do.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) permission: &'static str,
    pub(crate) patterns: Vec<String>,
    pub(crate) metadata: Value,
    pub(crate) always: Vec<String>,
}

impl Permissions {
    /// Inside the workspace everything is allowed that the configuration does not ask about.
    pub(crate) fn new(config: &Map<String, Value>, profile: &Profile) -> Self {
        let mut rules = Vec::new();
        if let Some(Value::Object(map)) = config.get("permission") {
            for (permission, word) in map {
                let action = if word == "ask" { Action::Ask } else { Action::Allow };
                let rule = json!({"permission": permission, "pattern": "*", "action": word});
                let approval = json!({"source": "agent", "agent": profile.agent, "rule": rule});
                rules.push(Rule { permission: permission.clone(), action, approval });
            }
        }
        Self { rules, agent: profile.agent, pending: Vec::new() }
    }

    /// What allows a call that nobody is asked about; `None` when the person must be asked.
    pub(crate) fn approval_of(&self, permission: &str) -> Option<Value> {
        let fits = |rule: &&Rule| rule.permission == permission || rule.permission == "*";
        match self.rules.iter().rfind(fits) {
            Some(Rule { action: Action::Ask, .. }) => None,
            Some(rule) => Some(rule.approval.clone()),
            // The agent has a rule of its own that asks.
            None if permission == "external_directory" => None,
            None => {
                // The agent has a rule of its own for reads, and one for all the rest.
                let own = if permission == "read" { "read" } else { "*" };
                let rule = json!({"permission": own, "pattern": "*", "action": "allow"});
                Some(json!({"source": "agent", "agent": self.agent, "rule": rule}))
            }
        }
    }

    /// The open questions, as the wire has them.
    pub(crate) fn list(&self) -> Vec<Value> {
        self.pending.iter().map(|pending| pending.wire.clone()).collect()
    }
}

impl World {
    /// Lets a call go on, or asks first.
    pub(crate) fn ask_or_allow(&mut self, session: &str, call: usize, wish: &Wish) {
        if let Some(approval) = self.permissions.approval_of(wish.permission) {
            self.allow_call(session, call, approval);
            return;
        }
        let id = self.ids.ascending("per", self.now_ms);
        let Some(run) = self.run_mut(session) else { return };
        let Some(asking) = run.calls.get(call) else { return };
        let wire = json!({
            "id": id, "sessionID": session, "permission": wish.permission, "patterns": wish.patterns,
            "metadata": wish.metadata, "always": wish.always,
            "tool": {"messageID": run.message, "callID": asking.id},
        });
        self.emit_session(session, "permission.asked", wire.clone());
        self.permissions.pending.push(Pending { id, session: session.to_owned(), call, wire });
    }

    /// A person answers a question. The session in the route does not matter to the real servers, nor here.
    pub(crate) fn answer_permission(&mut self, ticket: u64, id: &str, answer: &str) {
        let Some(at) = self.permissions.pending.iter().position(|pending| pending.id == id) else {
            let body = json!({
                "_tag": "PermissionNotFoundError", "requestID": id,
                "message": format!("Permission request not found: {id}"),
            });
            self.reply(ticket, 404, ReplyBody::Json(body));
            return;
        };
        let pending = self.permissions.pending.remove(at);
        self.reply_json(ticket, json!(true));
        self.resolve(&pending, answer);
        match answer {
            "reject" => self.reject_the_others(&pending.session),
            "always" => self.allow_from_now_on(&pending),
            _ => {}
        }
    }

    fn resolve(&mut self, pending: &Pending, answer: &str) {
        let session = &pending.session;
        let properties = json!({"sessionID": session, "requestID": pending.id, "reply": answer});
        self.emit_session(session, "permission.replied", properties);
        let asked_in = &pending.wire["tool"]["messageID"];
        if self.run_mut(session).is_none_or(|run| *asked_in != run.message) {
            // The call is over: its turn was ended while the person thought.
            return;
        }
        if answer == "reject" {
            self.reject_call(session, pending.call);
        } else {
            self.allow_call(session, pending.call, json!({"source": "manual"}));
        }
    }

    /// One no is a no to all that the session asks at this time.
    fn reject_the_others(&mut self, session: &str) {
        let (same, other): (Vec<Pending>, Vec<Pending>) = std::mem::take(&mut self.permissions.pending)
            .into_iter()
            .partition(|pending| pending.session == session);
        self.permissions.pending = other;
        for pending in same {
            self.resolve(&pending, "reject");
        }
    }

    /// What the same session asks at this time and is allowed from now on is answered too.
    fn allow_from_now_on(&mut self, answered: &Pending) {
        let permission = answered.wire["permission"].clone();
        let name = permission.as_str().unwrap_or_default().to_owned();
        let rule = json!({"permission": name, "pattern": "*", "action": "allow"});
        let approval = json!({"source": "project", "rule": rule});
        self.permissions.rules.push(Rule { permission: name, action: Action::Allow, approval });
        let (same, other): (Vec<Pending>, Vec<Pending>) =
            std::mem::take(&mut self.permissions.pending).into_iter().partition(|pending| {
                pending.session == answered.session && pending.wire["permission"] == permission
            });
        self.permissions.pending = other;
        for pending in same {
            self.resolve(&pending, "always");
        }
        if self.profile.keeps_rules {
            self.effect(Purpose::RuleKept, Effect::Yield);
        }
    }
}
