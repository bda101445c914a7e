//! The ground of a case: a workspace with files, a shadow repository with a commit for each checkpoint, and a model that
//! tells who asked what, and how the tree was then.

use crate::gaps::Gaps;
use crate::git::said;
use crate::held::{Changed, Held};
use crate::scene::{Scene, Troubled, our_fault, witness};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use fixtures::checkpoints::Checkpoint;
use fixtures::scenario::Scenario;
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{Answer, ChatRequest, Script};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use walkdir::WalkDir;

/// What the model does when it is told the edited message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Model {
    /// It answers.
    #[default]
    Answers,
    /// It refuses the request, and trying again is of no use.
    Refuses,
    /// It refuses the first edit, and answers what is said in its place.
    RefusesOnce,
    /// Its answer breaks off with the connection.
    BreaksOff,
    /// It does not answer as long as the case lasts.
    Holds,
}

impl Model {
    fn scenario(self) -> String {
        let steps = match self {
            Self::RefusesOnce => return REFUSES_ONCE.replace("ANSWER", ANSWER),
            Self::Answers => format!(r#"{{ say = "{ANSWER}" }}"#),
            Self::Refuses => r#"{ fail = 400, message = "that can't be answered" }"#.to_owned(),
            Self::BreaksOff => r#"{ say = "A new" }, { break_off = "truncated" }"#.to_owned(),
            Self::Holds => format!(r#"{{ gate = "{GATE}" }}, {{ say = "{ANSWER}" }}"#),
        };
        let opened =
            if self == Self::Holds { format!(", {{ open_gate = \"{GATE}\" }}") } else { String::new() };
        format!(
            "about = \"Whoever has edited a message asks.\"\n\
             agent = [{{ on = {{ prompt_contains = \"else\" }}, steps = [{steps}] }}]\n\
             user = {{ steps = [{{ prompt = \"else\" }}{opened}] }}\n"
        )
    }
}

/// The words of the first edit end so, and those of the second one do not.
const REFUSES_ONCE: &str = r#"
about = "Whoever has edited a message asks, and is refused; the second time not."
agent = [
  { on = { prompt_contains = "or else" }, steps = [{ fail = 400, message = "that can't be answered" }] },
  { on = { prompt_contains = "somewhere" }, steps = [{ say = "ANSWER" }] },
]
user = { steps = [{ prompt = "or else" }, { prompt = "somewhere" }] }
"#;

/// What the model answers.
pub(super) const ANSWER: &str = "A new answer.";

/// What holds the model's answer.
const GATE: &str = "answered";

/// What is seen when the model is asked: `{messages, tree}`.
pub(super) const ASKED: &str = "asked";

/// A file that is no text.
const PICTURE: &str = "picture.bin";

/// What the shadow repository must know nothing of, and what says so.
const IGNORED: (&str, &str) = ("build/made.log", "made by a build, and in no state\n");
const IGNORES: (&str, &str) = (".gitignore", "build/\n");
/// Can be executed in each state, and not in the latest; and the other way round.
const RUNS: [&str; 2] = ["run.sh", "ran-once.sh"];
/// A link that leads to another file in each state.
const LINK: &str = "the-newest";
/// A file of its own in each state, and in the latest a link to another one.
const BECOMES_A_LINK: &str = "to-and-fro.txt";
/// What the user is about to commit in a repository of his own.
const STAGED: &str = "state.txt";

/// What the user himself wrote, and told nobody.
pub(super) const OWN_WORK: &str = "the user's own words\n";

pub(super) struct Ground {
    pub(super) workspace: PathBuf,
    pub(super) store: PathBuf,
    pub(super) shadow: PathBuf,
    pub(super) model: ModelServer,
    /// By hash as it stands in the shadow repository: the files of that state.
    pub(super) states: BTreeMap<String, Value>,
    /// By hash as the corpus has it: the real one.
    pub(super) hashes: BTreeMap<String, String>,
    /// What the client kept on the disk at the last look.
    stored: Mutex<Held>,
    gaps: Mutex<Gaps>,
}

/// How a database begins that looks after its own writes.
const DATABASE: &[u8] = b"SQLite format 3\0";

impl Ground {
    pub(super) async fn lay(scene: &Scene, model: Model) -> Result<Self, Troubled> {
        let folder = scene.folder();
        let [workspace, store, shadow] = ["workspace", "store", "shadow.git"].map(|name| folder.join(name));
        for folder in [&workspace, &store] {
            fs::create_dir_all(folder)
                .map_err(|error| our_fault(format!("failed to make a folder: {error}")))?;
        }
        let scenario = Scenario::parse(Path::new("model.toml"), &model.scenario())
            .map_err(|error| our_fault(error.to_string()))?;
        let (journal, seen) = (scene.journal().clone(), workspace.clone());
        let on_call = Arc::new(move |request: &ChatRequest, _: &Answer| {
            witness(&journal, ASKED, &json!({"messages": request.messages, "tree": tree(&seen)}));
        });
        let options = ModelOptions { on_call, ..ModelOptions::default() };
        let model = ModelServer::start(Script::new(scenario, "/workspace"), options).await;
        let model = model.map_err(|error| our_fault(format!("failed to start a model: {error}")))?;
        let (states, hashes) = (BTreeMap::new(), BTreeMap::new());
        let (stored, gaps) = <(Mutex<Held>, Mutex<Gaps>)>::default();
        Ok(Self { workspace, store, shadow, model, states, hashes, stored, gaps })
    }

    /// A model that holds answers now.
    pub(super) fn answer(&self) {
        self.model.gates().open(GATE);
    }

    /// Makes a commit for each state that the checkpoints name; the workspace is left as it is after the last one.
    pub(super) fn commit(&mut self, checkpoints: &[Checkpoint]) -> Result<(), Troubled> {
        self.lay_own_repository()?;
        self.git(&["init", "--quiet"])?;
        let mut named: Vec<&Checkpoint> =
            checkpoints.iter().filter(|one| !one.hash.trim().is_empty()).collect();
        named.sort_by_key(|one| one.ts);
        for one in named {
            if self.hashes.contains_key(&one.hash) {
                continue;
            }
            let label = &one.hash[..one.hash.len().min(4)];
            self.write("state.txt", format!("the state {label}\n"))?;
            self.write(&format!("made-for-{label}.txt"), "kept\n")?;
            self.write(&format!("gr\u{fc}\u{df}e {label}.txt"), "kept\n")?;
            self.write(BECOMES_A_LINK, format!("a file of {label}\n"))?;
            self.write(&format!("notes/of {label}/a.txt"), format!("a note of {label}\n"))?;
            self.write(PICTURE, [&b"\x89PIC\0\xff"[..], label.as_bytes()].concat())?;
            self.run_and_lead(RUNS, &format!("made-for-{label}.txt"))?;
            self.git(&["add", "--all", "."])?;
            self.git(&["commit", "--quiet", "--message", label])?;
            let hash = self.git(&["rev-parse", "HEAD"])?.trim().to_owned();
            self.states.insert(hash.clone(), tree(&self.workspace));
            self.hashes.insert(one.hash.clone(), hash);
        }
        self.write("notes/of the latest/a.txt", "a note of the latest\n")?;
        self.write("gr\u{fc}\u{df}e latest.txt", "kept\n")?;
        self.write(PICTURE, b"\x89PIC\0\xfflatest")?;
        self.link(BECOMES_A_LINK, "notes/of the latest/a.txt")?;
        let [runs, not] = RUNS;
        self.run_and_lead([not, runs], STAGED)?;
        self.write("state.txt", "the latest state\n")
    }

    /// The first of these files can be executed, the second one can't, and the link leads there.
    fn run_and_lead(&self, [runs, not]: [&str; 2], there: &str) -> Result<(), Troubled> {
        let failed = |error: io::Error| our_fault(format!("failed to make a file of another kind: {error}"));
        for (name, mode) in [(runs, 0o755), (not, 0o644)] {
            self.write(name, "echo it runs\n")?;
            let file = self.workspace.join(name);
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).map_err(failed)?;
        }
        self.link(LINK, there)
    }

    /// A link that leads there, in place of whatever has its name.
    fn link(&self, name: &str, there: &str) -> Result<(), Troubled> {
        let failed = |error: io::Error| our_fault(format!("failed to make a link: {error}"));
        let link = self.workspace.join(name);
        if fs::symlink_metadata(&link).is_ok() {
            fs::remove_file(&link).map_err(failed)?;
        }
        symlink(there, link).map_err(failed)
    }

    /// The workspace is a repository of the user's, too: with a commit, a stash, something that is about to be committed, and
    /// something that is ignored.
    fn lay_own_repository(&self) -> Result<(), Troubled> {
        self.write(IGNORES.0, IGNORES.1)?;
        self.write(IGNORED.0, IGNORED.1)?;
        self.write(STAGED, "the user's beginning\n")?;
        self.own(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        self.own(&["add", "--all"])?;
        self.own(&["commit", "--quiet", "--message", "the user's own"])?;
        for text in ["the user's, put away\n", "the user's, about to be committed\n"] {
            self.write(STAGED, text)?;
            match text.contains("away") {
                true => self.own(&["stash", "push", "--quiet"])?,
                false => self.own(&["add", STAGED])?,
            };
        }
        Ok(())
    }

    /// What the user's own repository has: where it is, what is about to be committed, what was put away.
    pub(super) fn own_repository(&self) -> Value {
        if !self.workspace.join(".git").exists() {
            return Value::Null;
        }
        let said = |words: &[&str]| self.own(words).unwrap_or_else(|(_, why)| why);
        json!({
            "HEAD": said(&["symbolic-ref", "HEAD"]) + &said(&["rev-parse", "HEAD"]),
            "the index": said(&["ls-files", "--stage"]),
            "the stash": said(&["stash", "list", "--format=%H"]),
        })
    }

    fn own(&self, words: &[&str]) -> Result<String, Troubled> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=user", "-c", "user.email=user@localhost"]);
        let told = said(git.args(words).current_dir(&self.workspace));
        told.map_err(|why| our_fault(format!("git {words:?}: {why}")))
    }

    /// A file of the workspace, in whatever folder.
    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Troubled> {
        let path = self.workspace.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(path, bytes))
            .map_err(|error| our_fault(format!("failed to write {name}: {error}")))
    }

