//! Who may do what: rules, the questions that follow from them, and the answers.

use super::World;
use super::agents::Agents;
use super::consent::Standing;
use super::own_settings;
use super::rules::{self, Action, Rule, Source};
use super::tools::Plan;
use crate::profile::Profile;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A question that waits for its answer.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) id: String,
    pub(crate) session: String,
    /// Where that is; it may be deleted before the answer comes.
    pub(crate) directory: String,
    /// The message of the step that asks.
    pub(crate) message: String,
    /// The call that asks; none where the person is asked whether the agent goes in circles.
    pub(crate) call: Option<usize>,
    /// As the event and the list have it.
    pub(crate) wire: Value,
    /// What the call is about to do; it outlives its turn.
    pub(crate) plan: Option<Plan>,
    /// What is offered for always has been chosen from already.
    pub(crate) is_saved: bool,
}

/// The rules and the open questions of a server.
#[derive(Debug)]
pub(crate) struct Permissions {
    /// What a person has said for always.
    pub(crate) kept: Vec<Standing>,
    /// The sessions in which everything is allowed for now.
    pub(crate) unasked: BTreeSet<String>,
    /// What is allowed for always does not lift a narrower rule that asks.
    keeps_narrow_questions: bool,
    /// No other rule lifts those of these agents.
    strict_agents: &'static [&'static str],
    pub(crate) pending: Vec<Pending>,
}

/// What a call wants to do.
#[derive(Debug, Clone)]
pub(crate) struct Wish<'a> {
    pub(crate) permission: &'a str,
    pub(crate) patterns: Vec<String>,
    pub(crate) metadata: Value,
    pub(crate) always: Vec<String>,
}

/// What the rules say to a wish.
#[derive(Debug)]
pub(crate) enum Verdict {
    Allowed,
    Asked,
    /// What the agent is told.
    Denied(String),
}

/// The same, in rules.
#[derive(Debug)]
enum Ruling {
    Allowed(Rule),
    Asked,
    Denied(Rule),
    /// A strict agent's own rules deny it.
    Forbidden,
}

/// What calls may leave out, and the servers tell as nothing at all: such a question can be asked and answered, not listed.
const LEFT_OUT: &[(&str, &[&str])] =
    &[("glob", &["path"]), ("grep", &["path", "include"]), ("webfetch", &["timeout"])];

impl Permissions {
    pub(crate) fn new(profile: &Profile) -> Self {
        let keeps_narrow_questions = profile.keeps_narrow_questions;
        let (kept, unasked, pending) = (Vec::new(), BTreeSet::new(), Vec::new());
        let strict_agents = profile.strict_agents;
        Self { kept, unasked, keeps_narrow_questions, strict_agents, pending }
    }

    /// The server is another one. Gives the rules by which a person has allowed something for always.
    pub(crate) fn start_again(&mut self) -> Vec<Standing> {
        self.unasked.clear();
        self.pending.clear();
        std::mem::take(&mut self.kept)
    }

    /// The questions of a session are nobody's any more.
    pub(crate) fn forget(&mut self, session: &str) {
        self.pending.retain(|pending| pending.session != session);
    }

    /// May a call do this to everything, without asking anybody?
    pub(crate) fn allows(&self, who: &Who, permission: &str) -> bool {
        self.decide(who, permission, "*").action == Action::Allow
    }

    /// Would a call have to ask the person?
    pub(crate) fn asks(&self, who: &Who, permission: &str, pattern: &str) -> bool {
        self.decide(who, permission, pattern).action == Action::Ask
    }

    /// A tool that no call could use is not offered.
    pub(crate) fn offers(&self, who: &Who, tool: &str) -> bool {
        let permission = if matches!(tool, "write" | "apply_patch") { "edit" } else { tool };
        let last = self.fixed(who).rfind(|rule| rules::matches(permission, &rule.permission));
        last.is_none_or(|rule| rule.pattern != "*" || rule.action != Action::Deny)
    }

