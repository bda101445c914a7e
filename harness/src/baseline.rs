//! What is known not to hold yet, with a reason each: a file by which a client that has mistakes is held where it is.
//! What it lists may fail; what fails beside it is red, and so is an entry that holds by now, or that is about nothing.

use crate::checks;
use crate::judge::Verdict;
use crate::report::Cell;
use fixtures::ServerKind;
use fixtures::error::{FileError, parse_toml};
use fixtures::near_names::unknown;
use parity_specs::NamedCase;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The entries of a file.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    file: PathBuf,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    line: usize,
    case: String,
    server: Option<ServerKind>,
    check: Option<String>,
    verdict: Expected,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOfEntries {
    #[serde(default)]
    expected: Vec<EntryFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryFile {
    case: Spanned<String>,
    server: Option<Spanned<ServerKind>>,
    check: Option<Spanned<String>>,
    verdict: Expected,
    reason: Spanned<String>,
}

/// What may be expected. Nothing that could not be seen is: that is mended, or it hides something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expected {
    Fail,
    Unsupported,
}

impl Expected {
    fn verdict(self) -> Verdict {
        match self {
            Self::Fail => Verdict::Fail,
            Self::Unsupported => Verdict::Unsupported,
        }
    }
}

impl Baseline {
    /// Reads a file. `cases` are all that there are, `more_checks` those that are not an adapter's.
    ///
    /// # Errors
    /// A case or a check that there is not, a server that a case is not run with, or a missing reason; with the line.
    pub fn read(
        path: &Path,
        text: &str,
        cases: &[NamedCase],
        more_checks: &[&str],
    ) -> Result<Self, FileError> {
        let read: FileOfEntries = parse_toml(path, text)?;
        let known: Vec<&str> = cases.iter().map(|named| named.name.as_str()).collect();
        let of_adapters = checks::all().into_iter().map(|check| check.name);
        let known_checks: Vec<&str> = of_adapters.chain(more_checks.iter().copied()).collect();
        let line_of = |at: usize| text[..at].matches('\n').count() + 1;
        let wrong = |at: usize, message: String| Err(FileError::at(path, line_of(at), message));
        let mut entries = Vec::new();
        for entry in read.expected {
            let at = entry.case.span().start;
            let case = entry.case.into_inner();
            let Some(named) = cases.iter().find(|named| named.name == case) else {
                return wrong(at, unknown("case", &case, &known));
            };
            if let Some(server) = &entry.server
                && !named.case.servers.contains(server.get_ref())
            {
                let message =
                    format!("the case {case} is not run with {}: delete the entry", server.get_ref());
                return wrong(server.span().start, message);
            }
            if let Some(check) =
                entry.check.as_ref().filter(|check| !known_checks.contains(&check.get_ref().as_str()))
            {
                return wrong(check.span().start, unknown("check", check.get_ref(), &known_checks));
            }
            if entry.reason.get_ref().trim().is_empty() {
                return wrong(
                    entry.reason.span().start,
                    "an expected failure has a reason: say why".to_owned(),
                );
            }
            entries.push(Entry {
                line: line_of(at),
                case,
                server: entry.server.map(Spanned::into_inner),
                check: entry.check.map(Spanned::into_inner),
                verdict: entry.verdict,
                reason: entry.reason.into_inner(),
            });
        }
        Ok(Self { file: path.to_owned(), entries })
    }

    /// Why a cell's verdict was expected; `None` when it was not, or when the cell passes.
    #[must_use]
    pub fn expects(&self, cell: &Cell) -> Option<String> {
        let ours: Vec<&Entry> = self.entries.iter().filter(|entry| entry.is_about(cell)).collect();
        let as_a_whole = ours.iter().find(|entry| entry.check.is_none() && entry.holds(cell));
        if let Some(entry) = as_a_whole {
            return Some(entry.reason.clone());
        }
        // Check by check: all that is red must be listed, and the run itself must be sound.
        let red: Vec<&str> =
            cell.checks.iter().filter(|judged| judged.is_red()).map(|judged| judged.check).collect();
        if red.is_empty() || !cell.troubles.is_empty() {
            return None;
        }
        let entry_of = |check: &&str| {
            ours.iter().find(|entry| entry.check.as_deref() == Some(check) && entry.holds(cell))
        };
        let reasons: Option<Vec<&str>> =
            red.iter().map(|check| entry_of(check).map(|entry| entry.reason.as_str())).collect();
        reasons.map(|mut reasons| {
            reasons.dedup();
            reasons.join("; ")
        })
    }

