//! What the message of a commit is written from: what git says of a folder's changes, of those that are staged if any
//! are.

use super::surroundings::{PlaceAsk, PlaceWish};
use super::tools::place::resolved;
use super::words::{WordsKind, WordsWish};
use super::{Ticket, World};
use crate::javascript::{first_units, units};
use serde_json::Value;

/// Nobody describes the changes of these.
const LOCKS: &str = " package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml shrinkwrap.yaml bun.lockb bun.lock \
    .pnp.js .pnp.cjs jspm.lock Pipfile.lock poetry.lock pdm.lock .pdm-lock.toml uv.lock conda-lock.yml pylock.toml \
    Gemfile.lock composer.lock gradle.lockfile lockfile.json dependency-lock.json dependency-reduced-pom.xml \
    coursier.lock build.sbt.lock packages.lock.json paket.lock project.assets.json Cargo.lock go.sum Gopkg.lock \
    glide.lock build.zig.zon.lock dune.lock opam.lock Package.resolved Podfile.lock Cartfile.resolved pubspec.lock \
    mix.lock rebar.lock stack.yaml.lock cabal.project.freeze exact-dependencies.json shard.lock Manifest.toml \
    JuliaManifest.toml renv.lock packrat.lock nimble.lock dub.selections.json rocks.lock carton.lock cpanfile.snapshot \
    conan.lock vcpkg-lock.json .terraform.lock.hcl Berksfile.lock Puppetfile.lock MODULE.bazel.lock flake.lock \
    deno.lock devcontainer.lock.json ";
/// So much of each file's diff is told.
const DIFF_TOLD: usize = 4000;
const NO_CHANGES: &str = "No changes found to generate a commit message for";
const COMMIT_MESSAGE: &str = "Write the message of a git commit from these changes, as a conventional commit: a type, \
     a scope where it helps, a short description; a body where there is more to say. Say the message and nothing else.";

/// A message that is about to be asked for.
#[derive(Debug)]
pub(super) struct CommitWish {
    ticket: Ticket,
    /// Where it was asked.
    directory: String,
    folder: String,
    /// The person wants only these told.
    chosen: Option<Vec<String>>,
    previous: Option<String>,
    language: Option<String>,
}

/// The same, when it is known what has changed.
#[derive(Debug)]
pub(super) struct Committed {
    wish: CommitWish,
    branch: String,
    latest: String,
    files: Vec<Changed>,
}

/// A file that has changed: what git says of it, and its name in git's words.
#[derive(Debug, PartialEq, Eq)]
struct Changed {
    status: String,
    path: String,
}

impl Changed {
    /// As `git diff --name-status` tells it.
    fn staged(line: &str) -> Self {
        let mut fields = line.split('\t');
        let status = fields.next().unwrap_or_default().to_owned();
        let rest: Vec<&str> = fields.collect();
        let path = match rest.get(1) {
            Some(new) if status.starts_with('R') => (*new).to_owned(),
            _ => rest.join("\t"),
        };
        Self { status, path }
    }

    /// As `git status --porcelain` tells it.
    fn unstaged(line: &str) -> Self {
        let (status, path) = line.split_at_checked(2).unwrap_or((line, ""));
        Self { status: status.trim().to_owned(), path: path.get(1..).unwrap_or_default().to_owned() }
    }

    fn is_new(&self) -> bool {
        self.status.starts_with('?')
    }

    fn in_words(&self) -> &'static str {
        match self.status.as_str() {
            renamed if renamed.starts_with('R') => "renamed",
            "A" | "?" | "??" => "added",
            "D" => "deleted",
            _ => "modified",
        }
    }

    fn is_lock(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        LOCKS.contains(&format!(" {name} "))
    }
}

