//! Rule: a command of xtask that the documentation shows exists. Readers paste what they see.

use super::Finding;
use super::markdown;
use super::repo::Repo;

const START: &str = "cargo xtask ";

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.texts(".md") {
        for line in markdown::lines(text).into_iter().filter(|line| line.is_code) {
            for name in
                commands(line.text).filter(|name| !repo.xtask_commands.iter().any(|known| known == name))
            {
                let wrong = format!("there is no command `{START}{name}`");
                let mend = format!("the commands are: {}", repo.xtask_commands.join(", "));
                findings.push(Finding::at(path, line.number, wrong, mend));
            }
        }
    }
    findings
}

/// The words behind each `cargo xtask`; an option or a placeholder there is no command.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let after = line.match_indices(START).map(|(at, _)| line[at + START.len()..].trim_start());
    let words = after.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next());
    words.flatten().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::told;

    #[test]
    fn a_command_that_does_not_exist() {
        let text = "cargo xtask gone\n```sh\ncargo xtask tidy && cargo xtask tset --extra node\n\
             cargo xtask --help\ncargo xtask COMMAND\n```\n";
        assert_eq!(
            told(check, &[("README.md", text)]),
            ["README.md:3: there is no command `cargo xtask tset`; the commands are: test, tidy"]
        );
    }
}
