//! Which lines of two texts are the same: as git says it. Among the shortest changes git takes the one that its search
//! meets first, leaves lines out of the search that would only confuse it, and then moves each change to where a
//! person would have made it.

mod search;
mod slide;

use super::line_diff::{Fate, Run, push};
use std::collections::HashMap;

/// A text, and which of its lines are changed.
struct Side {
    /// Each line as a number: the same number is the same line.
    lines: Vec<usize>,
    changed: Vec<bool>,
}

/// The change from the old lines to the new ones.
pub(crate) fn runs(old: &[&str], new: &[&str]) -> Vec<Run> {
    let mut numbers = HashMap::new();
    let mut side = |lines: &[&str]| {
        let mut numbered = Vec::with_capacity(lines.len());
        for line in lines {
            let next = numbers.len();
            numbered.push(*numbers.entry((*line).to_owned()).or_insert(next));
        }
        Side { changed: vec![false; numbered.len()], lines: numbered }
    };
    let (mut before, mut after) = (side(old), side(new));
    let (first, second) = (kept_for_search(&before, &after), kept_for_search(&after, &before));
    let number = |side: &Side, kept: &Kept| kept.looked_at.iter().map(|line| side.lines[*line]).collect();
    let (changed_first, changed_second) = search::changed(number(&before, &first), number(&after, &second));
    for (side, kept, changed) in [(&mut before, &first, changed_first), (&mut after, &second, changed_second)]
    {
        let searched = changed.into_iter().map(|at| kept.looked_at[at]);
        searched.chain(kept.left_out.iter().copied()).for_each(|line| side.changed[line] = true);
    }
    slide::settle(old, &mut before.changed, &mut after.changed);
    slide::settle(new, &mut after.changed, &mut before.changed);
    told(&before.changed, &after.changed)
}

fn told(before: &[bool], after: &[bool]) -> Vec<Run> {
    let mut runs = Vec::new();
    let (mut at, mut to) = (0, 0);
    while at < before.len() || to < after.len() {
        if before.get(at) == Some(&true) {
            push(&mut runs, Fate::Removed);
            at += 1;
        } else if after.get(to) == Some(&true) {
            push(&mut runs, Fate::Added);
            to += 1;
        } else {
            push(&mut runs, Fate::Kept);
            at += 1;
            to += 1;
        }
    }
    runs
}

/// How a line is found in the other text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nowhere,
    Somewhere,
    /// So often that it tells little.
    Everywhere,
}

/// Lines that are found too often to be of use where they stand between lines that are found nowhere.
const TOO_OFTEN_MAX: usize = 1024;
/// How far around a line is looked.
const WINDOW: usize = 100;

/// The lines of a text, without those at both ends that are the same anyway.
struct Kept {
    looked_at: Vec<usize>,
    /// They are changed, whatever the search finds.
    left_out: Vec<usize>,
}

fn kept_for_search(own: &Side, other: &Side) -> Kept {
    let shorter = own.lines.len().min(other.lines.len());
    let same_at_begin = own.lines.iter().zip(&other.lines).take_while(|(a, b)| a == b).count();
    let at_ends = own.lines.iter().rev().zip(other.lines.iter().rev());
    let same_at_end = at_ends.take(shorter - same_at_begin).take_while(|(a, b)| a == b).count();
    let middle = same_at_begin..own.lines.len() - same_at_end;
    let mut often = HashMap::new();
    other.lines.iter().for_each(|line| *often.entry(*line).or_insert(0_usize) += 1);
    let limit = rough_root(own.lines.len()).min(TOO_OFTEN_MAX);
    let found: Vec<Found> = own.lines[middle.clone()]
        .iter()
        .map(|line| match often.get(line) {
            None => Found::Nowhere,
            Some(&count) if count >= limit => Found::Everywhere,
            Some(_) => Found::Somewhere,
        })
        .collect();
    let is_kept = |at: &usize| match found[*at] {
        Found::Nowhere => false,
        Found::Somewhere => true,
        Found::Everywhere => !is_among_unfound(&found, *at),
    };
    let (looked_at, left_out): (Vec<usize>, Vec<usize>) = (0..found.len()).partition(is_kept);
    let in_text = |list: Vec<usize>| list.into_iter().map(|at| at + middle.start).collect();
    Kept { looked_at: in_text(looked_at), left_out: in_text(left_out) }
}

fn is_among_unfound(found: &[Found], at: usize) -> bool {
    let look = |neighbours: &mut dyn Iterator<Item = &Found>| {
        let (mut nowhere, mut everywhere) = (0, 1);
        for found in neighbours.take(WINDOW) {
            match found {
                Found::Nowhere => nowhere += 1,
                Found::Everywhere => everywhere += 1,
                Found::Somewhere => break,
            }
        }
        (nowhere, everywhere)
    };
    let above = look(&mut found[..at].iter().rev());
    let below = look(&mut found[at + 1..].iter());
    if above.0 == 0 || below.0 == 0 {
        return false;
    }
    let (nowhere, everywhere) = (above.0 + below.0, above.1 + below.1);
    everywhere * 4 < everywhere + nowhere
}

/// Something like a square root.
fn rough_root(mut number: usize) -> usize {
    let mut root = 1;
    while number > 0 {
        root *= 2;
        number /= 4;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::line_diff::lines;

    fn told(old: &str, new: &str) -> String {
        let signs = runs(&lines(old), &lines(new)).into_iter().map(|Run { fate, count }| {
            let sign = match fate {
                Fate::Kept => " ",
                Fate::Removed => "-",
                Fate::Added => "+",
            };
            sign.repeat(count)
        });
        signs.collect()
    }

    /// All rows were seen with git itself.
    #[test]
    fn a_change_stands_where_git_puts_it() {
        let one = "def one():\n    a = 1\n    return a\n";
        let two = "def two():\n    b = 2\n    return b\n";
        for (old, new, signs) in [
            (format!("{one}\n{one}"), format!("{one}\n{two}\n{one}"), "    ++++   "),
            ("a\nb\na\nb\nc\n".into(), "a\nb\na\nb\na\nb\nc\n".into(), "    ++ "),
            ("x\n".into(), String::new(), "-"),
            (String::new(), "x\ny\n".into(), "++"),
            ("same\n".into(), "same\n".into(), " "),
            ("{\n}\n".into(), "{\n\n}\n\n{\n}\n".into(), "++++  "),
        ] {
            assert_eq!(told(&old, &new), signs, "{old:?} {new:?}");
        }
    }
}
