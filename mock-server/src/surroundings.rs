//! The machine around the sessions, for the world: what stands in the workspace, which programs there are, what the
//! server keeps in its home. Nothing outside of the workspace is shown, whatever folder a client names.

use crate::group::in_path;
use crate::shell;
use crate::workspace::{Branches, Workspace, git_says, leads_to, names_below};
use crate::world::{Browsed, PlaceFound, PlaceWish};
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The files whose patterns say what is ignored.
const PATTERN_FILES: &[&str] = &[".gitignore", ".ignore"];
/// Only its owner reads what is kept in a home.
const OWNER_ONLY: u32 = 0o600;

/// So long a port of the machine's own is waited for.
const PORT_PATIENCE: Duration = Duration::from_millis(500);

/// Does something listen there?
fn listens(port: u64) -> bool {
    let port = u16::try_from(port).ok();
    port.is_some_and(|port| {
        TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), PORT_PATIENCE).is_ok()
    })
}

impl Workspace {
    /// Does what the world wishes of the machine. Without a `home` nothing is kept.
    pub(crate) fn around(&mut self, wish: PlaceWish, home: Option<&Path>) -> PlaceFound {
        match wish {
            PlaceWish::Browse { folder, path, project } => {
                PlaceFound::Browsed(self.browse(Path::new(&folder), Path::new(&path), Path::new(&project)))
            }
            PlaceWish::Names { folder, project } => {
                PlaceFound::Names(self.names_below(Path::new(&folder), Path::new(&project)))
            }
            PlaceWish::Contents(folder) => PlaceFound::Contents(self.search(&folder, None)),
            PlaceWish::Since { branch: None, .. } => PlaceFound::Changes(self.since_commit()),
            PlaceWish::Since { branch: Some(branch), .. } => PlaceFound::Changes(self.since_branch(&branch)),
            PlaceWish::Branches { folder } => {
                let Branches { current, default } = Branches::of(Path::new(&folder));
                PlaceFound::Branches { current, default }
            }
            PlaceWish::Shells => PlaceFound::Shells(shells()),
            PlaceWish::Program { name, shells, folder } => PlaceFound::Program(match name {
                None => Some(shell::of(&shells)),
                Some(name) => program(&name, Path::new(&folder)),
            }),
            PlaceWish::Existing(paths) => {
                PlaceFound::Existing(paths.into_iter().filter(|path| self.holds(Path::new(path))).collect())
            }
            PlaceWish::Keep { path, content } => PlaceFound::Kept(match home {
                Some(home) => keep(home, &path, &content),
                None => Ok(()),
            }),
            PlaceWish::Write { path, content } => PlaceFound::Kept(self.write(&path, &content)),
            PlaceWish::ForgetAgent { name, folders, settings } => {
                PlaceFound::Forgotten(self.forget_agent(&name, &folders, &settings, home))
            }
            PlaceWish::MakeFolder(path) => PlaceFound::Kept(self.make_folder(&path)),
            PlaceWish::Git { folder, asks } => PlaceFound::Git(self.ask_git(Path::new(&folder), &asks)),
            PlaceWish::Formatters { folder, project, settings } => {
                PlaceFound::Formatters(self.formatters(Path::new(&folder), Path::new(&project), &settings))
            }
            PlaceWish::Formatted { path, has_mark } => PlaceFound::Formatted(self.formatted(&path, has_mark)),
            PlaceWish::Worktree(wish) => self.worktrees(wish, home).into(),
            PlaceWish::Market(wish) => PlaceFound::Market(self.market(wish, home)),
            PlaceWish::Port(port) => PlaceFound::Port(listens(port)),
        }
    }

    /// A place in the workspace or in the server's home.
    pub(crate) fn inside_or_at_home(&self, path: &str, home: Option<&Path>) -> Result<PathBuf, String> {
        let home = home.and_then(|home| home.canonicalize().ok());
        // A step back may lead elsewhere as soon as the folder is there that it leaves.
        let climbs = Path::new(path).components().any(|part| part == Component::ParentDir);
        match home {
            Some(home) if !climbs && leads_to(path)?.starts_with(&home) => Ok(PathBuf::from(path)),
            _ => self.inside(path),
        }
    }

