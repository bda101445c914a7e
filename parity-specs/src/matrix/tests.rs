//! The matrix in the repository, and matrices that are wrong: each mistake is told with its file and line.

use super::*;
use crate::ordinal::Unit;
use crate::requirement::{Degradation, Evidence};
use std::collections::BTreeSet;

const INDEX: (&str, &str) = (
    "plans/p/index.toml",
    "title = \"P\"\n[[heading]]\nid = \"a\"\ntitle = \"First\"\nbullets = 3\n[[heading]]\nid = \"b\"\ntitle = \"Second\"\nrows = 1\n",
);
const REQUIREMENT: (&str, &str) = (
    "requirements/x/a.toml",
    "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nclaims = [\"p §a bullet 1\"]\nphase = 2\nmvp = true\nevidence = \"checked\"\n",
);

fn read(files: &[(&str, &str)]) -> Result<Matrix, FileError> {
    let files = [INDEX, REQUIREMENT].iter().chain(files);
    let files: Vec<_> = files.map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    Matrix::read(&files)
}

fn refused(files: &[(&str, &str)]) -> String {
    read(files).unwrap_err().to_string()
}

#[test]
fn the_matrix_in_the_repository_holds_together() {
    let matrix = Matrix::embedded().unwrap();
    assert!(matrix.cases.iter().any(|named| named.name == "reconnect/cut-in-mid-turn"));
    for (id, requirement) in matrix.requirements.iter().filter(|(_, r)| r.evidence == Evidence::Checked) {
        let proven = requirement.check.is_some() && matrix.cases_for(id).next().is_some();
        assert!(proven != matrix.is_owed(id), "{id} is proven by a case or owed, never both");
    }
}

#[test]
fn every_statement_of_the_plan_is_claimed() {
    let unclaimed: Vec<_> = Matrix::embedded().unwrap().unclaimed().iter().map(ToString::to_string).collect();
    assert_eq!(unclaimed, Vec::<String>::new());
}

/// The plan names its pages; each has a file, under the name that the plan has for it.
#[test]
fn every_page_has_its_file() {
    let matrix = Matrix::embedded().unwrap();
    for (folder, pages) in [("chat-ui", 15), ("non-agent", 24)] {
        let found: Vec<_> = matrix.features.keys().filter(|path| path.starts_with(folder)).collect();
        assert_eq!(found.len(), pages, "{found:?}");
        let is_page = |ordinal: &Ordinal| ordinal.heading == folder && ordinal.unit == Unit::Bullet;
        let claimed =
            matrix.claims.iter().filter(|(ordinal, _)| is_page(ordinal)).map(|(_, claimed)| &claimed.file);
        let claimed: BTreeSet<_> = claimed.collect();
        assert_eq!(claimed.len(), pages, "each page is claimed in a file of its own");
        let place = Path::new("parity-specs/requirements").join(folder);
        assert!(claimed.iter().all(|file| file.parent() == Some(&*place)), "{claimed:?}");
    }
}

#[test]
fn requirements_keep_to_the_words_of_the_matrix() {
    let matrix = Matrix::embedded().unwrap();
    let is_known = |phase: u32| matrix.phases.iter().any(|known| known.number == phase);
    let is_slug = |word: &str| {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        word.split('-').all(|part| !part.is_empty() && part.chars().all(letters))
    };
    for (id, requirement) in &matrix.requirements {
        let begins = id.starts_with(|c: char| c.is_ascii_lowercase());
        assert!(
            begins && id.contains('.') && id.split('.').all(is_slug),
            "{id} is area.slug, in small letters"
        );
        assert!(is_known(requirement.phase), "{id} is of phase {}, and there is none", requirement.phase);
        assert!(requirement.about.ends_with('.'), "{id}: a sentence ends with a full stop");
        if let Some(Degradation { until, principle, .. }) = &requirement.degraded {
            assert!(*until < 4, "{id} may be missing until phase {until}; in phase 4 all is there");
            assert!(principle.is_none_or(|principle| (1..=5).contains(&principle)), "{id}: {principle:?}");
        }
    }
    for trigger in &matrix.triggers {
        assert!(is_slug(&trigger.id) && is_known(trigger.phase), "{}", trigger.id);
        assert!(!trigger.watches.is_empty() || trigger.signal.is_some(), "{} watches nothing", trigger.id);
    }
    for debt in &matrix.debts {
        let evidence = matrix.requirements[&debt.requirement].evidence;
        assert_eq!(
            evidence,
            Evidence::Checked,
            "{} is owed and would be shown by no check",
            debt.requirement
        );
    }
}

