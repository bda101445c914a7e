//! Somebody who does anything at any time, but one thing after the other: what two things at once lead to is chance.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

/// What the agent can do, by the word of a prompt. The folder has the files that it names.
const AGENT: &str = r#"
[workspace]
files = { "README.md" = "hello\n", "src/one.txt" = "one\ntwo\nthree\n" }
config = { permission = { webfetch = "deny" } }

[[agent]]
on = { prompt_contains = "greet" }
steps = [{ say = "Hello there. " }, { say = "What next?" }]

[[agent]]
on = { prompt_contains = "ponder" }
steps = [{ think = "It may be so. " }, { say = "It is so." }]

[[agent]]
on = { prompt_contains = "look" }
steps = [{ tool = "read", input = { filePath = "${workspace}/src/one.txt" } }, { say = "Three lines." }]

[[agent]]
on = { prompt_contains = "note" }
steps = [
  { say = "I note it. " },
  { tool = "write", input = { filePath = "${workspace}/note.txt", content = "a note\n" } },
  { say = "Noted." },
]

[[agent]]
on = { prompt_contains = "change" }
steps = [
  { tool = "read", input = { filePath = "${workspace}/README.md" } },
  { say = "I change it." },
  { tool = "edit", input = { filePath = "${workspace}/README.md", oldString = "hello", newString = "hello you" } },
  { say = "Changed." },
]

[[agent]]
on = { prompt_contains = "list" }
steps = [
  { tool = "todowrite", input = { todos = [
    { content = "Begin", status = "completed", priority = "high", id = "1" },
    { content = "End", status = "pending", priority = "low", id = "2" },
  ] } },
  { say = "Listed." },
]

[[agent]]
on = { prompt_contains = "count" }
steps = [{ tool = "bash", input = { command = "wc -l < src/one.txt", description = "Count lines" } }, { say = "Three." }]

[[agent]]
on = { prompt_contains = "miss" }
steps = [{ tool = "read", input = { filePath = "${workspace}/none.txt" } }, { say = "It is not there." }]

[[agent]]
on = { prompt_contains = "refuse" }
steps = [{ fail = 400, message = "not today" }]

[[agent]]
on = { prompt_contains = "cut" }
steps = [{ say = "It is too" }, { finish = "length" }]

[[agent]]
on = { prompt_contains = "" }
steps = [{ say = "Well." }]
"#;

/// The words that a prompt may have; the last is answered by the turn for all others.
const WORDS: &[&str] =
    &["greet", "ponder", "look", "note", "change", "list", "count", "miss", "refuse", "cut", "whatever"];

/// A session as far as the person knows it.
#[derive(Debug, Clone, Default)]
struct Session {
    name: String,
    /// Words for messages in it: those of the person, those of the agent.
    prompts: Vec<String>,
    answers: Vec<String>,
    is_reverted: bool,
    has_prompted: bool,
}

/// Somebody with a seed.
pub(super) struct Person {
    random: ChaCha8Rng,
    sessions: Vec<Session>,
    steps: Vec<String>,
    words: usize,
}

/// A step.
type Step = fn(&mut Person);

/// The steps, and how often each is taken, against the others.
const STEPS: &[(Step, u32)] = &[
    (Person::prompts, 12),
    (Person::reads_a_session, 8),
    (Person::reads_the_server, 5),
    (Person::begins_a_session, 2),
    (Person::changes_a_session, 3),
    (Person::forks, 2),
    (Person::reverts, 3),
    (Person::takes_a_revert_back, 2),
    (Person::notes_without_answer, 2),
    (Person::deletes_a_message, 1),
    (Person::deletes_a_session, 1),
    (Person::aborts, 1),
    (Person::is_wrong, 4),
];

