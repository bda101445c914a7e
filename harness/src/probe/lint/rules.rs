//! What is wrong in the rules of permission: rules that do nothing, and those that do something else than they read.

use super::super::declared::{Declared, Said, Word};
use super::Lint;
use fixtures::ServerKind;
use fixtures::near_names::did_you_mean;
use mock_server::world::fits_pattern;

/// What tools are called elsewhere: no server asks for these permissions, and none says so.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("write", "edit"),
    ("patch", "edit"),
    ("multiedit", "edit"),
    ("apply_patch", "edit"),
    ("shell", "bash"),
    ("terminal", "bash"),
    ("command", "bash"),
    ("execute", "bash"),
    ("browser", "webfetch"),
    ("subagent", "task"),
];
/// What rules of permission are about, beside what servers of tools bring.
const PERMISSIONS: [&str; 18] = [
    "*",
    "bash",
    "codesearch",
    "doom_loop",
    "edit",
    "external_directory",
    "glob",
    "grep",
    "list",
    "lsp",
    "question",
    "read",
    "skill",
    "task",
    "todoread",
    "todowrite",
    "webfetch",
    "websearch",
];
/// Agents that the releases bring, for when none can be asked.
const OF_RELEASES: [&str; 8] =
    ["architect", "ask", "build", "code", "debug", "explore", "general", "orchestrator"];
impl Lint<'_> {
    pub(super) fn rules(&mut self, agent: &Declared, known: &[String]) {
        let all = self.all;
        let is_known = |name: &str| OF_RELEASES.contains(&name) || known.iter().any(|it| it == name);
        let mut names: Vec<&str> = agent.rules.iter().map(|said| said.permission.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for said in &agent.rules {
            self.permission_name(said, Some(agent));
        }
        self.overruled(agent);
        for name in names {
            let said: Vec<&Said> = all.about(agent, name).collect();
            self.offered_though_denied(agent, name, &said);
            self.never_applies(agent, &said);
            if name != "task" {
                continue;
            }
            for rule in &said {
                let Some(target) = rule.pattern.as_deref().filter(|it| !it.contains(['*', '?'])) else {
                    continue;
                };
                if !all.agents.contains_key(target) && !is_known(target) {
                    let names: Vec<&str> = all.agents.keys().map(String::as_str).collect();
                    let near = did_you_mean(target, &names).unwrap_or_else(|| "name an agent".to_owned());
                    self.say(
                        "unknown-agent",
                        &rule.at,
                        Some(agent),
                        format!(
                            "no agent is called '{target}', so the rule `{}` {}: {near}",
                            rule.quoted(),
                            if rule.word == Word::Deny { "stops nobody" } else { "is about nobody" }
                        ),
                    );
                }
            }
        }
    }

    /// The servers hide a tool only when the last rule about it is a deny of everything.
    fn offered_though_denied(&mut self, agent: &Declared, name: &str, said: &[&Said]) {
        let Some(last) = said.last() else { return };
        if name == "task" && self.is_never_offered_work(agent) {
            return;
        }
        let all_deny = said.iter().all(|rule| rule.word == Word::Deny);
        if all_deny && !last.is_about_all() && said.iter().any(|rule| rule.is_about_all()) {
            let says = format!(
                "everything is denied, and yet {name} is offered to the model: the narrow rule `{}` stands last, and a \
                 tool is hidden only when the last rule about it is a deny of everything. Leave the narrow one out",
                last.quoted()
            );
            self.say("narrow-rule-offers-tool", &last.at, Some(agent), says);
        }
    }

    fn never_applies(&mut self, agent: &Declared, said: &[&Said]) {
        for (at, rule) in said.iter().enumerate().filter(|(_, rule)| !rule.is_about_all()) {
            let later = said[at + 1..].iter().find(|later| later.is_about_all());
            if let Some(later) = later.filter(|later| later.word != rule.word && agent.rules.contains(rule)) {
                let says = format!(
                    "`{}` never applies: the last rule that fits decides, and `{}` stands behind it. Put it first",
                    rule.quoted(),
                    later.quoted()
                );
                self.say("never-applies", &rule.at, Some(agent), says);
            }
        }
    }

    pub(super) fn permission_name(&mut self, said: &Said, agent: Option<&Declared>) {
        let name = said.permission.as_str();
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let is_known = other.is_none() && (PERMISSIONS.contains(&name) || name.contains(['*', '_']));
        let meant = other.map(|(_, meant)| format!("it is called '{meant}'"));
        if let (false, Some(near)) = (is_known, meant.or_else(|| did_you_mean(name, &PERMISSIONS))) {
            self.say(
                "unknown-permission",
                &said.at,
                agent,
                format!("no tool asks for the permission '{name}': {near}"),
            );
        }
    }

    /// Kilo takes the task tool away from whoever was given work, and no person prompts a subagent.
    fn is_never_offered_work(&self, agent: &Declared) -> bool {
        let is_child = agent.mode.as_ref().is_some_and(|(mode, _)| mode == "subagent");
        self.server == ServerKind::Kilo && is_child
    }

    /// The servers make rules of `tools` and put those of `permission` behind them, wherever the two stand: a key of the same
    /// name takes the place of what `tools` says, and a wide one behind it decides.
    fn overruled(&mut self, agent: &Declared) {
        let (of_tools, others): (Vec<&Said>, Vec<&Said>) =
            agent.rules.iter().partition(|said| said.is_of_tools);
        for tool in of_tools {
            let of_its_name = others.iter().filter(|said| said.permission == tool.permission);
            let own: Vec<&&Said> = of_its_name.collect();
            let wide = own.iter().rfind(|said| said.is_about_all());
            let decides = match (own.first(), wide) {
                (None, _) => others
                    .iter()
                    .rfind(|said| said.is_about_all() && fits_pattern(&tool.permission, &said.permission)),
                (Some(_), Some(wide)) => Some(*wide),
                // Nothing is said any more of what the narrow ones do not fit.
                (Some(narrow), None) if tool.word == Word::Deny => Some(*narrow),
                (Some(_), None) => None,
            };
            let Some(decides) = decides.filter(|said| said.word != tool.word) else { continue };
            let (name, quoted) = (&tool.permission, decides.quoted());
            let says = format!(
                "what `tools` says of {name} ({}) does not hold: the servers put `permission` behind `tools`, wherever \
                 the two stand, and `{quoted}` overrules it. Say it in `permission`, behind that",
                tool.word.word()
            );
            self.say("tools-overruled", &tool.at, Some(agent), says);
        }
    }
}
