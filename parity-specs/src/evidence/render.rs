//! The page that people read: every sentence with its verdict and the lines that show it.

use super::claim::Answer;
use super::{Answers, Criterion, Evidence, Question};
use fixtures::ServerKind;
use std::fmt::Write as _;

/// `docs/evidence.md`, whole.
#[must_use]
pub fn markdown(evidence: &Evidence, answers: &Answers) -> String {
    let mut page = String::from(HEAD);
    let (first, others): (Vec<_>, Vec<_>) = evidence.criteria.iter().partition(|it| it.phase == 0);
    let passes = first.iter().all(|criterion| evidence.hold(&criterion.rests_on, answers));
    let _ = writeln!(page, "## Phase 0: {}\n", if passes { "PASS" } else { "FAIL" });
    page.push_str("| The plan accepts it when | verdict | because of |\n|---|---|---|\n");
    criteria(evidence, answers, &first, &mut page);
    page.push_str("\n## What the servers send for later phases\n\n");
    page.push_str("| What a client needs | verdict | because of |\n|---|---|---|\n");
    criteria(evidence, answers, &others, &mut page);
    page.push_str("\n## Where reality differs from the plan\n\n");
    page.push_str("| The plan | The real servers | shown by |\n|---|---|---|\n");
    for difference in &evidence.differences {
        let mark = if evidence.hold(&difference.shown_by, answers) { "" } else { "**NOT SHOWN:** " };
        let plan = format!("{} ({})", cell(&difference.plan), difference.source);
        let _ = writeln!(
            page,
            "| {plan} | {mark}{} | {} |",
            cell(&difference.reality),
            links(&difference.shown_by)
        );
    }
    for question in &evidence.questions {
        section(question, answers, &mut page);
    }
    page
}

fn criteria(evidence: &Evidence, answers: &Answers, which: &[&Criterion], page: &mut String) {
    for Criterion { id, says, source, rests_on, .. } in which {
        let verdict = if evidence.hold(rests_on, answers) { "PASS" } else { "FAIL" };
        let says = cell(says);
        let _ = writeln!(page, "| {says} (`{id}`: {source}) | {verdict} | {} |", links(rests_on));
    }
}

const HEAD: &str = "\
# What the recordings say

Written by `cargo xtask evidence` from the questions in `parity-specs/evidence` and the recordings in
`fixtures/recordings`; a test holds it to both. A sentence holds (✓) because a query over the recordings says so; behind
it stand how many facts were asked, in how many recordings, and lines that show it.

";

fn section(question: &Question, answers: &Answers, page: &mut String) {
    let _ = writeln!(page, "\n## {} {}\n\n{}", question.id, question.title, question.asks.trim());
    for claim in &question.claims {
        let id = format!("{}/{}", question.id, claim.id);
        let mark = if claim.holds(&id, answers) { "✓" } else { "✗ **does not hold:**" };
        let _ = writeln!(page, "\n<a id=\"{}\"></a>{mark} {}\n", anchor(&id), claim.says.trim());
        for (server, answer) in claim.answers(&id, answers) {
            page.push_str(&line(server, answer));
        }
    }
}

fn line(server: ServerKind, answer: Option<&Answer>) -> String {
    let Some(answer) = answer else { return format!("- {server}: no recording speaks of it\n") };
    let mut line =
        format!("- {server}: {} in {}", many(answer.facts, "fact"), many(answer.recordings, "recording"));
    let cites = if answer.against.is_empty() { &answer.shown_by } else { &answer.against };
    let word = if answer.against.is_empty() { "as" } else { "**but**" };
    for (index, cite) in cites.iter().take(SHOWN).enumerate() {
        let path = format!("{}/{}.jsonl", server.release(), cite.recording);
        let before = if index == 0 { format!(", {word}") } else { ",".to_owned() };
        let link = format!("../fixtures/recordings/{path}#L{}", cite.line);
        let _ = write!(line, "{before} [{}:{}]({link})", cite.recording, cite.line);
    }
    line.push('\n');
    for (value, count) in &answer.tally {
        let _ = writeln!(line, "  - `{value}`: {count}");
    }
    line
}

/// So many lines of an answer are named.
const SHOWN: usize = 12;

fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn links(ids: &[String]) -> String {
    ids.iter().map(|id| format!("[{id}](#{})", anchor(id))).collect::<Vec<_>>().join(", ")
}

fn anchor(id: &str) -> String {
    id.replace(['/', '.'], "-")
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', " ")
}
