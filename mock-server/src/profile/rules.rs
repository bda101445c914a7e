//! The rules that every agent comes with, and those of the one that works by default; all others tell theirs in the
//! recording of the release ([`crate::roster`]). An empty pattern stands for one that was not written, and is about everything.

use super::RuleWords;

/// Those of all of Kilo's agents.
pub(super) const KILO: RuleWords = &[
    ("*", "", "allow"),
    ("doom_loop", "", "ask"),
    ("external_directory", "*", "ask"),
    ("suggest", "", "deny"),
    ("question", "", "deny"),
    ("plan_enter", "", "deny"),
    ("plan_exit", "", "deny"),
    ("repo_clone", "", "deny"),
    ("repo_overview", "", "deny"),
    ("read", "*", "allow"),
    ("read", "*.env", "ask"),
    ("read", "*.env.*", "ask"),
    ("read", "*.env.example", "allow"),
    ("bash", "*", "ask"),
    ("bash", "cat *", "allow"),
    ("bash", "head *", "allow"),
    ("bash", "tail *", "allow"),
    ("bash", "less *", "allow"),
    ("bash", "ls *", "allow"),
    ("bash", "tree *", "allow"),
    ("bash", "pwd *", "allow"),
    ("bash", "echo *", "allow"),
    ("bash", "wc *", "allow"),
    ("bash", "which *", "allow"),
    ("bash", "type *", "allow"),
    ("bash", "file *", "allow"),
    ("bash", "diff *", "allow"),
    ("bash", "du *", "allow"),
    ("bash", "df *", "allow"),
    ("bash", "date *", "allow"),
    ("bash", "uname *", "allow"),
    ("bash", "whoami *", "allow"),
    ("bash", "printenv *", "allow"),
    ("bash", "man *", "allow"),
    ("bash", "grep *", "allow"),
    ("bash", "rg *", "allow"),
    ("bash", "ag *", "allow"),
    ("bash", "sort *", "allow"),
    ("bash", "uniq *", "allow"),
    ("bash", "cut *", "allow"),
    ("bash", "tr *", "allow"),
    ("bash", "jq *", "allow"),
    ("bash", "touch *", "allow"),
    ("bash", "mkdir *", "allow"),
    ("bash", "cp *", "allow"),
    ("bash", "mv *", "allow"),
    ("bash", "tsc *", "allow"),
    ("bash", "tsgo *", "allow"),
    ("bash", "tar *", "allow"),
    ("bash", "unzip *", "allow"),
    ("bash", "gzip *", "allow"),
    ("bash", "gunzip *", "allow"),
    ("recall", "", "ask"),
];

/// Those of all of OpenCode's agents.
pub(super) const OPENCODE: RuleWords = &[
    ("*", "", "allow"),
    ("doom_loop", "", "ask"),
    ("external_directory", "*", "ask"),
    ("question", "", "deny"),
    ("plan_enter", "", "deny"),
    ("plan_exit", "", "deny"),
    ("read", "*", "allow"),
    ("read", "*.env", "ask"),
    ("read", "*.env.*", "ask"),
    ("read", "*.env.example", "allow"),
];

/// Those of Kilo's `code`.
pub(super) const KILO_MAIN: RuleWords =
    &[("question", "", "allow"), ("suggest", "", "allow"), ("plan_enter", "", "allow")];

/// Those of OpenCode's `build`.
pub(super) const OPENCODE_MAIN: RuleWords = &[("question", "", "allow"), ("plan_enter", "", "allow")];
