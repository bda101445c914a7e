//! Which words of a file an edit may mean that does not give them exactly: the servers' ways to look, each more
//! generous than the one before.

use crate::javascript::{first_units, is_space, trimmed, units};
use regex::Regex;

/// A way to look: the words of the text that may be meant, in order. They may stand in several places.
pub(super) type Way = fn(text: &str, wanted: &str) -> Vec<String>;

/// In the servers' order.
pub(super) const WAYS: &[Way] = &[
    exactly,
    lines_but_for_their_ends,
    block_between_like_lines,
    whatever_the_space,
    whatever_the_indent,
    without_escapes,
    without_its_own_ends,
    block_with_half_of_its_lines,
];

/// How alike the lines between two that are the same must be.
const LIKENESS_MIN: f64 = 0.65;

fn exactly(_: &str, wanted: &str) -> Vec<String> {
    vec![wanted.to_owned()]
}

fn lines_but_for_their_ends(text: &str, wanted: &str) -> Vec<String> {
    let lines = Lines::of(text);
    let wanted: Vec<&str> = without_last_end(wanted).into_iter().map(trimmed).collect();
    let fits = |block: &[&str]| block.iter().zip(&wanted).all(|(line, wanted)| trimmed(line) == *wanted);
    lines.blocks(wanted.len()).filter(|block| fits(block)).map(|block| block.join("\n")).collect()
}

fn block_between_like_lines(text: &str, wanted: &str) -> Vec<String> {
    let Some(wanted) = Wanted::of(wanted) else { return Vec::new() };
    let lines = Lines::of(text).all;
    let slack = (wanted.lines.len() / 4).max(1);
    let candidates: Vec<&[&str]> = wanted
        .candidates(&lines)
        .into_iter()
        .filter(|block| block.len().abs_diff(wanted.lines.len()) <= slack)
        .collect();
    let best = match candidates.as_slice() {
        [] => None,
        [only] => is_like(only, &wanted.lines).then_some(only),
        several => {
            let mut best = (None, -1.0);
            for block in several {
                let likeness = likeness(block, &wanted.lines);
                if likeness > best.1 {
                    best = (Some(block), likeness);
                }
            }
            best.0.filter(|_| best.1 >= LIKENESS_MIN)
        }
    };
    best.map(|block| block.join("\n")).into_iter().collect()
}

fn whatever_the_space(text: &str, wanted: &str) -> Vec<String> {
    let lines = Lines::of(text);
    let plain = with_single_spaces(wanted);
    let words: Vec<String> = words(wanted).into_iter().map(regex::escape).collect();
    let part = Regex::new(&words.join(r"[[\s\x{feff}]--\x{85}]+")).ok();
    let mut found = Vec::new();
    for line in &lines.all {
        let spaced = with_single_spaces(line);
        if spaced == plain {
            found.push((*line).to_owned());
        } else if spaced.contains(&plain)
            && let Some(part) = part.as_ref().and_then(|part| part.find(line))
        {
            found.push(part.as_str().to_owned());
        }
    }
    let count = wanted.split('\n').count();
    if count > 1 {
        let blocks = lines.blocks(count).map(|block| block.join("\n"));
        found.extend(blocks.filter(|block| with_single_spaces(block) == plain));
    }
    found
}

fn whatever_the_indent(text: &str, wanted: &str) -> Vec<String> {
    let plain = without_indent(wanted);
    let blocks = Lines::of(text).joined_blocks(wanted.split('\n').count());
    blocks.into_iter().filter(|block| without_indent(block) == plain).collect()
}

fn without_escapes(text: &str, wanted: &str) -> Vec<String> {
    let plain = unescaped(wanted);
    let blocks = Lines::of(text).joined_blocks(plain.split('\n').count());
    let alike = blocks.into_iter().filter(|block| unescaped(block) == plain);
    let itself = text.contains(&plain).then(|| plain.clone());
    itself.into_iter().chain(alike).collect()
}