    /// Is this text in a file of the workspace, or in anything that the shadow repository keeps?
    pub(super) fn has(&self, text: &str) -> bool {
        let files = tree(&self.workspace);
        let mut files = files.as_object().into_iter().flatten();
        files.any(|(_, told)| told == text) || self.keeps(text)
    }

    /// Is it in an object of the shadow repository to which a name leads? Others are there until git tidies up.
    fn keeps(&self, text: &str) -> bool {
        let nameless = self.git(&["fsck", "--unreachable", "--no-dangling", "--no-progress"]);
        let nameless = nameless.unwrap_or_default();
        let nameless: BTreeSet<&str> = nameless.lines().filter_map(|line| line.split(' ').nth(2)).collect();
        let all = self.git(&["cat-file", "--batch-all-objects", "--batch-check"]).unwrap_or_default();
        let mut texts =
            all.lines().filter(|line| !line.contains(" tree ")).filter_map(|line| line.split(' ').next());
        let has = |id: &str| self.git(&["cat-file", "-p", id]).is_ok_and(|told| told.contains(text));
        texts.any(|id| !nameless.contains(id) && has(id))
    }

    /// The files of the client in which one of these texts stood at the look before, and that hold something else now: how they
    /// were written. From here on those that are there now are looked at.
    pub(super) fn stored(&self, texts: &[&str]) -> Value {
        let files = WalkDir::new(&self.store).into_iter().flatten().filter(|it| it.file_type().is_file());
        let below = |entry: walkdir::DirEntry| {
            let path = entry.path().strip_prefix(&self.store).ok()?;
            Some(path.to_string_lossy().into_owned())
        };
        let names: Vec<String> = files.filter_map(below).collect();
        let mut held = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let has_some = |one: &Changed| {
            let before = String::from_utf8_lossy(&one.before);
            texts.iter().any(|text| !text.is_empty() && before.contains(text))
        };
        let gaps = Gaps::below(&self.store);
        let gone =
            std::mem::replace(&mut *self.gaps.lock().unwrap_or_else(PoisonError::into_inner), gaps).seen();
        let how = |one: &Changed| match () {
            () if gone.contains(&one.name) => "taken away",
            () if !one.is_over => "replaced",
            () if one.now.starts_with(DATABASE) => "in a database",
            () if one.now.starts_with(&one.before) => "added to",
            () => "written over",
        };
        let changed = held.look(&self.store, names);
        let changed = changed.iter().filter(|one| has_some(one));
        changed.map(|one| json!({"file": one.name, "how": how(one)})).collect()
    }

