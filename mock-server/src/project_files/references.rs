//! What stands for something else in a file of settings: `{env:NAME}` for what the server's environment says, and
//! `{file:PATH}` for what a file holds. Lines that are comments are left alone.

use crate::profile::Profile;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Where references are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'p> {
    /// The workspace, which references do not leave.
    pub(super) root: &'p Path,
    pub(super) home: &'p Path,
}

/// The text with what its references stand for, or what is wrong with one of them.
pub(super) fn resolved(
    profile: &Profile,
    text: &str,
    folder: &Path,
    places: Places,
) -> Result<String, String> {
    if let Some(reference) = distrusted(profile, text) {
        return Err(format!("environment references are not allowed in project config: \"{reference}\""));
    }
    // The environment of a stand-in has a home, and nothing of its person's.
    let home = places.home.to_string_lossy().into_owned();
    let told =
        replaced(text, "{env:", |_, name| Ok(if name == "HOME" { home.clone() } else { String::new() }))?;
    // What a file says is not looked into again: it may name itself.
    replaced(&told, "{file:", |reference, path| {
        let content = held(profile, reference, path, folder, places)?;
        let quoted = serde_json::Value::from(content.trim()).to_string();
        Ok(quoted[1..quoted.len() - 1].to_owned())
    })
}

/// The first reference to its environment that a server that distrusts a workspace does not follow.
pub(super) fn distrusted(profile: &Profile, text: &str) -> Option<String> {
    if !profile.distrusts_files {
        return None;
    }
    let told = replaced(text, "{env:", |reference, _| Err(reference.to_owned()));
    told.err()
}

fn held(
    profile: &Profile,
    reference: &str,
    path: &str,
    folder: &Path,
    places: Places,
) -> Result<String, String> {
    let path = match path.strip_prefix("~/") {
        Some(path) => places.home.join(path),
        None => plain(&folder.join(path)),
    };
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("bad file reference: \"{reference}\" {} does not exist", path.display()))
        }
        Ok(real) if real.starts_with(places.root) => {
            fs::read_to_string(real).map_err(|_| format!("bad file reference: \"{reference}\""))
        }
        _ if profile.distrusts_files => {
            Err(format!("blocked file reference outside project config scope: \"{reference}\""))
        }
        _ => Ok(String::new()),
    }
}

/// A path without the steps that lead nowhere.
fn plain(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(made.pop()),
            Component::CurDir => {}
            part => made.push(part),
        }
    }
    made
}

/// The text with each reference of a kind replaced, but for those in comments; the first that can't be is a mistake.
fn replaced(
    text: &str,
    kind: &str,
    mut with: impl FnMut(&str, &str) -> Result<String, String>,
) -> Result<String, String> {
    let mut told = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(kind) {
        let inside = &rest[at + kind.len()..];
        let Some(end) = inside.find('}').filter(|end| *end > 0) else {
            told.push_str(&rest[..at + kind.len()]);
            rest = inside;
            continue;
        };
        let start = text.len() - rest.len() + at;
        let line = text[..start].rsplit('\n').next().unwrap_or_default();
        let reference = &rest[at..at + kind.len() + end + 1];
        told.push_str(&rest[..at]);
        if line.trim_start().starts_with("//") {
            told.push_str(reference);
        } else {
            told.push_str(&with(reference, &inside[..end])?);
        }
        rest = &inside[end + 1..];
    }
    Ok(told + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    fn told(server: ServerKind, text: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a.txt"), " one\n\"{file:a.txt}\" \n").unwrap();
        let places = Places { root: &root, home: Path::new("/me") };
        let told = resolved(Profile::of(server), text, &root.join("deep"), places);
        told.map_err(|words| words.replace(&*root.to_string_lossy(), "<root>"))
    }

    #[test]
    fn the_environment_has_a_home_and_nothing_of_its_person() {
        let text = "{env:HOME}/a {env:PATH}b {env:} \n // {env:HOME}\n {env:c";
        let answer = told(ServerKind::Opencode, text).unwrap();
        assert_eq!(answer, "/me/a b {env:} \n // {env:HOME}\n {env:c");
        assert_eq!(
            told(ServerKind::Kilo, text).unwrap_err(),
            "environment references are not allowed in project config: \"{env:HOME}\""
        );
    }

    #[test]
    fn files_are_put_in_as_they_stand_in_a_string() {
        for server in ServerKind::ALL {
            assert_eq!(told(server, "<{file:../a.txt}>").unwrap(), "<one\\n\\\"{file:a.txt}\\\">");
            let missing = told(server, "{file:./b.txt}").unwrap_err();
            assert_eq!(missing, "bad file reference: \"{file:./b.txt}\" <root>/deep/b.txt does not exist");
            assert_eq!(told(server, "  // {file:b.txt}").unwrap(), "  // {file:b.txt}");
        }
        assert!(told(ServerKind::Kilo, "{file:/etc}").unwrap_err().starts_with("blocked file reference"));
        assert_eq!(told(ServerKind::Opencode, "{file:/etc}").unwrap(), "");
    }
}