fn without_its_own_ends(text: &str, wanted: &str) -> Vec<String> {
    let plain = trimmed(wanted);
    if plain == wanted {
        return Vec::new();
    }
    let blocks = Lines::of(text).joined_blocks(wanted.split('\n').count());
    let alike = blocks.into_iter().filter(|block| trimmed(block) == plain);
    let itself = text.contains(plain).then(|| plain.to_owned());
    itself.into_iter().chain(alike).collect()
}

fn block_with_half_of_its_lines(text: &str, wanted: &str) -> Vec<String> {
    let Some(wanted) = Wanted::of(wanted) else { return Vec::new() };
    let lines = Lines::of(text).all;
    let is_half_the_same = |block: &&[&str]| {
        if block.len() != wanted.lines.len() {
            return false;
        }
        let pairs: Vec<(&str, &str)> = block[1..block.len() - 1]
            .iter()
            .zip(&wanted.lines[1..])
            .map(|(line, wanted)| (trimmed(line), trimmed(wanted)))
            .filter(|(line, wanted)| !line.is_empty() || !wanted.is_empty())
            .collect();
        pairs.is_empty() || pairs.iter().filter(|(line, wanted)| line == wanted).count() * 2 >= pairs.len()
    };
    wanted.candidates(&lines).into_iter().filter(is_half_the_same).map(|block| block.join("\n")).collect()
}

/// The lines of a text.
struct Lines<'t> {
    all: Vec<&'t str>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self { all: text.split('\n').collect() }
    }

    /// All lines that follow each other, so many at a time.
    fn blocks(&self, count: usize) -> impl Iterator<Item = &[&'t str]> {
        self.all.windows(count.max(1)).filter(move |_| count > 0)
    }

    fn joined_blocks(&self, count: usize) -> Vec<String> {
        self.blocks(count).map(|block| block.join("\n")).collect()
    }
}

/// Wanted lines of which the first and the last stand in the text.
struct Wanted<'w> {
    lines: Vec<&'w str>,
}

impl<'w> Wanted<'w> {
    /// Three lines at least, where the end of the last may count as one.
    fn of(wanted: &'w str) -> Option<Self> {
        (wanted.split('\n').count() >= 3).then(|| Self { lines: without_last_end(wanted) })
    }

    /// From each line like the first one to the nearest like the last one, with something between.
    fn candidates<'l, 't>(&self, lines: &'l [&'t str]) -> Vec<&'l [&'t str]> {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else { return Vec::new() };
        let (first, last) = (trimmed(first), trimmed(last));
        let starts = (0..lines.len()).filter(|start| trimmed(lines[*start]) == first);
        let to_end = |start: usize| {
            let end = (start + 2..lines.len()).find(|end| trimmed(lines[*end]) == last)?;
            Some(&lines[start..=end])
        };
        starts.filter_map(to_end).collect()
    }
}

fn without_last_end(wanted: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = wanted.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

/// The lines between the first and the last, in pairs, and how alike each pair is. Pairs of nothing are left out.
fn likenesses<'a>(block: &'a [&str], wanted: &'a [&str]) -> impl Iterator<Item = f64> + 'a {
    let inner = |lines: &'a [&str]| lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    inner(block).iter().zip(inner(wanted)).filter_map(|(line, wanted)| {
        let (line, wanted) = (trimmed(line), trimmed(wanted));
        let longer = units(line).max(units(wanted));
        #[expect(clippy::cast_precision_loss, reason = "lengths of lines")]
        let likeness = |distance: usize| 1.0 - distance as f64 / longer as f64;
        (longer > 0).then(|| likeness(distance(line, wanted)))
    })
}

fn inner_count(block: &[&str], wanted: &[&str]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "numbers of lines")]
    let count = block.len().min(wanted.len()).saturating_sub(2) as f64;
    count
}

