//! The page that people read: every sentence with its verdict and the lines that show it.

use super::claim::{Answer, Claim};
use super::{Answers, Criterion, Evidence, Question};
use fixtures::ServerKind;
use std::fmt::Write as _;

/// `docs/evidence.md`, whole.
#[must_use]
pub fn markdown(evidence: &Evidence, answers: &Answers) -> String {
    let mut page = String::from(HEAD);
    let passes = evidence.criteria.iter().all(|criterion| holds(evidence, &criterion.rests_on, answers));
    let _ = writeln!(page, "## Phase 0: {}\n", if passes { "PASS" } else { "FAIL" });
    page.push_str("| The plan accepts it when | verdict | because of |\n|---|---|---|\n");
    for Criterion { says, source, rests_on } in &evidence.criteria {
        let verdict = if holds(evidence, rests_on, answers) { "PASS" } else { "FAIL" };
        let _ = writeln!(page, "| {} ({source}) | {verdict} | {} |", cell(says), links(rests_on));
    }
    page.push_str("\n## Where reality differs from the plan\n\n");
    page.push_str("| The plan | The real servers | shown by |\n|---|---|---|\n");
    for difference in &evidence.differences {
        let mark = if holds(evidence, &difference.shown_by, answers) { "" } else { "**NOT SHOWN:** " };
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

fn holds(evidence: &Evidence, ids: &[String], answers: &Answers) -> bool {
    let claim = |wanted: &str| -> Option<(String, &Claim)> { evidence.claims().find(|(id, _)| id == wanted) };
    !ids.is_empty() && ids.iter().all(|id| claim(id).is_some_and(|(id, claim)| claim.holds(&id, answers)))
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
