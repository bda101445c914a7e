//! Which places outside the workspace a shell line names, as far as the servers see it.

use super::super::resolved;
use super::NAME_PLACES;
use super::commands::{Line, SimpleCommand};

/// The places that the line's commands name, in order. What the shell would make up as it runs is not seen.
pub(super) fn named(line: &Line, directory: &str, home: &str) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    let commands = line.commands.iter().filter(|command| is_about_places(command));
    for argument in commands.flat_map(arguments) {
        let Some(place) = place(argument, directory, home) else { continue };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The line only shows files: one server tells the person so.
pub(super) fn only_reads(line: &Line) -> bool {
    let shows = |command: &SimpleCommand| command.words.first().is_some_and(|name| name == "cat");
    !line.has_redirects && line.unclear.is_empty() && line.commands.iter().all(shows)
}

/// The folder of a place.
pub(super) fn above(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
    }
}

fn is_about_places(command: &SimpleCommand) -> bool {
    command.words.first().is_some_and(|name| NAME_PLACES.contains(&name.as_str()))
}

fn arguments(command: &SimpleCommand) -> impl Iterator<Item = &str> {
    let changes_mode = command.words.first().is_some_and(|name| name == "chmod");
    let rest = command.words.iter().skip(1).map(String::as_str);
    rest.filter(move |word| !(word.starts_with('-') || changes_mode && word.starts_with('+')))
}

fn place(word: &str, directory: &str, home: &str) -> Option<String> {
    let mut word = word;
    for quote in ['"', '\''] {
        let bare = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(bare) = bare {
            word = bare;
            break;
        }
    }
    let word = match word.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ => word.to_owned(),
    };
    // Up to the first letter that stands for many names.
    let word = &word[..word.find(['?', '*', '[']).unwrap_or(word.len())];
    let is_made_up = word.is_empty() || word.starts_with('(') || word.contains(['$', '`']);
    (!is_made_up).then(|| resolved(directory, word))
}

#[cfg(test)]
mod tests {
    use super::super::commands::parse;
    use super::*;

    #[test]
    fn places_are_seen_as_the_servers_see_them() {
        for (line, places) in [
            ("cd /usr && cat /etc/passwd", &["/usr", "/etc/passwd"][..]),
            ("ls /etc", &[]),
            ("cat a.txt ../w/b.txt", &["/w/a.txt", "/w/b.txt"]),
            ("cat ../x 'q/../../y' ~/z", &["/x", "/y", "/own/z"]),
            ("rm -rf /tmp/a/*.log $HOME/x /*", &["/tmp/a", "/"]),
            ("chmod +x /bin/a; chmod 755 /bin/b", &["/bin/a", "/bin/b"]),
        ] {
            assert_eq!(named(&parse(line), "/w", "/own"), places, "{line}");
        }
        assert_eq!(above("/etc/passwd"), "/etc");
        assert_eq!(above("/etc"), "/");
    }

    #[test]
    fn only_showing_files_is_reading() {
        assert!(only_reads(&parse("cat /etc/hosts | cat")));
        for line in ["cat a > b", "cat a; ls", "cat a 2>/dev/null", "cd /usr && cat a"] {
            assert!(!only_reads(&parse(line)), "{line}");
        }
    }
}
