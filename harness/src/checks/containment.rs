//! Does the guard say of each path of the corpus what its rules say?

use super::{Check, Examined};
use crate::course::{Course, What};
use crate::protocol::{Capability, PathJudged, PathVerdict, Request};
use crate::witness::{Witnessed, witnessed};
use fixtures::paths::{Case, Policy, Verdict};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(super) const CHECK: Check = Check {
    name: "containment",
    about: "The guard lets a tool at every path of the corpus that lies inside, and at none that leads out.",
    needs: &[Capability::PathCheck],
    has_occasion: |course| course.asked().any(|(_, _, request)| matches!(request, Request::PathCheck(_))),
    examine,
};

/// So many paths are told one by one.
const TOLD: usize = 5;

/// By name. Read once: every history is asked whether it has something to do with it.
static CORPUS: LazyLock<Result<BTreeMap<String, Case>, String>> = LazyLock::new(|| {
    let cases = fixtures::corpus::all::<Case>().map_err(|error| error.to_string())?;
    Ok(cases.into_iter().map(|case| (case.full_name(), case)).collect())
});

fn examine(course: &Course<'_>) -> Examined {
    let mut examined = Examined::default();
    let questions = asked(course);
    if questions.is_empty() {
        return examined;
    }
    let corpus = match &*CORPUS {
        Ok(corpus) => corpus,
        Err(why) => {
            examined.doubts.push(format!("the corpus of paths can't be read: {why}"));
            return examined;
        }
    };
    let said = answers(course);
    let (mut let_in, mut kept_out, mut accepted) = (Vec::new(), Vec::new(), 0);
    for (line, name, policy) in questions {
        let Some(case) = corpus.get(&name) else {
            examined.doubts.push(format!("the corpus has no path {name} any more"));
            continue;
        };
        let Some(allows) = case.verdict(policy).allows() else { continue };
        let verdict = said.get(&line).copied().flatten();
        examined.facts += 1;
        match (verdict, allows) {
            (Some(PathVerdict::Inside), true) => {
                let leads_out = policy == Policy::Lexical && case.realpath == Verdict::Outside;
                accepted += usize::from(leads_out);
            }
            (Some(PathVerdict::Outside), false) => {}
            (Some(PathVerdict::Inside), false) => let_in.push(name),
            (Some(PathVerdict::Outside), true) => kept_out.push(name),
            (None, _) => examined.findings.push(format!("nothing was said of {name}")),
        }
    }
    for (names, what) in [(let_in, "lead out and are let in"), (kept_out, "lie inside and are kept out")] {
        if names.is_empty() {
            continue;
        }
        let count = names.len();
        examined.findings.push(format!("{count} paths {what}: {}", shortened(&names)));
    }
    if accepted > 0 {
        examined.degraded.push(format!("{accepted} paths are inside on paper, and a link leads them out"));
    }
    examined
}

/// The line of each question, its case and its rules.
fn asked(course: &Course<'_>) -> Vec<(usize, String, Policy)> {
    let mut announced: Vec<(usize, String, Policy)> = witnessed(course.lines)
        .filter_map(|(line, seen)| match seen {
            Witnessed::PathAsked { case, policy } => Some((line, case, policy)),
            _ => None,
        })
        .collect();
    let mut questions =
        course.asked().filter(|(_, _, request)| matches!(request, Request::PathCheck(_))).peekable();
    // The next question after the announcement is about it.
    for (line, ..) in &mut announced {
        while questions.next_if(|(said, ..)| said.line < *line).is_some() {}
        *line = questions.peek().map_or(usize::MAX, |(said, ..)| said.line);
    }
    announced
}

/// What was answered to the question of a line.
fn answers(course: &Course<'_>) -> BTreeMap<usize, Option<PathVerdict>> {
    let outcomes: BTreeMap<&str, _> = course
        .said
        .iter()
        .filter_map(|said| match &said.what {
            What::Answers(id, outcome) => Some((id.as_str(), outcome)),
            _ => None,
        })
        .collect();
    let verdict = |id: &str| {
        let answer = outcomes.get(id)?.as_ref().ok()?;
        serde_json::from_value::<PathJudged>(answer.clone()).ok().map(|judged| judged.verdict)
    };
    course.asked().map(|(said, id, _)| (said.line, verdict(id))).collect()
}

fn shortened(names: &[String]) -> String {
    let told = names.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > TOLD { format!("{told}, …") } else { told }
}
