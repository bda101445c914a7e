//! What the agent of a walk can do, by the word of a prompt.

/// A word that the person may say, and what comes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) word: &'static str,
    /// How many answers its turn has when nobody comes between.
    pub(super) answers: usize,
    pub(super) way: Way,
    /// The turn, without its occasion.
    steps: &'static str,
}

/// How a turn goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To its end.
    Through,
    /// The model refuses.
    Refused,
    /// The agent asks whether it may.
    Asks,
    /// The agent asks what the person wants.
    Questions,
    /// The model says no end.
    Stalls,
    /// Another agent works for it, in a session of its own.
    Delegates,
}

/// The folder, and what is allowed there.
const WORKSPACE: &str = r#"
[workspace]
files = { "README.md" = "hello\n", "src/one.txt" = "one\ntwo\nthree\n", "src/two.txt" = "2\n" }

[workspace.config.permission]
webfetch = "deny"
edit = { "*" = "allow", "asked/*" = "ask" }
bash = { "*" = "allow", "touch *" = "ask" }

[workspace.config.command]
hail = { template = "please greet $ARGUMENTS" }
seek = { template = "please look at $1", description = "Looks" }
sent = { template = "please greet", subtask = true, agent = "general" }
"#;

/// Of two words that a prompt contains, the first counts; the last one stands for everything else.
pub(super) const WORDS: &[Word] = &[
    through("greet", 1, r#"{ say = "Hello there. " }, { say = "What next?" }"#),
    through("ponder", 1, r#"{ think = "It may be so. " }, { say = "It is so." }"#),
    through(
        "look",
        2,
        r#"{ tool = "read", input = { filePath = "${workspace}/src/one.txt" } }, { say = "Three lines." }"#,
    ),
    through(
        "note",
        2,
        r#"{ say = "I note it. " },
  { tool = "write", input = { filePath = "${workspace}/note.txt", content = "a note\n" } }, { say = "Noted." }"#,
    ),
    through(
        "change",
        3,
        r#"{ tool = "read", input = { filePath = "${workspace}/README.md" } },
  { say = "I change it." },
  { tool = "edit", input = { filePath = "${workspace}/README.md", oldString = "hello", newString = "hello you" } },
  { say = "Changed." }"#,
    ),
    through(
        "list",
        2,
        r#"{ tool = "todowrite", input = { todos = [
    { content = "Begin", status = "completed", priority = "high", id = "1" },
    { content = "End", status = "pending", priority = "low", id = "2" },
  ] } }, { say = "Listed." }"#,
    ),
    through(
        "count",
        2,
        r#"{ tool = "bash", input = { command = "wc -l < src/one.txt", description = "Count lines" } }, { say = "Three." }"#,
    ),
    through(
        "erase",
        2,
        r#"{ tool = "bash", input = { command = "rm -f note.txt src/two.txt", description = "Erase" } }, { say = "Erased." }"#,
    ),
    through(
        "miss",
        2,
        r#"{ tool = "read", input = { filePath = "${workspace}/none.txt" } }, { say = "It is not there." }"#,
    ),
    through(
        "search",
        3,
        r#"{ tool = "grep", input = { pattern = "t[wh]", path = "${workspace}/src" } }, { say = "And by name." },
  { tool = "glob", input = { pattern = "**/*.txt" } }, { say = "Found." }"#,
    ),
    through(
        "clash",
        3,
        r#"{ tool = "read", input = { filePath = "${workspace}/src/one.txt" } },
  { say = "I change it." },
  { tool = "edit", input = { filePath = "${workspace}/src/one.txt", oldString = "four", newString = "4" } },
  { say = "There is none." }"#,
    ),
    through(
        "replace",
        3,
        r#"{ tool = "read", input = { filePath = "${workspace}/src/one.txt" } },
  { think = "Everywhere. " }, { say = "I replace it." },
  { tool = "edit", input = { filePath = "${workspace}/src/one.txt", oldString = "e", newString = "E", replaceAll = true } },
  { say = "Replaced." }"#,
    ),
    through(
        "wander",
        3,
        r#"{ think = "First this. " }, { say = "I look. " },
  { tool = "read", input = { filePath = "${workspace}/README.md" } },
  { tool = "read", input = { filePath = "${workspace}/src", limit = 1 } },
  { think = "Then that. " },
  { tool = "write", input = { filePath = "${workspace}/deep/er/new.txt", content = "new\n" } }, { say = "Here." }"#,
    ),
    through("misuse", 2, r#"{ tool = "frobnicate", input = { a = 1 } }, { say = "No such tool." }"#),
    through("garble", 2, r#"{ tool = "read", input = { limit = "many" } }, { say = "Not so." }"#),
    through(
        "fetch",
        2,
        r#"{ tool = "webfetch", input = { url = "http://127.0.0.1:9/", format = "text" } }, { say = "It is out of reach." }"#,
    ),
    through(
        "fail",
        2,
        r#"{ tool = "bash", input = { command = "echo out; echo err >&2; exit 3", description = "Fail" } }, { say = "It failed." }"#,
    ),
    through("cut", 1, r#"{ say = "It is too" }, { finish = "length" }"#),
    Word { word: "refuse", answers: 1, way: Way::Refused, steps: r#"{ fail = 400, message = "not today" }"# },
    Word {
        word: "keep",
        answers: 2,
        way: Way::Asks,
        steps: r#"{ say = "May I?" },
  { tool = "write", input = { filePath = "${workspace}/asked/kept.txt", content = "kept\n" } }, { say = "So be it." }"#,
    },
    Word {
        word: "mark",
        answers: 2,
        way: Way::Asks,
        steps: r#"{ tool = "bash", input = { command = "touch marked.txt", description = "Mark" } }, { say = "Done so." }"#,
    },
    Word {
        word: "choose",
        answers: 2,
        way: Way::Questions,
        steps: r#"{ tool = "question", input = { questions = [{ question = "Which colour?", header = "Colour", options = [
    { label = "Red", description = "As a rose" }, { label = "Blue", description = "As the sea" },
  ] }] } }, { say = "As you like." }"#,
    },
    Word {
        word: "dawdle",
        answers: 1,
        way: Way::Stalls,
        steps: r#"{ say = "In a while, " }, { break_off = "stall" }"#,
    },
    Word {
        word: "delegate",
        answers: 2,
        way: Way::Delegates,
        steps: r#"{ tool = "task", input = { description = "A greeting", prompt = "please greet", subagent_type = "general" } },
  { say = "They greet." }"#,
    },
    through("", 1, r#"{ say = "Well." }"#),
];

const fn through(word: &'static str, answers: usize, steps: &'static str) -> Word {
    Word { word, answers, way: Way::Through, steps }
}

/// The agent's part of a scenario whose person says what `is_said` says; a scenario has no turn that nobody reaches.
pub(super) fn agent(is_said: impl Fn(&Word) -> bool) -> String {
    let turns = WORDS.iter().filter(|word| is_said(word)).map(|word| {
        let Word { word, steps, .. } = word;
        // The servers say a word like these now and then, too.
        let occasion = if word.is_empty() { String::new() } else { format!("please {word}") };
        format!("\n[[agent]]\non = {{ prompt_contains = \"{occasion}\" }}\nsteps = [\n  {steps},\n]\n")
    });
    format!("{WORKSPACE}{}", turns.collect::<String>())
}
