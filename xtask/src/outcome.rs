//! What came of a command or of one of its steps. "Could not check" is a word of its own, so that it can't pass
//! for "holds".

use harness::complain;
use std::process::ExitCode;

/// What came of a command or of one of its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was asked holds.
    Holds,
    /// Something does not hold; a line for each.
    Fails(String),
    /// The command line is wrong. The parser finds most of it; this is what only a step can find.
    Misuse(String),
    /// It could not be checked: why, and what to do about it; a line for each.
    Untestable(String),
}

impl Outcome {
    /// The outcome of several steps: a failure outweighs what could not be checked, and neither is forgotten.
    pub(crate) fn of_all(steps: impl IntoIterator<Item = Self>) -> Self {
        let (mut failures, mut gaps) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Self::Holds => {}
                Self::Fails(line) | Self::Misuse(line) => failures.push(line),
                Self::Untestable(line) => gaps.push(line),
            }
        }
        match (failures.is_empty(), gaps.is_empty()) {
            (true, true) => Self::Holds,
            (true, false) => Self::Untestable(gaps.join("\n")),
            (false, _) => Self::Fails([failures, gaps].concat().join("\n")),
        }
    }

    /// Says it: the last words of a command. What holds needs none.
    pub(crate) fn report(&self) {
        let (word, lines) = match self {
            Self::Holds => return,
            Self::Fails(lines) => ("fails", lines),
            Self::Misuse(lines) => ("misuse", lines),
            Self::Untestable(lines) => ("could not check", lines),
        };
        complain!("\n{word}:\n{lines}");
    }

    /// The exit code that Standin's commands share.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Fails(_) => 1,
            Self::Misuse(_) => 2,
            Self::Untestable(_) => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_outweighs_a_gap_and_both_are_told() {
        let fails = Outcome::Fails("a".into());
        let gap = Outcome::Untestable("b".into());
        assert_eq!(
            Outcome::of_all([gap.clone(), Outcome::Holds, fails.clone()]),
            Outcome::Fails("a\nb".into())
        );
        assert_eq!(Outcome::of_all([Outcome::Holds, gap.clone()]), gap);
        assert_eq!(Outcome::of_all([Outcome::Holds]), Outcome::Holds);
        let misuse = Outcome::Misuse("c".into());
        assert_eq!([Outcome::Holds.code(), fails.code(), misuse.code(), gap.code()], [0, 1, 2, 3]);
    }
}