    /// What is wrong with the file itself, now that these cells were run: entries that hold by now, or that say
    /// something else than what came.
    #[must_use]
    pub fn findings(&self, cells: &[Cell]) -> Vec<String> {
        let about = |entry: &Entry, cell: &Cell| {
            let place = format!("{}:{}", self.file.display(), entry.line);
            let what = match &entry.check {
                Some(check) => format!("{check} of {} ({})", cell.case, cell.server),
                None => format!("{} ({})", cell.case, cell.server),
            };
            match entry.verdict_in(cell) {
                verdict if verdict == Some(entry.verdict.verdict()) => None,
                Some(Verdict::Pass) => Some(format!(
                    "{place}: {what} passes: delete the entry, or name the server that it is about"
                )),
                Some(other) => {
                    Some(format!("{place}: {what} is {other}, and not {}", entry.verdict.verdict()))
                }
                None => Some(format!("{place}: {what} was not judged: the entry is about nothing")),
            }
        };
        let pairs = self.entries.iter().flat_map(|entry| {
            cells.iter().filter(|cell| entry.is_about(cell)).map(move |cell| (entry, cell))
        });
        pairs.filter_map(|(entry, cell)| about(entry, cell)).collect()
    }
}

impl Entry {
    fn is_about(&self, cell: &Cell) -> bool {
        self.case == cell.case && self.server.is_none_or(|server| server == cell.server)
    }

    fn verdict_in(&self, cell: &Cell) -> Option<Verdict> {
        match &self.check {
            None => Some(cell.verdict),
            Some(check) => {
                cell.checks.iter().find(|judged| judged.check == check).map(|judged| judged.verdict)
            }
        }
    }

