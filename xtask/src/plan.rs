//! `cargo xtask plan FILE`: counts the statements of a plan, heading by heading, and holds them against the index
//! that the claims of requirements are held against. The plan itself is not in the repository.

use crate::outcome::Outcome;
use fixtures::error::parse_toml;
use harness::say;
use parity_specs::plan::{Heading, PlanIndex};
use std::fs;
use std::path::{Path, PathBuf};

/// Which plan is counted.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The plan, in Markdown.
    file: PathBuf,
    /// The plan's name, a folder of parity-specs/plans.
    #[arg(long, default_value = "000")]
    plan: String,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let index = Path::new("parity-specs/plans").join(&arguments.plan).join("index.toml");
    let read = |path: &Path| {
        fs::read_to_string(path)
            .map_err(|error| Outcome::Misuse(format!("failed to read {}: {error}", path.display())))
    };
    let (text, counted) = match (read(&root.join(&index)), read(&arguments.file)) {
        (Ok(text), Ok(plan)) => (text, count(&plan)),
        (Err(outcome), _) | (_, Err(outcome)) => return outcome,
    };
    let known: PlanIndex = match parse_toml(&index, &text) {
        Ok(known) => known,
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let mut counted = counted;
    // A plan whose code says nothing has none of it in its index.
    if known.headings.iter().all(|heading| heading.passages == 0) {
        counted.iter_mut().for_each(|heading| heading.passages = 0);
    }
    let differences = differences(&known.headings, &counted);
    if differences.is_empty() {
        let of = |count: fn(&Heading) -> usize| counted.iter().map(count).sum::<usize>();
        let (bullets, rows) = (of(|heading| heading.bullets), of(|heading| heading.rows));
        let (paragraphs, passages) = (of(|heading| heading.paragraphs), of(|heading| heading.passages));
        say!(
            "{}: {} headings, {bullets} bullets, {rows} rows, {paragraphs} paragraphs, {passages} passages, as in {}",
            arguments.file.display(),
            counted.len(),
            index.display()
        );
        return Outcome::Holds;
    }
    Outcome::Fails(format!(
        "{} is not what {} says:\n{}",
        arguments.file.display(),
        index.display(),
        differences.join("\n")
    ))
}

/// In what two lists of headings differ, the known one first. Their ids are ours, and nobody can count them.
fn differences(known: &[Heading], counted: &[Heading]) -> Vec<String> {
    let show = |heading: &Heading| {
        let Heading { title, bullets, rows, paragraphs, passages, .. } = heading;
        let passages = if *passages > 0 { format!(", {passages} passages") } else { String::new() };
        format!("'{title}': {bullets} bullets, {rows} rows, {paragraphs} paragraphs{passages}")
    };
    let mut found = Vec::new();
    for at in 0..known.len().max(counted.len()) {
        match (known.get(at).map(show), counted.get(at).map(show)) {
            (Some(known), Some(counted)) if known != counted => {
                found.push(format!("heading {}: the index has {known}; the plan has {counted}", at + 1));
            }
            (Some(known), None) => found.push(format!("the plan has no heading {}: {known}", at + 1)),
            (None, Some(counted)) => found.push(format!("the index has no heading {}: {counted}", at + 1)),
            _ => {}
        }
    }
    found
}

/// What stands under each heading of a text in Markdown.
fn count(plan: &str) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut is_code = false;
    // The last line of a paragraph that goes on.
    let mut paragraph: Option<String> = None;
    // Lines that follow an item without a gap belong to it.
    let mut in_item = false;
    // In a code fence, lines up to an empty one belong together.
    let mut in_passage = false;
    // So many lines of a table stand right above.
    let mut in_table = 0;
    let unmarked = !plan.lines().any(|line| line.starts_with('#'));
    let lines: Vec<&str> = plan.lines().chain([""]).collect();
    for (at, line) in lines.iter().enumerate() {
        let words = line.trim();
        let is_fence = words.starts_with("```");
        let plain = !is_fence && !is_code && !words.is_empty() && words != "---";
        let title = words.trim_start_matches('#').strip_prefix(' ').filter(|_| words.starts_with('#'));
        let title = title.or_else(|| Some(words).filter(|_| unmarked && leads_to_items(&lines[at..])));
        let is_text = plain && title.is_none() && !words.starts_with('|') && !is_item(words);
        if !is_text
            && let Some(last) = paragraph.take()
            && !last.ends_with(':')
        {
            in_last(&mut headings, |heading| heading.paragraphs += 1);
        }
        if is_fence {
            is_code = !is_code;
            in_passage = false;
        } else if is_code {
            if !words.is_empty() && (!in_passage || is_listed(words)) {
                in_last(&mut headings, |heading| heading.passages += 1);
            }
            in_passage = !words.is_empty();
        }
        let above = std::mem::take(&mut in_table);
        if !plain {
            in_item = false;
        } else if let Some(title) = title {
            headings.push(Heading { title: title.trim().to_owned(), ..Heading::default() });
            in_item = false;
        } else if words.starts_with('|') {
            in_table = above + 1;
            match above {
                // The head, if the line below it says so.
                0 if is_rule(lines[at + 1].trim()) => {}
                1 if is_rule(words) => {}
                _ => in_last(&mut headings, |heading| heading.rows += 1),
            }
        } else if is_item(words) {
            in_last(&mut headings, |heading| heading.bullets += 1);
            in_item = true;
        } else if !in_item {
            paragraph = Some(words.to_owned());
        }
    }
    headings
}