    fn fixed<'a>(&'a self, who: &'a Who) -> impl DoubleEndedIterator<Item = &'a Rule> {
        who.own_rules().iter().chain(&who.rules)
    }

    pub(crate) fn decide(&self, who: &Who, permission: &str, pattern: &str) -> Rule {
        if !self.keeps_narrow_questions {
            let standing = self.standing_in(&who.directory);
            return rules::decide(self.fixed(who).chain(standing), permission, pattern);
        }
        let said = rules::decide_carefully(self.fixed(who), permission, pattern);
        let everything = Rule::new("*", "*", Action::Allow, Source::Session);
        let unasked = self.unasked.contains(&who.session).then_some(&everything);
        let standing = self.standing_in(&who.directory);
        let kept = rules::standing(standing.chain(unasked), permission, pattern);
        match (said.action, kept) {
            (_, Some(kept)) if kept.action == Action::Deny => kept.clone(),
            (Action::Allow, Some(kept)) => kept.clone(),
            (Action::Ask, Some(kept)) if rules::matches(&kept.pattern, &said.pattern) => kept.clone(),
            _ => said,
        }
    }

    fn judge(&self, who: &Who, wish: &Wish<'_>) -> Ruling {
        let mut asks = false;
        let mut allowed = None;
        for pattern in &wish.patterns {
            let is_strict = self.strict_agents.contains(&who.agent.as_str());
            if is_strict && who.agents.says(&who.agent, wish.permission, pattern) == Action::Deny {
                return Ruling::Forbidden;
            }
            let rule = self.decide(who, wish.permission, pattern);
            match rule.action {
                Action::Deny => return Ruling::Denied(rule),
                Action::Ask => asks = true,
                Action::Allow => allowed = Some(rule),
            }
        }
        match allowed {
            Some(rule) if !asks => Ruling::Allowed(rule),
            _ => Ruling::Asked,
        }
    }

    /// Where a rule comes from: of those of the settings and of agents it is where the same words were said last, whoever
    /// they are for.
    fn source_of(&self, who: &Who, rule: &Rule) -> Source {
        let is_said = |source: Source| {
            let is_same = |own: &Rule| {
                own.source == source && own.permission == rule.permission && own.pattern == rule.pattern
            };
            self.fixed(who).any(is_same)
        };
        match rule.source {
            Source::Global | Source::Agent if is_said(Source::Project) => Source::Project,
            Source::Agent if is_said(Source::Global) => Source::Global,
            source => source,
        }
    }

    /// What a call that a rule decides says of it.
    fn approval(&self, who: &Who, rule: &Rule) -> Value {
        let source = self.source_of(who, rule);
        let mut approval = json!({"source": source.word()});
        if source == Source::Agent {
            approval["agent"] = json!(who.agent);
        }
        approval["rule"] = rule.wire();
        approval
    }

    /// What a call says of it that a strict agent may not do: the rule is not found, but made up.
    fn approval_of_forbidden(&self, who: &Who, wish: &Wish<'_>) -> Value {
        let pattern = wish.patterns.first().map_or("*", String::as_str);
        let is_same = |own: &&Rule| own.permission == wish.permission && own.pattern == pattern;
        let source = who.own_rules().iter().find(is_same).map_or(Source::Agent, |own| own.source);
        self.approval(who, &Rule::new(wish.permission, pattern, Action::Deny, source))
    }

    /// The rules that such a refusal names: of equal ones the last.
    fn told_of_forbidden(&self, who: &Who, permission: &str) -> String {
        let rules: Vec<Value> = who.own_rules().iter().map(Rule::as_written).collect();
        let is_last = |at: &usize| !rules[at + 1..].contains(&rules[*at]);
        let about =
            |at: &usize| rules[*at]["permission"].as_str().is_some_and(|own| rules::matches(permission, own));
        let told = (0..rules.len()).filter(|at| is_last(at) && about(at)).map(|at| rules[at].clone());
        Value::Array(told.collect()).to_string()
    }

