//! `--extra packages`: the packages of this machine are installed from their files, as users would who have no registry,
//! and their command is used.

use super::{NAME, VERSION, here, pack};
use crate::outcome::Outcome;
use crate::step;
use std::fs;
use std::path::{Path, PathBuf};

/// What the installed command is to do: it says its version, and it judges a case.
const USES: [&[&str]; 2] =
    [&["--version"], &["check", "--case", "turn/write-allowed-once", "--server", "kilo"]];

pub(crate) fn run(root: &Path) -> Outcome {
    let built = step::run(root, &["cargo", "build", "--quiet", "--package", "cli"], &[]);
    if built != Outcome::Holds {
        return built;
    }
    match packed(root) {
        Ok(folder) => Outcome::of_all([npm(root, &folder), pip(root, &folder)]),
        Err(why) => Outcome::Fails(why),
    }
}

/// The program that was just built, packed in a fresh folder.
fn packed(root: &Path) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("failed to find the own program: {error}"))?;
    let folder = root.join("target/packages");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("failed to empty {}: {error}", folder.display()))?;
    }
    pack(&own.with_file_name("standin"), here()?, root, &folder)?;
    Ok(folder)
}

fn npm(root: &Path, folder: &Path) -> Outcome {
    let place = folder.join("with-npm");
    if let Err(error) = fs::create_dir_all(&place) {
        return Outcome::Untestable(format!("failed to make {}: {error}", place.display()));
    }
    let Ok(platform) = here() else {
        return Outcome::Untestable("nothing is packed for this machine".into());
    };
    let (system, processor) = platform.node;
    let of_platform = folder.join(format!("{NAME}-{system}-{processor}-{VERSION}.tgz"));
    let launcher = folder.join(format!("{NAME}-{VERSION}.tgz"));
    let [place, of_platform, launcher] =
        [&place, &of_platform, &launcher].map(|path| path.display().to_string());
    // The other platforms' packages are nowhere, and are optional.
    let install = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        &place,
        &of_platform,
        &launcher,
    ];
    used(root, &[&install], &format!("{place}/node_modules/.bin/standin"))
}

fn pip(root: &Path, folder: &Path) -> Outcome {
    let Ok(platform) = here() else {
        return Outcome::Untestable("nothing is packed for this machine".into());
    };
    let place = folder.join("with-pip").display().to_string();
    let wheel = format!("{}-{VERSION}-py3-none-{}.whl", NAME.replace('-', "_"), platform.wheel);
    let wheel = folder.join(wheel).display().to_string();
    let pip = format!("{place}/bin/pip");
    let make: &[&str] = &["python3", "-m", "venv", &place];
    used(root, &[make, &[&pip, "install", "--quiet", "--no-index", &wheel]], &format!("{place}/bin/standin"))
}

/// Each step needs the one before; then the command is used.
fn used(root: &Path, steps: &[&[&str]], command: &str) -> Outcome {
    let uses = USES.iter().map(|words| std::iter::once(command).chain(words.iter().copied()).collect());
    let lines: Vec<Vec<&str>> = steps.iter().map(|line| line.to_vec()).chain(uses).collect();
    let outcomes = lines.iter().map(|line| step::run(root, line, &[]));
    outcomes.into_iter().find(|outcome| *outcome != Outcome::Holds).unwrap_or(Outcome::Holds)
}