    /// Of what lies outside git says nothing.
    fn ask_git(&self, folder: &Path, asks: &[Vec<String>]) -> Option<Vec<String>> {
        let real = folder.canonicalize().ok().filter(|real| real.is_dir())?;
        if !real.starts_with(self.root()) {
            return Some(vec![String::new(); asks.len()]);
        }
        asks.iter().map(|ask| git_says(&real, ask)).collect()
    }

    fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| real.starts_with(self.root()))
    }

    fn browse(&self, folder: &Path, path: &Path, project: &Path) -> Browsed {
        let (real, folder) = match (path.canonicalize(), folder.canonicalize()) {
            (Ok(real), Ok(folder)) => (real, folder),
            (Err(error), _)
                if error.kind() != ErrorKind::NotFound && error.kind() != ErrorKind::NotADirectory =>
            {
                return Browsed::Nothing;
            }
            _ => return Browsed::Nothing,
        };
        if !real.starts_with(&folder) || !real.starts_with(self.root()) {
            return Browsed::Outside;
        }
        match fs::metadata(&real) {
            Ok(place) if place.is_dir() => {
                Browsed::Folder { entries: entries_of(&real), patterns: patterns_of(project) }
            }
            Ok(place) if place.is_file() => fs::read(&real).map_or(Browsed::Other, Browsed::File),
            _ => Browsed::Other,
        }
    }

    /// The files below a folder, and the folders in which they lie: one that holds none has no name. `None` without
    /// the folder.
    fn names_below(&self, folder: &Path, project: &Path) -> Option<Vec<String>> {
        let real = folder.canonicalize().ok()?;
        if !real.starts_with(self.root()) {
            return Some(Vec::new());
        }
        let mut names = names_below(&real, project);
        let parents: BTreeSet<String> = names
            .iter()
            .map(|name| {
                name.rsplit_once('/').map_or_else(|| "/".to_owned(), |(parent, _)| format!("{parent}/"))
            })
            .collect();
        names.extend(parents);
        // As the servers' index has them: each folder's files together, those whose lines it does not know behind all
        // others, and then the folders.
        names.sort_by_cached_key(|name| {
            let (folder, own) = name.rsplit_once('/').unwrap_or(("", name));
            let has_lines =
                || !is_known_binary(own) && real.join(name).metadata().is_ok_and(|file| file.len() > 0);
            (name.ends_with('/'), !name.ends_with('/') && !has_lines(), folder.to_owned(), own.to_owned())
        });
        Some(names)
    }
}

/// Files that have no lines, by their names.
fn is_known_binary(name: &str) -> bool {
    const ENDINGS: &str = " png jpg jpeg gif bmp ico webp tiff tif avif heic heif psd icns mp4 avi mov wmv mkv mp3 wav \
        flac ogg m4a aac webm flv mpg mpeg wma opus zip tar gz bz2 xz 7z rar zst lz4 lzma cab deb rpm apk dmg msi iso \
        nupkg whl egg exe dll so dylib o a lib bin elf pdf doc docx xls xlsx ppt pptx db sqlite sqlite3 mdb ttf otf \
        woff woff2 eot class pyc pyo wasm dex jar war ";
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&format!(" {ending} ")))
}

fn entries_of(folder: &Path) -> Vec<(String, bool)> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    found
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok().filter(|kind| kind.is_dir() || kind.is_file())?;
            Some((entry.file_name().to_string_lossy().into_owned(), kind.is_dir()))
        })
        .collect()
}

fn patterns_of(project: &Path) -> String {
    let texts = PATTERN_FILES.iter().filter_map(|name| fs::read_to_string(project.join(name)).ok());
    texts.map(|text| format!("{text}\n")).collect()
}

