//! Goal: each corpus comes out whole, as each format has it, and the files of paths stand where it says. Method: the
//! binary, as a test in another language asks it.

use crate::STANDIN;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn corpus(args: &[&str], folder: &Path) -> Output {
    of("paths", args, folder)
}

fn of(corpus: &str, args: &[&str], folder: &Path) -> Output {
    Command::new(STANDIN).args(["corpus", corpus]).args(args).current_dir(folder).output().unwrap()
}

fn told(args: &[&str], folder: &Path) -> String {
    let output = corpus(args, folder);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_case_is_told_with_every_policy() {
    let folder = tempfile::tempdir().unwrap();
    let all = fixtures::corpus::all::<fixtures::paths::Case>().unwrap().len();
    let json: Value = serde_json::from_str(&told(&["--format", "json"], folder.path())).unwrap();
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), all);
    assert!(cases.iter().all(|case| case["asked"].as_object().unwrap().len() == 3));
    let csv = told(&["--format", "csv"], folder.path());
    // Line ends within paths are escaped: a line is a row.
    assert_eq!(csv.lines().count(), 1 + all * 3);
    let text = told(&["--kind", "dots", "--kind", "nul", "--policy", "windows"], folder.path());
    assert!(text.lines().all(|line| !line.contains("lexical")), "{text}");
    assert!(
        text.contains("dots/parent-file") && text.contains("nul/at-end") && !text.contains("unc/"),
        "{text}"
    );
}

#[test]
fn what_is_made_stands_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--policy", "realpath", "--kind", "links", "--make", "made", "--format", "json"];
    let json: Value = serde_json::from_str(&told(&args, folder.path())).unwrap();
    for case in json["cases"].as_array().unwrap() {
        let root = Path::new(case["asked"]["realpath"]["roots"][0].as_str().unwrap());
        assert!(root.join("README.md").is_file(), "{case}");
        for link in case["links"].as_object().unwrap().keys() {
            assert!(root.parent().unwrap().join(link).is_symlink(), "{link} of {case}");
        }
    }
    let again = corpus(&args, folder.path());
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(
        String::from_utf8_lossy(&again.stderr).contains("made is not empty: name a new folder with --make")
    );
}

fn of_kinds(kinds: &[&str]) -> usize {
    kinds.iter().map(|kind| fixtures::corpus::of::<fixtures::histories::Case>(kind).unwrap().len()).sum()
}

#[test]
fn the_corpora_about_an_edit_are_told() {
    for (args, cases) in [
        (&["history"][..], fixtures::corpus::all::<fixtures::histories::Case>().unwrap().len()),
        (&["history", "--skew", "1000"], 5 * 3),
        (&["history", "--kind", "which", "--kind", "untimed"], of_kinds(&["which", "untimed"])),
        (&["checkpoints"], fixtures::corpus::all::<fixtures::checkpoints::Case>().unwrap().len()),
        (&["tokens"], fixtures::corpus::all::<fixtures::tokens::Case>().unwrap().len()),
    ] {
        let told = |format: &str| {
            let asked =
                Command::new(STANDIN).arg("corpus").args(args).args(["--format", format]).output().unwrap();
            assert!(asked.status.success(), "{args:?}");
            String::from_utf8(asked.stdout).unwrap()
        };
        let json: Value = serde_json::from_str(&told("json")).unwrap();
        assert_eq!(json["cases"].as_array().unwrap().len(), cases, "{args:?}");
        assert!(told("text").ends_with(&format!("{cases} cases\n")), "{args:?}");
        assert!(told("csv").starts_with("name,"), "{args:?}");
    }
}

#[test]
fn what_can_not_be_told_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["--kind", "dts"][..], "there is no kind of paths 'dts'; did you mean 'dots'?"),
        (&["--policy", "lexical", "--make", "x"], "only the policy realpath looks at the disk"),
        (&["--policy", "posix"], "invalid value 'posix'"),
    ] {
        let output = corpus(args, folder.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}

#[test]
fn the_other_corpora_are_told_whole_and_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, args: &[&str]| {
        let output = of(name, args, folder.path());
        assert!(output.status.success(), "{name} {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let commands = fixtures::corpus::all::<fixtures::commands::Case>().unwrap().len();
    let csp = fixtures::corpus::all::<fixtures::csp::Case>().unwrap().len();
    let errors = fixtures::corpus::all::<fixtures::failures::Case>().unwrap().len();
    for (name, cases, rows) in
        [("commands", commands, commands * 3), ("csp", csp, csp * 7), ("errors", errors, errors)]
    {
        let json: Value = serde_json::from_str(&told(name, &["--format", "json"])).unwrap();
        assert_eq!(json["cases"].as_array().unwrap().len(), cases, "{name}");
        assert_eq!(told(name, &["--format", "csv"]).lines().count(), 1 + rows, "{name}");
        assert!(told(name, &[]).ends_with(&format!("{cases} cases\n")), "{name}");
    }
    let chains = told("commands", &["--kind", "chains", "--policy", "exact", "--format", "csv"]);
    assert!(
        chains.lines().skip(1).all(|line| line.starts_with("chains/") && line.contains(",exact,")),
        "{chains}"
    );
    let images = told("csp", &["--rule", "images"]);
    let line = images.lines().find(|line| line.starts_with("whole/any-image ")).unwrap();
    assert!(line.contains(" breaks images "), "{line}");
    for (name, kind) in [("errors", "trobles"), ("tokens", "clams"), ("history", "wich")] {
        assert_eq!(of(name, &["--kind", kind], folder.path()).status.code(), Some(2), "{name}");
    }
}
