//! Which lines of two texts are the same: as the servers' tools say it. Where a change can be told in several shortest
//! ways, the walk decides which; so it is theirs, step by step.

/// What happens to some lines that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Removed,
    Added,
}

/// Lines of one fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) fate: Fate,
    pub(crate) count: usize,
}

/// The lines of a text, each with its line feed.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Adds a line to runs.
pub(crate) fn push(runs: &mut Vec<Run>, fate: Fate) {
    match runs.last_mut() {
        Some(last) if last.fate == fate => last.count += 1,
        _ => runs.push(Run { fate, count: 1 }),
    }
}

/// How far a path has come in the old text, and its last step.
#[derive(Debug, Clone, Copy)]
struct Path {
    old: usize,
    last: Option<usize>,
}

/// A step of a path: some lines of one fate, and the step before.
#[derive(Debug, Clone, Copy)]
struct Step {
    run: Run,
    before: Option<usize>,
}

/// The steps of all paths; paths share their beginnings.
struct Walk<'t> {
    old: &'t [&'t str],
    new: &'t [&'t str],
    steps: Vec<Step>,
}

/// Texts that need more than that are told as changed in all of their lines: nobody waits that long.
const STEPS_MAX: usize = 20_000_000;

/// The shortest change from the old lines to the new ones. Positions count from one; the path on diagonal `d` is at
/// line `old - d` of the new text.
pub(crate) fn runs(old: &[&str], new: &[&str]) -> Vec<Run> {
    let mut walk = Walk { old, new, steps: Vec::new() };
    let mut start = Path { old: 0, last: None };
    if walk.follow(&mut start, 0) && start.old == old.len() {
        return walk.runs(start.last);
    }
    let most = signed(old.len() + new.len());
    let mut best: Vec<Option<Path>> = vec![None; old.len() + new.len() + 3];
    // Diagonals begin left of the last line of the new text.
    let slot = |diagonal: isize| usize::try_from(diagonal + signed(new.len()) + 1).unwrap_or(0);
    best[slot(0)] = Some(start);
    let (mut lowest, mut highest) = (-signed(new.len()), signed(old.len()));
    for length in 1..=most {
        if walk.steps.len() > STEPS_MAX {
            break;
        }
        let mut diagonal = first_diagonal(lowest.max(-length), length);
        while diagonal <= highest.min(length) {
            let shorter = best[slot(diagonal - 1)].take();
            let longer = best[slot(diagonal + 1)];
            let place = |path: &Path| signed(path.old) - diagonal;
            let longer = longer.filter(|path| (1..=signed(new.len())).contains(&(place(path))));
            let shorter = shorter.filter(|path| path.old < old.len());
            let path = match (shorter, longer) {
                (None, None) => None,
                (Some(shorter), Some(longer)) if shorter.old < longer.old => {
                    Some(walk.step(longer, Fate::Added))
                }
                (Some(shorter), _) => Some(walk.step(shorter, Fate::Removed)),
                (None, Some(longer)) => Some(walk.step(longer, Fate::Added)),
            };
            if let Some(mut path) = path {
                let is_through = walk.follow(&mut path, diagonal);
                if is_through && path.old == old.len() {
                    return walk.runs(path.last);
                }
                if path.old == old.len() {
                    highest = highest.min(diagonal - 1);
                }
                if is_through {
                    lowest = lowest.max(diagonal + 1);
                }
                best[slot(diagonal)] = Some(path);
            } else {
                best[slot(diagonal)] = None;
            }
            diagonal += 2;
        }
    }
    let all = [(Fate::Removed, old.len()), (Fate::Added, new.len())];
    all.map(|(fate, count)| Run { fate, count }).to_vec()
}

/// The paths of one length stand on every second diagonal.
fn first_diagonal(lowest: isize, length: isize) -> isize {
    if (lowest + length) % 2 == 0 { lowest } else { lowest + 1 }
}

fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

impl Walk<'_> {
    fn step(&mut self, path: Path, fate: Fate) -> Path {
        let last = path.last.and_then(|last| self.steps.get(last).copied());
        let step = match last {
            Some(last) if last.run.fate == fate => {
                Step { run: Run { fate, count: last.run.count + 1 }, before: last.before }
            }
            _ => Step { run: Run { fate, count: 1 }, before: path.last },
        };
        self.steps.push(step);
        let old = path.old + usize::from(fate == Fate::Removed);
        Path { old, last: Some(self.steps.len() - 1) }
    }

    /// Goes on while the lines are the same. Says whether the new text is through.
    fn follow(&mut self, path: &mut Path, diagonal: isize) -> bool {
        let mut new = usize::try_from(signed(path.old) - diagonal).unwrap_or(0);
        let begun = path.old;
        while path.old < self.old.len() && new < self.new.len() && self.old[path.old] == self.new[new] {
            path.old += 1;
            new += 1;
        }
        if path.old > begun {
            let run = Run { fate: Fate::Kept, count: path.old - begun };
            self.steps.push(Step { run, before: path.last });
            path.last = Some(self.steps.len() - 1);
        }
        new >= self.new.len()
    }

    fn runs(&self, mut last: Option<usize>) -> Vec<Run> {
        let mut runs = Vec::new();
        while let Some(step) = last.and_then(|last| self.steps.get(last)) {
            runs.push(step.run);
            last = step.before;
        }
        runs.reverse();
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(old: &str, new: &str) -> String {
        let (old, new) = (lines(old), lines(new));
        let (mut at, mut to) = (0, 0);
        let mut shown = String::new();
        for Run { fate, count } in runs(&old, &new) {
            for _ in 0..count {
                let (sign, line) = match fate {
                    Fate::Kept => (' ', old[at]),
                    Fate::Removed => ('-', old[at]),
                    Fate::Added => ('+', new[to]),
                };
                at += usize::from(fate != Fate::Added);
                to += usize::from(fate != Fate::Removed);
                shown.push(sign);
                shown.push_str(line.trim_end());
            }
        }
        shown
    }

    #[test]
    fn of_several_ways_the_servers_way_is_told() {
        // Seen on the real servers.
        assert_eq!(told("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n"), "-a-b c+b a b-b a+c");
        assert_eq!(told("a\nb\na\nb\na\nb\nc\n", "a\nb\na\nb\na\nb\na\nb\nc\n"), " a b a b a b+a+b c");
        assert_eq!(told("", "a\n"), "+a");
        assert_eq!(told("a\n", ""), "-a");
        assert_eq!(told("a\n", "a\n"), " a");
        assert_eq!(told("", ""), "");
    }

    proptest! {
        #[test]
        fn the_runs_lead_from_one_text_to_the_other(old in "([abc]\n){0,12}", new in "([abc]\n){0,12}") {
            let shown = told(&old, &new);
            let of = |signs: [char; 2]| -> String {
                let pairs: Vec<char> = shown.chars().collect();
                pairs.chunks(2).filter(|pair| signs.contains(&pair[0])).flat_map(|pair| [pair[1], '\n']).collect()
            };
            prop_assert_eq!(of([' ', '-']), old);
            prop_assert_eq!(of([' ', '+']), new);
        }
    }
}
