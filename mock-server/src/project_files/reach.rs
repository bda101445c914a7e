//! Where a server looks for the files about a folder: in it, and in those above it, up to the top of its repository.

use crate::workspace::Project;
use fixtures::ServerKind;
use std::path::{Path, PathBuf};

/// No file has such a path.
const NOWHERE: &str = "\0";

/// The folders in which it looks.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// From the folder up; none where the server may not go.
    folders: Vec<PathBuf>,
    /// The same folders where the repository is at home, for a folder of another worktree.
    at_home: Vec<PathBuf>,
}

impl Reach {
    /// Those for a folder of this project, as far as the server may go.
    pub(crate) fn of(
        server: ServerKind,
        folder: &Path,
        project: &Project,
        may_go: impl Fn(&Path) -> bool,
    ) -> Self {
        let top = Path::new(&project.worktree);
        let below = folder.strip_prefix(top).ok().filter(|_| project.is_repository);
        let may_look = |at: &Path| may_go(at) && (below.is_none() || at.starts_with(top));
        let folders = folder.ancestors().take_while(|at| may_look(at)).map(Path::to_path_buf).collect();
        // One of the servers looks there as well.
        let home = Path::new(&project.home);
        let is_elsewhere = server == ServerKind::Kilo && home != top && may_go(home);
        let at_home = below.filter(|_| is_elsewhere).map(|below| {
            below
                .ancestors()
                .map(|way| if way == Path::new("") { home.to_path_buf() } else { home.join(way) })
        });
        Self { folders, at_home: at_home.into_iter().flatten().collect() }
    }

    /// The folder that the files are about; nowhere if the server may not go there.
    pub(super) fn folder(&self) -> &Path {
        self.folders.first().map_or(Path::new(NOWHERE), PathBuf::as_path)
    }

    /// The topmost of them.
    pub(super) fn top(&self) -> &Path {
        self.folders.last().map_or(Path::new(NOWHERE), PathBuf::as_path)
    }

    /// From the folder up.
    pub(super) fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// From the top down.
    pub(super) fn downwards(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().rev().map(PathBuf::as_path)
    }

    /// Those at the repository's home, from the folder up.
    pub(super) fn upwards_at_home(&self) -> impl Iterator<Item = &Path> {
        self.at_home.iter().map(PathBuf::as_path)
    }
}

#[cfg(test)]
impl Reach {
    /// A folder, and nothing above it.
    pub(crate) fn only(folder: &Path) -> Self {
        Self { folders: vec![folder.to_path_buf()], at_home: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(worktree: &str, home: &str, is_repository: bool) -> Project {
        Project { id: "p".to_owned(), worktree: worktree.to_owned(), home: home.to_owned(), is_repository }
    }

    fn reach(server: ServerKind, folder: &str, project: &Project) -> (Vec<String>, Vec<String>) {
        let reach = Reach::of(server, Path::new(folder), project, |to| to.starts_with("/may"));
        let told = |path: &Path| path.to_string_lossy().into_owned();
        (reach.upwards().map(told).collect(), reach.upwards_at_home().map(told).collect())
    }

    #[test]
    fn it_ends_at_the_top_of_the_repository_or_where_the_server_may_not_go() {
        let own = project("/may/own", "/may/own", true);
        let none = Vec::<String>::new();
        for server in [ServerKind::Kilo, ServerKind::Opencode] {
            let (folders, home) = reach(server, "/may/own/a/b", &own);
            assert_eq!(folders, ["/may/own/a/b", "/may/own/a", "/may/own"]);
            assert_eq!(home, none);
            assert_eq!(reach(server, "/may/own", &own).0, ["/may/own"]);
            assert_eq!(
                reach(server, "/may/x/y", &project("/", "/", false)).0,
                ["/may/x/y", "/may/x", "/may"]
            );
            assert_eq!(reach(server, "/not/x", &project("/", "/", false)).0, none);
        }
    }

    #[test]
    fn one_server_looks_at_home_as_well() {
        let tree = project("/may/tree", "/may/own", true);
        let at_home = ["/may/own/a", "/may/own"].map(str::to_owned).to_vec();
        assert_eq!(reach(ServerKind::Kilo, "/may/tree/a", &tree).1, at_home);
        assert_eq!(reach(ServerKind::Opencode, "/may/tree/a", &tree).1, Vec::<String>::new());
        assert_eq!(
            reach(ServerKind::Kilo, "/may/tree/a", &project("/may/tree", "/not", true)).1,
            Vec::<String>::new()
        );
    }
}