    /// The rules that a refusal names.
    fn told(&self, who: &Who, denied: &Rule, permission: &str) -> String {
        if self.keeps_narrow_questions {
            let mut told = denied.as_written();
            told["source"] = json!(self.source_of(who, denied).word());
            return told.to_string();
        }
        let about = |rule: &&Rule| rules::matches(permission, &rule.permission);
        let told: Vec<Value> = self.fixed(who).filter(about).map(Rule::as_written).collect();
        Value::Array(told).to_string()
    }

    /// The open questions of some sessions, as the wire has them.
    pub(crate) fn list(&self, is_here: impl Fn(&str) -> bool) -> Vec<Value> {
        let here = self.pending.iter().filter(|pending| is_here(&pending.session));
        here.map(|pending| pending.wire.clone()).collect()
    }

    /// Where in that list something stands that the servers can't put into words: an argument that a call left out.
    pub(crate) fn unlistable(&self, is_here: impl Fn(&str) -> bool) -> Option<String> {
        let here = self.pending.iter().filter(|pending| is_here(&pending.session)).enumerate();
        here.into_iter().find_map(|(at, pending)| {
            let told = &pending.wire["metadata"];
            let (_, names) = LEFT_OUT.iter().find(|(kind, _)| pending.wire["permission"] == *kind)?;
            let name = names.iter().find(|name| told.get(**name).is_none())?;
            Some(format!("[{at}][\"metadata\"][\"{name}\"]"))
        })
    }

    /// The session of an open question.
    pub(crate) fn session_of(&self, id: &str) -> Option<&str> {
        self.pending.iter().find(|pending| pending.id == id).map(|pending| pending.session.as_str())
    }
}

/// Who wants something: an agent, in a session that may have rules of its own.
#[derive(Debug)]
pub(crate) struct Who {
    session: String,
    /// The folder of the session.
    pub(crate) directory: String,
    agent: String,
    /// Everybody who can work there.
    agents: Arc<Agents>,
    rules: Vec<Rule>,
}

impl Who {
    /// The agent's own rules: those of the release and of the settings.
    fn own_rules(&self) -> &[Rule] {
        self.agents.rules_of(&self.agent)
    }
}

/// Who is allowed to leave the workspace is told so, or forbidden to, and for which place.
pub(crate) fn tell_of_leaving(approval: &mut Value, permission: &str, metadata: &Value) {
    if permission != "external_directory" {
        return;
    }
    approval["outsideWorkspace"] = json!(true);
    if let Some(path) = metadata["filepath"].as_str() {
        approval["outsideWorkspacePath"] = json!(path);
    }
}

impl World {
    pub(crate) fn who(&self, session: &str) -> Who {
        let owner = self.sessions.get(session);
        let directory = owner.map(|owner| owner.directory.clone()).unwrap_or_default();
        let permission = owner.and_then(|owner| owner.permission.as_ref());
        let mut rules = permission.map(rules::of_session).unwrap_or_default();
        let agent = self.agent_at_work(session).to_owned();
        let agents = Arc::clone(self.agents_in(&directory));
        if self.profile.strict_agents.contains(&agent.as_str()) {
            let denials: Vec<Rule> =
                rules.iter().filter(|rule| rule.action == Action::Deny).cloned().collect();
            rules.extend(agents.rules_of(&agent).iter().cloned());
            rules.extend(denials);
        }
        Who { session: session.to_owned(), directory, agent, agents, rules }
    }

