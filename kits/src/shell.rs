//! Lines for the shell with words to fill in: adapters for systems that are commands.

use std::process::ExitStatus;

/// Each word in quotes: what people write may be anything. What has been filled in is not looked at again: it may read
/// `{folder}`.
pub(crate) fn filled(line: &str, words: &[(&'static str, String)]) -> String {
    let (mut done, mut rest) = (String::new(), line);
    while let Some(begin) = rest.find('{') {
        let (before, from) = rest.split_at(begin);
        done.push_str(before);
        let word = words.iter().find_map(|(name, value)| {
            let behind = from.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, behind))
        });
        rest = match word {
            Some((value, behind)) => {
                done.push_str(&format!("'{}'", value.replace('\'', "'\\''")));
                behind
            }
            None => {
                done.push('{');
                &from[1..]
            }
        };
    }
    done + rest
}

/// How a command ended, and the last of what it said: there most programs say why.
pub(crate) fn ended(status: ExitStatus, said: &str) -> String {
    const MOST: usize = 300;
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let words: String = last.chars().take(MOST).collect();
    let why = if words.is_empty() { words } else { format!(": {words}") };
    format!("the command ended with {status}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_one_word_of_the_shell() {
        let words = [("issue", "it's; rm -rf".to_owned()), ("phases", "a:b!".to_owned())];
        assert_eq!(filled("go {issue} {phases} {other}", &words), "go 'it'\\''s; rm -rf' 'a:b!' {other}");
    }

    #[test]
    fn what_has_been_filled_in_is_not_filled_again() {
        let words = [("issue", "{folder}{issue}".to_owned()), ("folder", "/a {issue} b".to_owned())];
        assert_eq!(
            filled("go {issue} in {folder}, {{issue}", &words),
            "go '{folder}{issue}' in '/a {issue} b', {'{folder}{issue}'"
        );
        assert_eq!(filled("{nobody} { {issue", &words), "{nobody} { {issue");
    }

    #[test]
    fn a_command_that_fails_is_told_with_its_last_words() {
        let status = ExitStatus::default();
        assert_eq!(
            ended(status, "begun\nsh: runer: not found\n\n"),
            format!("the command ended with {status}: sh: runer: not found")
        );
        assert_eq!(ended(status, " \n"), format!("the command ended with {status}"));
    }
}
