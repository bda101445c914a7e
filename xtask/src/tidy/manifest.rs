//! The dependencies that the `Cargo.toml` files of the workspace name, with the lines they stand on.

use super::repo::Repo;

/// The manifest of the workspace.
pub(super) const ROOT: &str = "Cargo.toml";

/// One entry of a table of dependencies.
#[derive(Debug)]
pub(super) struct Dependency {
    /// The table, such as `dependencies` or `target.'cfg(unix)'.dev-dependencies`.
    pub(super) section: String,
    /// The crate, also where it is used under another name.
    pub(super) package: String,
    /// 1-based; 1 where it could not be found.
    pub(super) line: usize,
    /// What stands behind the `=`.
    pub(super) value: toml::Value,
}

impl Dependency {
    /// It has this key, such as `git` in `{ git = "…" }`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }
}

/// One manifest of the workspace.
#[derive(Debug)]
pub(super) struct Manifest {
    /// Its path from the root.
    pub(super) file: String,
    /// The name of the package.
    pub(super) package: String,
    /// Its dependencies of every kind.
    pub(super) dependencies: Vec<Dependency>,
}

/// The manifests of the members. A member without one, or with one that can't be parsed, is cargo's to report.
pub(super) fn members(repo: &Repo) -> Vec<Manifest> {
    let Some(root) = table(repo, ROOT) else { return Vec::new() };
    let members = root.get("workspace").and_then(|workspace| workspace.get("members")?.as_array().cloned());
    let folders = members.unwrap_or_default();
    let names = folders.iter().filter_map(toml::Value::as_str);
    names.filter_map(|folder| member(repo, &format!("{folder}/Cargo.toml"))).collect()
}

/// The entries of `[workspace.dependencies]`.
pub(super) fn workspace_dependencies(repo: &Repo) -> Vec<Dependency> {
    let (Some(root), Some(text)) = (table(repo, ROOT), repo.text(ROOT)) else { return Vec::new() };
    let Some(workspace) = root.get("workspace") else { return Vec::new() };
    entries(text, "workspace.dependencies", workspace.get("dependencies"))
}

fn member(repo: &Repo, file: &str) -> Option<Manifest> {
    let (manifest, text) = (table(repo, file)?, repo.text(file)?);
    let package = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let mut dependencies = kinds(text, "", &manifest);
    for (target, tables) in manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten() {
        if let Some(tables) = tables.as_table() {
            dependencies.extend(kinds(text, &format!("target.'{target}'."), tables));
        }
    }
    Some(Manifest { file: file.to_owned(), package, dependencies })
}

fn kinds(text: &str, prefix: &str, tables: &toml::Table) -> Vec<Dependency> {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .into_iter()
        .flat_map(|kind| entries(text, &format!("{prefix}{kind}"), tables.get(kind)))
        .collect()
}

fn entries(text: &str, section: &str, table: Option<&toml::Value>) -> Vec<Dependency> {
    let entries = table.and_then(toml::Value::as_table).into_iter().flatten();
    let dependency = |(name, value): (&String, &toml::Value)| Dependency {
        section: section.to_owned(),
        package: value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned(),
        line: line_of(text, section, name),
        value: value.clone(),
    };
    entries.map(dependency).collect()
}

fn table(repo: &Repo, file: &str) -> Option<toml::Table> {
    repo.text(file)?.parse().ok()
}

/// The line of `name = …` in the section, or of `[section.name]`.
fn line_of(text: &str, section: &str, name: &str) -> usize {
    let own_section = format!("[{section}.{name}]");
    let mut inside = false;
    let found = text.lines().map(str::trim).position(|line| {
        if line.starts_with('[') {
            inside = line == format!("[{section}]");
            return line == own_section;
        }
        let key = line.split(['=', '.']).next().unwrap_or_default();
        inside && key.trim().trim_matches('"') == name
    });
    found.map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_dependency_is_read_with_its_line() {
        let member = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { package = \"d\", path = \"\" }\n\
             [dev-dependencies.e]\nversion = \"1\"\n[target.'cfg(unix)'.build-dependencies]\nf = \"1\"\n";
        let root = "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nb = \"1\"\n";
        let repo = Repo::of(&[(ROOT, root), ("a/Cargo.toml", member)]);
        let manifest = &members(&repo)[0];
        let read: Vec<_> =
            manifest.dependencies.iter().map(|d| (d.section.as_str(), d.package.as_str(), d.line)).collect();
        assert_eq!(
            read,
            [
                ("dependencies", "b", 4),
                ("dependencies", "d", 5),
                ("dev-dependencies", "e", 6),
                ("target.'cfg(unix)'.build-dependencies", "f", 9),
            ]
        );
        assert_eq!(workspace_dependencies(&repo)[0].line, 4);
    }
}
