//! Where a change stands that could stand in several places: with a change of the other text, else where the lines
//! around it are indented as at a seam.

/// The farthest that a change is moved.
const SLIDE_MAX: usize = 100;
const BLANKS_MAX: usize = 20;
const INDENT_MAX: i64 = 200;
const INDENT_WEIGHT: i64 = 60;

/// A group of changed lines, or the empty place between two that are kept.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

/// A text whose changes are moved; `lines` may be empty for the other text, of which the groups alone matter.
struct Text<'t> {
    changed: &'t mut [bool],
    group: Group,
}

impl<'t> Text<'t> {
    fn new(changed: &'t mut [bool]) -> Self {
        let mut text = Self { changed, group: Group { start: 0, end: 0 } };
        text.group.end = text.end_from(0);
        text
    }

    fn is_changed(&self, line: usize) -> bool {
        self.changed.get(line) == Some(&true)
    }

    fn end_from(&self, start: usize) -> usize {
        (start..).find(|line| !self.is_changed(*line)).unwrap_or(start)
    }

    fn start_from(&self, end: usize) -> usize {
        (0..end).rev().take_while(|line| self.is_changed(*line)).last().unwrap_or(end)
    }

    fn is_empty(&self) -> bool {
        self.group.start == self.group.end
    }

    fn next(&mut self) -> bool {
        if self.group.end >= self.changed.len() {
            return false;
        }
        let start = self.group.end + 1;
        self.group = Group { start, end: self.end_from(start) };
        true
    }

    fn previous(&mut self) {
        if let Some(end) = self.group.start.checked_sub(1) {
            self.group = Group { start: self.start_from(end), end };
        }
    }

    fn down(&mut self, lines: &[&str]) -> bool {
        let Group { start, end } = self.group;
        if end >= lines.len() || lines[start] != lines[end] {
            return false;
        }
        self.changed[start] = false;
        self.changed[end] = true;
        self.group = Group { start: start + 1, end: self.end_from(end + 1) };
        true
    }

    fn up(&mut self, lines: &[&str]) -> bool {
        let Group { start, end } = self.group;
        if start == 0 || lines[start - 1] != lines[end - 1] {
            return false;
        }
        self.changed[start - 1] = true;
        self.changed[end - 1] = false;
        self.group = Group { start: self.start_from(start - 1), end: end - 1 };
        true
    }
}

/// Moves the changes of one text.
pub(super) fn settle(lines: &[&str], changed: &mut [bool], other: &mut [bool]) {
    let mut own = Text::new(changed);
    let mut other = Text::new(other);
    loop {
        if !own.is_empty() {
            settle_group(lines, &mut own, &mut other);
        }
        if !own.next() {
            return;
        }
        other.next();
    }
}

fn settle_group(lines: &[&str], own: &mut Text<'_>, other: &mut Text<'_>) {
    let (mut size, mut earliest, mut beside);
    loop {
        size = own.group.end - own.group.start;
        beside = false;
        while own.up(lines) {
            other.previous();
        }
        earliest = own.group.end;
        beside |= !other.is_empty();
        while own.down(lines) {
            other.next();
            beside |= !other.is_empty();
        }
        // It may have met another change and grown.
        if own.group.end - own.group.start == size {
            break;
        }
    }
    if own.group.end == earliest {
        return;
    }
    if beside {
        while other.is_empty() && own.up(lines) {
            other.previous();
        }
        return;
    }
    let last = own.group.end;
    let first = earliest.max((last - size).saturating_sub(1)).max(last.saturating_sub(SLIDE_MAX));
    let mut best = (last, None);
    for end in first..=last {
        let score = Score::at(lines, end).and(&Score::at(lines, end - size));
        if best.1.as_ref().is_none_or(|best| score.is_no_worse(best)) {
            best = (end, Some(score));
        }
    }
    while own.group.end > best.0 && own.up(lines) {
        other.previous();
    }
}

/// How bad it would be to cut a text at a line.
struct Score {
    indent: i64,
    penalty: i64,
}

impl Score {
    fn at(lines: &[&str], cut: usize) -> Self {
        let indent = lines.get(cut).and_then(|line| indent(line));
        let (blanks_above, above) = nearest(lines[..cut].iter().rev());
        let (blanks_below, below) = nearest(lines.get(cut + 1..).unwrap_or_default().iter());
        let mut penalty = 0;
        if above.is_none() && blanks_above == 0 {
            penalty += 1;
        }
        if cut >= lines.len() {
            penalty += 21;
        }
        let blanks_here = if indent.is_none() { 1 + blanks_below } else { 0 };
        let blanks = blanks_above + blanks_here;
        penalty += 6 * blanks_here - 30 * blanks;
        let here = indent.or(below);
        let weight = |with_blanks: i64, without: i64| if blanks == 0 { without } else { with_blanks };
        if let (Some(here), Some(above)) = (here, above) {
            penalty += match here.cmp(&above) {
                std::cmp::Ordering::Greater => weight(10, -4),
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Less if below.is_some_and(|below| below > here) => weight(17, 24),
                std::cmp::Ordering::Less => weight(17, 23),
            };
        }
        Self { indent: here.unwrap_or(-1), penalty }
    }

    fn and(self, other: &Self) -> Self {
        Self { indent: self.indent + other.indent, penalty: self.penalty + other.penalty }
    }

    fn is_no_worse(&self, other: &Self) -> bool {
        let by_indent = (self.indent - other.indent).signum();
        INDENT_WEIGHT * by_indent + (self.penalty - other.penalty) <= 0
    }
}

/// How many blank lines come first, and the indent of the line behind them.
fn nearest<'a, 'l: 'a>(lines: impl Iterator<Item = &'a &'l str>) -> (i64, Option<i64>) {
    let mut blanks = 0;
    for line in lines {
        if let Some(indent) = indent(line) {
            return (blanks, Some(indent));
        }
        blanks += 1;
        if blanks == i64::try_from(BLANKS_MAX).unwrap_or(i64::MAX) {
            return (blanks, Some(0));
        }
    }
    (blanks, None)
}

/// The columns before the first letter; `None` for a blank line.
fn indent(line: &str) -> Option<i64> {
    let mut columns = 0;
    for letter in line.bytes() {
        match letter {
            b' ' => columns += 1,
            b'\t' => columns += 8 - columns % 8,
            b'\n' | b'\r' | 0x0b | 0x0c => {}
            _ => return Some(columns),
        }
        if columns >= INDENT_MAX {
            return Some(INDENT_MAX);
        }
    }
    None
}
