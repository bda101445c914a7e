//! A report, told to people and to programs.

mod text;

pub use text::text;

use super::report::{Report, Verdict};
use super::rule::{Rule, Severity};
use super::{Change, Source};
use serde_json::{Value, json as object};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Differences as grave as this, or graver, make it fail.
    pub fail_on: Severity,
    /// Every difference, and not the first of each rule alone.
    pub all: bool,
    /// With colours.
    pub colours: bool,
}

/// Of each rule so many differences are shown, unless all are.
const FIRST: usize = 12;

/// The differences of one severity by where they were seen and by rule, in the order of the rules.
fn groups(report: &Report, severity: Severity) -> BTreeMap<(Source, Rule), Vec<&Change>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for change in report.changes.iter().filter(|change| change.rule.severity() == severity) {
        groups.entry((change.source, change.rule)).or_default().push(change);
    }
    groups
}

/// A line of a report: a difference, or the same one in several operations.
struct Told {
    place: String,
    values: String,
    reaches: Vec<String>,
}

/// The differences of a group as lines. What is the same in several operations (each has a new parameter, each loses the
/// same form of a failure) is one line.
fn lines(changes: &[&Change]) -> Vec<Told> {
    let tail = |change: &Change| match change.place.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [method, _, tail]
            if change.source == Source::Doc && method.chars().all(|c| c.is_ascii_uppercase()) =>
        {
            Some(tail.to_owned())
        }
        _ => None,
    };
    let mut lines: Vec<Told> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for change in changes {
        let values = values(change).map_or_else(String::new, |values| format!(": {values}"));
        let line =
            Told { place: change.place.clone(), reaches: change.reaches.clone(), values: values.clone() };
        let Some(tail) = tail(change) else {
            lines.push(line);
            continue;
        };
        match places.get(&(tail.clone(), values.clone())) {
            Some(&at) => {
                tail.clone_into(&mut lines[at].place);
                lines[at].reaches.extend(line.reaches);
            }
            None => {
                places.insert((tail, values), lines.len());
                lines.push(line);
            }
        }
    }
    lines
}

/// How many of a group are shown: of what is cosmetic none, unless it is asked for.
fn shown(severity: Severity, shown: Shown) -> usize {
    match (shown.all, severity) {
        (true, _) => usize::MAX,
        (false, Severity::Cosmetic) => 0,
        (false, _) => FIRST,
    }
}

/// What stood there and what stands there.
fn values(change: &Change) -> Option<String> {
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => Some(format!("{old} → {new}")),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

/// The verdict in a line.
fn verdict(report: &Report, fail_on: Severity) -> String {
    let counts: Vec<String> =
        Severity::ALL.iter().map(|severity| format!("{} {severity}", report.count(*severity))).collect();
    let mut line = format!("{}: {}", report.verdict(fail_on).word(), counts.join(", "));
    let open = report.unchecked.iter().filter(|unchecked| unchecked.decides).count();
    if open > 0 {
        let _ = write!(line, ", {open} could not be checked");
    }
    if report.is_thin() {
        let (paths, min) = (report.compared.paths, report.min_paths);
        let _ = write!(line, "; {paths} compared paths prove nothing, {min} are wanted (--min-paths)");
    }
    line
}

fn compared(report: &Report) -> String {
    let compared = report.compared;
    let counted =
        |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    [
        counted(compared.operations, "operation", "operations"),
        counted(compared.recordings, "recording", "recordings"),
        counted(compared.events, "type of event", "types of events"),
        counted(compared.paths, "path", "paths"),
    ]
    .join(", ")
}

/// A report as Markdown.
#[must_use]
pub fn markdown(report: &Report, how: Shown) -> String {
    let mut out = format!("# Drift from {} to {}\n\n", report.old, report.new);
    let _ = write!(out, "**{}**\n\nCompared: {}.\n", verdict(report, how.fail_on), compared(report));
    for severity in Severity::ALL {
        let groups = groups(report, severity);
        if groups.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {} ({})\n", capital(severity.word()), report.count(severity));
        for ((source, rule), changes) in groups {
            let _ = write!(out, "\n### In {source}: {} ({})\n\n", rule.words(), changes.len());
            let (most, lines) = (shown(severity, how), lines(&changes));
            for line in lines.iter().take(most) {
                let told = code(&format!("{}{}", line.place, line.values));
                let _ = writeln!(out, "- {told}{}", text::reaches(line));
            }
            if lines.len() > most {
                let _ = writeln!(out, "- … {} more (`--all`)", lines.len() - most);
            }
        }
    }
    if !report.unchecked.is_empty() {
        out.push_str("\n## Could not check\n\n");
        for unchecked in &report.unchecked {
            let _ = writeln!(out, "- {}: {}", code(&unchecked.what), text::why(unchecked, how));
        }
    }
    out
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// As code, in which nothing has a meaning of its own.
fn code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{text}{fence}")
}

/// A report as JSON: everything, whatever is shown to people.
#[must_use]
pub fn json(report: &Report, fail_on: Severity) -> Value {
    let change = |change: &Change| {
        object!({
            "severity": change.rule.severity().word(), "rule": format!("{:?}", change.rule),
            "says": change.rule.words(), "in": change.source.word(), "place": change.place,
            "old": change.old, "new": change.new, "reaches": change.reaches,
        })
    };
    let compared = report.compared;
    object!({
        "old": report.old, "new": report.new,
        "verdict": match report.verdict(fail_on) {
            Verdict::Holds => "holds", Verdict::Drifts => "drifts", Verdict::CouldNotCheck => "could-not-check",
        },
        "fail_on": fail_on.word(),
        "counts": Severity::ALL.iter().map(|severity| (severity.word().to_owned(), object!(report.count(*severity))))
            .collect::<serde_json::Map<_, _>>(),
        "compared": {
            "operations": compared.operations, "recordings": compared.recordings, "events": compared.events,
            "paths": compared.paths, "min_paths": report.min_paths,
        },
        "changes": report.changes.iter().map(change).collect::<Vec<_>>(),
        "could_not_check": report.unchecked.iter().map(|unchecked| object!({
            "what": unchecked.what, "why": unchecked.why, "decides": unchecked.decides,
        })).collect::<Vec<_>>(),
    })
}
