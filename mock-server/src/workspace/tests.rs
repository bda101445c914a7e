//! Snapshots are named as git names them, and nothing leaves the folder.

use super::*;

#[test]
fn a_snapshot_has_the_name_that_git_gives_its_tree() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("README.md"), "hello\n").unwrap();
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    // Both names were seen on the real servers.
    let before = workspace.snapshot(&root);
    assert_eq!(before, "853694aae8816094a0d875fee7ea26278dbf5d0f");
    workspace.write(&format!("{root}/out.txt"), "hello\n").unwrap();
    let after = workspace.snapshot(&root);
    assert_eq!(after, "ce6ea7cc190067e1696263c7a77a94e821c3faba");
    let change = FileChange::of_texts("out.txt", None, Some("hello\n"));
    assert_eq!(workspace.changes(&before, &after), [change]);
}

#[test]
fn what_is_ignored_is_in_no_snapshot_and_has_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".gitignore", "a.txt\n");
    write("README.md", "hello\n");
    write("sub/.gitignore", "b.txt\n");
    write("sub/a.txt", "a\n");
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    // These names were seen on the real servers.
    assert_eq!(workspace.snapshot(&format!("{root}/sub")), "f525a3588c29a658c5ce8d82ad6adf592cee6d30");
    let whole = "58afcd7512c590a861525a2f4e270152190ef09f";
    assert_eq!(workspace.snapshot(&root), whole);
    assert_eq!(workspace.snapshot(&format!("{root}/sub")), whole);
    assert_eq!(workspace.snapshot("/elsewhere"), "");
    assert!(workspace.since_commit().is_empty());
    write("sub/b.txt", "b\n");
    write("b.txt", "b\n");
    fs::remove_file(folder.path().join("README.md")).unwrap();
    let changed: Vec<String> = workspace.since_commit().into_iter().map(|change| change.path).collect();
    assert_eq!(changed, ["README.md", "b.txt"]);
}

#[test]
fn a_folder_is_not_read_before_anybody_asks() {
    let folder = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(folder.path()).unwrap();
    workspace.begin_committed();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("README.md"), "hello\n").unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let below = workspace.snapshot(&format!("{root}/sub"));
    // What stood there at the first look is committed, and every state begins with it.
    assert_eq!(below, "853694aae8816094a0d875fee7ea26278dbf5d0f");
    assert!(workspace.since_commit().is_empty());
    fs::write(folder.path().join("README.md"), "bye\n").unwrap();
    assert_eq!(workspace.since_commit().len(), 1);
    assert_eq!(workspace.snapshot(&format!("{root}/sub")), below, "it is not of that folder");
    workspace.commit();
    assert!(workspace.since_commit().is_empty());
}

#[test]
fn states_share_what_does_not_change() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("large.txt"), "x".repeat(100_000)).unwrap();
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let before = workspace.snapshot(&root);
    let after = workspace.snapshot(&root);
    assert_eq!(before, after);
    assert_eq!(workspace.index["large.txt"], workspace.snapshots[&before]["large.txt"]);
    let of = |files: &BTreeMap<String, Blob>| files["large.txt"].content.as_ptr();
    assert_eq!(of(&workspace.index), of(&workspace.snapshots[&before]));
}

#[test]
fn links_and_programs_are_kept_as_git_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_path_buf();
    let name = root.to_string_lossy().into_owned();
    let before = workspace.snapshot(&name);
    symlink("run.sh", root.join("link")).unwrap();
    fs::write(root.join("run.sh"), "true\n").unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let after = workspace.snapshot(&name);
    // git's own name for this tree.
    assert_eq!(after, "eb50e81e1bab1d6488747aab749e23ac8f6aa1c6");
    let modes: Vec<_> = workspace.changes(&before, &after).iter().map(|change| change.modes).collect();
    assert_eq!(modes, [(PLAIN, LINK), (PLAIN, PROGRAM)]);
    let whole = |tree: &String| [RestoredFile { tree: tree.clone(), path: Some("link".into()) }];
    workspace.restore(&whole(&before)).unwrap();
    assert!(root.join("link").symlink_metadata().is_err());
    workspace.restore(&whole(&after)).unwrap();
    assert_eq!(fs::read_link(root.join("link")).unwrap().to_str(), Some("run.sh"));
}

#[test]
fn nothing_leaves_the_folder_by_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
    let path = workspace.root().join("link/new/file.txt").to_string_lossy().into_owned();
    let error = workspace.write(&path, "x").unwrap_err();
    assert!(error.contains("keeps to its workspace"), "{error}");
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none());
    assert!(workspace.read(&path).is_err());
}

#[test]
fn a_place_is_a_file_a_folder_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let found = |path: &str| workspace.read(&format!("{root}/{path}")).unwrap();
    workspace.write(&format!("{root}/notes/b.txt"), "b").unwrap();
    workspace.write(&format!("{root}/notes/a/deep.txt"), "x").unwrap();
    let names: Vec<String> = ["a/", "b.txt"].map(str::to_owned).to_vec();
    assert_eq!(found("notes/b.txt"), Found::File(b"b".to_vec()));
    assert_eq!(found("notes"), Found::Folder(names.clone()));
    assert_eq!(found("notes/c.txt"), Found::Nothing { beside: Some(names) });
    assert_eq!(found("nowhere/c.txt"), Found::Nothing { beside: None });
    // Clients are told that the workspace is a repository.
    assert_eq!(workspace.read(&root).unwrap(), Found::Folder(vec![".git/".into(), "notes/".into()]));
}

