//! What the marketplace puts on the disk, for the world: the files of agents and the folders of skills, in the project and in
//! the home. Skills come as archives, which the real servers unpack with the machine's own `tar`, and so does this.

use crate::workspace::Workspace;
use crate::world::{MarketFound, MarketWish};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A skill is a folder with this file.
const SKILL: &str = "SKILL.md";
const THERE: &str = "Skill already installed. Uninstall it before installing again.";

impl Workspace {
    /// Does what the world wishes of the marketplace.
    pub(crate) fn market(&self, wish: MarketWish, home: Option<&Path>) -> MarketFound {
        match wish {
            MarketWish::Agents(folders) => MarketFound::Agents(folders.map(|folder| {
                self.inside_or_at_home(&folder, home).map(|folder| agents(&folder)).unwrap_or_default()
            })),
            MarketWish::Agent { path, .. } if Path::new(&path).exists() => {
                MarketFound::Not("Agent already installed. Remove it first.".to_owned())
            }
            MarketWish::Agent { path, content } => match self.inside_or_at_home(&path, home) {
                Ok(file) => done(write(&file, content.as_bytes()), Some(path)),
                Err(why) => MarketFound::Not(why),
            },
            MarketWish::Skill { folder, id, address } => match self.inside_or_at_home(&folder, home) {
                Ok(folder) => match unpack(&folder, &id, &address) {
                    Ok(file) => MarketFound::Done(Some(file.to_string_lossy().into_owned())),
                    Err(why) => MarketFound::Not(why),
                },
                Err(why) => MarketFound::Not(why),
            },
            MarketWish::Remove(path) => match self.inside_or_at_home(&path, home) {
                Ok(place) => done(remove(&place), None),
                Err(why) => MarketFound::Not(why),
            },
        }
    }
}

fn done(result: std::io::Result<()>, file: Option<String>) -> MarketFound {
    match result {
        Ok(()) => MarketFound::Done(file),
        Err(error) => MarketFound::Not(error.to_string()),
    }
}

fn agents(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect();
    names.sort_unstable();
    names
}

fn write(file: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, content)
}

fn remove(place: &Path) -> std::io::Result<()> {
    match place.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
    }
}

/// The file of the skill. Nothing is left of one that is none.
fn unpack(folder: &Path, id: &str, address: &str) -> Result<PathBuf, String> {
    let skill = folder.join(id);
    if skill.exists() {
        return Err(THERE.to_owned());
    }
    let archive = archive(address)?;
    let trouble = |error: std::io::Error| format!("Error: {error}");
    fs::create_dir_all(folder).map_err(trouble)?;
    let staging =
        tempfile::Builder::new().prefix(&format!(".staging-{id}-")).tempdir_in(folder).map_err(trouble)?;
    let packed = tempfile::tempdir().map_err(trouble)?;
    let name = format!("kilo-skill-{id}.tar.gz");
    fs::write(packed.path().join(&name), archive).map_err(trouble)?;
    run_tar(packed.path(), &name, staging.path())?;
    if leads_out(staging.path(), staging.path()) {
        return Err("Skill archive contains unsafe paths".to_owned());
    }
    if !staging.path().join(SKILL).exists() {
        return Err("Extracted archive missing SKILL.md".to_owned());
    }
    fs::rename(staging.path(), &skill)
        .map_err(|error| if skill.exists() { THERE.to_owned() } else { trouble(error) })?;
    Ok(skill.join(SKILL))
}

/// The bytes at an address that holds them. What lies elsewhere is out of reach.
fn archive(address: &str) -> Result<Vec<u8>, String> {
    if let Some(rest) = address.strip_prefix("data:") {
        let held = rest.split_once(',').and_then(|(kind, held)| kind.strip_suffix(";base64").map(|_| held));
        let held = held.ok_or("Unsupported skill archive data URL")?;
        // As lenient as the servers' language: what is no letter of it is passed over.
        let letters: String =
            held.chars().filter(|letter| letter.is_ascii_alphanumeric() || "+/".contains(*letter)).collect();
        let whole = letters.len() - usize::from(letters.len() % 4 == 1);
        let padded = format!("{}{}", &letters[..whole], "=".repeat((4 - whole % 4) % 4));
        return STANDARD.decode(padded).map_err(|error| error.to_string());
    }
    match reqwest::Url::parse(address) {
        Ok(_) => Err("Error: Unable to connect. Is the computer able to access the url?".to_owned()),
        Err(_) => Err("TypeError [ERR_INVALID_URL]: fetch() URL is invalid".to_owned()),
    }
}

