//! What a person answers when they are asked for permission, and what they allow beside that.

use super::own_settings;
use super::permission::{Pending, Permissions, rejected, tell_of_leaving, words};
use super::routes::body_of;
use super::rules::{self, Action, Rule, Source};
use super::tools::Plan;
use super::{ApiRequest, Effect, Purpose, ReplyBody, World};
use serde_json::{Value, json};

/// What a person answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    /// `once`, `always`, `reject`.
    pub(crate) word: &'a str,
    /// What the agent is told.
    pub(crate) message: Option<&'a str>,
}

impl Answer<'_> {
    pub(crate) const REJECT: Self = Self { word: "reject", message: None };
}

/// What a person has said for always.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(crate) rule: Rule,
    /// The folder whose instance has heard it, and forgets it when it ends; everywhere when absent.
    pub(crate) directory: Option<String>,
}

impl Permissions {
    /// What a person has said for always that holds in a folder.
    pub(crate) fn standing_in(&self, directory: &str) -> impl DoubleEndedIterator<Item = &Rule> {
        let holds = move |said: &&Standing| said.directory.as_deref().is_none_or(|own| own == directory);
        self.kept.iter().filter(holds).map(|said| &said.rule)
    }

    /// Has somebody been asked for a session, and not answered?
    pub(crate) fn asks_in(&self, session: &str) -> bool {
        self.pending.iter().any(|pending| pending.session == session)
    }

    /// The instance of a folder has ended, and what it alone has heard is forgotten.
    pub(crate) fn dispose(&mut self, directory: &str) {
        self.kept.retain(|said| said.directory.as_deref() != Some(directory));
    }
}

impl World {
    /// A person answers a question. The session in the route does not matter to the real servers, nor here.
    pub(crate) fn answer_permission(&mut self, ticket: u64, id: &str, answer: Answer<'_>) {
        let Some(at) = self.permissions.pending.iter().position(|pending| pending.id == id) else {
            return self.unknown_permission(ticket, id);
        };
        let pending = self.permissions.pending.remove(at);
        self.reply_json(ticket, json!(true));
        if answer.word == "always" {
            self.keep_rules(&pending);
        }
        self.resolve(&pending, answer);
        match answer.word {
            "reject" => self.reject_the_others(&pending.session),
            "always" => self.allow_from_now_on(&pending),
            _ => {}
        }
    }

    fn resolve(&mut self, pending: &Pending, answer: Answer<'_>) {
        let session = &pending.session;
        let properties = json!({"sessionID": session, "requestID": pending.id, "reply": answer.word});
        self.emit_about(session, &pending.directory, "permission.replied", properties);
        if self.run_mut(session).is_none_or(|run| pending.message != run.message) {
            // Its turn was ended while the person thought. Nobody hears of the call any more, but a yes is a yes.
            if let (Some(Plan::Write(plan)), "once" | "always") = (&pending.plan, answer.word) {
                self.write_late(session, plan.clone());
            }
            return;
        }
        let Some(call) = pending.call else {
            let refusal = (answer.word == "reject").then(|| rejected(answer.message));
            return self.answer_suspicion(session, refusal.as_deref());
        };
        if answer.word == "reject" {
            self.block_goal(session);
            self.reject_call(session, call, answer.message);
        } else {
            let mut approval = json!({"source": "manual"});
            tell_of_leaving(&mut approval, &words(&pending.wire["permission"]), &pending.wire["metadata"]);
            self.allow_call(session, call, approval);
        }
    }

    /// One no is a no to all that the session asks at this time.
    fn reject_the_others(&mut self, session: &str) {
        let (same, other): (Vec<Pending>, Vec<Pending>) = std::mem::take(&mut self.permissions.pending)
            .into_iter()
            .partition(|pending| pending.session == session);
        self.permissions.pending = other;
        for pending in same {
            self.resolve(&pending, Answer::REJECT);
        }
    }

    fn unknown_permission(&mut self, ticket: u64, id: &str) {
        let body = json!({
            "_tag": "PermissionNotFoundError", "requestID": id,
            "message": format!("Permission request not found: {id}"),
        });
        self.reply(ticket, 404, ReplyBody::Json(body));
    }

    fn keep_rules(&mut self, answered: &Pending) {
        if answered.is_saved || own_settings::is_marked(&answered.wire) {
            return;
        }
        let name = words(&answered.wire["permission"]);
        let always = answered.wire["always"].as_array().cloned().unwrap_or_default();
        let rules =
            always.iter().map(|pattern| Rule::new(&name, &words(pattern), Action::Allow, Source::Global));
        let rules: Vec<Rule> = rules.collect();
        let directory = self.who(&answered.session).directory;
        self.write_rules(&directory, &rules);
        // What isn't written down anywhere is known where it was said.
        self.keep(rules, (!self.profile.keeps_rules).then_some(directory.as_str()));
    }

    fn keep(&mut self, rules: Vec<Rule>, directory: Option<&str>) {
        let standing = |rule| Standing { rule, directory: directory.map(str::to_owned) };
        self.permissions.kept.extend(rules.into_iter().map(standing));
    }

    /// What is asked at this time and is allowed from now on is answered too.
    fn allow_from_now_on(&mut self, answered: &Pending) {
        if own_settings::is_marked(&answered.wire) {
            return;
        }
        self.answer_decided(&answered.session, None);
        if self.profile.keeps_rules && !answered.is_saved {
            self.effect(Purpose::RuleKept, Effect::Yield);
        }
    }

