//! Words of the command line, checked where they are typed: clap names the flag, these say what is right.

use clap::builder::{NonEmptyStringValueParser, TypedValueParser as _};
use fixtures::ServerKind;
use fixtures::fault_plan::Fault;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A text that is not empty.
pub(crate) fn some_text() -> NonEmptyStringValueParser {
    NonEmptyStringValueParser::new()
}

/// A server.
pub(crate) fn server(word: &str) -> Result<ServerKind, String> {
    word.parse()
}

/// The name of a lane: it stands in lists and in lines that programs read.
pub(crate) fn lane(word: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !word.is_empty() && word.chars().all(is_good) {
        return Ok(word.to_owned());
    }
    Err("a lane's name is made of letters, digits, '-', '_' and '.'".to_owned())
}

/// A fault in one line.
pub(crate) fn fault(line: &str) -> Result<Fault, String> {
    Fault::short(line)
}

/// A port.
pub(crate) fn port(word: &str) -> Result<u16, String> {
    whole_number(word, 0..=u16::MAX)
}

/// A seed.
pub(crate) fn seed(word: &str) -> Result<u64, String> {
    whole_number(word, 0..=u64::MAX)
}

/// How many.
pub(crate) fn count(word: &str) -> Result<usize, String> {
    whole_number(word, 0..=usize::MAX)
}

/// How many times as fast.
pub(crate) fn times(word: &str) -> Result<u32, String> {
    let times = whole_number(word, 1..=u32::MAX)?;
    if times == 0 {
        Err("time does not stand still: 1 is as fast as the machine's".to_owned())
    } else {
        Ok(times)
    }
}

/// Which phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phases {
    /// All that there are.
    All,
    /// This one; whether there is one, the matrix knows.
    One(u32),
}

/// A phase, or all.
pub(crate) fn phases(word: &str) -> Result<Phases, String> {
    match word {
        "all" => Ok(Phases::All),
        _ => whole_number(word, 0..=u32::MAX)
            .map(Phases::One)
            .map_err(|_| "the number of a phase is wanted, or all".to_owned()),
    }
}

fn whole_number<T: FromStr + Display>(word: &str, range: RangeInclusive<T>) -> Result<T, String> {
    word.parse().map_err(|_| format!("a whole number from {} to {} is wanted", range.start(), range.end()))
}

/// A folder that is there.
pub(crate) fn folder() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    clap::builder::PathBufValueParser::new().try_map(|path| match existing_folder(&path) {
        None => Ok(path),
        Some(wrong) => Err(wrong),
    })
}

fn existing_folder(path: &Path) -> Option<&'static str> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some("there is no such folder: make it first")
        }
        Ok(found) if !found.is_dir() => Some("it is a file, not a folder"),
        _ => None,
    }
}

/// Does this word name a file, and not something that travels in the binary? Names are `area/name`.
pub(crate) fn is_file_name(word: &str, ending: &str) -> bool {
    word.ends_with(ending) || ["/", "./", "../"].iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_files_are_told_apart() {
        for file in ["a.toml", "/tmp", "./x", "../x/y"] {
            assert!(is_file_name(file, ".toml"), "{file}");
        }
        for name in ["text/plain", "a", "", "toml"] {
            assert!(!is_file_name(name, ".toml"), "{name}");
        }
    }

    #[test]
    fn lanes_are_words() {
        assert_eq!(lane("phone-2"), Ok("phone-2".to_owned()));
        for wrong in ["", " ", "a b", "a\n", "ä", "a/b"] {
            assert!(lane(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_told_the_range() {
        assert_eq!(port("65535"), Ok(u16::MAX));
        for wrong in ["x", "-1", "65536", "1.5", ""] {
            assert_eq!(port(wrong).unwrap_err(), "a whole number from 0 to 65535 is wanted");
        }
    }
}
