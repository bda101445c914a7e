//! A case of a kit, as data: what every case has, and the kit's own part of it in `[play]`.

use crate::kit::{Kit, Play};
use fixtures::error::{FileError, parse_toml};
use fixtures::near_names::unknown;
use include_dir::{Dir, include_dir};
use parity_specs::kit::KitRequirement;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

static CASES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/cases");

/// A case that can be played.
pub struct Case {
    /// `area/slug`.
    pub name: String,
    /// What every case has.
    pub head: Head,
    /// What the kit does.
    pub play: Box<dyn Play>,
}

/// What every case has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Head {
    /// What it shows, in a sentence.
    pub about: String,
    /// What an adapter must be able to do.
    pub needs: Vec<String>,
    /// The requirements that it proves.
    pub proves: Vec<String>,
    /// The mutants that it catches.
    pub catches: Vec<String>,
    /// Nothing unusual happens: every mutant passes.
    pub plain: bool,
    /// So many seconds of the adapter's time it takes.
    pub takes_s: f64,
    /// What an adapter gets wrong here that follows a rule to the letter.
    pub hazard: Option<Hazard>,
}

/// A rule that is wrong by its own aim: who follows it to the letter fails, and that is expected.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hazard {
    /// Its id, as `001/prefix`.
    pub id: String,
    /// What is wrong with the rule.
    pub about: String,
    /// The checks that fail for the same reason, beside those of what the case proves.
    #[serde(default)]
    pub also: Vec<String>,
    /// What adapters declare of which it is expected.
    #[serde(default = "to_the_letter")]
    pub when: BTreeMap<String, String>,
}

fn to_the_letter() -> BTreeMap<String, String> {
    BTreeMap::from([("policy".to_owned(), "seed".to_owned())])
}

/// A file of a case.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CaseFile<P> {
    /// What it shows, in a sentence.
    about: String,
    /// What an adapter must be able to do; who can't is not asked.
    #[schemars(with = "Vec<String>")]
    needs: Vec<Spanned<String>>,
    /// The requirements that it proves: their checks must find facts, and all hold.
    #[schemars(with = "Vec<String>")]
    proves: Vec<Spanned<String>>,
    /// The mutants that it catches.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    catches: Vec<Spanned<String>>,
    /// Nothing unusual happens: every mutant passes.
    #[serde(default)]
    plain: bool,
    /// So many seconds of the adapter's time it takes; one with a real clock is not asked for more than ten.
    #[serde(default)]
    takes_s: f64,
    /// What an adapter gets wrong here that follows a rule to the letter.
    hazard: Option<Hazard>,
    /// What happens.
    play: P,
}

/// Reads a case with the kit's own part.
///
/// # Errors
/// It is not written as cases of this kit are.
pub fn read<P: Play + DeserializeOwned + 'static>(
    kit: &dyn Kit,
    file: &Path,
    text: &str,
) -> Result<(Head, Box<dyn Play>), FileError> {
    let CaseFile { about, needs, proves, catches, plain, takes_s, hazard, play } =
        parse_toml::<CaseFile<P>>(file, text)?;
    let capabilities: Vec<&str> = kit.capabilities().iter().map(|known| known.name).collect();
    let mutants: Vec<&str> = kit.mutants().iter().map(|known| known.name).collect();
    known(file, text, &needs, "capability", &capabilities)?;
    known(file, text, &catches, "mutant", &mutants)?;
    if proves.is_empty() {
        return Err(FileError::whole(file, "a case proves at least one requirement: proves = [\"…\"]"));
    }
    if plain != catches.is_empty() {
        let why =
            "a case catches a mutant, or it is plain and every mutant passes: not both, and not neither";
        return Err(FileError::whole(file, why));
    }
    let names = |list: Vec<Spanned<String>>| list.into_iter().map(Spanned::into_inner).collect();
    let (needs, proves, catches) = (names(needs), names(proves), names(catches));
    let head = Head { about, needs, proves, catches, plain, takes_s, hazard };
    Ok((head, Box::new(play)))
}

fn known(
    file: &Path,
    text: &str,
    names: &[Spanned<String>],
    what: &str,
    known: &[&str],
) -> Result<(), FileError> {
    match names.iter().find(|name| !known.contains(&name.get_ref().as_str())) {
        None => Ok(()),
        Some(wrong) => {
            let line = text[..wrong.span().start.min(text.len())].matches('\n').count() + 1;
            Err(FileError::at(file, line, unknown(what, wrong.get_ref(), known)))
        }
    }
}

/// What an editor is told of a kit's cases.
#[must_use]
pub fn schema<P: JsonSchema>() -> Schema {
    SchemaSettings::draft07().for_deserialize().into_generator().into_root_schema_for::<CaseFile<P>>()
}

/// The kit's cases that travel in the binary, by name.
///
/// # Errors
/// One can't be read, or names what there is not.
pub fn embedded(kit: &dyn Kit, requirements: &[KitRequirement]) -> Result<Vec<Case>, FileError> {
    let mut files = Vec::new();
    if let Some(folder) = CASES.get_dir(kit.name()) {
        collect(folder, &mut files);
    }
    files.sort();
    from_files(kit, requirements, &files)
}

/// Cases from files: the path below `kits/cases/`, and the text.
///
/// # Errors
/// As with [`embedded`].
pub fn from_files(
    kit: &dyn Kit,
    requirements: &[KitRequirement],
    files: &[(PathBuf, String)],
) -> Result<Vec<Case>, FileError> {
    let known: Vec<&str> = requirements.iter().map(|requirement| requirement.id.as_str()).collect();
    let mut cases = Vec::new();
    for (path, text) in files {
        let file = Path::new("kits/cases").join(path);
        let (head, play) = kit.read(&file, text)?;
        if let Some(wrong) = head.proves.iter().find(|id| !known.contains(&id.as_str())) {
            let quoted = format!("\"{wrong}\"");
            let line = text.lines().position(|line| line.contains(&quoted)).unwrap_or_default() + 1;
            return Err(FileError::at(&file, line, unknown("requirement of this kit", wrong, &known)));
        }
        let inner = path.strip_prefix(kit.name()).unwrap_or(path).with_extension("");
        let name = inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        cases.push(Case { name, head, play });
    }
    Ok(cases)
}

fn collect(folder: &Dir<'_>, files: &mut Vec<(PathBuf, String)>) {
    for file in folder.files() {
        let is_case = file.path().extension().is_some_and(|extension| extension == "toml");
        if let Some(text) = file.contents_utf8().filter(|_| is_case) {
            files.push((file.path().to_path_buf(), text.to_owned()));
        }
    }
    folder.dirs().for_each(|inner| collect(inner, files));
}