fn git(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl World {
    /// `POST /commit-message`.
    pub(super) fn begin_commit_message(&mut self, ticket: Ticket, directory: String, body: &Value) {
        let word = |name: &str| body[name].as_str().filter(|word| !word.is_empty()).map(str::to_owned);
        let folder = resolved(&self.config.directory, body["path"].as_str().unwrap_or_default());
        let chosen = serde_json::from_value(body["selectedFiles"].clone()).ok();
        let wish = CommitWish {
            ticket,
            directory,
            folder: folder.clone(),
            chosen,
            previous: word("previousMessage"),
            language: word("language").filter(|language| !language.eq_ignore_ascii_case("en")),
        };
        let asks = [
            git(&["branch", "--show-current"]),
            git(&["log", "--oneline", "-5"]),
            git(&["diff", "--name-status", "--cached"]),
            git(&["status", "--porcelain"]),
        ];
        self.ask_place(PlaceAsk::Commit(wish), PlaceWish::Git { folder, asks: asks.to_vec() });
    }

    /// What has changed is known.
    pub(super) fn changes_to_commit(&mut self, wish: CommitWish, said: Option<Vec<String>>) {
        let Some(said) = said else {
            let why = "ENOENT: no such file or directory, posix_spawn 'git'";
            return self.refuse_commit_message(wish.ticket, why);
        };
        let [branch, latest, staged, status] = said.as_slice() else { return };
        let is_staged = !staged.is_empty();
        let mut files: Vec<Changed> = match is_staged {
            true => staged.lines().map(Changed::staged).collect(),
            false => status.lines().filter(|line| !line.is_empty()).map(Changed::unstaged).collect(),
        };
        let is_chosen =
            |file: &Changed| wish.chosen.as_ref().is_none_or(|chosen| chosen.contains(&file.path));
        files.retain(|file| !file.is_lock() && is_chosen(file));
        if files.is_empty() {
            return self.refuse_commit_message(wish.ticket, NO_CHANGES);
        }
        let asks = files.iter().filter(|file| !file.is_new()).map(|file| {
            let how: &[&str] = if is_staged { &["diff", "--cached", "--"] } else { &["diff", "--"] };
            let mut ask = git(how);
            ask.push(file.path.clone());
            ask
        });
        let wished = PlaceWish::Git { folder: wish.folder.clone(), asks: asks.collect() };
        let branch = if branch.is_empty() { "HEAD" } else { branch };
        let of = Committed { branch: branch.to_owned(), latest: latest.clone(), files, wish };
        self.ask_place(PlaceAsk::CommitDiffs(Box::new(of)), wished);
    }

    /// How it has changed is known.
    pub(super) fn diffs_to_commit(&mut self, of: &Committed, said: Option<Vec<String>>) {
        let mut diffs = said.unwrap_or_default().into_iter();
        let mut told = Vec::new();
        for file in &of.files {
            let diff = match file.is_new() {
                true => format!("New untracked file: {}", file.path),
                false => told_diff(file, diffs.next().unwrap_or_default()),
            };
            if !diff.is_empty() {
                told.push(format!("--- {} ---\n{}", file.path, shortened(&diff)));
            }
        }
        let list: Vec<String> =
            of.files.iter().map(|file| format!("{} {}", file.in_words(), file.path)).collect();
        let mut prompt = format!(
            "Generate a commit message for the following changes:\n\nBranch: {}\nRecent commits:\n{}\n\nChanged \
             files:\n{}\n\nDiffs:\n{}",
            of.branch,
            of.latest,
            list.join("\n"),
            told.join("\n\n")
        );
        if let Some(previous) = &of.wish.previous {
            prompt = format!(
                "IMPORTANT: Generate a COMPLETELY DIFFERENT commit message from the previous one. The previous message \
                 was: \"{previous}\". Use a different type, scope, or description approach.\n\n{prompt}"
            );
        }
        let settings = self.settings_in(&of.wish.directory);
        let own = settings.get("commit_message").and_then(|own| own["prompt"].as_str());
        let mut system = own.filter(|own| !own.is_empty()).unwrap_or(COMMIT_MESSAGE).to_owned();
        if let Some(language) = &of.wish.language {
            system.push_str(&format!("\n\nWrite the whole message in this language: {language}."));
        }
        let directory = of.wish.directory.clone();
        let wish = WordsWish { ticket: of.wish.ticket, directory, kind: WordsKind::Commit };
        self.ask_for_words(wish, &system, &prompt);
    }
}

fn told_diff(file: &Changed, diff: String) -> String {
    let is_binary = ["Binary files", "GIT binary patch"].iter().any(|words| diff.contains(words));
    let is_gone = file.in_words() == "deleted";
    if is_binary && !is_gone { format!("Binary file {} has been modified", file.path) } else { diff }
}

fn shortened(diff: &str) -> String {
    if units(diff) <= DIFF_TOLD {
        return diff.to_owned();
    }
    format!("{}\n... [truncated]", first_units(diff, DIFF_TOLD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gits_words_for_changes_are_understood() {
        let told = |file: &Changed| (file.in_words(), file.path.clone(), file.is_new());
        for (line, words, path) in [
            ("M\ta b.txt", "modified", "a b.txt"),
            ("R100\told\tnew", "renamed", "new"),
            ("D\tgone", "deleted", "gone"),
            ("T\tlink", "modified", "link"),
        ] {
            assert_eq!(told(&Changed::staged(line)), (words, path.to_owned(), false));
        }
        assert_eq!(told(&Changed::unstaged(" M a.txt")), ("modified", "a.txt".to_owned(), false));
        assert_eq!(told(&Changed::unstaged("?? \"sp ace\"")), ("added", "\"sp ace\"".to_owned(), true));
        assert!(Changed::unstaged(" M sub/go.sum").is_lock());
        assert!(!Changed::unstaged(" M sub/go.summary").is_lock());
    }

    #[test]
    fn a_long_diff_is_told_in_part() {
        let long = "é".repeat(DIFF_TOLD);
        assert_eq!(shortened(&long), long);
        assert_eq!(shortened(&format!("{long}x")), format!("{long}\n... [truncated]"));
    }
}