    fn holds(&self, cell: &Cell) -> bool {
        self.verdict_in(cell) == Some(self.verdict.verdict())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Judged;

    const CASE: &str = "reconnect/cut-in-mid-turn";

    fn read(text: &str) -> Result<Baseline, String> {
        let matrix = crate::matrix::embedded().unwrap();
        Baseline::read(Path::new("known.toml"), text, &matrix.cases, &["ends"])
            .map_err(|error| error.to_string())
    }

    fn cell(server: ServerKind, checks: &[(&'static str, Verdict)], troubles: &[&str]) -> Cell {
        let judged = |&(check, verdict): &(&'static str, Verdict)| Judged {
            facts: 1,
            ..Judged::unseen(check, verdict)
        };
        let worst = checks.iter().map(|(_, verdict)| *verdict).max().unwrap();
        Cell {
            case: CASE.to_owned(),
            about: String::new(),
            server,
            adapter: "a".to_owned(),
            plain: false,
            verdict: if troubles.is_empty() { worst } else { Verdict::Fail },
            lacks: Vec::new(),
            troubles: troubles.iter().map(|trouble| (*trouble).to_owned()).collect(),
            checks: checks.iter().map(judged).collect(),
            rerun: String::new(),
            timeline: Vec::new(),
        }
    }

    const FAILS: (&str, Verdict) = ("convergence", Verdict::Fail);
    const HOLDS: (&str, Verdict) = ("prefix", Verdict::Pass);

    #[test]
    fn mistakes_in_the_file_are_told_with_their_line() {
        let entry = |more: &str| format!("# known\n[[expected]]\n{more}\n");
        let told = |more: &str| read(&entry(more)).unwrap_err();
        let whole = "verdict = \"fail\"\nreason = \"r\"";
        let wrong_case = told(&format!("case = \"reconnect/cut-in-mid-trun\"\n{whole}"));
        assert!(
            wrong_case.starts_with("known.toml:3: there is no case 'reconnect/cut-in-mid-trun'; did you mean 'reconnect/cut-in-mid-turn'?"),
            "{wrong_case}"
        );
        let wrong_check = told(&format!("case = \"{CASE}\"\ncheck = \"convergance\"\n{whole}"));
        assert!(
            wrong_check
                .starts_with("known.toml:4: there is no check 'convergance'; did you mean 'convergence'?"),
            "{wrong_check}"
        );
        let no_reason = told(&format!("case = \"{CASE}\"\nverdict = \"fail\""));
        assert!(no_reason.contains("missing field `reason`"), "{no_reason}");
        let empty_reason = told(&format!("case = \"{CASE}\"\nverdict = \"fail\"\nreason = \" \""));
        assert_eq!(empty_reason, "known.toml:5: an expected failure has a reason: say why");
        let wrong_verdict = told(&format!("case = \"{CASE}\"\nverdict = \"untestable\"\nreason = \"r\""));
        assert!(wrong_verdict.contains("untestable"), "{wrong_verdict}");
        let typo = told(&format!("case = \"{CASE}\"\nchek = \"prefix\"\n{whole}"));
        assert!(typo.contains("chek"), "{typo}");
    }

    #[test]
    fn what_is_listed_is_expected_and_nothing_beside_it() {
        let whole = read(&format!(
            "[[expected]]\ncase = \"{CASE}\"\nserver = \"kilo\"\nverdict = \"fail\"\nreason = \"r\"\n"
        ))
        .unwrap();
        let by_check = read(&format!(
            "[[expected]]\ncase = \"{CASE}\"\ncheck = \"convergence\"\nverdict = \"fail\"\nreason = \"c\"\n"
        ))
        .unwrap();
        let fails = cell(ServerKind::Kilo, &[FAILS, HOLDS], &[]);
        assert_eq!(whole.expects(&fails).as_deref(), Some("r"));
        assert_eq!(whole.findings(std::slice::from_ref(&fails)), [] as [&str; 0]);
        assert_eq!(by_check.expects(&fails).as_deref(), Some("c"));
        let elsewhere = cell(ServerKind::Opencode, &[FAILS, HOLDS], &[]);
        assert_eq!(whole.expects(&elsewhere), None, "of another server nothing is said");
        let more = cell(ServerKind::Kilo, &[FAILS, ("prefix", Verdict::Fail)], &[]);
        assert_eq!(by_check.expects(&more), None, "another check fails, too");
        let troubled = cell(ServerKind::Kilo, &[FAILS, HOLDS], &["the adapter ended"]);
        assert_eq!(by_check.expects(&troubled), None, "no check says so");
        let unseen = cell(ServerKind::Kilo, &[("convergence", Verdict::Untestable)], &[]);
        assert_eq!(whole.expects(&unseen), None);
    }

    #[test]
    fn an_entry_that_holds_by_now_or_is_about_nothing_is_red() {
        let text = format!(
            "[[expected]]\ncase = \"{CASE}\"\nverdict = \"fail\"\nreason = \"r\"\n[[expected]]\ncase = \"{CASE}\"\ncheck = \"ends\"\nverdict = \"fail\"\nreason = \"r\"\n"
        );
        let baseline = read(&text).unwrap();
        let told = baseline.findings(&[cell(ServerKind::Kilo, &[HOLDS], &[])]);
        assert_eq!(
            told,
            [
                "known.toml:2: reconnect/cut-in-mid-turn (kilo) passes: delete the entry, or name the server that it is about",
                "known.toml:6: ends of reconnect/cut-in-mid-turn (kilo) was not judged: the entry is about nothing",
            ]
        );
        let unsupported = cell(ServerKind::Kilo, &[("convergence", Verdict::Unsupported)], &[]);
        assert_eq!(
            baseline.findings(&[unsupported])[0],
            "known.toml:2: reconnect/cut-in-mid-turn (kilo) is unsupported, and not fail"
        );
        assert!(baseline.findings(&[]).is_empty(), "of what was not run nothing is said");
    }
}
