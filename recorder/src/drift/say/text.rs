//! A report on a terminal: the gravest first, by rule, and how much is not shown.

use super::super::report::{Report, Unchecked, Verdict};
use super::super::rule::Severity;
use super::{Shown, Told, compared, groups, lines, shown, verdict};
use std::fmt::Write as _;

const RED: &str = "\u{1b}[31;1m";
const GREEN: &str = "\u{1b}[32;1m";
const YELLOW: &str = "\u{1b}[33;1m";
const PLAIN: &str = "\u{1b}[0m";

/// Names of operations or recordings that a line has room for.
const NAMED: usize = 2;

/// A reason has room for so many letters.
const LONGEST_WHY: usize = 160;

/// A report for people.
#[must_use]
pub fn text(report: &Report, how: Shown) -> String {
    let paint = |colour: &str, text: &str| {
        if how.colours { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
    };
    let mut out = format!("{} → {}\ncompared: {}\n", report.old, report.new, compared(report));
    for severity in Severity::ALL {
        let groups = groups(report, severity);
        if groups.is_empty() {
            continue;
        }
        let head = format!("{severity} ({})", report.count(severity));
        let colour = match severity {
            Severity::Breaking => RED,
            Severity::Additive => GREEN,
            Severity::Cosmetic => "",
        };
        let _ = write!(out, "\n{}\n", if colour.is_empty() { head } else { paint(colour, &head) });
        for ((source, rule), changes) in groups {
            let _ = writeln!(out, "  {source}: {} ({})", rule.words(), changes.len());
            let (most, lines) = (shown(severity, how), lines(&changes));
            for line in lines.iter().take(most) {
                let _ = writeln!(out, "    {}{}{}", line.place, line.values, reaches(line));
            }
            if lines.len() > most && most > 0 {
                let _ = writeln!(out, "    … {} more (--all)", lines.len() - most);
            }
        }
    }
    if !report.unchecked.is_empty() {
        let _ =
            write!(out, "\n{}\n", paint(YELLOW, &format!("could not check ({})", report.unchecked.len())));
        for unchecked in &report.unchecked {
            let _ = writeln!(out, "  {}: {}", unchecked.what, why(unchecked, how));
        }
    }
    let colour = match report.verdict(how.fail_on) {
        Verdict::Holds => GREEN,
        Verdict::Drifts => RED,
        Verdict::CouldNotCheck => YELLOW,
    };
    let _ = write!(out, "\n{}\n", paint(colour, &verdict(report, how.fail_on)));
    out
}

/// Why something could not be checked; a long list is cut.
pub(super) fn why(unchecked: &Unchecked, how: Shown) -> String {
    let cut = unchecked.why.char_indices().nth(LONGEST_WHY).map_or(unchecked.why.len(), |(at, _)| at);
    if how.all || cut == unchecked.why.len() {
        return unchecked.why.clone();
    }
    format!("{}… (--all shows the rest)", &unchecked.why[..cut])
}

/// Who a difference reaches, if the place does not say it.
pub(super) fn reaches(line: &Told) -> String {
    let others: Vec<&str> =
        line.reaches.iter().map(String::as_str).filter(|who| !line.place.starts_with(*who)).collect();
    match others.len() {
        0 => String::new(),
        count if count <= NAMED => format!("  ({})", others.join(", ")),
        count => format!("  ({} and {} more)", others[0], count - 1),
    }
}
