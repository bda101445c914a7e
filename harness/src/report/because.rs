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

/// The reason that a requirement does not hold in some cells.
pub(crate) fn of_cells(requirement: &str, places: &[String]) -> String {
    format!("{requirement}{IN}{}", places.join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::judging::{Ran, judge};
    use crate::gate::signals::Known;
    use parity_specs::Matrix;

    #[test]
    fn what_is_put_together_is_taken_apart() {
        let gate = judge(&Matrix::default(), &[], Ran::default(), &Known::default());
        let places = |count: usize| (1..=count).map(|n| format!("x/{n} (kilo)")).collect::<Vec<_>>();
        let told = |count: usize| line(&of_cells("a.b", &places(count)), &gate);
        assert_eq!(told(1), "a.b does not hold in x/1 (kilo)");
        assert_eq!(told(3), "a.b does not hold in 3 cells: x/1 (kilo), x/2 (kilo), x/3 (kilo)");
        assert_eq!(told(5), "a.b does not hold in 5 cells: x/1 (kilo), x/2 (kilo), x/3 (kilo) and 2 more");
        let by_signal = "the sum of s is 4; 3 are allowed";
        assert_eq!(line(by_signal, &gate), by_signal, "a reason of another kind stands as it is");
    }
}