fn run_tar(folder: &Path, name: &str, into: &Path) -> Result<(), String> {
    let into = into.to_string_lossy();
    let words = ["-xzf", name, "--strip-components=1", "-C", &into];
    let done = Command::new("tar").args(words).current_dir(folder).stdin(Stdio::null()).output();
    let done = done.map_err(|error| format!("Error: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    let code = done.status.code().unwrap_or(-1);
    let said = String::from_utf8_lossy(&done.stderr);
    let line = words.join(" ");
    Err(format!("ProcessRunFailedError: Command failed with code {code}: tar {line}\n{}", said.trim()))
}

/// Does a link below the folder lead out of it?
fn leads_out(root: &Path, folder: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return true };
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => {
            entry.path().canonicalize().map_or(true, |real| !real.starts_with(&root))
        }
        Ok(kind) if kind.is_dir() => leads_out(&root, &entry.path()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace, and a place outside of it.
    fn place() -> (tempfile::TempDir, Workspace) {
        let machine = tempfile::tempdir().unwrap();
        fs::create_dir(machine.path().join("work")).unwrap();
        fs::create_dir(machine.path().join("home")).unwrap();
        let workspace = Workspace::new(&machine.path().join("work").canonicalize().unwrap()).unwrap();
        (machine, workspace)
    }

    /// An archive of what a line of the shell leaves in a folder.
    fn packed(line: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("mkdir top && cd top && {line} && cd .. && tar -czf a.tgz top");
        assert!(
            Command::new("sh").args(["-c", &line]).current_dir(folder.path()).status().unwrap().success()
        );
        let bytes = fs::read(folder.path().join("a.tgz")).unwrap();
        format!("data:application/gzip;base64,{}", STANDARD.encode(bytes))
    }

    fn install(workspace: &Workspace, folder: &Path, id: &str, address: &str) -> MarketFound {
        let folder = folder.to_string_lossy().into_owned();
        workspace.market(MarketWish::Skill { folder, id: id.to_owned(), address: address.to_owned() }, None)
    }

    #[test]
    fn a_skill_is_unpacked_once_and_goes_whole() {
        let (machine, workspace) = place();
        let folder = machine.path().join("work/.kilo/skills");
        let archive = packed("echo x > SKILL.md && mkdir deep && echo y > deep/y.txt");
        let file = folder.join("one/SKILL.md").to_string_lossy().into_owned();
        assert_eq!(install(&workspace, &folder, "one", &archive), MarketFound::Done(Some(file)));
        assert_eq!(fs::read_to_string(folder.join("one/deep/y.txt")).unwrap(), "y\n");
        assert_eq!(install(&workspace, &folder, "one", &archive), MarketFound::Not(THERE.to_owned()));
        let gone = MarketWish::Remove(folder.join("one").to_string_lossy().into_owned());
        assert_eq!(workspace.market(gone, None), MarketFound::Done(None));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left of it");
    }

    #[test]
    fn what_is_no_skill_leaves_nothing() {
        let (machine, workspace) = place();
        let folder = machine.path().join("work/.kilo/skills");
        let why = |address: &str| match install(&workspace, &folder, "one", address) {
            MarketFound::Not(why) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why("data:x"), "Unsupported skill archive data URL");
        assert_eq!(why("nonsense"), "TypeError [ERR_INVALID_URL]: fetch() URL is invalid");
        assert_eq!(
            why("http://127.0.0.1:9/x"),
            "Error: Unable to connect. Is the computer able to access the url?"
        );
        assert_eq!(why(&packed("echo x > other.md")), "Extracted archive missing SKILL.md");
        let out = packed("echo x > SKILL.md && ln -s / out");
        assert_eq!(why(&out), "Skill archive contains unsafe paths");
        let broken = why("data:a/b;base64,AAAA");
        assert!(
            broken.starts_with("ProcessRunFailedError: Command failed with code 2: tar -xzf "),
            "{broken}"
        );
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_put_where_a_link_leads_out() {
        let (machine, workspace) = place();
        let outside = tempfile::tempdir().unwrap();
        let work = machine.path().join("work");
        std::os::unix::fs::symlink(outside.path(), work.join(".kilo")).unwrap();
        let path = work.join(".kilo/agents/a.md").to_string_lossy().into_owned();
        let home = machine.path().join("home");
        let wish = MarketWish::Agent { path, content: "x".to_owned() };
        assert!(matches!(workspace.market(wish, Some(&home)), MarketFound::Not(_)));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        let path = home.join(".config/kilo/agents/a.md").to_string_lossy().into_owned();
        fs::create_dir_all(home.join(".config/kilo/agents")).unwrap();
        let dangling = home.join(".config/kilo/agents/dangling.md");
        std::os::unix::fs::symlink(outside.path().join("new.md"), &dangling).unwrap();
        let path_of = dangling.to_string_lossy().into_owned();
        let wish = MarketWish::Agent { path: path_of, content: "x".to_owned() };
        assert!(matches!(workspace.market(wish, Some(&home)), MarketFound::Not(_)));
        fs::remove_file(dangling).unwrap();
        let climbing = home.join("new/../../../out.md").to_string_lossy().into_owned();
        let wish = MarketWish::Agent { path: climbing, content: "x".to_owned() };
        assert!(matches!(workspace.market(wish, Some(&home)), MarketFound::Not(_)));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        let wish = |content: &str| MarketWish::Agent { path: path.clone(), content: content.to_owned() };
        assert_eq!(workspace.market(wish("x"), Some(&home)), MarketFound::Done(Some(path.clone())));
        assert!(matches!(workspace.market(wish("y"), Some(&home)), MarketFound::Not(_)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        let wish =
            MarketWish::Agents([String::new(), home.join(".config/kilo/agents").to_string_lossy().into()]);
        assert_eq!(workspace.market(wish, Some(&home)), MarketFound::Agents([vec![], vec!["a".to_owned()]]));
    }
}