#[test]
fn what_is_chosen_by_its_name_is_found_though_it_is_ignored_or_hidden() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["a.txt", "ignored.txt", ".b.txt", ".dot/c.txt", "build/d.txt", "src/e.txt"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    fs::write(folder.path().join(".gitignore"), "ignored.txt\nbuild/\n").unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let found = |below: &str, pattern: &str, in_hidden: bool| {
        let chosen = Chosen { pattern: pattern.to_owned(), in_hidden };
        let Ok(Found::Tree(files)) = workspace.search(&format!("{root}{below}"), Some(chosen)) else {
            panic!("{below} is a folder");
        };
        let mut names = files.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        names.sort();
        names
    };
    assert_eq!(found("", "*.txt", false), [".b.txt", "a.txt", "ignored.txt", "src/e.txt"]);
    assert_eq!(found("", "*.txt", true), [".b.txt", ".dot/c.txt", "a.txt", "ignored.txt", "src/e.txt"]);
    assert_eq!(found("", "build/*", false), Vec::<String>::new());
    assert_eq!(found("", "{build,build/*}", false), ["build/d.txt"]);
    assert_eq!(found("/src", "e.*", false), ["e.txt"]);
    assert_eq!(found("", "", false), ["a.txt", "src/e.txt"]);
    assert_eq!(found("", "!a.*", false), ["src/e.txt"]);
    assert_eq!(found("/build", "", false), ["d.txt"], "who looks there finds it, ignored or not");
    assert_eq!(found("", "!src", true), [".b.txt", ".dot/c.txt", ".gitignore", "a.txt"]);
    fs::rename(folder.path().join(".git"), folder.path().join("src/.git")).unwrap();
    fs::write(folder.path().join("src/.gitignore"), "out.txt\n").unwrap();
    fs::create_dir(folder.path().join("src/deep")).unwrap();
    fs::write(folder.path().join("src/deep/.gitignore"), "out.txt\n").unwrap();
    fs::write(folder.path().join("src/deep/out.txt"), "x").unwrap();
    let inner = Workspace::new(&folder.path().join("src/deep")).unwrap();
    let at = inner.root().to_string_lossy().into_owned();
    let chosen = Chosen { pattern: String::new(), in_hidden: false };
    let kept = inner.search(&at, Some(chosen)).unwrap();
    assert_eq!(kept, Found::Tree(Vec::new()), "a folder inside a repository");
    fs::remove_dir_all(folder.path().join("src/deep")).unwrap();
    fs::remove_dir(folder.path().join("src/.git")).unwrap();
    fs::remove_file(folder.path().join("src/.gitignore")).unwrap();
    assert_eq!(found("", "", false), ["a.txt", "build/d.txt", "ignored.txt", "src/e.txt"], "no repository");
}

#[test]
fn files_are_found_in_the_order_in_which_ripgrep_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs::write(folder.path().join(format!("{number}.txt")), "x").unwrap();
    }
    let workspace = Workspace::new(folder.path()).unwrap();
    let Ok(Found::Tree(files)) = workspace.search(&workspace.root().to_string_lossy(), None) else {
        panic!("it is a folder");
    };
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.reverse();
    assert_eq!(files.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), names);
}

#[test]
fn a_large_file_is_in_no_snapshot_unless_it_was_there_before() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: usize| fs::write(folder.path().join(path), "x".repeat(bytes)).unwrap();
    write("grows.txt", 1);
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let first = workspace.snapshot(&root);
    write("large.txt", NEW_MAX + 1);
    write("just.txt", NEW_MAX);
    write("grows.txt", NEW_MAX + 1);
    let second = workspace.snapshot(&root);
    let changed = |workspace: &Workspace, from, to| -> Vec<String> {
        workspace.changes(from, to).into_iter().map(|change| change.path).collect()
    };
    assert_eq!(changed(&workspace, &first, &second), ["grows.txt", "just.txt"]);
    write("large.txt", 1);
    let third = workspace.snapshot(&root);
    assert_eq!(changed(&workspace, &second, &third), ["large.txt"]);
}

#[test]
fn what_becomes_ignored_stays_until_it_changes_and_is_not_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
    write("a.txt", "a\n");
    write("b.txt", "b\n");
    repository::make(folder.path()).unwrap();
    let mut workspace = Workspace::new(folder.path()).unwrap();
    let root = workspace.root().to_string_lossy().into_owned();
    let first = workspace.snapshot(&root);
    write(".gitignore", "*.txt\n");
    let second = workspace.snapshot(&root);
    let paths =
        |changes: Vec<FileChange>| -> Vec<String> { changes.into_iter().map(|change| change.path).collect() };
    assert_eq!(paths(workspace.changes(&first, &second)), [".gitignore"]);
    write("a.txt", "changed\n");
    write("c.txt", "c\n");
    let third = workspace.snapshot(&root);
    assert!(workspace.changes(&second, &third).is_empty());
    assert_eq!(paths(workspace.since_commit()), [".gitignore", "a.txt"], "git goes on with what it knows");
    fs::remove_file(folder.path().join(".gitignore")).unwrap();
    assert_eq!(paths(workspace.changes(&second, &third)), ["a.txt"], "the snapshots have let go of it");
}

#[test]
fn the_nearest_pattern_says_what_is_wanted_but_for_folders_that_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".git/info/exclude", "mine.txt\nkept.txt\n");
    write(".gitignore", "*.log\nout/\n!kept.txt\n");
    write("sub/.gitignore", "!a.log\n");
    write("out/.gitignore", "!b.txt\n");
    let mut wanted = tree::Wanted::below(folder.path());
    for (path, is_kept) in [
        ("a.txt", true),
        ("a.log", false),
        ("sub/a.log", true),
        ("sub/b.log", false),
        ("out/b.txt", false),
        ("sub/out/b.txt", false),
        ("sub/mine.txt", false),
        ("kept.txt", true),
    ] {
        assert_eq!(wanted.keeps(path), is_kept, "{path}");
    }
}
