//! The matrix in the repository, and matrices that are wrong: each mistake is told with its file and line.

use super::*;
use crate::requirement::Evidence;

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
