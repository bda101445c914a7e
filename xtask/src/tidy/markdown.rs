//! The lines of a Markdown file, with those inside fenced code told apart.

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// 1-based.
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// It stands inside a fenced code block.
    pub(super) is_code: bool,
}

/// All lines but the fences themselves.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for (index, text) in text.lines().enumerate() {
        let fence = fence(text);
        match (open, fence) {
            (None, Some((mark, length, _))) => open = Some((mark, length)),
            (Some((mark, length)), Some((closing, at_least, true)))
                if closing == mark && at_least >= length =>
            {
                open = None;
            }
            _ => lines.push(Line { number: index + 1, text, is_code: open.is_some() }),
        }
    }
    lines
}

/// The mark of a fence, how many of them, and that nothing follows (as after a closing one).
fn fence(line: &str) -> Option<(char, usize, bool)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let inline = mark == '`' && rest.contains('`');
    (length >= 3 && !inline).then_some((mark, length, rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_open_and_close() {
        let text = "a\n```sh\nb\n~~~\n````\nc\n~~~ text\nd\n```\n~~~\ne\n```x``` f\n";
        let told: Vec<_> =
            lines(text).into_iter().map(|line| (line.number, line.text, line.is_code)).collect();
        assert_eq!(
            told,
            [
                (1, "a", false),
                (3, "b", true),
                (4, "~~~", true),
                (6, "c", false),
                (8, "d", true),
                (9, "```", true),
                (11, "e", false),
                (12, "```x``` f", false),
            ]
        );
    }
}
