//! Names that are near to what somebody looks for, the nearest first: the servers' own search, which forgives typing
//! errors. The marks are those of the library that the servers use; how they add up is its caller's.

use crate::javascript::units;
use neo_frizbee::{Config, Match, Scoring, match_list};
use std::cmp::Reverse;

/// The folder itself, which no word is near to.
pub(super) const ROOT: &str = "/";
/// Shorter words are not looked for.
const SHORTEST: usize = 2;
/// What a letter at its place can bring.
const FULL_MARK: i32 = 16;
/// The most that a near file name adds.
const NEAR_NAME_MAX: i32 = 30;
/// Files that stand for their folder.
const ENTRIES: &[&str] = &[
    "mod.rs",
    "lib.rs",
    "main.rs",
    "index.js",
    "index.jsx",
    "index.ts",
    "index.tsx",
    "index.mjs",
    "index.cjs",
    "index.vue",
    "__init__.py",
    "__main__.py",
    "main.go",
    "main.c",
    "index.php",
    "main.rb",
    "index.rb",
];

/// The best names, no more than `limit`; those of folders end in a slash. Which of equals are left out, their order says.
pub(super) fn best(query: &str, names: Vec<String>, limit: usize) -> Vec<String> {
    let parts: Vec<&str> = query.split_whitespace().collect();
    let looks_for_something = parts.iter().any(|part| part.len() >= SHORTEST);
    // Words of one letter each are near to no file, and to every folder.
    let only_folders = query.ends_with('/') || !looks_for_something && query.trim().len() >= SHORTEST;
    let mut found: Vec<(i32, String)> = names
        .into_iter()
        .filter(|name| !only_folders || name.ends_with('/'))
        .filter(|name| !looks_for_something || name != ROOT)
        .filter_map(|name| {
            let mark = if looks_for_something { mark(&parts, &name)? } else { 0 };
            Some((mark, name))
        })
        .collect();
    found.sort_by_key(|(mark, _)| Reverse(*mark));
    found.truncate(limit);
    found.sort_by_key(|(mark, name)| (Reverse(*mark), units(name)));
    found.into_iter().map(|(_, name)| name).collect()
}

/// How near a name is to all of the words; `None` when one is not in it, or nothing of one.
fn mark(parts: &[&str], name: &str) -> Option<i32> {
    let words: Vec<&str> = parts.iter().copied().filter(|part| part.len() >= SHORTEST).collect();
    let config = config(&words);
    let in_part = |word: &str| matched(word, name, &config).filter(|found| found.score > 0);
    let first = in_part(words.first()?)?;
    let mut base = i32::from(first.score);
    for word in &words[1..] {
        base += i32::from(in_part(word)?.score);
    }
    Some(base + bonus(words[0], name, base, &first, &config))
}

/// What the last part of a path adds when it is there that the word was found.
fn bonus(word: &str, name: &str, base: i32, first: &Match, config: &Config) -> i32 {
    let is_folder = name.ends_with('/');
    let start = name.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let own = name[start..].trim_end_matches('/');
    let found_at = usize::from(first.end_col).saturating_sub(word.len() - 1);
    let is_in_own = found_at >= start;
    let is_own = is_in_own && word.eq_ignore_ascii_case(own);
    if is_folder {
        return if is_own {
            base / 5 * 2
        } else if is_in_own {
            base / 6
        } else {
            0
        };
    }
    let again = if is_in_own || word.contains('/') { None } else { matched(word, own, config) };
    let near = (base / 6).min(NEAR_NAME_MAX);
    match again {
        _ if is_own => base / 5 * 2,
        Some(again) if again.exact => base / 5 * 2,
        Some(again) => {
            let full = i32::try_from(word.len()).unwrap_or(i32::MAX).saturating_mul(FULL_MARK);
            near * i32::from(again.score).min(full) / full
        }
        None if is_in_own => near,
        None if ENTRIES.contains(&own) => base * 5 / 100,
        None => 0,
    }
}

fn config(words: &[&str]) -> Config {
    let letters = words.join(" ").len() / 4;
    let has_capital = words.iter().any(|word| word.chars().any(char::is_uppercase));
    let scoring = Scoring {
        capitalization_bonus: if has_capital { 8 } else { 0 },
        matching_case_bonus: if has_capital { 4 } else { 0 },
        ..Default::default()
    };
    let max_typos = Some(u16::try_from(letters).unwrap_or(u16::MAX).clamp(2, 6));
    Config { max_typos, sort: false, scoring }
}

fn matched(word: &str, name: &str, config: &Config) -> Option<Match> {
    match_list(word, &[name], config).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::best;

    const NAMES: &[&str] = &[
        ".env",
        ".gitignore",
        "A.txt",
        "README.md",
        "a b.txt",
        "bin.dat",
        "data.json",
        "empty.txt",
        "noext",
        "page.html",
        "pic.svg",
        "src/",
        "src/a.ts",
        "src/deep/",
        "src/deep/b.ts",
        "ünï.md",
    ];

    fn found(query: &str, limit: usize) -> Vec<String> {
        best(query, NAMES.iter().map(|&name| name.to_owned()).collect(), limit)
    }

    #[test]
    fn names_are_found_as_the_real_servers_find_them() {
        // All of these were seen on both.
        assert_eq!(
            found("src", 10),
            [
                "src/",
                "src/a.ts",
                "src/deep/b.ts",
                "src/deep/",
                "README.md",
                "pic.svg",
                ".gitignore",
                "data.json"
            ]
        );
        assert_eq!(found("src", 1), ["src/"]);
        assert_eq!(
            found("a.ts", 10),
            [
                "src/a.ts",
                "A.txt",
                "a b.txt",
                "src/deep/b.ts",
                "data.json",
                ".gitignore",
                "pic.svg",
                "empty.txt",
                "page.html",
                "bin.dat"
            ]
        );
        assert_eq!(found("log", 10), [".gitignore", "pic.svg", "page.html", "noext", "data.json"]);
        assert!(found("zzz", 10).is_empty());
        // Two letters may both be missing, but then nothing is found.
        assert!(found("ww", 10).is_empty());
        assert!(found("readme ww", 10).is_empty());
        assert_eq!(found("ü", 10), ["ünï.md"]);
    }

    #[test]
    fn capitals_count_when_they_are_typed() {
        assert_eq!(found("README", 10), ["README.md"]);
    }

    #[test]
    fn whoever_looks_for_nothing_is_shown_the_shortest_of_those_that_come_first() {
        let names = ["A.txt", "README.md", "b.txt", "sub/note.txt", "/", "sub/"];
        let found = |limit| best("", names.iter().map(|&name| name.to_owned()).collect(), limit);
        assert_eq!(found(2), ["A.txt", "README.md"]);
        assert_eq!(found(10), ["/", "sub/", "A.txt", "b.txt", "README.md", "sub/note.txt"]);
    }
}
