//! In which shell a line runs, and how that is told the line.

use crate::group::in_path;
use crate::world::{ShellLine, ShellWish};
use std::path::Path;

/// Agents are not let into these: they write lines for others.
const NOT_FOR_AGENTS: &[&str] = &["fish", "nu"];

/// The one that is wished for first, if it is there, or else the machine's, by its whole path: a shell's own messages
/// begin with that.
pub(crate) fn of(wishes: &[ShellWish]) -> String {
    let is_file = |path: &str| Path::new(path).is_absolute() && Path::new(path).is_file();
    let found = match wishes.first() {
        Some(ShellWish::Settings(name)) if !name.contains('/') => in_path(name),
        Some(ShellWish::Settings(path) | ShellWish::Environment(path)) => is_file(path).then(|| path.clone()),
        None => None,
    };
    found.or_else(|| in_path("bash")).unwrap_or_else(|| "/bin/sh".to_owned())
}

/// The shell of a line.
pub(super) fn for_line(line: &ShellLine) -> String {
    let shell = of(&line.shells);
    let is_persons = line.shell_name.is_some();
    if !is_persons && NOT_FOR_AGENTS.contains(&name_of(&shell)) { of(&[]) } else { shell }
}

/// What the environment names, whether it is there or not.
pub(super) fn named(line: &ShellLine) -> Option<&str> {
    line.shells.iter().find_map(|wish| match wish {
        ShellWish::Environment(path) => Some(path.as_str()),
        ShellWish::Settings(_) => None,
    })
}

fn name_of(shell: &str) -> &str {
    shell.rsplit('/').next().unwrap_or_default()
}

/// What a shell is told. A person's line bash and zsh read twice, the first time between double quotes, in a login shell
/// that is called as the server is and whose first word is the folder; for bash it is the fifth line of a script.
pub(super) fn words(shell: &str, line: &ShellLine) -> Vec<String> {
    let quoted = serde_json::Value::from(line.line.as_str());
    let script = match (name_of(shell), &line.shell_name) {
        ("bash", Some(_)) => format!(
            "\nshopt -s expand_aliases\nif [ -f ~/.bashrc ]; then . ~/.bashrc >/dev/null 2>&1; fi\ncd -- \"$1\"\neval {quoted}\n"
        ),
        ("zsh", Some(_)) => format!(
            "\nfor own in ~/.zshenv \"${{ZDOTDIR:-$HOME}}/.zshrc\"; do [[ -f $own ]] && source $own >/dev/null 2>&1; done\n\
             cd -- \"$1\"\neval {quoted}\n"
        ),
        _ => return vec!["-c".to_owned(), line.line.clone()],
    };
    let name = line.shell_name.clone().unwrap_or_default();
    vec!["-l".to_owned(), "-c".to_owned(), script, name, line.directory.clone()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_before_the_environment_and_what_is_not_there_is_passed_over() {
        let settings = |name: &str| ShellWish::Settings(name.to_owned());
        let environment = |path: &str| ShellWish::Environment(path.to_owned());
        let bash = of(&[]);
        assert!(bash.ends_with("/bash"), "{bash}");
        assert_eq!(of(&[environment("/bin/sh")]), "/bin/sh");
        assert_eq!(of(&[settings("sh"), environment("/bin/bash")]), in_path("sh").unwrap());
        for nowhere in ["/nowhere/sh", "sh"] {
            assert_eq!(of(&[environment(nowhere)]), bash, "{nowhere}");
        }
        assert_eq!(of(&[settings("nosuch"), environment("/bin/sh")]), bash);
    }
}
