//! Which formatters a folder has on this machine: those that the servers know, and those of the settings.

use crate::group::{in_path, search_path};
use crate::workspace::Workspace;
use crate::world::Formatter;
use crate::world::tools::{with_mark, without_mark};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a formatter's arguments call the file.
const FILE: &str = "$FILE";

/// Scripts, then pages, styles and data.
const WEB: &[&str] = &[
    ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".html", ".htm", ".css", ".scss", ".sass",
    ".less", ".vue", ".svelte", ".json", ".jsonc", ".yaml", ".yml", ".toml", ".xml", ".md", ".mdx",
    ".graphql", ".gql",
];
/// So many of these are scripts.
const SCRIPTS: usize = 8;
const RUBY: &[&str] = &[".rb", ".rake", ".gemspec", ".ru"];
const PYTHON: &[&str] = &[".py", ".pyi"];

/// A formatter that the servers know.
struct Known {
    name: &'static str,
    /// What settings call it, where that is another word.
    key: &'static str,
    extensions: &'static [&'static str],
    when: When,
    arguments: &'static [&'static str],
}

/// When a known formatter is there.
enum When {
    /// Its program is.
    Program(&'static str),
    /// Its program is, and such a file lies in the folder or above it.
    Beside(&'static str, &'static str),
    /// A manifest names its package, which is at this path then.
    Package { manifest: &'static str, lists: [&'static str; 2], package: &'static str, path: &'static str },
    /// The settings of the project name it.
    Ruff,
    /// It says itself what it is.
    Air,
    /// It can format, and `ruff` is not there.
    Uv,
    /// It would be fetched, and nothing is.
    Fetched,
}

const fn of(
    name: &'static str,
    extensions: &'static [&'static str],
    when: When,
    arguments: &'static [&'static str],
) -> Known {
    Known { name, key: name, extensions, when, arguments }
}

/// In the order in which they are told.
const KNOWN: &[Known] = &[
    of("zig", &[".zig", ".zon"], When::Program("zig"), &["fmt", FILE]),
    Known { key: "uvformat", ..of("uv", PYTHON, When::Uv, &["format", "--", FILE]) },
    of("terraform", &[".tf", ".tfvars"], When::Program("terraform"), &["fmt", FILE]),
    of("standardrb", RUBY, When::Program("standardrb"), &["--fix", FILE]),
    of("shfmt", &[".sh", ".bash"], When::Program("shfmt"), &["-w", FILE]),
    of("rustfmt", &[".rs"], When::Program("rustfmt"), &[FILE]),
    of("ruff", PYTHON, When::Ruff, &["format", FILE]),
    of("rubocop", RUBY, When::Program("rubocop"), &["--autocorrect", FILE]),
    Known { key: "rlang", ..of("air", &[".R"], When::Air, &["format", FILE]) },
    of("prettier", WEB, When::Fetched, &[]),
    of(
        "pint",
        &[".php"],
        When::Package {
            manifest: "composer.json",
            lists: ["require", "require-dev"],
            package: "laravel/pint",
            path: "./vendor/bin/pint",
        },
        &[FILE],
    ),
    of("oxfmt", WEB.split_at(SCRIPTS).0, When::Fetched, &[]),
    of("ormolu", &[".hs"], When::Program("ormolu"), &["-i", FILE]),
    of("ocamlformat", &[".ml", ".mli"], When::Beside("ocamlformat", ".ocamlformat"), &["-i", FILE]),
    of("nixfmt", &[".nix"], When::Program("nixfmt"), &[FILE]),
    of(
        "mix",
        &[".ex", ".exs", ".eex", ".heex", ".leex", ".neex", ".sface"],
        When::Program("mix"),
        &["format", FILE],
    ),
    of("latexindent", &[".tex"], When::Program("latexindent"), &["-w", "-s", FILE]),
    of("ktlint", &[".kt", ".kts"], When::Program("ktlint"), &["-F", FILE]),
    of("htmlbeautifier", &[".erb", ".html.erb"], When::Program("htmlbeautifier"), &[FILE]),
    of("gofmt", &[".go"], When::Program("gofmt"), &["-w", FILE]),
    of("gleam", &[".gleam"], When::Program("gleam"), &["format", FILE]),
    of("dfmt", &[".d"], When::Program("dfmt"), &["-i", FILE]),
    of("dart", &[".dart"], When::Program("dart"), &["format", FILE]),
    of("cljfmt", &[".clj", ".cljs", ".cljc", ".edn"], When::Program("cljfmt"), &["fix", "--quiet", FILE]),
    Known {
        key: "clang",
        ..of(
            "clang-format",
            &[".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ino", ".C", ".H"],
            When::Beside("clang-format", ".clang-format"),
            &["-i", FILE],
        )
    },
    of("biome", WEB, When::Fetched, &[]),
];

