//! Packages of npm: one a platform, which carries the program, and one that everybody installs, which finds it.

use super::archive::tar_gz;
use super::{ABOUT, LICENSE, NAME, PLATFORMS, Packed, Platform, VERSION};
use serde_json::{Map, Value, json};

/// The command of the package that everybody installs.
const LAUNCHER: &str = include_str!("launcher.js");

/// As npm names the package of a platform.
fn name_of(platform: Platform) -> String {
    let (system, processor) = platform.node;
    format!("{NAME}-{system}-{processor}")
}

fn file_of(name: &str) -> String {
    format!("{name}-{VERSION}.tgz")
}

/// The program for one platform.
pub(super) fn of_the_platform(
    program: &[u8],
    beside: &[Packed],
    platform: Platform,
) -> Result<(String, Vec<u8>), String> {
    let (name, (system, processor)) = (name_of(platform), platform.node);
    let manifest = json!({
        "name": name,
        "version": VERSION,
        "description": ABOUT,
        "license": LICENSE,
        "os": [system],
        "cpu": [processor],
        "preferUnplugged": true,
    });
    let own = [manifest_file(&manifest), Packed::program("bin/standin", program)];
    Ok((file_of(&name), tar_gz("package", own.iter().chain(beside))?))
}

/// What everybody installs: npm takes the package of the platform with it.
pub(super) fn launcher(beside: &[Packed]) -> Result<(String, Vec<u8>), String> {
    let of_platforms: Map<String, Value> =
        PLATFORMS.iter().map(|platform| (name_of(*platform), json!(VERSION))).collect();
    let manifest = json!({
        "name": NAME,
        "version": VERSION,
        "description": ABOUT,
        "license": LICENSE,
        "bin": {"standin": "bin/standin.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": of_platforms,
    });
    let command = Packed { runs: true, ..Packed::text("bin/standin.js", LAUNCHER) };
    let own = [manifest_file(&manifest), command];
    Ok((file_of(NAME), tar_gz("package", own.iter().chain(beside))?))
}

fn manifest_file(manifest: &Value) -> Packed {
    Packed::text("package.json", format!("{manifest:#}\n"))
}
