//! What a folder says of its agents, and how its rules fit.

use super::*;
use std::path::PathBuf;

/// A folder that is nowhere but here.
pub(crate) fn folder(files: &[(&str, &str)]) -> AgentFolder {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    AgentFolder::of_files(PathBuf::from("mine"), files)
}

#[test]
fn settings_and_files_say_together_what_an_agent_is() {
    let all = Declarations::read(&folder(&[
        (
            "kilo.json",
            r#"{"permission": {"bash": "ask"}, "model": "a/b", "mcp": {"s": {}}, "agent": {"x": {"mode": "all", "tools": {"write": false}}}}"#,
        ),
        (
            ".kilo/agents/x.md",
            "---\nmode: subagent\nreasoning_effort: high\npermission:\n  task:\n    \"*\": deny\n    y: allow\n---\nDoes x.\n",
        ),
        (".kilo/agents/deep/y.md", "---\ndescription: is y\nmodel: c/d\n---\nDoes y.\n"),
        (
            ".kilo/capability-index.yaml",
            "agents:\n  x:\n    reasoning_effort: xhigh\n  z: {reasoning_effort: low}\n",
        ),
    ]));
    let x = &all.agents["x"];
    assert_eq!(x.mode.as_ref().unwrap().0, "subagent");
    assert_eq!(x.effort.as_ref().map(|it| (it.key.as_str(), it.at.line)), Some(("reasoning_effort", 3)));
    let word = |permission: &str, what: &str| all.decision(x, permission, what).map(|said| said.word);
    assert_eq!(word("task", "y"), Some(Word::Allow));
    assert_eq!(word("task", "z"), Some(Word::Deny));
    assert_eq!(
        (word("bash", "ls"), word("edit", "a.txt"), word("read", "a")),
        (Some(Word::Ask), Some(Word::Deny), None)
    );
    assert!(all.agents["deep/y"].words.contains("is y"));
    assert_eq!(all.models.iter().collect::<Vec<_>>(), ["a/b", "c/d"]);
    assert_eq!(all.index.keys().collect::<Vec<_>>(), ["x", "z"]);
    assert_eq!(x.places.len(), 2);
}

/// One star more makes a matcher that tries everything some hundred times as slow.
#[test]
fn a_rule_fits_as_the_servers_fit_it() {
    let stars = format!("{}b", "*a".repeat(40));
    let text = format!(
        "---\npermission:\n  read: {{\"src/*\": deny}}\n  bash: {{\"git *\": allow, {stars:?}: deny}}\n---\n"
    );
    let all = Declarations::read(&folder(&[(".kilo/agents/x.md", &text)]));
    let word =
        |permission: &str, what: &str| all.decision(&all.agents["x"], permission, what).map(|it| it.word);
    assert_eq!((word("bash", "git"), word("bash", "gi")), (Some(Word::Allow), None));
    assert_eq!(word("read", "src\\a.txt"), Some(Word::Deny));
    assert_eq!(word("bash", &"a".repeat(400)), None);
}

#[test]
fn a_word_that_is_none_is_kept_with_its_place() {
    let all =
        Declarations::read(&folder(&[(".kilo/agents/x.md", "---\npermission:\n  bash: denied\n---\n")]));
    assert_eq!(all.wrong_words.len(), 1);
    assert_eq!(all.wrong_words[0].0.line, 3);
}
