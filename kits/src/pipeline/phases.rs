//! The phases that a case may have: who works, at which files, and what is in these afterwards. Each work is said twice, as a
//! line for the agent's shell and as text here: the checks compare the two.

use crate::scene::{Troubled, our_fault};

/// A phase: who works, at what.
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) agent: &'static str,
    /// A way back is made before.
    pub(super) is_destructive: bool,
    /// The files that its work changes.
    pub(super) files: &'static [&'static str],
    /// Of these, those that it removes.
    pub(super) removes: &'static [&'static str],
    /// Of these, those that can be run afterwards.
    pub(super) runs: &'static [&'static str],
    pub(super) line: &'static str,
    /// Its agent works beside a container of this image.
    pub(super) image: Option<&'static str>,
    /// Its agent asks before each line of the shell.
    pub(super) asks: bool,
}

/// What stands in the submodule.
pub(super) const OF_THE_LIBRARY: &str = "library\n";

/// What the person has written on a branch of their own.
pub(super) const TOPIC: &str = "My own topic.\n";

/// What most of them are.
const PLAIN: Phase = Phase {
    name: "",
    agent: "",
    is_destructive: false,
    files: &[],
    removes: &[],
    runs: &[],
    line: "",
    image: None,
    asks: false,
};

/// All phases that a case may have, in their order.
pub(super) const PHASES: [Phase; 16] = [
    Phase {
        name: "designing",
        agent: "designer",
        files: &["docs/design.md"],
        line: "mkdir -p docs && echo designed >> docs/design.md",
        ..PLAIN
    },
    Phase {
        name: "implementing",
        agent: "lead-developer",
        is_destructive: true,
        files: &["src/app.txt", "src/new.txt"],
        line: "echo implemented >> src/app.txt && echo new >> src/new.txt",
        ..PLAIN
    },
    Phase {
        name: "polishing",
        agent: "lead-developer",
        is_destructive: true,
        files: &["src/app.txt"],
        line: "echo polished >> src/app.txt",
        ..PLAIN
    },
    Phase {
        name: "fixing",
        agent: "the-fixer",
        is_destructive: true,
        files: &["src/app.txt"],
        line: "echo fixed >> src/app.txt",
        ..PLAIN
    },
    // Two that work in one file, far from each other: what one has done can be told from what the other has.
    Phase {
        name: "heading",
        agent: "headliner",
        files: &["docs/guide.md"],
        line: "text=$(cat docs/guide.md) && printf 'headed\\n%s\\n' \"$text\" > docs/guide.md",
        ..PLAIN
    },
    Phase {
        name: "closing",
        agent: "closer",
        files: &["docs/guide.md"],
        line: "echo closed >> docs/guide.md",
        ..PLAIN
    },
    // A name that git puts in quotes, a file that is no text, one in letters of an older kind, which git takes for text,
    // and one that goes.
    Phase {
        name: "styling",
        agent: "stylist",
        files: &["docs/über uns.md", "logo.bin", "street.txt", "old.txt"],
        removes: &["old.txt"],
        line: "mkdir -p docs && echo styled >> 'docs/über uns.md' && printf '\\000styled' >> logo.bin && printf 'Stra\\337e\\n' >> street.txt && rm old.txt",
        ..PLAIN
    },
    // A new file that can be run, a line more in one that could be before, and a new one whose lines end as those of another
    // system, with blanks before: git lets those
    // of an old one alone.
    Phase {
        name: "scripting",
        agent: "scripter",
        files: &["letter.txt", "run.sh", "deploy.sh"],
        runs: &["run.sh", "deploy.sh"],
        line: "printf 'scripted  \\r\\n \\t\\n' >> letter.txt && echo 'echo scripted' > run.sh && chmod 755 run.sh && echo 'echo scripted' >> deploy.sh",
        ..PLAIN
    },
    // One whose agent also writes what git ignores.
    Phase {
        name: "building",
        agent: "builder",
        files: &["docs/built.md"],
        line: "mkdir -p docs && echo built >> docs/built.md && echo 'of the builder' > .env",
        ..PLAIN
    },
    // One whose agent commits its work by itself.
    Phase {
        name: "noting",
        agent: "clerk",
        files: &["docs/notes.md"],
        line: "mkdir -p docs && echo noted >> docs/notes.md && git add docs/notes.md && git commit --quiet -m Notes",
        ..PLAIN
    },
    Phase {
        name: "linking",
        agent: "linker",
        files: &["docs/linked.md"],
        line: "mkdir -p docs && cat lib/lib.txt >> docs/linked.md",
        ..PLAIN
    },
    // One that works by what the person has on a branch of their own.
    Phase {
        name: "following",
        agent: "follower",
        files: &["docs/followed.md"],
        line: "mkdir -p docs && cat topic.md >> docs/followed.md",
        ..PLAIN
    },
    Phase {
        name: "checking",
        agent: "checker",
        files: &["docs/checked.md"],
        line: "mkdir -p docs && echo checked >> docs/checked.md",
        image: Some("tools"),
        ..PLAIN
    },
    // Another one beside a container, of another file: two issues that want one at the same time.
    Phase {
        name: "scanning",
        agent: "scanner",
        files: &["docs/scanned.md"],
        line: "mkdir -p docs && echo scanned >> docs/scanned.md",
        image: Some("tools"),
        ..PLAIN
    },
    Phase {
        name: "releasing",
        agent: "release-manager",
        files: &["docs/released.md"],
        line: "mkdir -p docs && echo released >> docs/released.md",
        asks: true,
        ..PLAIN
    },
    Phase {
        name: "testing",
        agent: "tester",
        files: &["docs/tests.md"],
        line: "mkdir -p docs && echo tested >> docs/tests.md",
        ..PLAIN
    },
];

