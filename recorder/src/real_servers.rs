//! Where the real servers, and clients of them, come from: npm packages, in a folder outside every repository.

use fixtures::ServerKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which release may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release<'a> {
    /// This version; it replaces another one that is installed.
    Exactly(&'a str),
    /// The one that is installed, whichever it is; the pinned one when there is none.
    Installed,
}

/// Why there is no real server.
#[derive(Debug, thiserror::Error)]
pub enum NpmError {
    /// The folder.
    #[error("failed to make {}: {source}", .folder.display())]
    Folder {
        /// As it was given.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// npm itself.
    #[error(
        "failed to run npm, which brings the real servers: {0}; install Node.js, or name the program (--bin)"
    )]
    NoNpm(#[source] std::io::Error),
    /// npm did not do it.
    #[error("npm could not install {what} in {}: {words}", .folder.display())]
    Install {
        /// Package and version.
        what: String,
        /// Where.
        folder: PathBuf,
        /// Its last words.
        words: String,
    },
    /// A package without its program.
    #[error("{package} is installed in {}, but has no program {}: delete the folder, or name another one",
        .folder.display(), .program.display())]
    NoProgram {
        /// The package.
        package: &'static str,
        /// Where it is installed.
        folder: PathBuf,
        /// What is missing.
        program: PathBuf,
    },
}

fn package(server: ServerKind) -> &'static str {
    match server {
        ServerKind::Kilo => "@kilocode/cli",
        ServerKind::Opencode => "opencode-ai",
    }
}

/// The server's program in `npm_dir`. What is missing is installed there; `installs` hears of it before, because it
/// takes a while.
pub fn program(
    server: ServerKind,
    npm_dir: &Path,
    release: Release<'_>,
    installs: impl FnOnce(&str),
) -> Result<PathBuf, NpmError> {
    // A program is started in another folder than this one.
    let npm_dir = &std::path::absolute(npm_dir).unwrap_or_else(|_| npm_dir.to_owned());
    let package = package(server);
    let installed = installed_version(&npm_dir.join("node_modules").join(package).join("package.json"));
    let (suffices, version) = match release {
        Release::Exactly(version) => (installed.as_deref() == Some(version), version),
        Release::Installed => (installed.is_some(), server.pinned_version()),
    };
    if !suffices {
        let what = format!("{package}@{version}");
        installs(&format!("installing {what} in {}", npm_dir.display()));
        install(what, npm_dir)?;
    }
    let program = npm_dir.join("node_modules/.bin").join(server.word());
    if program.exists() {
        return Ok(program);
    }
    Err(NpmError::NoProgram { package, folder: npm_dir.to_owned(), program })
}

/// The folder of this release of a package that is no server, below `npm_dir`; installed there when it is not.
pub fn library(
    package: &str,
    version: &str,
    npm_dir: &Path,
    installs: impl FnOnce(&str),
) -> Result<PathBuf, NpmError> {
    let npm_dir = &std::path::absolute(npm_dir).unwrap_or_else(|_| npm_dir.to_owned());
    let folder = npm_dir.join("node_modules").join(package);
    if installed_version(&folder.join("package.json")).as_deref() != Some(version) {
        let what = format!("{package}@{version}");
        installs(&format!("installing {what} in {}", npm_dir.display()));
        install(what, npm_dir)?;
    }
    Ok(folder)
}

fn installed_version(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

fn install(what: String, npm_dir: &Path) -> Result<(), NpmError> {
    let folder = || npm_dir.to_owned();
    std::fs::create_dir_all(npm_dir).map_err(|source| NpmError::Folder { folder: folder(), source })?;
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(npm_dir)
        .arg(&what)
        .stdin(Stdio::null())
        .output()
        .map_err(NpmError::NoNpm)?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.lines().rev().take(5).collect();
    let words = last.into_iter().rev().collect::<Vec<_>>().join(" | ");
    Err(NpmError::Install { what, folder: folder(), words })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as npm leaves it.
    fn installed(version: &str, program: bool) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("node_modules/opencode-ai");
        let programs = folder.path().join("node_modules/.bin");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::write(package.join("package.json"), format!("{{\"version\":\"{version}\"}}")).unwrap();
        if program {
            std::fs::write(programs.join("opencode"), "").unwrap();
        }
        folder
    }

    fn found(folder: &tempfile::TempDir, release: Release<'_>) -> Result<PathBuf, NpmError> {
        program(ServerKind::Opencode, folder.path(), release, |what| panic!("{what}"))
    }

    #[test]
    fn what_is_installed_is_found_without_npm() {
        let pinned = installed("1.18.33", true);
        let program = found(&pinned, Release::Exactly("1.18.33")).unwrap();
        assert_eq!(program, pinned.path().join("node_modules/.bin/opencode"));
        let older = installed("1.0.0", true);
        assert!(found(&older, Release::Installed).unwrap().starts_with(older.path()));
    }

    #[test]
    fn a_package_without_a_program_is_named() {
        let error = found(&installed("1.0.0", false), Release::Installed).unwrap_err().to_string();
        assert!(
            error.starts_with("opencode-ai is installed in ") && error.contains(".bin/opencode"),
            "{error}"
        );
    }
}
