//! What contradicts itself in the files of agents, with its place: seen without any server.

use super::declared::{Declarations, Declared, Said, Spot, Word, is_effort};
use fixtures::ServerKind;
use fixtures::near_names::did_you_mean;
use serde::Serialize;

/// What the servers read of an agent.
const KEYS: [&str; 19] = [
    "color",
    "deprecated",
    "description",
    "disable",
    "displayName",
    "hidden",
    "maxSteps",
    "mode",
    "model",
    "name",
    "options",
    "permission",
    "prompt",
    "reasoningEffort",
    "source",
    "steps",
    "temperature",
    "tools",
    "variant",
];
/// Keys of two words that are written as they are.
const AS_THEY_ARE: [&str; 2] = ["top_p", "top_k"];
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
const MODES: [&str; 3] = ["all", "primary", "subagent"];
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/// Agents that the releases bring, for when none can be asked.
const OF_RELEASES: [&str; 8] =
    ["architect", "ask", "build", "code", "debug", "explore", "general", "orchestrator"];
/// Who says so of itself gives work to others.
const DELEGATES: [&str; 4] = ["orchestrat", "delegat", "coordinat", "dispatch"];

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule found it.
    pub rule: &'static str,
    /// The file, as whoever named the folder would write it.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The agent, where it is about one.
    pub agent: Option<String>,
    /// What is wrong, and how to mend it.
    pub says: String,
}

struct Lint<'a> {
    all: &'a Declarations,
    server: ServerKind,
    found: Vec<Finding>,
}

/// All findings, by place. `known` are the agents that the release brings.
pub(super) fn findings(all: &Declarations, server: ServerKind, known: &[String]) -> Vec<Finding> {
    let mut lint = Lint { all, server, found: Vec::new() };
    lint.files();
    for agent in all.agents.values().filter(|agent| !agent.is_disabled) {
        lint.entry(agent);
        lint.rules(agent, known);
        lint.delegation(agent);
        lint.effort(agent);
    }
    lint.index();
    let mut found = lint.found;
    found.sort_by(|a, b| (&a.file, a.line, a.rule).cmp(&(&b.file, b.line, b.rule)));
    found.dedup();
    found
}

