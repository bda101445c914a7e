//! All the folders in which agents work: the server's own, and those of other repositories that clients name. Each
//! keeps its own states.

use super::{Project, Workspace};
use crate::world::{FileChange, Footing};
use std::path::Path;

/// The server's own folder, and the others.
#[derive(Debug)]
pub(crate) struct Grounds {
    own: Workspace,
    others: Vec<Workspace>,
}

impl Grounds {
    pub(crate) fn new(own: Workspace) -> Self {
        Self { own, others: Vec::new() }
    }

    /// The folder of the server.
    pub(crate) fn own(&self) -> &Workspace {
        &self.own
    }

    /// The one to which a path belongs: the nearest above it. What belongs to none is the server's.
    pub(crate) fn of(&mut self, path: &str) -> &mut Workspace {
        let depth = |ground: &Workspace| {
            Path::new(path).starts_with(ground.root()).then(|| ground.root().components().count())
        };
        let own = depth(&self.own);
        match self.others.iter_mut().max_by_key(|ground| depth(ground)) {
            Some(other) if depth(other) > own => other,
            _ => &mut self.own,
        }
    }

    /// Is a folder there, and to which project does it belong? Of a repository where nobody may go nothing is known. What
    /// belongs to that of the server's own folder is known already.
    pub(crate) fn look(&mut self, folder: &str, mark: &str) -> (Footing, Option<Project>) {
        let path = Path::new(folder);
        if !path.is_dir() {
            let is_on_file = path.ancestors().find(|above| above.exists()).is_some_and(Path::is_file);
            return (if is_on_file { Footing::OnFile } else { Footing::Nowhere }, None);
        }
        let project = Some(Project::of(path, mark)).filter(|project| project.is_repository);
        (Footing::There, project.filter(|project| self.holds(Path::new(&project.worktree))))
    }

    /// May an agent work there? Then there is a ground.
    fn holds(&mut self, worktree: &Path) -> bool {
        if worktree == self.own.root() || !self.own.lets_into(worktree) {
            return false;
        }
        if self.others.iter().all(|ground| ground.root() != worktree) {
            let Ok(ground) = self.own.neighbour(worktree) else { return false };
            // A folder that is named by way of a link is no place of its own.
            if ground.root() != worktree {
                return false;
            }
            self.others.push(ground);
        }
        true
    }

    /// What changed between two states, of whichever folder they are: equal states have one name.
    pub(crate) fn changes(&self, from: &str, to: &str) -> Vec<FileChange> {
        let known = self.others.iter().find(|ground| ground.has_kept(from) && ground.has_kept(to));
        known.unwrap_or(&self.own).changes(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with three repositories: the server's own, one in it, and another worktree beside it.
    fn place() -> (tempfile::TempDir, Grounds, String) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for git in ["own/.git/worktrees/tree", "own/nest/.git", "tree", "plain"] {
            fs::create_dir_all(root.join(git)).unwrap();
        }
        fs::write(root.join("own/.git/worktrees/tree/commondir"), "../..\n").unwrap();
        let linked = format!("gitdir: {}\n", root.join("own/.git/worktrees/tree").display());
        fs::write(root.join("tree/.git"), linked).unwrap();
        fs::write(root.join("own/nest/n.txt"), "n\n").unwrap();
        let own = Workspace::new(&root.join("own")).unwrap();
        (folder, Grounds::new(own), root.to_string_lossy().into_owned())
    }

    #[test]
    fn a_repository_in_the_folder_is_a_ground_of_its_own() {
        let (_folder, mut grounds, root) = place();
        let nest = format!("{root}/own/nest");
        let (footing, project) = grounds.look(&nest, "kilo");
        let project = project.unwrap();
        assert_eq!(footing, Footing::There);
        assert_eq!((project.worktree.as_str(), project.home.as_str()), (nest.as_str(), nest.as_str()));
        assert_eq!(grounds.of(&format!("{nest}/n.txt")).root(), Path::new(&nest));
        let own = format!("{root}/own");
        assert_eq!(grounds.of(&format!("{own}/nested")).root(), Path::new(&own));
        let before = grounds.of(&nest).snapshot(&nest);
        fs::write(format!("{nest}/n.txt"), "m\n").unwrap();
        let after = grounds.of(&nest).snapshot(&nest);
        let changed: Vec<_> =
            grounds.changes(&before, &after).into_iter().map(|change| change.path).collect();
        assert_eq!(changed, ["n.txt"]);
        assert_eq!(grounds.look(&format!("{root}/own"), "kilo"), (Footing::There, None));
        assert_eq!(grounds.look(&format!("{root}/nowhere"), "kilo"), (Footing::Nowhere, None));
        fs::write(format!("{root}/file"), "").unwrap();
        for below in ["file", "file/below"] {
            assert_eq!(grounds.look(&format!("{root}/{below}"), "kilo"), (Footing::OnFile, None));
        }
    }

    #[test]
    fn another_worktree_is_at_home_where_its_repository_is_and_known_only_where_one_may_go() {
        let (_folder, mut grounds, root) = place();
        let tree = format!("{root}/tree");
        assert_eq!(grounds.look(&tree, "kilo"), (Footing::There, None), "nobody may go there");
        grounds.own = Workspace::new(&Path::new(&root).join("own")).unwrap().and(Path::new(&root));
        let (_, project) = grounds.look(&tree, "kilo");
        let project = project.unwrap();
        assert_eq!((project.worktree, project.home), (tree.clone(), format!("{root}/own")));
        assert_eq!(grounds.of(&tree).root(), Path::new(&tree));
        assert_eq!(grounds.look(&format!("{root}/plain"), "kilo"), (Footing::There, None));
    }
}
