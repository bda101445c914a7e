//! The machine as the user has set it up. The environment is read here, once, for everyone who starts real servers;
//! none of it reaches a server but the `PATH`.

use fixtures::redact::Secrets;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is taken from the environment.
#[derive(Clone)]
pub struct Machine {
    /// Where programs are found.
    pub path_env: OsString,
    /// What of the environment must not be recorded.
    pub secrets: Secrets,
    cache: PathBuf,
}

/// The program that runs.
pub(crate) fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("failed to find the program that runs: {error}"))
}

impl Machine {
    /// Looks at the environment.
    #[expect(clippy::disallowed_methods, reason = "this file owns the environment of the commands")]
    #[must_use]
    pub fn of_this_process() -> Self {
        let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
        let mut secrets = Secrets::default();
        secrets.add_environment(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        );
        Self {
            secrets,
            path_env: std::env::var_os("PATH").unwrap_or_default(),
            cache: cache.join("standin/real-servers"),
        }
    }

    /// Where the packages of the real servers are kept between runs, if nobody says otherwise.
    #[must_use]
    pub fn default_npm_dir(&self) -> PathBuf {
        self.cache.clone()
    }
}