/// Where files are looked for that say something of formatters: in a folder, and in those above it up to the project's.
struct Place<'p> {
    folder: &'p Path,
    project: &'p Path,
}

impl Workspace {
    /// The formatters of a folder, when the settings say anything but no.
    pub(crate) fn formatters(&self, folder: &Path, project: &Path, settings: &Value) -> Vec<Formatter> {
        let place = Place { folder, project };
        let mut all: Vec<Formatter> = KNOWN.iter().map(|known| known.formatter(&place)).collect();
        let own = settings.as_object();
        let is_off =
            |name: &str| own.is_some_and(|own| own.get(name).is_some_and(|said| said["disabled"] == true));
        for (name, said) in own.into_iter().flatten() {
            if ["ruff", "uv"].contains(&name.as_str()) && (is_off("ruff") || is_off("uv")) {
                all.retain(|one| !["ruff", "uv"].contains(&one.name.as_str()));
            } else if is_off(name) {
                all.retain(|one| one.name != *name);
            } else {
                let one = named(name, said, &place);
                match all.iter_mut().find(|known| known.name == *name) {
                    Some(known) => *known = one,
                    None => all.push(one),
                }
            }
        }
        all
    }

    /// What formatters have made of a file, without its mark; it has that again, or has it no more, as it is to.
    pub(crate) fn formatted(&self, path: &str, has_mark: bool) -> Option<String> {
        let text = String::from_utf8_lossy(&fs::read(self.inside(path).ok()?).ok()?).into_owned();
        let (plain, found_mark) = without_mark(&text);
        if found_mark != has_mark {
            self.write(path, &with_mark(&plain, has_mark)).ok()?;
        }
        Some(plain)
    }
}

/// What the settings call so: what the servers know by that word, but for what is said of it.
fn named(name: &str, said: &Value, place: &Place<'_>) -> Formatter {
    let known = KNOWN.iter().find(|known| known.key == name).map(|known| known.formatter(place));
    let known = known.unwrap_or_default();
    let words = |said: &Value| -> Option<Vec<String>> {
        let words = said.as_array()?.iter();
        Some(words.filter_map(|word| word.as_str().map(str::to_owned)).collect())
    };
    let environment = said["environment"].as_object().into_iter().flatten();
    Formatter {
        name: name.to_owned(),
        extensions: words(&said["extensions"]).unwrap_or(known.extensions),
        command: words(&said["command"]).or(known.command),
        environment: environment
            .filter_map(|(name, word)| Some((name.clone(), word.as_str()?.to_owned())))
            .collect(),
    }
}

impl Known {
    fn formatter(&self, place: &Place<'_>) -> Formatter {
        let program = self.when.program(place);
        let arguments = || self.arguments.iter().map(|&word| word.to_owned());
        Formatter {
            name: self.name.to_owned(),
            extensions: self.extensions.iter().map(|&extension| extension.to_owned()).collect(),
            command: program.map(|program| std::iter::once(program).chain(arguments()).collect()),
            environment: Vec::new(),
        }
    }
}

impl When {
    /// The program, if the formatter is there.
    fn program(&self, place: &Place<'_>) -> Option<String> {
        match *self {
            Self::Program(name) => in_path(name),
            Self::Beside(name, file) => in_path(name).filter(|_| !place.above(file).is_empty()),
            Self::Package { manifest, lists, package, path } => {
                let names = |manifest: &PathBuf| {
                    let says: Map<String, Value> = fs::read(manifest)
                        .ok()
                        .and_then(|text| serde_json::from_slice(&text).ok())
                        .unwrap_or_default();
                    lists.iter().any(|list| says.get(*list).is_some_and(|list| !list[package].is_null()))
                };
                place.above(manifest).iter().any(names).then(|| path.to_owned())
            }
            Self::Ruff => in_path("ruff").filter(|_| place.wants_ruff()),
            Self::Air => in_path("air").filter(|air| {
                let (is_fine, says) = asked(air, &["--help"]);
                let first = says.lines().next().unwrap_or_default();
                is_fine && first.contains("R language") && first.contains("formatter")
            }),
            Self::Uv if Self::Ruff.program(place).is_some() => None,
            Self::Uv => in_path("uv").filter(|uv| asked(uv, &["format", "--help"]).0),
            Self::Fetched => None,
        }
    }
}

