//! The shell lines of a skill that nobody trusts: Kilo runs none of them, and says so in their place. What the
//! model loads keeps those that stand in code; what a person calls as a command keeps none.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::template::LINE;

/// What stands in a skill that nobody trusts in the place of a shell line.
const DISTRUSTED: &str = "[skill shell execution disabled for untrusted skill]";

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
static FENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^[ \t]*(`{3,}|~{3,})[^\n]*$").unwrap());
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
static BLANK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\n[ \t]*\n").unwrap());
#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
static TICKS: LazyLock<Regex> = LazyLock::new(|| Regex::new("`+").unwrap());

/// The text of a command without its shell lines, also those that its arguments brought.
pub(super) fn without_any(text: &str) -> String {
    LINE.replace_all(text, DISTRUSTED).into_owned()
}

/// The text for a model without its shell lines; those that stand in code are left.
pub(super) fn without_live(text: &str) -> String {
    let code = code_in(text);
    let replaced = LINE.replace_all(text, |found: &regex::Captures<'_>| {
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        let is_code = code.iter().any(|span| span.contains(&whole.start));
        if is_code { text[whole].to_owned() } else { DISTRUSTED.to_owned() }
    });
    replaced.into_owned()
}

/// Where code stands: fenced blocks, and outside of them what two or more backticks enclose.
fn code_in(text: &str) -> Vec<Range<usize>> {
    let blocks = blocks_in(text);
    let mut at = 0;
    let mut between = Vec::new();
    for block in &blocks {
        between.push(at..block.start);
        at = block.end;
    }
    between.push(at..text.len());
    let mut spans: Vec<Range<usize>> = Vec::new();
    for part in between {
        for paragraph in paragraphs_of(text, part) {
            spans.extend(ticked_in(text, paragraph));
        }
    }
    spans.extend(blocks);
    spans
}

/// Fenced blocks: a fence of the same sign that is as long or longer ends one, else the text's end.
fn blocks_in(text: &str) -> Vec<Range<usize>> {
    let (mut blocks, mut open) = (Vec::new(), None::<(usize, &str)>);
    for found in FENCE.captures_iter(text) {
        let (Some(line), Some(mark)) = (found.get(0), found.get(1)) else { continue };
        let mark = mark.as_str();
        match open {
            None => open = Some((line.start(), mark)),
            Some((start, opened)) if mark[..1] == opened[..1] && mark.len() >= opened.len() => {
                blocks.push(start..line.end());
                open = None;
            }
            Some(_) => {}
        }
    }
    blocks.extend(open.map(|(start, _)| start..text.len()));
    blocks
}

/// Backticks enclose nothing beyond a blank line.
fn paragraphs_of(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let (mut paragraphs, mut at) = (Vec::new(), part.start);
    for blank in BLANK.find_iter(&text[part.clone()]) {
        paragraphs.push(at..part.start + blank.start());
        at = part.start + blank.end();
    }
    paragraphs.push(at..part.end);
    paragraphs
}

/// What two or more backticks enclose up to the next that are as many; one backtick alone is a shell line's.
fn ticked_in(text: &str, paragraph: Range<usize>) -> Vec<Range<usize>> {
    let runs: Vec<Range<usize>> = TICKS
        .find_iter(&text[paragraph.clone()])
        .map(|run| paragraph.start + run.start()..paragraph.start + run.end())
        .collect();
    let (mut spans, mut at) = (Vec::new(), 0);
    while let Some(run) = runs.get(at) {
        let partner = (at + 1..runs.len()).find(|&other| runs[other].len() == run.len());
        match partner.filter(|_| run.len() >= 2) {
            Some(partner) => {
                spans.push(run.start..runs[partner].end);
                at = partner + 1;
            }
            None => at += 1,
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: &str = DISTRUSTED;

    #[test]
    fn lines_in_code_are_left_to_the_model() {
        for (text, told) in [
            ("a !`x` b".to_owned(), format!("a {OFF} b")),
            ("```\n!`x`\n```\n!`y`".to_owned(), format!("```\n!`x`\n```\n{OFF}")),
            (
                "~~~ sh\n!`x`\n```\n!`y`\n~~~~ z\n!`w`".to_owned(),
                format!("~~~ sh\n!`x`\n```\n!`y`\n~~~~ z\n{OFF}"),
            ),
            ("````\n!`x`\n```\n!`y`".to_owned(), "````\n!`x`\n```\n!`y`".to_owned()),
            ("``a !`x` b`` !`y`".to_owned(), format!("``a !`x` b`` {OFF}")),
            ("``a\n\n!`x` ``".to_owned(), format!("``a\n\n{OFF} ``")),
            ("``a !`x` ```".to_owned(), format!("``a {OFF} ```")),
        ] {
            assert_eq!(without_live(&text), told, "{text:?}");
        }
    }

    #[test]
    fn a_command_keeps_no_line() {
        assert_eq!(without_any("a !`x`\n```\n!`y`\n```"), format!("a {OFF}\n```\n{OFF}\n```"));
    }
}
