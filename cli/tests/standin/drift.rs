//! Goal: `standin drift` says by its exit code what it found, in every format. Method: the binary in a folder of its
//! own, with recordings that it carries and with documents made of them.

use crate::STANDIN;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn drift(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(STANDIN).arg("drift").args(args).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// A folder with the `/doc` of Kilo, and some that are made of it.
fn documents() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, doc: &Value| std::fs::write(folder.path().join(name), doc.to_string()).unwrap();
    let doc: Value = serde_json::from_slice(fixtures::catalog::doc("kilo-7.7.7").unwrap()).unwrap();
    write("old.json", &doc);
    let mut more = doc.clone();
    more["paths"]["/new"] = serde_json::json!({"get": {}});
    write("more.json", &more);
    let mut less = doc.clone();
    less["paths"].as_object_mut().unwrap().remove("/vcs").unwrap();
    write("less.json", &less);
    let mut words = doc.clone();
    words["paths"]["/vcs"]["get"]["summary"] = "Other words".into();
    write("words.json", &words);
    std::fs::write(folder.path().join("empty.json"), "").unwrap();
    folder
}

#[test]
fn the_exit_code_says_what_was_found() {
    let folder = documents();
    for (args, code, expected) in [
        (&["old.json", "old.json"][..], 0, "holds: 0 breaking, 0 additive, 0 cosmetic"),
        (&["old.json", "more.json"], 0, "GET /new"),
        (&["old.json", "more.json", "--fail-on", "additive"], 1, "drifts: 0 breaking, 1 additive"),
        (&["old.json", "words.json", "--fail-on", "additive"], 0, "1 cosmetic"),
        (&["old.json", "words.json", "--fail-on", "any"], 1, "1 cosmetic"),
        (&["old.json", "less.json"], 1, "the operation is gone"),
        (&["old.json", "empty.json"], 3, "/doc of NEW: it names no operations"),
        (&["empty.json", "old.json"], 3, "/doc of OLD: it names no operations"),
        (&["old.json", "old.json", "--min-paths", "1000000"], 3, "prove nothing"),
        (&["old.json", "less.json", "--min-paths", "1000000"], 1, "prove nothing"),
        (&["old.json", "kilo-7.7.7"], 2, "compare two of the same kind"),
        (&["old.json", "none.json"], 2, "there is no file, folder or release 'none.json'"),
        (&["old.json"], 2, "<NEW>"),
        (&["old.json", "old.json", "--min-paths", "-1"], 2, "min-paths"),
    ] {
        let (was, said) = drift(folder.path(), args);
        assert_eq!(was, code, "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn a_report_is_told_in_every_format() {
    let folder = documents();
    let out = folder.path().join("reports/drift");
    let read = |format: &str| {
        let place = out.to_str().unwrap();
        let (code, said) =
            drift(folder.path(), &["old.json", "less.json", "--format", format, "--out", place]);
        assert_eq!((code, said.as_str()), (1, ""), "what is written is not printed");
        std::fs::read_to_string(&out).unwrap()
    };
    assert!(read("text").contains("  /doc: the operation is gone (1)\n    GET /vcs\n"));
    assert!(read("markdown").contains("### In /doc: the operation is gone (1)\n\n- `GET /vcs`\n"));
    let json: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!(json["verdict"], "drifts");
    assert_eq!(json["changes"][0]["place"], "GET /vcs");
    assert_eq!(json["changes"][0]["rule"], "OperationGone");
}

#[test]
fn a_folder_whose_recordings_have_no_partner_is_not_green() {
    let folder = tempfile::tempdir().unwrap();
    let write = |place: &str, name: &str| {
        let path = folder.path().join(place).join(format!("{name}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let recording = fixtures::catalog::recording("opencode-1.15.13", name).unwrap();
        std::fs::write(path, recording.render().unwrap()).unwrap();
    };
    for name in ["text/plain", "text/reasoning"] {
        write("old", name);
    }
    write("new", "text/plain");
    let (code, said) = drift(folder.path(), &["old", "new"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("recording text/reasoning: NEW has none of this name"), "{said}");
    assert_eq!(drift(folder.path(), &["new", "old"]).0, 0);
    assert_eq!(drift(folder.path(), &["old/text/plain.jsonl", "new/text/plain.jsonl"]).0, 0);
}
