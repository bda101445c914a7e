//! What a project does not want to be told of: the patterns of its `.gitignore` files, as git reads them.

use regex::Regex;

/// The patterns of one file; paths are relative to its folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignored(Vec<Pattern>);

#[derive(Debug, Clone)]
struct Pattern {
    regex: Regex,
    /// What it fits is wanted after all.
    is_wanted: bool,
}

/// Whether letters are the same in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cases {
    /// As git has it.
    Differ,
    /// As the servers have it when they list a folder.
    Same,
}

impl Ignored {
    /// Reads the patterns; what is no pattern fits nothing.
    pub(crate) fn read(text: &str, cases: Cases) -> Self {
        Self(text.lines().filter_map(|line| Pattern::read(line, cases)).collect())
    }

    /// Whether a path is ignored, all folders above it being none of it; the path of a folder ends in a slash.
    pub(crate) fn says(&self, path: &str) -> Option<bool> {
        self.0.iter().rev().find(|pattern| pattern.regex.is_match(path)).map(|pattern| !pattern.is_wanted)
    }

    /// Whether a path is ignored, by itself or with a folder above it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let above = path.char_indices().filter(|&(at, letter)| letter == '/' && at + 1 < path.len());
        above.map(|(at, _)| &path[..=at]).chain([path]).any(|path| self.says(path) == Some(true))
    }
}

impl Pattern {
    fn read(line: &str, cases: Cases) -> Option<Self> {
        let line = without_trailing_space(line);
        let (is_wanted, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let is_comment = line.starts_with('#');
        let of_folders = line.ends_with('/');
        let whole = line.trim_end_matches('/');
        if is_comment || whole.is_empty() {
            return None;
        }
        let start = if whole.contains('/') { "" } else { "(?:.*/)?" };
        let end = if of_folders { "/" } else { "/?" };
        let flags = if cases == Cases::Same { "(?si)" } else { "(?s)" };
        let body = body_of(whole.strip_prefix('/').unwrap_or(whole));
        let regex = Regex::new(&format!("{flags}^{start}{body}{end}$")).ok()?;
        Some(Self { regex, is_wanted })
    }
}

fn without_trailing_space(line: &str) -> &str {
    let trimmed = line.trim_end();
    if trimmed.ends_with('\\') && trimmed.len() < line.len() { &line[..=trimmed.len()] } else { trimmed }
}

/// The pattern without its marks, as a regular expression.
fn body_of(pattern: &str) -> String {
    let mut body = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let (known, length) = match letter {
            '*' if rest.starts_with("**/") => ("(?:.*/)?".to_owned(), 3),
            '*' if rest == "**" => (".+".to_owned(), 2),
            '*' => ("[^/]*".to_owned(), rest.len() - rest.trim_start_matches('*').len()),
            '?' => ("[^/]".to_owned(), 1),
            '[' => match rest[1..].find(']') {
                Some(end) if end > 0 => {
                    let set = rest[1..=end].replacen('!', "^", usize::from(rest[1..].starts_with('!')));
                    (format!("[{}]", set.replace('\\', "\\\\").replace('[', "\\[")), end + 2)
                }
                _ => ("\\[".to_owned(), 1),
            },
            '\\' => match rest[1..].chars().next() {
                Some(next) => (regex::escape(&next.to_string()), 1 + next.len_utf8()),
                None => ("\\\\".to_owned(), 1),
            },
            other => (regex::escape(&other.to_string()), other.len_utf8()),
        };
        body.push_str(&known);
        rest = &rest[length..];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::{Cases, Ignored};

    #[test]
    fn patterns_mean_what_git_means() {
        for (pattern, path, is_ignored) in [
            ("ignored.txt", "ignored.txt", true),
            ("ignored.txt", "deep/er/ignored.txt", true),
            ("ignored.txt", "ignored.txt.not", false),
            ("build/", "build/", true),
            ("build/", "build", false),
            ("build/", "build/out.js", true),
            ("build", "a/build/", true),
            ("/build", "a/build/", false),
            ("a/b", "a/b", true),
            ("a/b", "x/a/b", false),
            ("*.log", "src/z.log", true),
            ("*.log", "src/z.logs", false),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("a/**", "a/b", true),
            ("a/**", "a/", false),
            ("**/x", "deep/x", true),
            ("?.txt", "a.txt", true),
            ("?.txt", "ab.txt", false),
            ("[ab].txt", "b.txt", true),
            ("[!ab].txt", "b.txt", false),
            ("\\#x", "#x", true),
            ("# x", "# x", false),
            ("x  ", "x", true),
            ("*\n!keep.txt", "keep.txt", false),
            ("*\n!keep.txt", "other.txt", true),
            ("d/\n!d/keep.txt", "d/keep.txt", true),
        ] {
            let ignored = Ignored::read(pattern, Cases::Differ);
            assert_eq!(ignored.holds(path), is_ignored, "{path} under {pattern:?}");
        }
    }

    #[test]
    fn cases_are_the_same_only_when_said() {
        assert!(Ignored::read("*.LOG", Cases::Same).holds("z.log"));
        assert!(!Ignored::read("*.LOG", Cases::Differ).holds("z.log"));
    }
}
