//! An agent of a project is taken away: the files that describe it, and its entries in files of settings.

use crate::project_files::settings_without;
use crate::workspace::Workspace;
use std::fs;
use std::path::Path;

/// Folders in which a description may lie, at whatever depth, and those in which it lies at once.
const DEEP: [&str; 2] = ["agent", "agents"];
const FLAT: [&str; 2] = ["mode", "modes"];

impl Workspace {
    /// The files that have changed or are gone.
    pub(crate) fn forget_agent(
        &self,
        name: &str,
        folders: &[String],
        settings: &[String],
        home: Option<&Path>,
    ) -> Vec<String> {
        let file = format!("{name}.md");
        let mut found = Vec::new();
        for folder in folders {
            DEEP.iter().for_each(|deep| descriptions(&Path::new(folder).join(deep), &file, &mut found));
            found.extend(FLAT.map(|flat| format!("{folder}/{flat}/{file}")));
        }
        let goes = |path: &String| {
            self.inside_or_at_home(path, home).is_ok_and(|file| fs::remove_file(file).is_ok())
        };
        found.retain(|path| Path::new(path).is_file() && goes(path));
        for path in settings {
            let text = fs::read_to_string(path).ok();
            let less = text.and_then(|text| settings_without(&text, "agent", name));
            if less.is_some_and(|less| self.write(path, &less).is_ok()) {
                found.push(path.clone());
            }
        }
        found
    }
}

/// The files of this name at whatever depth; links to folders are not followed.
fn descriptions(folder: &Path, file: &str, found: &mut Vec<String>) {
    found.push(folder.join(file).to_string_lossy().into_owned());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            descriptions(&entry.path(), file, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_goes_wherever_it_stands_in_the_workspace() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let write = |path: &Path, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let place = |path: &str| root.path().join(path);
        for path in
            [".kilo/agent/one.md", ".kilo/agents/deep/one.md", ".kilo/mode/one.md", ".kilo/mode/deep/one.md"]
        {
            write(&place(path), "x");
        }
        write(&outside.path().join("one.md"), "x");
        write(&place("kilo.json"), "{\"agent\": {\"one\": {}, \"two\": {}}}");
        let workspace = Workspace::new(root.path()).unwrap();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let folders = [text(&place(".kilo"))];
        let settings = [text(&place("kilo.json")), text(&place("opencode.json"))];
        let gone = workspace.forget_agent("one", &folders, &settings, None);
        assert_eq!(gone.len(), 4, "{gone:?}");
        assert!(place(".kilo/mode/deep/one.md").exists(), "it is no agent's there");
        assert!(!fs::read_to_string(place("kilo.json")).unwrap().contains("one"));
        assert!(workspace.forget_agent("one", &folders, &settings, None).is_empty());
        let climbing = format!("../../../../{}/one", outside.path().file_name().unwrap().to_string_lossy());
        assert!(workspace.forget_agent(&climbing, &folders, &settings, None).is_empty());
        assert!(outside.path().join("one.md").exists(), "nothing outside is touched");
    }
}
