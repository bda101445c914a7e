//! Patterns of names, as ripgrep reads them: one without a slash is about the last name of a path.

use regex::Regex;

/// Which names a pattern chooses.
pub(crate) enum Fits {
    /// It says nothing.
    All,
    /// Those that it does not fit.
    Others(Regex),
    /// Those that it fits; `None` where it is no pattern.
    These(Option<Regex>),
}

/// What a pattern says, be it a comment or a no.
pub(crate) fn fits(pattern: &str) -> Fits {
    if pattern.trim_end().is_empty() || pattern.starts_with('#') {
        return Fits::All;
    }
    match pattern.strip_prefix('!') {
        Some(unwanted) => regex(unwanted).map_or(Fits::These(None), Fits::Others),
        None => Fits::These(regex(pattern)),
    }
}

/// The pattern as an expression for whole paths; `None` where it is none.
fn regex(pattern: &str) -> Option<Regex> {
    let anchored = pattern.trim_start_matches("./");
    let rooted = anchored.strip_prefix('/');
    let body = rooted.unwrap_or(anchored);
    let anywhere = if rooted.is_none() && !body.contains('/') { "(?:.*/)?" } else { "" };
    Regex::new(&format!("(?s)^{anywhere}{}$", translated(body))).ok()
}

fn translated(pattern: &str) -> String {
    let mut made = String::new();
    let letters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    let mut braces = 0_usize;
    while let Some(&letter) = letters.get(at) {
        let rest = &letters[at..];
        at += 1;
        match letter {
            '*' if rest.starts_with(&['*', '*', '/']) => {
                made.push_str("(?:.*/)?");
                at += 2;
            }
            '*' if rest.starts_with(&['*', '*']) => {
                made.push_str(".*");
                at += 1;
            }
            '*' => made.push_str("[^/]*"),
            '?' => made.push_str("[^/]"),
            '{' => {
                made.push_str("(?:");
                braces += 1;
            }
            '}' if braces > 0 => {
                made.push(')');
                braces -= 1;
            }
            ',' if braces > 0 => made.push('|'),
            '[' => {
                made.push('[');
                if letters.get(at) == Some(&'!') {
                    made.push('^');
                    at += 1;
                }
            }
            ']' | '-' => made.push(letter),
            '\\' => {
                let escaped = letters.get(at).copied().unwrap_or('\\');
                made.push_str(&regex::escape(&escaped.to_string()));
                at += 1;
            }
            plain => made.push_str(&regex::escape(&plain.to_string())),
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::regex;

    #[test]
    fn names_fit_as_ripgrep_says() {
        for (pattern, path, fits) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "src/deep/a.rs", true),
            ("**/*.rs", "a.rs", true),
            ("**/*.rs", "src/deep/a.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**", "src/deep/a.rs", true),
            ("*.{ts,tsx}", "a.tsx", true),
            ("*.{ts,tsx}", "a.js", false),
            ("[ab]?.txt", "b1.txt", true),
            ("[!ab].txt", "a.txt", false),
            ("/a.rs", "src/a.rs", false),
            ("a.b", "aXb", false),
        ] {
            assert_eq!(regex(pattern).unwrap().is_match(path), fits, "{pattern} {path}");
        }
    }
}