#[test]
fn what_nobody_claims_is_known() {
    let names = |files: &[_]| -> Vec<String> {
        read(files).unwrap().unclaimed().iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(&[]), ["p §a bullet 2", "p §a bullet 3", "p §b row 1"]);
    let none = "[[none]]\nclaims = [\"p §a bullets 2-3\"]\nreason = \"r\"\n";
    assert_eq!(names(&[("plans/p/none.toml", none)]), ["p §b row 1"]);
}

#[test]
fn names_that_lead_nowhere_are_found() {
    let case = |text: &'static str| [("cases/x/y.toml", text)];
    // It lists all scenarios, and new ones come every week.
    let unknown_scenario = refused(&case("about = \"x\"\nscenario = \"no/such\"\nproves = [\"a.b\"]\n"));
    let expected = "parity-specs/cases/x/y.toml:2: there is no scenario 'no/such'";
    assert!(unknown_scenario.starts_with(expected), "{unknown_scenario}");
    insta::assert_snapshot!(
        [
            refused(&case(
                "about = \"x\"\nscenario = \"permission/write-allowed-once\"\nproves = [\n  \"a.c\"]\n"
            )),
            refused(&case("about = \"x\"\nscenario = \"permission/write-allowed-once\"\nproves = []\n")),
            refused(&case(
                "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[user]\nsteps = [{ request = \"GET /path\" }]\n"
            )),
            refused(&case("about = \"x\"\nscenario = \"permission/write-allowed-once\"\nprove = []\n")),
            refused(&case(
                "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[[fault]]\nwhen = { lane = \"adaptor\", stream = \"event\", after_events = 1 }\ndo = { cut = \"between-frames\" }\n"
            )),
            refused(&case(
                "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n[[fault]]\nwhen = { stream = \"event\", after_event = \"session.idel\" }\ndo = { cut = \"between-frames\" }\n"
            )),
            refused(&[("debt.toml", "[[debt]]\nrequirement = \"a.c\"\nreason = \"r\"\n")]),
            refused(&[("requirements/x/b.toml", REQUIREMENT.1)]),
        ]
        .join("\n\n")
    );
}

#[test]
fn wrong_claims_are_told_with_their_line() {
    let requirement = |more: &str| {
        let text = format!(
            "title = \"B\"\nowner = \"o\"\n[[requirement]]\nid = \"b.c\"\nabout = \"x\"\nphase = 2\n{more}\n"
        );
        refused(&[("requirements/x/b.toml", &text)])
    };
    insta::assert_snapshot!(
        [
            requirement("evidence = \"checked\"\nclaims = [\"p §a bullet 2\", \"p §a bullet 1\"]"),
            requirement("evidence = \"checked\"\nclaims = [\n  \"p §a bullet 4\"]"),
            requirement("evidence = \"checked\"\nclaims = [\"p §A bullet 2\"]"),
            requirement("evidence = \"checked\"\nclaims = [\"q §a bullet 2\"]"),
            requirement("evidence = \"checked\"\nclaims = [\"p §a bullets 2\"]"),
            requirement("evidence = \"checked\"\nclaims = []"),
            requirement("evidence = \"data-only\"\nclaims = [\"p §a bullet 2\"]"),
            requirement("evidence = \"not-observable\"\nclaims = [\"p §a bullet 2\"]\ncheck = \"c\""),
            refused(&[(
                "plans/p/none.toml",
                "[[none]]\nclaims = [\"p §a bullet 2\", \"p §a bullets 1-2\"]\nreason = \"r\"\n"
            )]),
            refused(&[(
                "triggers.toml",
                "[[trigger]]\nid = \"t\"\nabout = \"x\"\nclaims = [\"p §a bullet 2\"]\nphase = 2\nwatches = [\"a.c\"]\naction = \"a\"\n"
            )]),
        ]
        .join("\n\n")
    );
}
