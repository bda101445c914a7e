//! Where the real servers come from: npm packages of the pinned releases, in a folder outside the repository.

use fixtures::ServerKind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment, read once.
pub(crate) struct Machine {
    pub(crate) path_env: OsString,
    /// Names and values of all variables, for what must not be recorded.
    pub(crate) variables: Vec<(String, String)>,
    cache: PathBuf,
}

impl Machine {
    /// Looks at the environment.
    #[expect(clippy::disallowed_methods, reason = "the command centre reads the environment for everyone")]
    pub(crate) fn of_this_process() -> Self {
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
        Self {
            path_env: std::env::var_os("PATH").unwrap_or_default(),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            cache: cache.join("standin/real-servers"),
        }
    }

    /// Where the packages are kept between runs, if nobody says otherwise.
    pub(crate) fn default_npm_dir(&self) -> PathBuf {
        self.cache.clone()
    }
}

fn package(server: ServerKind) -> &'static str {
    match server {
        ServerKind::Kilo => "@kilocode/cli",
        ServerKind::Opencode => "opencode-ai",
    }
}

/// The server's program in `npm_dir`; its package is installed there if it is missing or of another release.
pub(crate) fn program(server: ServerKind, npm_dir: &Path) -> Result<PathBuf, String> {
    let package = package(server);
    let manifest = npm_dir.join("node_modules").join(package).join("package.json");
    if installed_version(&manifest).as_deref() != Some(server.pinned_version()) {
        install(&format!("{package}@{}", server.pinned_version()), npm_dir)?;
    }
    let program = npm_dir.join("node_modules/.bin").join(server.word());
    if program.exists() {
        Ok(program)
    } else {
        Err(format!("npm installed {package}, but there is no {}", program.display()))
    }
}

fn installed_version(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

fn install(what: &str, npm_dir: &Path) -> Result<(), String> {
    eprintln!("installing {what} in {}", npm_dir.display());
    std::fs::create_dir_all(npm_dir)
        .map_err(|error| format!("failed to make {}: {error}", npm_dir.display()))?;
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(npm_dir)
        .arg(what)
        .output()
        .map_err(|error| format!("failed to run npm, which brings the real servers: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.lines().rev().take(5).collect();
    Err(format!("npm could not install {what}: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | ")))
}
