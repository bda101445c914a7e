//! Where a call wants to go, by the spelling of its path; links are the business of whoever opens it.

/// Where a call wants to go, by the spelling of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Absolute, without detours.
    pub(super) path: String,
    /// Absolute, as the call spells it.
    pub(super) given: String,
    /// Relative to the project's folder; empty for that itself.
    pub(super) relative: String,
}

impl Place {
    /// A call's path, as both servers join it to the directory and name it by the project's folder.
    pub(super) fn named(directory: &str, worktree: &str, given: &str) -> Self {
        let path = resolved(directory, given);
        let whole = if given.starts_with('/') { given.to_owned() } else { path.clone() };
        Self { relative: relative(worktree, &path), given: whole, path }
    }
}

/// The way from the directory to a path.
pub(in crate::world) fn relative(directory: &str, path: &str) -> String {
    let steps = |path: &str| -> Vec<String> {
        path.split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect()
    };
    let (from, to) = (steps(directory), steps(path));
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    up.chain(to[shared..].iter().cloned()).collect::<Vec<String>>().join("/")
}

/// The path relative to the directory, if it stays inside by its spelling.
pub(crate) fn inside(directory: &str, path: &str) -> Option<String> {
    let whole = resolved(directory, path);
    if whole == directory {
        return Some(String::new());
    }
    Some(whole.strip_prefix(directory)?.strip_prefix('/')?.to_owned())
}

/// The absolute path that is meant, by its spelling; links are the business of whoever opens it.
pub(crate) fn resolved(directory: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let mut parts = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{inside, relative};

    #[test]
    fn the_way_to_a_place_may_lead_up() {
        for (path, way) in [("/w/s/a", "a"), ("/w/s", ""), ("/w/x/y", "../x/y"), ("/etc", "../../etc")] {
            assert_eq!(relative("/w/s", path), way, "{path}");
        }
    }

    #[test]
    fn a_path_stays_inside_by_its_spelling() {
        assert_eq!(inside("/w", "/w/a/../b.txt").as_deref(), Some("b.txt"));
        assert_eq!(inside("/w", "a/./b").as_deref(), Some("a/b"));
        for whole in ["/w", "/w/", "a/..", "."] {
            assert_eq!(inside("/w", whole).as_deref(), Some(""), "{whole}");
        }
        for outside in ["/w/../x", "/wx/a", "../a", "/etc/passwd", "a/../..", "/"] {
            assert_eq!(inside("/w", outside), None, "{outside}");
        }
    }
}