fn is_like(block: &[&str], wanted: &[&str]) -> bool {
    let count = inner_count(block, wanted);
    let mut sum = 0.0;
    count == 0.0
        || likenesses(block, wanted).any(|likeness| {
            sum += likeness / count;
            sum >= LIKENESS_MIN
        })
}

fn likeness(block: &[&str], wanted: &[&str]) -> f64 {
    let count = inner_count(block, wanted);
    if count == 0.0 { 1.0 } else { likenesses(block, wanted).sum::<f64>() / count }
}

/// How many letters have to be changed, added or taken away.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<u16>, Vec<u16>) = (one.encode_utf16().collect(), other.encode_utf16().collect());
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (to, another) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != another);
            corner = row[to + 1];
            row[to + 1] = changed.min(row[to] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn words(text: &str) -> Vec<&str> {
    text.split(is_space).filter(|word| !word.is_empty()).collect()
}

fn with_single_spaces(text: &str) -> String {
    words(text).join(" ")
}

/// The lines without the indent that all of them share; blank ones are as they are.
fn without_indent(text: &str) -> String {
    let is_blank = |line: &&str| trimmed(line).is_empty();
    let indent = |line: &str| units(line) - units(line.trim_start_matches(is_space));
    let shared = text.split('\n').filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    let shorter = text
        .split('\n')
        .map(|line| if is_blank(&line) { line } else { &line[first_units(line, shared).len()..] });
    shorter.collect::<Vec<&str>>().join("\n")
}

/// The text with what its backslashes stand for.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let meant = match (letter, letters.peek()) {
            ('\\', Some('n' | '\n')) => Some('\n'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some(&sign @ ('\'' | '"' | '`' | '\\' | '$'))) => Some(sign),
            _ => None,
        };
        if meant.is_some() {
            letters.next();
        }
        plain.push(meant.unwrap_or(letter));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_finds_what_it_is_for() {
        let rows: [(Way, &str, &str, &[&str]); 16] = [
            (lines_but_for_their_ends, "a\n  b \nc", "a\nb\n", &["a\n  b "]),
            (lines_but_for_their_ends, "a\n b", "a\n  \n", &[]),
            (block_between_like_lines, "{\n  one\n}", "{\n  onx\n}", &["{\n  one\n}"]),
            (block_between_like_lines, "{\n  one\n}", "{\n  xxx\n}", &[]),
            (block_between_like_lines, "{\none\n}\n{\ntwo\n}", "{\ntwx\n}", &["{\ntwo\n}"]),
            // Two lines with an end count as three.
            (block_between_like_lines, "a\nx\nb", "a\nb\n", &["a\nx\nb"]),
            (block_between_like_lines, "a\nb\nc", "a\nc", &[]),
            (whatever_the_space, "let  a = 1;  x", "a =  1;", &["a = 1;"]),
            (whatever_the_space, "a\u{a0}b", " a b ", &["a\u{a0}b"]),
            (whatever_the_space, "f (\n x )", "f(\nx)", &[]),
            (whatever_the_indent, "    a\n\n      b\n", "a\n\n  b", &["    a\n\n      b"]),
            (without_escapes, "a\tb\n$c", "a\\tb\\n\\$c", &["a\tb\n$c", "a\tb\n$c"]),
            (without_escapes, "say \\\"x\\\"", "say \"x\"", &["say \\\"x\\\""]),
            (without_its_own_ends, "a b c", " b ", &["b"]),
            (block_with_half_of_its_lines, "{\na\nb\n}", "{\na\nquite another\n}", &["{\na\nb\n}"]),
            (block_with_half_of_its_lines, "{\na\nb\n}", "{\nx\nquite another\n}", &[]),
        ];
        for (at, (way, text, wanted, found)) in rows.into_iter().enumerate() {
            assert_eq!(way(text, wanted), found, "row {at}");
        }
    }

    #[test]
    fn a_distance_counts_letters() {
        for (one, other, count) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("a😀", "a", 2), ("ab", "ab", 0)]
        {
            assert_eq!(distance(one, other), count, "{one} {other}");
        }
    }
}