impl Person {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), sessions: Vec::new(), steps: Vec::new(), words: 0 }
    }

    /// The scenario of a walk.
    pub(super) fn walk(mut self, steps: usize) -> String {
        self.begins_a_session();
        while self.steps.len() < steps {
            let all: u32 = STEPS.iter().map(|(_, weight)| weight).sum();
            let mut left = u32::try_from(self.below(all as usize)).unwrap_or_default();
            for (step, weight) in STEPS {
                if left < *weight {
                    step(&mut self);
                    break;
                }
                left -= weight;
            }
        }
        let session = self.alive();
        // A scenario has no turn that nobody reaches.
        for word in WORDS {
            if !self.steps.iter().any(|step| step.contains(&format!("please {word}"))) {
                self.prompt(session, word);
            }
        }
        let steps: String = self.steps.iter().map(|step| format!("  {step},\n")).collect();
        format!("about = \"A random walk.\"\n{AGENT}\n[user]\nsteps = [\n{steps}]\n")
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.next_u64() % (end.max(1) as u64)).unwrap_or_default()
    }

    fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        let at = self.below(among.len());
        among.get(at).cloned()
    }

    /// Any session; there is always one.
    fn alive(&mut self) -> usize {
        if self.sessions.is_empty() {
            self.begins_a_session();
        }
        self.below(self.sessions.len())
    }

    fn word(&mut self, what: &str) -> String {
        self.words += 1;
        format!("{what}{}", self.words)
    }

    /// A request; what is saved of its answer is surely there.
    fn request(&mut self, line: &str, json: Option<&Value>, save: &[(&str, &str)]) {
        let body = json.map(|json| format!(", json = {}", inline(json))).unwrap_or_default();
        let saved: Vec<String> =
            save.iter().map(|(word, pointer)| format!("{word} = \"{pointer}\"")).collect();
        let save =
            if saved.is_empty() { String::new() } else { format!(", save = {{ {} }}", saved.join(", ")) };
        self.steps.push(format!("{{ request = \"{line}\"{body}{save} }}"));
    }

    fn begins_a_session(&mut self) {
        let name = self.word("s");
        let json = match self.below(3) {
            0 => json!({}),
            1 => json!({"title": "A walk"}),
            _ => json!({"metadata": {"of": "a walk"}}),
        };
        self.request("POST /session", Some(&json), &[(&name, "/id")]);
        self.sessions.push(Session { name, ..Session::default() });
    }

    fn prompts(&mut self) {
        let session = self.alive();
        let word = self.pick(WORDS).unwrap_or_default();
        self.prompt(session, word);
    }

    fn prompt(&mut self, session: usize, word: &str) {
        let name = self.sessions[session].name.clone();
        let json = json!({"parts": [{"type": "text", "text": format!("please {word}")}]});
        self.request(&format!("POST /session/${{{name}}}/message"), Some(&json), &[]);
        self.steps
            .push(format!("{{ wait_for = {{ event = \"session.idle\", containing = \"${{{name}}}\" }} }}"));
        let (prompt, answer) = (self.word("m"), self.word("m"));
        self.sessions[session].is_reverted = false;
        self.sessions[session].has_prompted = true;
        // A refused prompt has an answer, too: the failed one.
        let save = [(prompt.as_str(), "/0/info/id"), (answer.as_str(), "/1/info/id")];
        self.request(&format!("GET /session/${{{name}}}/message"), None, &save);
        self.sessions[session].prompts = vec![prompt];
        self.sessions[session].answers = vec![answer];
    }

    fn reads_a_session(&mut self) {
        let session = self.alive();
        let name = self.sessions[session].name.clone();
        let message = self.sessions[session].prompts.first().cloned();
        let targets = [
            format!("/session/${{{name}}}"),
            format!("/session/${{{name}}}/message"),
            format!("/session/${{{name}}}/message?limit=1"),
            format!("/session/${{{name}}}/children"),
            format!("/session/${{{name}}}/todo"),
            format!("/session/${{{name}}}/diff"),
            message.map_or_else(
                || format!("/session/${{{name}}}/message/msg_nosuch0000"),
                |message| format!("/session/${{{name}}}/message/${{{message}}}"),
            ),
        ];
        let target = self.pick(&targets).unwrap_or_default();
        self.request(&format!("GET {target}"), None, &[]);
    }

    fn reads_the_server(&mut self) {
        let targets = [
            "/session",
            "/session?limit=2",
            "/session?roots=true",
            "/session?search=walk",
            "/session/status",
            "/permission",
            "/question",
            "/project/current",
            "/path",
            "/vcs",
            "/global/health",
            "/agent",
            "/file?path=.",
            "/file/content?path=README.md",
            "/find/file?query=one",
        ];
        let target = self.pick(&targets).unwrap_or_default();
        self.request(&format!("GET {target}"), None, &[]);
    }

    fn changes_a_session(&mut self) {
        let session = self.alive();
        let name = self.sessions[session].name.clone();
        let json = match self.below(4) {
            0 => json!({"title": "Another title"}),
            1 => json!({"time": {"archived": 1_700_000_000_000_u64}}),
            2 => json!({"title": ""}),
            _ => json!({"metadata": {"seen": true}}),
        };
        self.request(&format!("PATCH /session/${{{name}}}"), Some(&json), &[]);
    }

    fn forks(&mut self) {
        let session = self.alive();
        let (of, fork) = (self.sessions[session].clone(), self.word("s"));
        let at = if self.below(2) == 0 { of.answers.first().or(of.prompts.first()) } else { None };
        let json = at.map_or_else(|| json!({}), |message| json!({"messageID": format!("${{{message}}}")}));
        self.request(&format!("POST /session/${{{}}}/fork", of.name), Some(&json), &[(&fork, "/id")]);
        self.sessions.push(Session { name: fork, has_prompted: of.has_prompted, ..Session::default() });
    }

    fn reverts(&mut self) {
        let session = self.alive();
        let of = self.sessions[session].clone();
        let Some(message) = of.prompts.first().or(of.answers.first()) else { return };
        let json = json!({"messageID": format!("${{{message}}}")});
        self.request(&format!("POST /session/${{{}}}/revert", of.name), Some(&json), &[]);
        self.sessions[session].is_reverted = true;
    }

    fn takes_a_revert_back(&mut self) {
        let session = self.alive();
        let name = self.sessions[session].name.clone();
        self.request(&format!("POST /session/${{{name}}}/unrevert"), None, &[]);
        self.sessions[session].is_reverted = false;
    }

    fn notes_without_answer(&mut self) {
        let session = self.alive();
        // It would take away what was reverted, and nobody knows any more which words are left.
        if self.sessions[session].is_reverted {
            return;
        }
        let name = self.sessions[session].name.clone();
        let json = json!({"noReply": true, "parts": [{"type": "text", "text": "by the way"}]});
        self.request(&format!("POST /session/${{{name}}}/message"), Some(&json), &[]);
    }

    fn deletes_a_message(&mut self) {
        let session = self.alive();
        let of = self.sessions[session].clone();
        let Some(message) = of.answers.first() else { return };
        self.request(&format!("DELETE /session/${{{}}}/message/${{{message}}}", of.name), None, &[]);
        self.sessions[session].answers.clear();
    }

    fn deletes_a_session(&mut self) {
        if self.sessions.len() < 2 {
            return;
        }
        let session = self.alive();
        let name = self.sessions.remove(session).name;
        self.request(&format!("DELETE /session/${{{name}}}"), None, &[]);
        self.request(&format!("GET /session/${{{name}}}"), None, &[]);
    }

    fn aborts(&mut self) {
        let session = self.alive();
        let name = self.sessions[session].name.clone();
        self.request(&format!("POST /session/${{{name}}}/abort"), None, &[]);
    }

    fn is_wrong(&mut self) {
        let session = self.alive();
        let name = self.sessions[session].name.clone();
        let wrong: [(String, Option<Value>); 10] = [
            ("GET /session/ses_nosuch0000".into(), None),
            ("GET /session/abc".into(), None),
            ("DELETE /session/ses_nosuch0000".into(), None),
            (format!("GET /session/${{{name}}}/message?limit=x"), None),
            (format!("GET /session/${{{name}}}/message/msg_nosuch0000"), None),
            (format!("POST /session/${{{name}}}/message"), Some(json!({"parts": "x"}))),
            (format!("POST /session/${{{name}}}/revert"), Some(json!({}))),
            ("POST /permission/per_nosuch0000/reply".into(), Some(json!({"reply": "once"}))),
            ("POST /question/que_nosuch0000/reject".into(), None),
            ("GET /nowhere".into(), None),
        ];
        if let Some((line, json)) = self.pick(&wrong) {
            self.request(&line, json.as_ref(), &[]);
        }
    }
}

/// JSON as TOML writes it in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
