//! Why a trigger fires, so that people can read it: dozens of cells in a row say less than how many and which few.

use super::Gate;
use std::cmp::Reverse;

/// What stands between a requirement and the cells that break it, in a trigger's words.
const IN: &str = " does not hold in ";

/// How many cells are named.
const NAMED: usize = 3;

/// A reason with the cells that it names.
pub(crate) struct Because<'a> {
    /// The reason itself.
    pub(crate) claim: String,
    /// The cells that are worth a look first.
    pub(crate) first: Vec<&'a str>,
    /// The others.
    pub(crate) rest: Vec<&'a str>,
}

/// Takes a reason apart. The worst cells come first; of equal ones those in which nothing breaks, because they need no
/// fault to go wrong.
pub(crate) fn read<'a>(text: &'a str, gate: &Gate) -> Because<'a> {
    let Some((requirement, places)) = text.split_once(IN) else {
        return Because { claim: text.to_owned(), first: Vec::new(), rest: Vec::new() };
    };
    let cell =
        |place: &str| gate.cells.iter().find(|cell| format!("{} ({})", cell.case, cell.server) == place);
    let mut first: Vec<&str> = places.split(", ").collect();
    first.sort_by_cached_key(|place| cell(place).map(|cell| (Reverse(cell.verdict), !cell.plain)));
    let rest = first.split_off(first.len().min(NAMED));
    let claim = match first.len() + rest.len() {
        1 => format!("{requirement}{}", IN.trim_end()),
        all => format!("{requirement}{}{all} cells:", IN),
    };
    Because { claim, first, rest }
}

/// A reason in one line.
pub(crate) fn line(text: &str, gate: &Gate) -> String {
    let because = read(text, gate);
    let more = match because.rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} {}", because.claim, because.first.join(", ")).trim_end().to_owned() + &more
}