impl Place<'_> {
    /// The files of this name, the nearest first.
    fn above(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in self.folder.ancestors() {
            found.extend(Some(folder.join(name)).filter(|file| file.exists()));
            if folder == self.project {
                break;
            }
        }
        found
    }

    /// A file of its own, or one that names it.
    fn wants_ruff(&self) -> bool {
        let first_says = |name: &str, word: &str| {
            let first = self.above(name).into_iter().next();
            first.is_some_and(|file| fs::read_to_string(file).unwrap_or_default().contains(word))
        };
        first_says("pyproject.toml", "[tool.ruff]")
            || ["ruff.toml", ".ruff.toml"].iter().any(|name| !self.above(name).is_empty())
            || ["requirements.txt", "pyproject.toml", "Pipfile"].iter().any(|name| first_says(name, "ruff"))
    }
}

/// Whether a program is content with these words, and what it says to them.
fn asked(program: &str, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(program);
    command.args(words).env_clear().env("PATH", search_path()).stdin(Stdio::null());
    let said = command.output();
    said.map_or((false, String::new()), |said| {
        (said.status.success(), String::from_utf8_lossy(&said.stdout).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        (folder, workspace)
    }

    fn names(all: &[Formatter]) -> Vec<&str> {
        all.iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn what_settings_call_something_stands_where_the_servers_know_it() {
        let (folder, workspace) = workspace();
        let all = |settings: Value| workspace.formatters(folder.path(), folder.path(), &settings);
        let known = all(json!(true));
        assert_eq!(known.len(), KNOWN.len());
        let set = all(json!({
            "zig": {"command": ["true", "$FILE"]},
            "mine": {"command": ["mine"], "extensions": [".x"], "environment": {"A": "b"}},
            "prettier": {"extensions": [".only"]},
            "clang": {"command": ["c"]},
            "gofmt": {"disabled": true},
            "uv": {"disabled": true},
        }));
        let mut wanted = names(&known);
        wanted.retain(|name| !["gofmt", "uv", "ruff"].contains(name));
        wanted.extend(["mine", "clang"]);
        assert_eq!(names(&set), wanted);
        let find = |name: &str| set.iter().find(|one| one.name == name).unwrap();
        assert_eq!(
            (&find("zig").extensions[..], find("zig").command.as_deref().unwrap().len()),
            (&[".zig".into(), ".zon".into()][..], 2)
        );
        assert_eq!(find("mine").environment, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(
            (&find("prettier").extensions[..], &find("prettier").command),
            (&[".only".to_owned()][..], &None)
        );
        assert_eq!(find("clang").extensions, find("clang-format").extensions);
    }

    #[test]
    fn files_of_a_project_say_which_formatters_it_wants() {
        let (folder, _workspace) = workspace();
        let deep = folder.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let place = Place { folder: &deep, project: folder.path() };
        let pint = &KNOWN.iter().find(|known| known.name == "pint").unwrap().when;
        assert!(!place.wants_ruff() && pint.program(&place).is_none());
        fs::write(folder.path().join("pyproject.toml"), "[tool.other]\n").unwrap();
        assert!(!place.wants_ruff());
        fs::write(folder.path().join("a/requirements.txt"), "ruff==1\n").unwrap();
        assert!(place.wants_ruff());
        fs::write(folder.path().join("composer.json"), r#"{"require-dev": {"laravel/pint": "1"}}"#).unwrap();
        assert_eq!(pint.program(&place).as_deref(), Some("./vendor/bin/pint"));
        let below = Place { folder: &deep, project: &deep };
        assert!(!below.wants_ruff() && pint.program(&below).is_none());
    }

    #[test]
    fn a_mark_that_a_formatter_takes_or_makes_is_put_right() {
        let (folder, workspace) = workspace();
        let file = folder.path().join("a.txt");
        let path = file.to_string_lossy().into_owned();
        fs::write(&file, "words").unwrap();
        assert_eq!(workspace.formatted(&path, true).as_deref(), Some("words"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "\u{feff}words");
        assert_eq!(workspace.formatted(&path, true).as_deref(), Some("words"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "\u{feff}words");
        assert_eq!(workspace.formatted(&path, false).as_deref(), Some("words"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "words");
        assert_eq!(workspace.formatted("/nowhere/at/all", false), None);
    }
}
