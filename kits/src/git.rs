//! git, as the kits run it: with its own repository, and with nothing of the person's. A hook that runs a gate hands on
//! where the person's repository is; whoever believes that would write into it.

use std::process::Command;

/// What git takes from its environment about repositories and settings.
const OF_THE_PERSON: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

/// Takes everything of the person's away from a command.
pub(crate) fn alone(command: &mut Command) -> &mut Command {
    for name in OF_THE_PERSON {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C")
}

/// What git says, with these words; or why it does not.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let output = alone(command).output().map_err(|error| format!("git can't be run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
