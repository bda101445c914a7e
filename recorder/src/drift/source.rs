//! What is compared, read from files, or from what travels in the binary. The only file of `drift` that reads anything.

use fixtures::catalog;
use fixtures::near_names::unknown;
use fixtures::recording::Recording;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Two releases, or parts of them.
#[derive(Debug, Default)]
pub struct Pair {
    /// What OLD is called.
    pub old: String,
    /// What NEW is called.
    pub new: String,
    /// Their `/doc`, where they have one; an empty one is null.
    pub docs: (Option<Value>, Option<Value>),
    /// Recordings that both have.
    pub recordings: Vec<PairOfRecordings>,
    /// The names of recordings that OLD alone has.
    pub only_old: Vec<String>,
    /// The names of recordings that NEW alone has.
    pub only_new: Vec<String>,
}

/// Two recordings of one name.
#[derive(Debug)]
pub struct PairOfRecordings {
    /// The name: `area/name`.
    pub name: String,
    /// With OLD.
    pub old: Recording,
    /// With NEW.
    pub new: Recording,
}

/// One side, before it is known what the other one has.
enum Side {
    Doc(Value),
    Recording(Box<Recording>),
    Release { doc: Option<Value>, recordings: BTreeMap<String, Origin> },
}

/// Where a recording is read from, once it is known to be wanted.
enum Origin {
    File(PathBuf),
    Carried(String),
}

/// Reads both sides: a recording (`.jsonl`), a `/doc` (`.json`), a folder of them, or a release that travels in the
/// binary. The message says what is wrong and what to do.
pub fn read(old: &str, new: &str) -> Result<Pair, String> {
    let (one, two) = (side(old)?, side(new)?);
    let mut pair = Pair { old: old.to_owned(), new: new.to_owned(), ..Pair::default() };
    match (one, two) {
        (Side::Doc(one), Side::Doc(two)) => pair.docs = (Some(one), Some(two)),
        (Side::Recording(old), Side::Recording(new)) => {
            let name = old.header.scenario.clone();
            pair.recordings.push(PairOfRecordings { name, old: *old, new: *new });
        }
        (
            Side::Release { doc: one, recordings: first },
            Side::Release { doc: two, recordings: mut second },
        ) => {
            pair.docs = (one, two);
            for (name, origin) in first {
                match second.remove(&name) {
                    Some(other) => {
                        let (old, new) = (origin.read(&name)?, other.read(&name)?);
                        pair.recordings.push(PairOfRecordings { name, old, new });
                    }
                    None => pair.only_old.push(name),
                }
            }
            pair.only_new = second.into_keys().collect();
        }
        (one, two) => {
            let (one, two) = (one.words(), two.words());
            return Err(format!("{old} is {one} and {new} is {two}: compare two of the same kind"));
        }
    }
    for PairOfRecordings { name, old: one, new: two } in &pair.recordings {
        if one.header.server != two.header.server {
            let (one, two) = (one.header.server, two.header.server);
            return Err(format!(
                "{name} was recorded from {one} in {old} and from {two} in {new}: releases of one server are compared"
            ));
        }
    }
    Ok(pair)
}

impl Side {
    fn words(&self) -> &'static str {
        match self {
            Self::Doc(_) => "a /doc",
            Self::Recording(_) => "a recording",
            Self::Release { .. } => "a folder of a release",
        }
    }
}

impl Origin {
    fn read(&self, name: &str) -> Result<Recording, String> {
        match self {
            Self::File(path) => Recording::read(path),
            Self::Carried(release) => catalog::recording(release, name),
        }
        .map_err(|error| error.to_string())
    }
}

fn side(word: &str) -> Result<Side, String> {
    let path = Path::new(word);
    if path.is_dir() {
        return folder(path);
    }
    if path.exists() {
        return match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => {
                Ok(Side::Recording(Box::new(Recording::read(path).map_err(|error| error.to_string())?)))
            }
            Some("json") => Ok(Side::Doc(doc(path)?)),
            _ => {
                Err(format!("{word} is neither a recording (.jsonl) nor a /doc (.json) nor a folder of them"))
            }
        };
    }
    let releases = catalog::releases();
    if !releases.iter().any(|release| release == word) {
        let unknown = unknown("file, folder or release", word, &releases);
        return Err(format!("{unknown}; `standin record` records any other one"));
    }
    let doc = catalog::doc(word).map(|doc| serde_json::from_slice(doc).unwrap_or_default());
    let names = catalog::recording_names(word).into_iter();
    let recordings = names.map(|name| (name, Origin::Carried(word.to_owned()))).collect();
    Ok(Side::Release { doc, recordings })
}

/// A folder as `standin record` makes it; also one that has such a folder's recordings at any depth.
fn folder(folder: &Path) -> Result<Side, String> {
    let file = folder.join("doc.json");
    let doc = if file.exists() { Some(doc(&file)?) } else { None };
    let mut recordings = BTreeMap::new();
    collect(folder, folder, &mut recordings)?;
    if doc.is_none() && recordings.is_empty() {
        let place = folder.display();
        return Err(format!(
            "{place} holds neither doc.json nor recordings (.jsonl): name the folder of a release"
        ));
    }
    Ok(Side::Release { doc, recordings })
}

fn collect(top: &Path, folder: &Path, recordings: &mut BTreeMap<String, Origin>) -> Result<(), String> {
    let fails = |error: std::io::Error| format!("failed to read {}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(fails)? {
        let path = entry.map_err(fails)?.path();
        if path.is_dir() {
            collect(top, &path, recordings)?;
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            let inner = path.strip_prefix(top).unwrap_or(&path).with_extension("");
            let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
            recordings.insert(parts.join("/"), Origin::File(path));
        }
    }
    Ok(())
}

/// A document; a file without anything in it is an empty one.
fn doc(path: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("failed to read {}: {error}", path.display()))?;
    if bytes.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("{} is not JSON: {error}; a /doc is what GET /doc answers", path.display()))
}