    fn git(&self, words: &[&str]) -> Result<String, Troubled> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Standin", "-c", "user.email=standin@localhost"]);
        git.arg("--git-dir").arg(&self.shadow).arg("--work-tree").arg(&self.workspace);
        let told = said(git.args(words).current_dir(&self.workspace));
        told.map_err(|why| our_fault(format!("git {words:?}: {why}")))
    }
}

/// The files of a folder and of those in it, by their paths; what is no text in base64, a link by where it leads, and with
/// a word for what can be executed. A server's own folder (`.git`) is none of the person's.
pub(super) fn tree(folder: &Path) -> Value {
    let mut files = BTreeMap::new();
    let entries = WalkDir::new(folder).into_iter().filter_entry(|entry| entry.file_name() != ".git");
    for entry in entries.flatten().filter(|entry| entry.file_type().is_file() || entry.path_is_symlink()) {
        let Ok(told) = content(entry.path()) else { continue };
        let path = entry.path().strip_prefix(folder).unwrap_or_else(|_| entry.path());
        files.insert(path.to_string_lossy().into_owned(), told);
    }
    json!(files)
}

fn content(file: &Path) -> io::Result<String> {
    let kind = fs::symlink_metadata(file)?;
    if kind.is_symlink() {
        return Ok(format!("a link to {}", fs::read_link(file)?.display()));
    }
    let told = String::from_utf8(fs::read(file)?)
        .unwrap_or_else(|error| format!("base64 {}", BASE64_STANDARD.encode(error.as_bytes())));
    Ok(match kind.permissions().mode() & 0o100 {
        0 => told,
        _ => format!("to be executed: {told}"),
    })
}