/// What stands there at the beginning, beside what the person is at.
pub(super) const AT_THE_BEGINNING: [&str; 5] =
    ["src/app.txt", "logo.bin", "old.txt", "docs/guide.md", RUNS_FROM_THE_BEGINNING];

/// It can be run from the beginning on.
pub(super) const RUNS_FROM_THE_BEGINNING: &str = "deploy.sh";

impl Phase {
    pub(super) fn of(name: &str) -> Result<&'static Self, Troubled> {
        let known: Vec<&str> = PHASES.iter().map(|phase| phase.name).collect();
        let phase = PHASES.iter().find(|phase| phase.name == name);
        phase.ok_or_else(|| our_fault(fixtures::near_names::unknown("phase", name, &known)))
    }

    /// What its work adds to a file.
    fn adds(&self, file: &str) -> &'static str {
        match (self.name, file) {
            ("designing", _) => "designed\n",
            ("implementing", "src/new.txt") => "new\n",
            ("implementing", _) => "implemented\n",
            ("polishing", _) => "polished\n",
            ("fixing", _) => "fixed\n",
            ("heading", _) => "headed\n",
            ("closing", _) => "closed\n",
            ("styling", "logo.bin") => "\u{0}styled",
            ("styling", "street.txt") => "Stra\u{df}e\n",
            ("styling", _) => "styled\n",
            ("scripting", "run.sh" | "deploy.sh") => "echo scripted\n",
            ("scripting", _) => "scripted  \r\n \t\n",
            ("building", _) => "built\n",
            ("noting", _) => "noted\n",
            ("linking", _) => OF_THE_LIBRARY,
            ("following", _) => TOPIC,
            ("checking", _) => "checked\n",
            ("scanning", _) => "scanned\n",
            ("releasing", _) => "released\n",
            _ => "tested\n",
        }
    }

    /// What a file holds behind its work; nothing where it is removed.
    pub(super) fn after(&self, file: &str, before: &str) -> String {
        let added = self.adds(file);
        match self.name {
            _ if self.removes.contains(&file) => String::new(),
            "heading" => format!("{added}{before}"),
            _ => format!("{before}{added}"),
        }
    }

    /// A file and a word in it that are there when its work is.
    pub(super) fn trace(&self) -> (&'static str, &'static str) {
        let file = self.files.first().copied().unwrap_or_default();
        (file, self.adds(file).trim_end())
    }
}

/// What a file holds at the beginning.
pub(super) fn base(file: &str) -> &'static str {
    match file {
        "src/app.txt" => "app\n",
        "logo.bin" => "\u{0}\u{1}\u{2}binary\u{0}",
        "old.txt" => "An old file.\n",
        "deploy.sh" => "echo deploy\n",
        "docs/guide.md" => "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        _ => "",
    }
}