    /// What other questions ask has been decided by what a person allowed in this session.
    fn answer_decided(&mut self, session: &str, but: Option<&str>) {
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone());
        let decided: Vec<(String, Action)> = self
            .permissions
            .pending
            .iter()
            .filter(|pending| {
                let owner = self.sessions.get(&pending.session);
                pending.session == session
                    || self.profile.always_answers_all
                        && owner.map(|owner| &owner.directory) == directory.as_ref()
            })
            .filter(|pending| Some(pending.id.as_str()) != but)
            .filter_map(|pending| Some((pending.id.clone(), self.decided(pending)?)))
            .collect();
        for (id, action) in decided {
            let Some(at) = self.permissions.pending.iter().position(|pending| pending.id == id) else {
                continue;
            };
            let pending = self.permissions.pending.remove(at);
            let answer = if action == Action::Deny {
                Answer::REJECT
            } else {
                Answer { word: "always", message: None }
            };
            self.resolve(&pending, answer);
        }
    }

    /// What the rules say now to a question that is open: nothing, if it is still one.
    fn decided(&self, pending: &Pending) -> Option<Action> {
        if own_settings::is_marked(&pending.wire) {
            return None;
        }
        let name = words(&pending.wire["permission"]);
        let who = self.who(&pending.session);
        let patterns = pending.wire["patterns"].as_array().cloned().unwrap_or_default();
        let said: Vec<Action> = patterns
            .iter()
            .map(|pattern| {
                let pattern = words(pattern);
                if self.profile.always_answers_all {
                    self.permissions.decide(&who, &name, &pattern).action
                } else {
                    let standing = self.permissions.standing_in(&who.directory);
                    rules::decide(standing, &name, &pattern).action
                }
            })
            .collect();
        if self.profile.always_answers_all && said.contains(&Action::Deny) {
            return Some(Action::Deny);
        }
        said.iter().all(|action| *action == Action::Allow).then_some(Action::Allow)
    }

    /// `POST /permission/{id}/always-rules`: of what a question offers for always, some is allowed and some forbidden.
    pub(super) fn save_rules(&mut self, request: &ApiRequest, id: &str) {
        let body = body_of(request);
        let chosen = |key: &str| -> Vec<String> {
            let list = body[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let Some(pending) = self.permissions.pending.iter_mut().find(|pending| pending.id == id) else {
            return self.unknown_permission(request.ticket, id);
        };
        pending.is_saved = true;
        let (allowed, denied) = (chosen("approvedAlways"), chosen("deniedAlways"));
        let name = words(&pending.wire["permission"]);
        let lists = [&pending.wire["metadata"]["rules"], &pending.wire["always"]];
        let mut rules: Vec<Rule> = Vec::new();
        for pattern in lists.into_iter().filter_map(Value::as_array).flatten().map(words) {
            for (list, action) in [(&allowed, Action::Allow), (&denied, Action::Deny)] {
                let rule = Rule::new(&name, &pattern, action, Source::Global);
                if list.contains(&pattern) && !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
        let session = pending.session.clone();
        let is_kept = !rules.is_empty();
        self.write_rules(&self.who(&session).directory, &rules);
        self.keep(rules, None);
        self.reply_json(request.ticket, json!(true));
        if is_kept {
            self.effect(Purpose::RuleKept, Effect::Yield);
        }
        self.answer_decided(&session, Some(id));
    }

    /// `POST /permission/allow-everything`, in one session or in all.
    pub(super) fn allow_everything(&mut self, request: &ApiRequest) {
        let body = body_of(request);
        let session = body["sessionID"].as_str();
        if session.is_some_and(|session| !self.knows_session(session)) {
            return self.unknown_error(request.ticket);
        }
        self.reply_json(request.ticket, json!(true));
        match session {
            Some(session) => self.unask_session(session, body["enable"] == true),
            None => self.unask_everywhere(&self.directory_of(request), body["enable"] == true),
        }
        if body["enable"] != true {
            return;
        }
        let first = body["requestID"].as_str().unwrap_or_default();
        let is_meant = |pending: &&Pending| session.is_none_or(|session| pending.session == session);
        let open = self.permissions.pending.iter().filter(is_meant);
        let mut open: Vec<String> = open.map(|pending| pending.id.clone()).collect();
        open.sort_by_key(|id| id != first);
        for id in open {
            let Some(at) = self.permissions.pending.iter().position(|pending| pending.id == id) else {
                continue;
            };
            if self.decided(&self.permissions.pending[at]) == Some(Action::Allow) {
                let pending = self.permissions.pending.remove(at);
                self.resolve(&pending, Answer { word: "once", message: None });
            }
        }
    }

    /// A session has a rule of its own that allows everything, or has none of that kind any more.
    fn unask_session(&mut self, session: &str, is_on: bool) {
        let everything = Rule::new("*", "*", Action::Allow, Source::Session).wire();
        let now = self.now_ms;
        self.change_session(session, |session| {
            let known = session.permission.as_ref().and_then(Value::as_array).cloned();
            let mut rules = known.unwrap_or_default();
            if is_on {
                rules.push(everything);
            } else {
                rules.retain(|rule| *rule != everything);
            }
            session.permission = Some(Value::Array(rules));
            session.touch(now);
        });
        if is_on {
            self.permissions.unasked.insert(session.to_owned());
        } else {
            self.permissions.unasked.remove(session);
        }
    }

    /// The settings of the server allow everything, or don't say so any more.
    fn unask_everywhere(&mut self, directory: &str, is_on: bool) {
        let everything = Rule::new("*", "*", Action::Allow, Source::Global);
        if is_on {
            self.write_rules(directory, std::slice::from_ref(&everything));
            self.keep(vec![everything], None);
        } else {
            self.strike_rule(directory, &everything);
            let kept = &mut self.permissions.kept;
            if let Some(at) = kept.iter().rposition(|said| said.rule == everything) {
                kept.remove(at);
            }
        }
        self.effect(Purpose::RuleKept, Effect::Yield);
    }
}