/// The shells that are listed and there.
fn shells() -> Vec<String> {
    let listed = fs::read_to_string("/etc/shells").unwrap_or_default();
    let paths = listed.lines().map(str::trim).filter(|line| line.starts_with('/'));
    paths.filter(|path| Path::new(path).exists()).map(str::to_owned).collect()
}

/// The program, if it is there; a path may be seen from the folder.
fn program(name: &str, folder: &Path) -> Option<String> {
    let is_there = if name.contains('/') { folder.join(name).is_file() } else { in_path(name).is_some() };
    is_there.then(|| name.to_owned())
}

/// Writes a file below the home; a path that leaves it is a mistake.
fn keep(home: &Path, path: &str, content: &str) -> Result<(), String> {
    let relative = Path::new(path);
    let file = home.join(relative);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{path} does not stand in the home {}", home.display()));
    }
    let failed = |error: std::io::Error| format!("failed to keep {}: {error}", file.display());
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    let mut open =
        options.write(true).create(true).truncate(true).mode(OWNER_ONLY).open(&file).map_err(failed)?;
    open.write_all(content.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn place() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/a.txt"), "a").unwrap();
        fs::write(folder.path().join("out.txt"), "x").unwrap();
        let workspace = Workspace::new(&folder.path().join("inner")).unwrap();
        (folder, workspace)
    }

    #[test]
    fn nothing_outside_is_shown_whatever_folder_is_named() {
        let (_folder, mut workspace) = place();
        let root = workspace.root().to_string_lossy().into_owned();
        let parent = workspace.root().parent().unwrap().to_string_lossy().into_owned();
        let mut look = |folder: &str, path: &str| {
            let wish = PlaceWish::Browse { folder: folder.into(), path: path.into(), project: root.clone() };
            workspace.around(wish, None)
        };
        assert_eq!(look(&root, &format!("{root}/a.txt")), PlaceFound::Browsed(Browsed::File(b"a".to_vec())));
        assert_eq!(look(&root, &format!("{parent}/out.txt")), PlaceFound::Browsed(Browsed::Outside));
        assert_eq!(look(&parent, &format!("{parent}/out.txt")), PlaceFound::Browsed(Browsed::Outside));
        assert_eq!(look(&root, &format!("{root}/b.txt")), PlaceFound::Browsed(Browsed::Nothing));
        let names = PlaceWish::Names { folder: parent, project: root };
        assert_eq!(workspace.around(names, None), PlaceFound::Names(Some(Vec::new())));
    }

    #[test]
    fn links_are_not_listed_and_lead_nowhere_outside() {
        let (folder, mut workspace) = place();
        let root = workspace.root().to_string_lossy().into_owned();
        std::os::unix::fs::symlink(folder.path().join("out.txt"), workspace.root().join("link")).unwrap();
        let mut look = |path: &str| {
            let wish = PlaceWish::Browse { folder: root.clone(), path: path.into(), project: root.clone() };
            workspace.around(wish, None)
        };
        assert_eq!(look(&format!("{root}/link")), PlaceFound::Browsed(Browsed::Outside));
        let PlaceFound::Browsed(Browsed::Folder { mut entries, .. }) = look(&root) else { panic!() };
        entries.sort();
        assert_eq!(entries, [("a.txt".to_owned(), false)]);
    }

    #[test]
    fn what_is_kept_is_for_its_owner_and_stays_in_the_home() {
        let (_folder, mut workspace) = place();
        let home = tempfile::tempdir().unwrap();
        let mut keep = |path: &str| {
            let wish = PlaceWish::Keep { path: path.into(), content: "{}".into() };
            workspace.around(wish, Some(home.path()))
        };
        assert_eq!(keep(".local/share/x/auth.json"), PlaceFound::Kept(Ok(())));
        let file = fs::metadata(home.path().join(".local/share/x/auth.json")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, OWNER_ONLY);
        assert!(matches!(keep("../auth.json"), PlaceFound::Kept(Err(_))));
        assert!(matches!(keep("/tmp/auth.json"), PlaceFound::Kept(Err(_))));
    }
}
