//! Goal: `standin probe agents` says by its exit code whether agents may do what their files declare, in every format.
//! Method: the binary and the stand-in, with folders of a few agents.

use crate::STANDIN;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn probe(folder: &Path, args: &[&str]) -> (i32, String) {
    let output =
        Command::new(STANDIN).args(["probe", "agents"]).args(args).current_dir(folder).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

fn folder(head: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let agents = folder.path().join(".kilo/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("painter.md"), format!("---\n{head}\n---\nPaints.\n")).unwrap();
    folder
}

#[test]
fn the_exit_code_says_whether_it_holds() {
    let sound = folder("mode: primary\nreasoningEffort: low\npermission:\n  bash: ask\n  task: deny");
    let wrong = folder("mode: primary\nreasoning_effort: low\npermission:\n  task: {\"*\": deny, x: deny}");
    let stand_in = ["--dir", ".kilo", "--server", "kilo", "--stand-in"];
    let (code, said) = probe(sound.path(), &stand_in);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("0 differ; 0 findings"), "{said}");
    let (code, said) = probe(wrong.path(), &stand_in);
    assert_eq!(code, 1, "{said}");
    for part in ["! painter", "tool task", ".kilo/agents/painter.md:3: effort-spelling"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (code, said) = probe(wrong.path(), &["--dir", ".", "--server", "kilo", "--files"]);
    assert_eq!(code, 1, "{said}");
    let (code, said) = probe(sound.path(), &["--dir", "src", "--server", "kilo", "--files"]);
    assert_eq!(code, 2, "{said}");
    let (code, said) = probe(sound.path(), &["--dir", ".kilo", "--server", "kilo", "--bin", "./none"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn nobody_is_asked_about_settings_that_are_unreadable_or_about_a_folder_of_something_else() {
    let folder = folder("mode: primary");
    std::fs::write(folder.path().join("kilo.json"), "{\"plugin\": [],\n\"plugin\": [\"x\"]}").unwrap();
    let (code, said) = probe(folder.path(), &["--dir", ".", "--server", "kilo", "--stand-in"]);
    assert!(code == 3 && said.contains("kilo.json:2 can't be read"), "{code}: {said}");
    let (code, said) = probe(folder.path(), &["--dir", ".", "--server", "kilo", "--files"]);
    assert!(code == 1 && said.contains("kilo.json:2: unreadable"), "{code}: {said}");
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    std::fs::write(folder.path().join("docs/a.md"), "A page.").unwrap();
    let (code, said) = probe(folder.path(), &["--dir", "docs", "--server", "kilo", "--files"]);
    assert!(code == 2 && said.contains("no agents and no settings"), "{code}: {said}");
}

#[test]
fn settings_without_an_agent_are_no_agents() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kilo.json"), "{\"permission\": {\"bash\": \"deny\"}}").unwrap();
    for how in ["--files", "--stand-in"] {
        let (code, said) = probe(folder.path(), &["--dir", ".", "--server", "kilo", how]);
        assert!(code == 2 && said.contains("declares no agents: name a folder"), "{code}: {said}");
    }
}

#[test]
fn programs_and_pages_get_every_row() {
    let folder = folder("mode: primary\npermission:\n  bash: deny");
    let args = ["--dir", ".kilo", "--server", "kilo", "--stand-in", "--format"];
    let (code, said) = probe(folder.path(), &[&args[..], &["json"]].concat());
    assert_eq!(code, 0, "{said}");
    let told: Value = serde_json::from_str(&said).unwrap();
    let rows = told["rows"].as_array().unwrap();
    let bash = rows.iter().find(|row| row["about"] == "bash").unwrap();
    assert_eq!((&bash["declared"], &bash["holds"]), (&"deny".into(), &true.into()));
    let (_, page) = probe(folder.path(), &[&args[..], &["markdown"]].concat());
    assert!(page.contains("| painter | prompted | bash | deny | deny: not offered |"), "{page}");
}
