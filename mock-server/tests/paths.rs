//! The corpus of paths on this machine's disk: what the reference accepts touches no canary, what it refuses would have.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::paths::disk::Disk;
use fixtures::paths::{Case, Policy, Verdict, posix, realpath};
use mock_server::paths::{Acted, Machine, Made, NotMade, Reading, make};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

const READINGS: [Reading; 2] = [Reading::AsItStands, Reading::Folded];

/// Every case that this machine can have, with why it can't have the others.
fn each(mut judge: impl FnMut(&Case, &Made)) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::probed(folder.path()).unwrap();
    let mut left_out = BTreeMap::new();
    for case in fixtures::corpus::all::<fixtures::paths::Case>().unwrap() {
        match make(&case, &folder.path().join(&case.kind).join(&case.name), &machine) {
            Ok(made) => judge(&case, &made),
            Err(NotMade::NotApplicable(reason)) => *left_out.entry(reason).or_default() += 1,
            Err(NotMade::Failed(error)) => panic!("{}: {error}", case.full_name()),
        }
    }
    left_out
}

/// May the whole disk be written in this case?
fn is_everything(made: &Made) -> bool {
    made.asked()
        .roots
        .iter()
        .any(|root| Path::new(root).canonicalize().is_ok_and(|real| real == Path::new("/")))
}

#[test]
fn what_the_reference_accepts_touches_no_canary() {
    let (mut allowed, mut refused, mut wrong) = (0, 0, Vec::new());
    let left_out = each(|case, made| {
        let asked = made.asked();
        let answer = realpath::contains(&asked.roots, &asked.path, &Disk);
        if case.realpath.allows().is_some_and(|expected| expected != answer) {
            wrong.push(format!("{}: {answer} on this disk", case.full_name()));
        }
        if !answer {
            refused += 1;
            return;
        }
        allowed += 1;
        for reading in READINGS {
            if made.act(reading) == Acted::Beyond && !is_everything(made) {
                wrong.push(format!("{}: accepted, and leads beyond the base", case.full_name()));
            }
        }
        let touched = made.touched().unwrap();
        if !touched.is_empty() {
            wrong.push(format!("{}: accepted, and touches {touched:?}", case.full_name()));
        }
    });
    assert_eq!(wrong, Vec::<String>::new());
    // What the machine can't have is counted, so that nothing goes missing unseen.
    let left_out: usize = left_out.values().sum();
    let expected = if cfg!(target_os = "linux") { (0, 0) } else { (0, 20) };
    assert!((expected.0..=expected.1).contains(&left_out), "{left_out} cases are not applicable here");
    assert_eq!(allowed + refused + left_out, fixtures::corpus::all::<fixtures::paths::Case>().unwrap().len());
}

/// How many cases touch a canary, lead beyond the base, are refused by the system. Other systems refuse a few more or less.
fn counted(found: [usize; 3], on_linux: [usize; 3]) {
    if cfg!(target_os = "linux") {
        assert_eq!(found, on_linux);
    }
    assert!(found[0] >= on_linux[0] * 4 / 5, "{found:?}");
}

/// A guard on paper, and what becomes of the canaries behind it.
fn escapes(guard: impl Fn(&Case, &Made) -> bool) -> [usize; 3] {
    let [mut touched, mut beyond, mut harmless] = [0; 3];
    each(|case, made| {
        if case.realpath != Verdict::Outside || !guard(case, made) {
            return;
        }
        let acted = READINGS.map(|reading| made.act(reading));
        match (made.touched().unwrap().is_empty(), acted.contains(&Acted::Beyond)) {
            (false, _) => touched += 1,
            (true, true) => beyond += 1,
            (true, false) => harmless += 1,
        }
    });
    [touched, beyond, harmless]
}

#[test]
fn who_allows_everything_touches_the_canaries() {
    counted(escapes(|_, _| true), [215, 38, 39]);
}

/// What decision 4 of the migration accepts for a while: each of these is a write out of the workspace.
#[test]
fn who_looks_at_the_text_alone_touches_the_canaries() {
    let by_text = |_: &Case, made: &Made| posix::contains(&made.asked().roots, &made.asked().path);
    counted(escapes(by_text), [62, 4, 27]);
}

