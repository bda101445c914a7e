//! The search for the shortest change: from both ends at once, until the two meet; then in both halves.

use std::ops::Range;

/// A search that costs more than that is content with a change that is not the shortest.
const COST_MAX: usize = 256;
/// No path reaches this place from behind.
const NOWHERE: isize = isize::MAX;

struct Search {
    first: Vec<usize>,
    second: Vec<usize>,
    /// By diagonal, how far the paths from the beginning have come, and those from the end.
    forward: Vec<isize>,
    backward: Vec<isize>,
    cost_max: usize,
    changed_first: Vec<usize>,
    changed_second: Vec<usize>,
}

/// Where a text is cut in two, and whether the shortest change is wanted of each half.
struct Cut {
    first: usize,
    second: usize,
    exact: (bool, bool),
}

/// The places of the changed lines in each text.
pub(super) fn changed(first: Vec<usize>, second: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let diagonals = first.len() + second.len() + 3;
    let all = (0..first.len(), 0..second.len());
    let mut search = Search {
        forward: vec![0; diagonals],
        backward: vec![0; diagonals],
        cost_max: super::rough_root(diagonals).max(COST_MAX),
        first,
        second,
        changed_first: Vec::new(),
        changed_second: Vec::new(),
    };
    search.compare(all.0, all.1, false);
    (search.changed_first, search.changed_second)
}

impl Search {
    fn compare(&mut self, first: Range<usize>, second: Range<usize>, exact: bool) {
        let (mut first, mut second) = (first, second);
        while !first.is_empty() && !second.is_empty() && self.first[first.start] == self.second[second.start]
        {
            first.start += 1;
            second.start += 1;
        }
        while !first.is_empty()
            && !second.is_empty()
            && self.first[first.end - 1] == self.second[second.end - 1]
        {
            first.end -= 1;
            second.end -= 1;
        }
        if first.is_empty() {
            self.changed_second.extend(second);
        } else if second.is_empty() {
            self.changed_first.extend(first);
        } else {
            let cut = self.cut(&first, &second, exact);
            self.compare(first.start..cut.first, second.start..cut.second, cut.exact.0);
            self.compare(cut.first..first.end, cut.second..second.end, cut.exact.1);
        }
    }

    fn slot(&self, diagonal: isize) -> usize {
        usize::try_from(diagonal + signed(self.second.len()) + 1).unwrap_or(0)
    }

    fn cut(&mut self, first: &Range<usize>, second: &Range<usize>, exact: bool) -> Cut {
        let lowest = signed(first.start) - signed(second.end);
        let highest = signed(first.end) - signed(second.start);
        let from = signed(first.start) - signed(second.start);
        let to = signed(first.end) - signed(second.end);
        let is_odd = (from - to) % 2 != 0;
        let (mut ahead, mut behind) = (from..=from, to..=to);
        let (begin, end) = (self.slot(from), self.slot(to));
        self.forward[begin] = signed(first.start);
        self.backward[end] = signed(first.end);
        let mut cost = 1;
        loop {
            ahead = self.widened(&ahead, lowest, highest, true);
            let mut diagonal = *ahead.end();
            while diagonal >= *ahead.start() {
                let at = self.advance(diagonal, first.end, second.end);
                if is_odd && behind.contains(&diagonal) && self.backward[self.slot(diagonal)] <= at {
                    return cut_at(at, diagonal);
                }
                diagonal -= 2;
            }
            behind = self.widened(&behind, lowest, highest, false);
            let mut diagonal = *behind.end();
            while diagonal >= *behind.start() {
                let at = self.retreat(diagonal, first.start, second.start);
                if !is_odd && ahead.contains(&diagonal) && at <= self.forward[self.slot(diagonal)] {
                    return cut_at(at, diagonal);
                }
                diagonal -= 2;
            }
            if !exact && cost >= self.cost_max {
                return self.rough_cut(first, second, &ahead, &behind);
            }
            cost += 1;
        }
    }

    /// One more diagonal on each side, or one fewer where there is none.
    fn widened(
        &mut self,
        range: &std::ops::RangeInclusive<isize>,
        lowest: isize,
        highest: isize,
        is_forward: bool,
    ) -> std::ops::RangeInclusive<isize> {
        let (mut low, mut high) = (*range.start(), *range.end());
        let outside = if is_forward { -1 } else { NOWHERE };
        let mark = |diagonal: isize, search: &mut Self| {
            let slot = search.slot(diagonal);
            if is_forward { search.forward[slot] = outside } else { search.backward[slot] = outside }
        };
        if low > lowest {
            low -= 1;
            mark(low - 1, self);
        } else {
            low += 1;
        }
        if high < highest {
            high += 1;
            mark(high + 1, self);
        } else {
            high -= 1;
        }
        low..=high
    }

    fn advance(&mut self, diagonal: isize, first_end: usize, second_end: usize) -> isize {
        let slot = self.slot(diagonal);
        let (below, above) = (self.forward[slot - 1], self.forward[slot + 1]);
        let mut at = if below >= above { below + 1 } else { above };
        while at < signed(first_end) && at - diagonal < signed(second_end) && self.same(at, at - diagonal) {
            at += 1;
        }
        self.forward[slot] = at;
        at
    }

    fn retreat(&mut self, diagonal: isize, first_start: usize, second_start: usize) -> isize {
        let slot = self.slot(diagonal);
        let (below, above) = (self.backward[slot - 1], self.backward[slot + 1]);
        let mut at = if below < above { below } else { above - 1 };
        while at > signed(first_start)
            && at - diagonal > signed(second_start)
            && self.same(at - 1, at - diagonal - 1)
        {
            at -= 1;
        }
        self.backward[slot] = at;
        at
    }

    fn same(&self, first: isize, second: isize) -> bool {
        let line =
            |lines: &[usize], at: isize| usize::try_from(at).ok().and_then(|at| lines.get(at).copied());
        line(&self.first, first) == line(&self.second, second)
    }

    /// Where the paths have come furthest.
    fn rough_cut(
        &self,
        first: &Range<usize>,
        second: &Range<usize>,
        ahead: &std::ops::RangeInclusive<isize>,
        behind: &std::ops::RangeInclusive<isize>,
    ) -> Cut {
        let (start, end) =
            (signed(first.start) + signed(second.start), signed(first.end) + signed(second.end));
        let (mut furthest, mut far) = (-1, -1);
        for diagonal in ahead.clone().rev().step_by(2) {
            let at = self.forward[self.slot(diagonal)].min(signed(first.end));
            let at = at.min(signed(second.end) + diagonal);
            if furthest < at + at - diagonal {
                (furthest, far) = (at + at - diagonal, at);
            }
        }
        let (mut nearest, mut near) = (NOWHERE, NOWHERE);
        for diagonal in behind.clone().rev().step_by(2) {
            let at = self.backward[self.slot(diagonal)].max(signed(first.start));
            let at = at.max(signed(second.start) + diagonal);
            if at + at - diagonal < nearest {
                (nearest, near) = (at + at - diagonal, at);
            }
        }
        if end - nearest < furthest - start {
            Cut { exact: (true, false), ..cut_at(far, far + far - furthest) }
        } else {
            Cut { exact: (false, true), ..cut_at(near, near + near - nearest) }
        }
    }
}

fn cut_at(first: isize, diagonal: isize) -> Cut {
    let place = |at: isize| usize::try_from(at).unwrap_or(0);
    Cut { first: place(first), second: place(first - diagonal), exact: (true, true) }
}

fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}