    /// Lets a call go on, forbids it, or asks first.
    pub(crate) fn ask_or_allow(&mut self, session: &str, call: usize, wish: &Wish<'_>) {
        let who = self.who(session);
        let is_own = self.is_about_own_settings(wish);
        match self.permissions.judge(&who, wish) {
            Ruling::Allowed(rule) if !is_own => {
                let mut approval = self.permissions.approval(&who, &rule);
                tell_of_leaving(&mut approval, wish.permission, &wish.metadata);
                self.allow_call(session, call, approval);
                return;
            }
            Ruling::Denied(rule) => {
                let mut approval = self.permissions.approval(&who, &rule);
                tell_of_leaving(&mut approval, wish.permission, &wish.metadata);
                let told = self.permissions.told(&who, &rule, wish.permission);
                self.forbid_call(session, call, approval, &told);
                return;
            }
            Ruling::Forbidden => {
                let mut approval = self.permissions.approval_of_forbidden(&who, wish);
                tell_of_leaving(&mut approval, wish.permission, &wish.metadata);
                let told = self.permissions.told_of_forbidden(&who, wish.permission);
                self.forbid_call(session, call, approval, &told);
                return;
            }
            Ruling::Asked | Ruling::Allowed(_) => {}
        }
        let id = self.ids.ascending("per", self.now_ms);
        let Some(run) = self.run_mut(session) else { return };
        let Some(asking) = run.calls.get(call) else { return };
        let mut wire = json!({
            "id": id, "sessionID": session, "permission": wish.permission, "patterns": wish.patterns,
            "metadata": wish.metadata, "always": wish.always,
            "tool": {"messageID": run.message, "callID": asking.id},
        });
        if is_own {
            own_settings::mark(&mut wire["metadata"]);
        }
        let plan = asking.plan.clone();
        let message = words(&wire["tool"]["messageID"]);
        self.ask_for_leave(session, message, wire, Some((call, plan)));
    }

    /// What the rules say, in words.
    pub(crate) fn judge(&self, session: &str, wish: &Wish<'_>) -> Verdict {
        let who = self.who(session);
        match self.permissions.judge(&who, wish) {
            Ruling::Allowed(_) => Verdict::Allowed,
            Ruling::Denied(rule) => {
                Verdict::Denied(forbidden(&self.permissions.told(&who, &rule, wish.permission)))
            }
            Ruling::Forbidden => {
                Verdict::Denied(forbidden(&self.permissions.told_of_forbidden(&who, wish.permission)))
            }
            Ruling::Asked => Verdict::Asked,
        }
    }

    /// Asks whether the agent goes in circles.
    pub(crate) fn ask_about_circles(&mut self, session: &str, message: &str, wish: &Wish<'_>) {
        let id = self.ids.ascending("per", self.now_ms);
        let wire = json!({
            "id": id, "sessionID": session, "permission": wish.permission, "patterns": wish.patterns,
            "metadata": wish.metadata, "always": wish.always,
        });
        self.ask_for_leave(session, message.to_owned(), wire, None);
    }

    fn ask_for_leave(
        &mut self,
        session: &str,
        message: String,
        wire: Value,
        of: Option<(usize, Option<Plan>)>,
    ) {
        let directory = self.directory_of_session(session);
        self.emit_session(session, "permission.asked", wire.clone());
        let (call, plan) = of.map_or((None, None), |(call, plan)| (Some(call), plan));
        let (id, session) = (words(&wire["id"]), session.to_owned());
        let pending = Pending { id, session, directory, message, call, wire, plan, is_saved: false };
        self.permissions.pending.push(pending);
    }
}

/// What the agent is told when a person says no.
pub(crate) fn rejected(message: Option<&str>) -> String {
    const NO: &str = "The user rejected permission to use this specific tool call";
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("{NO} with the following feedback: {message}"),
        None => format!("{NO}."),
    }
}

/// What the agent is told when rules say no.
pub(crate) fn forbidden(rules: &str) -> String {
    format!(
        "The user has specified a rule which prevents you from using this specific tool call. Here are some of the \
         relevant rules {rules}"
    )
}

pub(crate) fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