#[test]
fn what_a_machine_can_not_have_is_said_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let mut reasons = BTreeMap::<String, usize>::new();
    let poor = Machine { links: false, tells_case: false, tells_forms: false };
    for case in fixtures::corpus::all::<fixtures::paths::Case>().unwrap() {
        match make(&case, &folder.path().join(&case.kind).join(&case.name), &poor) {
            Err(NotMade::NotApplicable(reason)) => *reasons.entry(reason).or_default() += 1,
            other => assert!(
                other.is_ok() && case.links.is_empty() && case.needs.is_empty(),
                "{}",
                case.full_name()
            ),
        }
    }
    let told: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
    assert_eq!(
        told,
        [
            "8: on this disk capital letters make no other file",
            "3: on this disk the forms of a letter make no other file",
            "141: this disk makes no links",
        ]
    );
}

#[test]
fn a_case_on_the_disk_is_asked_with_its_own_places() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::probed(folder.path()).unwrap();
    let case = fixtures::corpus::all::<fixtures::paths::Case>()
        .unwrap()
        .into_iter()
        .find(|case| case.full_name() == "links/file-out-absolute")
        .unwrap();
    let made = make(&case, folder.path(), &machine).unwrap();
    let base = folder.path().canonicalize().unwrap();
    assert_eq!(made.asked().roots, [base.join("work").to_str().unwrap()]);
    assert_eq!(std::fs::read_link(base.join("work/note.txt")).unwrap(), base.join("secret.txt"));
    assert_eq!(made.asked().path, case.asked(Policy::Realpath, base.to_str().unwrap()).path);
    assert_eq!(made.act(Reading::AsItStands), Acted::Wrote);
    assert_eq!(made.touched().unwrap(), [base.join("secret.txt")]);
}

/// The kernel goes by short links to where no text of a path could be asked about.
#[test]
fn what_lies_beyond_the_longest_path_is_written_to_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::probed(folder.path()).unwrap();
    for (name, canary) in [
        ("linked-beyond-the-longest", "outside/deep/secret.txt"),
        ("linked-beyond-the-longest-and-up", "secret.txt"),
    ] {
        let mut cases = fixtures::corpus::of::<Case>("deep").unwrap().into_iter();
        let case = cases.find(|case| case.name == name).unwrap();
        let made = make(&case, &folder.path().join(name), &machine).unwrap();
        let asked = made.asked();
        assert!(!realpath::contains(&asked.roots, &asked.path, &Disk), "{name}");
        let whole = Path::new(&asked.roots[0]).join(&asked.path);
        std::fs::write(whole, "touched\n").unwrap();
        assert_eq!(made.touched().unwrap(), [made.base().join(canary)]);
    }
}

/// Where the kernel says that a path leads; what is not there yet is where its folder is.
fn by_the_kernel(path: &Path) -> Option<std::path::PathBuf> {
    match path.canonicalize() {
        Ok(real) => Some(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            Some(by_the_kernel(path.parent()?)?.join(path.file_name()?))
        }
        Err(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_kernel_finds_what_the_reference_accepts_inside_and_nothing_inside_is_refused(
        links in prop::collection::vec((
            prop::sample::select(vec!["work/a", "work/b", "work/src/a", "work/src/b", "outside/a", "b"]),
            prop::sample::select(vec!["a", "b", "src", ".", "..", "../b", "../outside", "../work", "src/deep", "/", "../../work/src", "src/../../secret.txt"]),
        ), 0..5),
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "src", "..", ".", "deep", "new", "README.md", "outside", "work"]), 1..7),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for place in ["work/src/deep", "outside"] {
            std::fs::create_dir_all(base.join(place)).unwrap();
        }
        std::fs::write(base.join("work/README.md"), "").unwrap();
        std::fs::write(base.join("secret.txt"), "").unwrap();
        for (place, target) in links {
            // The first of two at one place stays.
            let _ = std::os::unix::fs::symlink(target, base.join(place));
        }
        let root = base.join("work");
        let roots = [root.to_str().unwrap().to_owned()];
        let path = names.join("/");
        let folded = format!("/{}", posix::folded(&format!("{}/{path}", roots[0])).join("/"));
        let found = [by_the_kernel(&root.join(&path)), by_the_kernel(Path::new(&folded))];
        let is_inside = found.iter().flatten().all(|real| real.starts_with(&root));
        if realpath::contains(&roots, &path, &Disk) {
            prop_assert!(is_inside, "{path}: {found:?}");
        } else if let [Some(one), Some(other)] = &found {
            prop_assert!(!is_inside, "{path} is refused, and leads to {one:?} and {other:?}");
        }
    }
}
