//! The matrix in the repository, and matrices that are wrong: each mistake is told with its file and line.

use super::*;
use crate::ordinal::Unit;
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

/// Reading it holds all that the reader asks for; the mistakes are below.
#[test]
fn the_matrix_in_the_repository_holds_together() {
    let matrix = Matrix::embedded().unwrap();
    assert!(matrix.cases.iter().any(|named| named.name == "reconnect/cut-in-mid-turn"));
    assert_eq!(matrix.unclaimed(), Vec::new());
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
fn requirements_are_sentences_and_triggers_watch_something() {
    let matrix = Matrix::embedded().unwrap();
    for (id, requirement) in &matrix.requirements {
        assert!(requirement.about.ends_with('.'), "{id}: a sentence ends with a full stop");
    }
    for trigger in &matrix.triggers {
        assert!(!trigger.watches.is_empty() || trigger.signal.is_some(), "{} watches nothing", trigger.id);
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

const PHASES: &str = "[[phase]]\nnumber = 1\nname = \"one\"\n[[phase]]\nnumber = 2\nname = \"two\"\n";

fn trigger(id: &str, phase: u32) -> String {
    format!(
        "[[trigger]]\nid = \"{id}\"\nabout = \"x\"\nclaims = []\nphase = {phase}\nwatches = [\"a.b\"]\naction = \"a\"\n"
    )
}

#[test]
fn numbers_and_ids_that_can_not_be_are_told_with_their_line() {
    let requirement = |more: &str| {
        let text = format!(
            "title = \"B\"\nowner = \"o\"\n[[requirement]]\nid = \"b.c\"\nabout = \"x\"\nclaims = [\"p §a bullet 2\"]\nevidence = \"checked\"\n{more}\n"
        );
        refused(&[("phases.toml", PHASES), ("requirements/x/b.toml", &text)])
    };
    let degraded = |more: &str| requirement(&format!("phase = 2\ndegraded = {{ shows = \"s\", {more} }}"));
    let phase = |number: u32| format!("{PHASES}[[phase]]\nnumber = {number}\nname = \"more\"\n");
    let twice = format!("{}{}", trigger("t", 2), trigger("t", 2));
    let no_slug = REQUIREMENT.1.replace("a.b", "A b").replace("bullet 1", "bullet 2");
    insta::assert_snapshot!(
        [
            requirement("phase = 9"),
            refused(&[("phases.toml", PHASES), ("triggers.toml", &trigger("t", 9))]),
            refused(&[("triggers.toml", &twice)]),
            refused(&[("phases.toml", &phase(2))]),
            refused(&[("phases.toml", &phase(0))]),
            degraded("until = 1, principle = 9"),
            degraded("until = 1, decision = 1"),
            degraded("until = 5, principle = 2"),
            refused(&[("requirements/x/b.toml", &no_slug)]),
            refused(&[(
                "plans/q/index.toml",
                "title = \"Q\"\n[[heading]]\nid = \"a\"\ntitle = \"A\"\n[[heading]]\nid = \"a\"\ntitle = \"B\"\n"
            )]),
        ]
        .join("\n\n")
    );
}

#[test]
fn what_is_owed_proven_or_played_wrongly_is_told_with_its_line() {
    let case = |more: &str| {
        let text = format!("about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n{more}\n");
        let told = refused(&[("cases/x/y.toml", &text)]);
        // There are more plans of faults every week.
        told.split(" There are: ").next().unwrap_or_default().to_owned()
    };
    let debt = "[[debt]]\nrequirement = \"a.b\"\nreason = \"r\"\n";
    let unperformed = "[[unperformed]]\nscenario = \"text/plian\"\nreason = \"r\"\n";
    let told = refused(&[("debt.toml", unperformed)]);
    insta::assert_snapshot!(
        [
            case("plan = \"rest/abort-failz\""),
            case("time_scale = 0"),
            case("time_scale = -0.05"),
            case("time_scale = 0.00001"),
            case("time_scale = nan"),
            refused(&[(
                "cases/x/y.toml",
                "about = \"x\"\nscenario = \"text/plain\"\nproves = [\n  \"a.b\",\n  \"a.b\"]\n"
            )]),
            refused(&[("debt.toml", &format!("{debt}{debt}"))]),
            told.split(" There are: ").next().unwrap_or_default().to_owned(),
        ]
        .join("\n\n")
    );
}

/// What only a whole matrix has to hold.
#[test]
fn what_is_missing_in_a_whole_matrix_is_told_with_its_line() {
    let index = "title = \"P\"\n[[heading]]\nid = \"a\"\ntitle = \"First\"\nbullets = 1\n[[heading]]\nid = \"b\"\ntitle = \"Second\"\nrows = 1\n";
    let claims = "[[none]]\nclaims = [\"p §b row 1\"]\nreason = \"r\"\n";
    let debt = "[[debt]]\nrequirement = \"a.b\"\nreason = \"r\"\n";
    let check = format!("{}check = \"convergence\"\n", REQUIREMENT.1);
    let case = "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\n";
    let question = "id = \"1\"\ntitle = \"t\"\nasks = \"a\"\n[[claim]]\nid = \"c\"\nsays = \"s\"\nevery = { kind = \"event\" }\nhas = { index = 0 }\n";
    let resting = REQUIREMENT.1.replace("checked\"", "data-only\"\nrests_on = [\n  \"1/d\"]");
    let whole = |requirement: &str, none: &str, debt: &str, case: &str, question: &str| {
        let files = [
            ("plans/p/index.toml", index),
            ("plans/p/none.toml", none),
            ("requirements/x/a.toml", requirement),
            ("debt.toml", debt),
            ("cases/x/y.toml", case),
            ("evidence/1.toml", question),
        ];
        let files = files.into_iter().filter(|(path, text)| !text.is_empty() || *path == "debt.toml");
        let files: Vec<_> = files.map(|(path, text)| (PathBuf::from(path), text.to_owned())).collect();
        Matrix::whole(&files)
    };
    let told = |requirement: &str, none: &str, debt: &str, case: &str, question: &str| {
        whole(requirement, none, debt, case, question).unwrap_err().to_string()
    };
    whole(&check, claims, "", case, question).unwrap();
    whole(REQUIREMENT.1, claims, debt, "", question).unwrap();
    insta::assert_snapshot!(
        [
            told(&check, "", "", case, ""),
            told(&check, claims, debt, case, ""),
            told(&check, claims, "", "", ""),
            told(&resting, claims, "", "", question),
            told(&check, claims, "", case, &question.replace("event", "evnt")),
            told(&resting, claims, debt, "", question),
        ]
        .join("\n\n")
    );
}