impl Lint<'_> {
    fn say(&mut self, rule: &'static str, at: &Spot, agent: Option<&Declared>, says: String) {
        let agent = agent.map(|agent| agent.name.clone());
        self.found.push(Finding { rule, file: at.file.clone(), line: at.line, agent, says });
    }

    fn files(&mut self) {
        let all = self.all;
        for (file, why) in &all.unreadable {
            let at = Spot { file: file.clone(), line: why.line };
            self.say("unreadable", &at, None, format!("can't be read: {}", why.why));
        }
        for (at, why) in &all.wrong_words {
            self.say("rule-word", at, None, format!("{why}; say allow, ask or deny"));
        }
        for (agent, at, wrong) in &all.wrong_forms {
            let follows = match (wrong.is_of_model, self.server) {
                (true, _) => "the agent has no model, and whatever is asked of it fails",
                (false, ServerKind::Kilo) => "Kilo leaves the whole agent out",
                (false, ServerKind::Opencode) => "OpenCode refuses all settings, and has no agents at all",
            };
            let says = format!("{}: {follows}", wrong.why);
            self.say("wrong-form", at, all.agents.get(agent), says);
        }
        for said in &all.rules {
            self.permission_name(said, None);
        }
    }

    fn entry(&mut self, agent: &Declared) {
        let mut files: Vec<&Spot> = agent.places.iter().filter(|at| at.file.ends_with(".md")).collect();
        if let (Some(second), true) = (files.pop(), !files.is_empty()) {
            let first = format!("{}:{}", files[0].file, files[0].line);
            self.say(
                "declared-twice",
                second,
                Some(agent),
                format!("'{}' is declared in {first} already; the later one wins key by key", agent.name),
            );
        }
        for (key, at) in &agent.keys {
            let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
            let known = KEYS.contains(&key.as_str()) || AS_THEY_ARE.contains(&key.as_str());
            if known || is_effort(key) {
                continue;
            }
            let same = KEYS.iter().chain(&AS_THEY_ARE).find(|known| plain(known) == plain(key));
            let near = same.map(|it| format!("write '{it}'")).or_else(|| did_you_mean(key, &KEYS));
            if let Some(near) = near {
                self.say(
                    "unknown-key",
                    at,
                    Some(agent),
                    format!("no server reads the key '{key}' of an agent: {near}"),
                );
            }
        }
        if let Some((mode, at)) = &agent.mode
            && !MODES.contains(&mode.as_str())
        {
            let says = format!("the mode '{mode}' is none; there are: {}", MODES.join(", "));
            self.say("mode", at, Some(agent), says);
        }
    }

    fn rules(&mut self, agent: &Declared, known: &[String]) {
        let all = self.all;
        let is_known = |name: &str| OF_RELEASES.contains(&name) || known.iter().any(|it| it == name);
        let mut names: Vec<&str> = agent.rules.iter().map(|said| said.permission.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for said in &agent.rules {
            self.permission_name(said, Some(agent));
        }
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

    fn permission_name(&mut self, said: &Said, agent: Option<&Declared>) {
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

    fn delegation(&mut self, agent: &Declared) {
        let all = self.all;
        let is_child = agent.mode.as_ref().is_some_and(|(mode, _)| mode == "subagent");
        let denied = all.about(agent, "task").find(|said| said.is_about_all() && said.word == Word::Deny);
        let denies = all.about(agent, "task").all(|said| said.word == Word::Deny);
        let words = format!("{} {}", agent.name, agent.words).to_lowercase();
        let delegates = DELEGATES.iter().find(|word| words.contains(*word));
        if let (Some(denied), true, false, Some(word)) = (denied, denies, is_child, delegates) {
            let says = format!(
                "may give work to nobody (`{}`), but its own words speak of it (\"{word}…\"). Put an allow for those \
                 that it may call behind the deny",
                denied.quoted()
            );
            self.say("orchestrator-cannot-delegate", &denied.at, Some(agent), says);
        }
        let allows = all.about(agent, "task").find(|said| said.word != Word::Deny);
        if let (ServerKind::Kilo, true, Some(allowed)) = (self.server, is_child, allows) {
            let says = format!(
                "Kilo takes the task tool away from every agent that was given work, whatever its rules say, so `{}` \
                 does nothing",
                allowed.quoted()
            );
            self.say("child-never-delegates", &allowed.at, Some(agent), says);
        }
    }

    fn effort(&mut self, agent: &Declared) {
        let Some(effort) = &agent.effort else { return };
        if effort.key != "reasoningEffort" {
            let says = format!("'{}' never reaches the model: write 'reasoningEffort'", effort.key);
            self.say("effort-spelling", &effort.at, Some(agent), says);
        }
        if !EFFORTS.contains(&effort.word.as_str()) {
            let says = format!("the effort '{}' is none; there are: {}", effort.word, EFFORTS.join(", "));
            self.say("effort-value", &effort.at, Some(agent), says);
        }
    }

    /// The index and the agents are the same set, and only what an agent says itself reaches its model.
    fn index(&mut self) {
        let all = self.all;
        let Some(file) = &all.index_file else { return };
        for (name, effort) in &all.index {
            match all.agents.get(name) {
                None => {
                    let says = format!("the index names an agent '{name}' that has no file");
                    self.say("index-without-agent", &effort.at, None, says);
                }
                Some(agent) if agent.effort.as_ref().is_none_or(|own| own.word != effort.word) => {
                    let says = format!(
                        "no server reads this file: write `reasoningEffort: {}` into {}",
                        effort.word, agent.at.file
                    );
                    self.say("index-not-read", &effort.at, Some(agent), says);
                }
                Some(_) => {}
            }
            if !EFFORTS.contains(&effort.word.as_str()) {
                let says = format!("the effort '{}' is none; there are: {}", effort.word, EFFORTS.join(", "));
                self.say("effort-value", &effort.at, None, says);
            }
        }
        for agent in all.agents.values().filter(|agent| !all.index.contains_key(&agent.name)) {
            let says = format!("'{}' has no effort in {file}", agent.name);
            self.say("agent-without-index", &agent.at, Some(agent), says);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::declared::tests::folder;
    use super::*;

    fn rules(server: ServerKind, files: &[(&str, &str)]) -> Vec<String> {
        let all = Declarations::read(&folder(files));
        let known = ["general".to_owned()];
        findings(&all, server, &known).iter().map(|it| format!("{}:{}", it.line, it.rule)).collect()
    }

    fn agent(head: &str) -> Vec<String> {
        rules(ServerKind::Opencode, &[(".opencode/agents/x.md", &format!("---\n{head}\n---\nWorks.\n"))])
    }

    #[test]
    fn a_sound_agent_is_not_found_fault_with() {
        let sound = "description: d\nmode: subagent\nmodel: a/b\ntemperature: 0.1\ntop_p: 1\nreasoningEffort: high\nthinking: x\npermission:\n  task:\n    \"*\": deny\n    general: allow\n  bash:\n    \"*\": ask\n    git status*: allow\n  my_tool: deny";
        assert_eq!(agent(sound), Vec::<String>::new());
    }

    #[test]
    fn each_rule_has_its_line() {
        assert_eq!(
            agent("permission:\n  task:\n    \"*\": deny\n    subagent: deny"),
            ["5:narrow-rule-offers-tool", "5:unknown-agent"]
        );
        assert_eq!(agent("permission:\n  bash:\n    git *: allow\n    \"*\": ask"), ["4:never-applies"]);
        assert_eq!(agent("reasoning_effort: high"), ["2:effort-spelling"]);
        assert_eq!(agent("reasoningEffort: highest"), ["2:effort-value"]);
        assert_eq!(agent("mode: sub"), ["2:mode"]);
        assert_eq!(agent("permissions:\n  bash: deny\nmax_steps: 3"), ["2:unknown-key", "4:unknown-key"]);
        assert_eq!(
            agent("permission:\n  bahs: deny\n  edit: never\n  shell: deny"),
            ["3:unknown-permission", "4:rule-word", "5:unknown-permission"]
        );
        assert_eq!(agent("permission: [a"), ["3:unreadable"]);
    }

    #[test]
    fn who_gives_work_must_be_let() {
        let text = |rule: &str| {
            format!("---\ndescription: Orchestrates.\nmode: primary\npermission:\n  task: {rule}\n---\n")
        };
        let of = |rule: &str| rules(ServerKind::Kilo, &[(".kilo/agents/o.md", &text(rule))]);
        assert_eq!(of("deny"), ["5:orchestrator-cannot-delegate"]);
        assert_eq!(of("{\"*\": deny, general: allow}"), Vec::<String>::new());
        let child = "---\nmode: subagent\npermission:\n  task: allow\n---\n";
        assert_eq!(rules(ServerKind::Kilo, &[(".kilo/agents/c.md", child)]), ["4:child-never-delegates"]);
        assert_eq!(rules(ServerKind::Opencode, &[(".opencode/agents/c.md", child)]), Vec::<String>::new());
    }

    #[test]
    fn the_index_and_the_files_are_one_set() {
        let index = "agents:\n  a: {reasoning_effort: high}\n  gone: {reasoning_effort: top}\n";
        let files = [
            (".kilo/agents/a.md", "---\nmode: all\n---\n"),
            (".kilo/agents/b.md", "---\nmode: all\n---\n"),
            (".kilo/capability-index.yaml", index),
        ];
        assert_eq!(
            rules(ServerKind::Kilo, &files),
            ["1:agent-without-index", "2:index-not-read", "3:effort-value", "3:index-without-agent"]
        );
    }

    #[test]
    fn an_agent_has_one_file() {
        let files =
            [(".kilo/agent/a.md", "---\nmode: all\n---\n"), (".kilo/agents/a.md", "---\nmode: all\n---\n")];
        assert_eq!(rules(ServerKind::Kilo, &files), ["1:declared-twice"]);
    }
}
