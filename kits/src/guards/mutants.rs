//! Adapters that break one promise each, as public guards do.

use crate::kit::Mutant;

const fn mutant(name: &'static str, about: &'static str) -> Mutant {
    Mutant { name, about }
}

/// All of them.
pub(super) const ALL: &[Mutant] = &[
    mutant("to-the-letter", "follows the plan word for word, where its words do not do what they are for"),
    mutant("no-list-throws", "what looks into a list that is not there throws: the person is never asked"),
    mutant(
        "starts-with",
        "a path is inside when its text begins with the root's: the rule of the plan, to the letter",
    ),
    mutant("refuses-all", "every path is refused"),
    mutant("first-root-only", "other workspaces than the first are outside"),
    mutant("throw-means-yes", "a guard that throws is taken for a yes"),
    mutant("ignores-nothing", "ignored and protected files are files like others"),
    mutant("begins-allowed", "a line is allowed when it begins with an entry"),
    mutant("first-word-allowed", "a line is allowed when its first word is an entry's"),
    mutant("no-list-allows", "without a list everything is allowed"),
    mutant("always-asks", "the list is never looked at"),
    mutant("dismissed-runs", "only a no is a no: the rule of the plan, to the letter"),
    mutant("once-is-always", "a yes for once is remembered"),
    mutant("forgets-always", "the list is not kept over a restart"),
    mutant("remembers-first-word", "a yes for always is remembered for the program"),
    mutant("tries-everything", "what can't succeed is tried again, too"),
    mutant("one-try-less", "there are two tries instead of three"),
    mutant("one-try-more", "there are four"),
    mutant("no-longest-wait", "waits double without end"),
    mutant("same-waits", "all waits are a second"),
    mutant("zero-tries-say-undefined", "no try has no error: what is thrown is nothing"),
    mutant("sorts-by-words", "errors are sorted by words of their messages"),
    mutant("calls-all-internal", "every error is the program's own"),
    mutant("reports-unasked", "errors are reported though the person wants none"),
    mutant("logs-twice", "each error is logged where it happens and where it is handled"),
    mutant("says-key", "messages of errors are shown as they are"),
    mutant("key-in-state", "the key is a field of the state"),
    mutant("logs-key", "a key is logged when it is given"),
    mutant("key-in-settings", "a key is kept with the settings"),
    mutant("uses-key-after-logout", "a key stays in memory after the person has logged out"),
    mutant(
        "policy-unfilled",
        "the policy is written in plain quotes, as in the plan: its places are never filled in",
    ),
    mutant("policy-any-script", "scripts come from anywhere"),
    mutant("policy-inline-script", "scripts may stand in the page"),
    mutant("compresses-at-75", "a window that is just full is compressed"),
    mutant("compresses-late", "a window is compressed at 90 %"),
    mutant("drops-tools-first", "the definitions of tools are left out first"),
    mutant("parts-pairs", "a result of a tool is sent without its call"),
    mutant("never-forced", "the last five messages are sent however long they are"),
    mutant("silent-force", "the person is not told that even late messages were left out"),
    mutant("tries-window-for-ever", "a conversation is sent again as long as the model refuses it"),
    mutant("sends-window-again", "the same conversation is sent again"),
    mutant("one-debounce", "all files share one quiet time, as in the plan: the last one alone is indexed"),
    mutant("no-debounce", "every change is indexed at once"),
    mutant("wedged-batch", "a batch that throws is the last one, as in the plan"),
    mutant("keeps-for-ever", "an answer is kept without end"),
    mutant("keeps-failures", "a failure is kept as an answer is"),
];
