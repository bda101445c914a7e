//! Each rule finds what it is about, with its line, and no more.

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

#[test]
fn an_agent_is_said_once_in_settings_or_in_a_file() {
    let file = (".kilo/agents/a.md", "---\nmode: all\n---\nDoes a.\n");
    let beside = |entry: &str| {
        let settings = format!("{{\n\"agent\": {{\"a\": {entry}}}}}");
        rules(ServerKind::Kilo, &[("kilo.json", &settings), file])
    };
    assert_eq!(beside("{\"mode\": \"subagent\"}"), ["1:declared-twice"]);
    assert_eq!(beside("{\"prompt\": \"Does b.\"}"), ["1:declared-twice"]);
    assert_eq!(beside("{\"model\": \"a/b\"}"), Vec::<String>::new());
    assert_eq!(beside("{\"disable\": true}"), Vec::<String>::new());
    let settings = "{\n\"agent\": {\"a\": {\"mode\": \"all\"}}}";
    let layers = [("kilo.json", settings), (".kilo/kilo.json", settings)];
    assert_eq!(rules(ServerKind::Kilo, &layers), Vec::<String>::new());
}

/// The servers put what `tools` says before all that `permission` says, wherever the two stand.
#[test]
fn what_tools_say_is_overruled_by_permission() {
    let of = |tools: &str, permission: &str| agent(&format!("tools: {tools}\npermission: {permission}"));
    for (tools, permission) in [
        ("{bash: false}", "{\"*\": allow}"),
        ("{bash: false}", "allow"),
        ("{bash: true}", "{\"*\": deny}"),
        ("{bash: false}", "{bash: {\"git *\": allow}}"),
        ("{write: false}", "{edit: ask}"),
    ] {
        assert_eq!(of(tools, permission), ["2:tools-overruled"], "{tools} {permission}");
    }
    for (tools, permission) in [
        ("{bash: false}", "{edit: ask}"),
        ("{bash: false}", "{\"*\": deny}"),
        ("{bash: false}", "{\"*\": allow, bash: deny}"),
        ("{bash: false}", "{bash: {\"*\": deny, \"git *\": allow}}"),
        ("{bash: true}", "{bash: {\"rm *\": deny}}"),
        ("{bash: false}", "{\"*\": {\"secret*\": ask}}"),
    ] {
        assert_eq!(of(tools, permission), Vec::<String>::new(), "{tools} {permission}");
    }
}

/// Kilo never offers the task tool to whoever was given work, and no person prompts a subagent.
#[test]
fn a_narrow_rule_offers_nothing_that_is_taken_away_before() {
    let of = |mode: &str, tool: &str| {
        let text =
            format!("---\nmode: {mode}\npermission:\n  {tool}:\n    \"*\": deny\n    general: deny\n---\n");
        let kilo = rules(ServerKind::Kilo, &[(".kilo/agents/x.md", &text)]);
        (kilo, rules(ServerKind::Opencode, &[(".opencode/agents/x.md", &text)]))
    };
    let offers = || vec!["6:narrow-rule-offers-tool".to_owned()];
    assert_eq!(of("subagent", "task"), (Vec::new(), offers()));
    assert_eq!(of("all", "task"), (offers(), offers()));
    assert_eq!(of("subagent", "bash"), (offers(), offers()));
}