/// In a plan without marks a line at the margin before a list is a heading.
fn leads_to_items(lines: &[&str]) -> bool {
    let is_title = |line: &str| !line.is_empty() && !line.starts_with(' ') && !is_item(line);
    let next = lines.iter().skip(1).find(|line| !line.trim().is_empty());
    is_title(lines[0]) && next.is_some_and(|next| is_item(next.trim()))
}

/// The line below a table's head.
fn is_rule(words: &str) -> bool {
    words.starts_with('|') && words.contains('-') && words.chars().all(|letter| "|-: ".contains(letter))
}

fn in_last(headings: &mut [Heading], change: impl FnOnce(&mut Heading)) {
    if let Some(heading) = headings.last_mut() {
        change(heading);
    }
}

/// An item of a list begins with a dash, or with a number and a dot.
fn is_item(words: &str) -> bool {
    let number = words.trim_start_matches(|letter: char| letter.is_ascii_digit());
    words.starts_with("- ")
        || words.starts_with("• ")
        || (number.len() < words.len() && number.starts_with(". "))
}

/// In code, an item of a list has a number or a letter.
fn is_listed(words: &str) -> bool {
    let (mark, rest) = words.split_once(". ").unwrap_or_default();
    !rest.is_empty()
        && !mark.is_empty()
        && (mark.len() == 1 || mark.chars().all(|letter| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "\
# A plan

Two lines that
say something.

Leads to:

- one
  goes on
    1. two
- three:

---

## Another `thing`

| a | b |
| - | :-: |
| 1 | 2 |
| 3 | 4 |

```ts
- no item
# no heading
```

The last word";

    #[test]
    fn a_plan_without_marks_has_the_lines_before_its_lists_for_headings() {
        let plan = "Files\nFirst:\n- one\n- two\n\nA word.\n\nSecond\n\n  1. three:\n    • four\n";
        assert_eq!(count(plan), [heading("First:", 2, 0, 1), heading("Second", 2, 0, 0)]);
    }

    #[test]
    fn a_line_between_head_and_rows_is_one_only_there() {
        let rows = |plan: &str| count(&format!("# A\n\n{plan}"))[0].rows;
        assert_eq!(rows("|---|\n"), 1, "a table without a head has no such line");
        assert_eq!(rows("| a |\n|---|\n| 1 |\n\n|---|\n| 2 |\n"), 3);
        assert_eq!(rows("| a |\n|---|\n| - |\n|   |\n| 1 |\n"), 3, "a cell may be a dash, or empty");
        assert_eq!(count("|---|\n"), []);
    }

    fn heading(title: &str, bullets: usize, rows: usize, paragraphs: usize) -> Heading {
        Heading { title: title.to_owned(), bullets, rows, paragraphs, ..Heading::default() }
    }

    #[test]
    fn what_code_says_is_counted_part_by_part() {
        let plan = "# A\n\n**Steps:**\n\n```\n1. one\n   a. two\n   b. three\n```\n\n```ts\nlet a = 1\nlet b = 2\n\nlet c = 3\n```\n";
        assert_eq!(count(plan), [Heading { passages: 5, ..heading("A", 0, 0, 1) }]);
    }

    #[test]
    fn statements_are_counted_under_their_headings() {
        assert_eq!(
            count(PLAN),
            [heading("A plan", 3, 0, 1), Heading { passages: 1, ..heading("Another `thing`", 0, 2, 1) }]
        );
    }

    #[test]
    fn what_differs_from_the_index_is_told() {
        let known = [heading("A plan", 3, 0, 1), heading("Another `thing`", 0, 2, 2)];
        let counted = [heading("A plan", 3, 0, 1), heading("Another `thing`", 0, 2, 1)];
        assert_eq!(
            differences(&known, &counted),
            [
                "heading 2: the index has 'Another `thing`': 0 bullets, 2 rows, 2 paragraphs; the plan has 'Another `thing`': 0 bullets, 2 rows, 1 paragraphs"
            ]
        );
        assert_eq!(differences(&known[..1], &count(PLAN)).len(), 1);
        assert_eq!(differences(&known, &count(PLAN)[..1]).len(), 1);
    }
}
