//! The settings of Kilo's own screen (`tui.json`), for the world: the files of the home and of a project, read together, and
//! changed as the real server changes them.

use crate::doc::{Mistake, Operations, SettingsOf};
use crate::profile::Profile;
use crate::project_files::{Fault, What, read_settings, settings_changed, settings_error};
use crate::workspace::Workspace;
use crate::world::{TuiFound, TuiWish, merge};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The files' names; of two that are there, the latter counts more.
const NAMES: [&str; 2] = ["tui.json", "tui.jsonc"];
/// What they may say.
const FIELDS: [&str; 11] = [
    "$schema",
    "theme",
    "keybinds",
    "plugin",
    "plugin_enabled",
    "title_icon",
    "scroll_speed",
    "scroll_acceleration",
    "diff_style",
    "mouse",
    "attention",
];
/// No screen is moved more slowly.
const SLOWEST: f64 = 0.001;

/// Where the files lie.
struct Places<'p> {
    profile: &'p Profile,
    home: Option<PathBuf>,
    /// The folder that is meant, and those above it in its project.
    folders: Vec<PathBuf>,
}

impl Workspace {
    /// Does what the world wishes. `own` is what the server comes with.
    pub(crate) fn tui_settings(
        &self,
        wish: &TuiWish,
        profile: &Profile,
        own: &Map<String, Value>,
        home: Option<&Path>,
    ) -> TuiFound {
        let folder = Path::new(&wish.directory);
        let folders = folder.ancestors().take_while(|above| above.starts_with(self.root()));
        let of_all = home.map(|home| home.join(".config").join(profile.server.word()));
        let places = Places { profile, home: of_all, folders: folders.map(Path::to_owned).collect() };
        if let Some(patch) = &wish.change
            && let Err(why) = self.change_tui(&places, wish, patch, (own, home))
        {
            return TuiFound::Not(why);
        }
        TuiFound::Settings(places.effective(own))
    }

    fn change_tui(
        &self,
        places: &Places,
        wish: &TuiWish,
        patch: &Map<String, Value>,
        (own, home): (&Map<String, Value>, Option<&Path>),
    ) -> Result<(), Value> {
        let file = if wish.is_global { places.of_all() } else { places.of_project(&wish.directory) };
        let text = std::fs::read_to_string(&file).ok();
        let before = match &text {
            Some(text) => said_in(places.profile, &file, text).map_err(|fault| fault.error())?,
            None => Map::new(),
        };
        let after = changed(before, patch, own);
        let in_text = text.filter(|_| file.extension().is_some_and(|end| end == "jsonc"));
        let content = match in_text.as_deref().and_then(|text| settings_changed(text, &after)) {
            Some(content) => content,
            None => serde_json::to_string_pretty(&after).unwrap_or_default(),
        };
        let path = file.to_string_lossy();
        let kept = match wish.is_global {
            true => self.inside_or_at_home(&path, home).and_then(|file| {
                let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
                folder.and_then(|()| std::fs::write(&file, content)).map_err(|error| error.to_string())
            }),
            false => self.write(&path, &content),
        };
        kept.map_err(|why| json!({"_tag": "InvalidRequestError", "message": why}))
    }
}

impl Places<'_> {
    fn of_all(&self) -> PathBuf {
        let folder = self.home.clone().unwrap_or_default();
        let names = NAMES.iter().rev().map(|name| folder.join(name));
        names.clone().find(|file| file.is_file()).unwrap_or_else(|| folder.join(NAMES[1]))
    }

    /// The file of a project that is written: the nearest that is there, those in folders of settings first.
    fn of_project(&self, directory: &str) -> PathBuf {
        let own = self.profile.settings_folders.iter().rev();
        let in_own = own.flat_map(|own| self.folders.iter().map(move |folder| folder.join(own)));
        let mut all = in_own.chain(self.folders.iter().cloned());
        let found = all
            .find_map(|folder| NAMES.iter().rev().map(|name| folder.join(name)).find(|file| file.is_file()));
        found.unwrap_or_else(|| Path::new(directory).join(".kilo").join(NAMES[0]))
    }

    /// All that holds, what is nearest last. A file that can't be used says nothing.
    fn effective(&self, own: &Map<String, Value>) -> Value {
        let above = || self.folders.iter().rev();
        let in_own = self.profile.settings_folders.iter();
        let in_own = above().flat_map(|folder| in_own.clone().map(move |own| folder.join(own)));
        let folders = self.home.iter().cloned().chain(above().cloned()).chain(in_own);
        let mut all = Map::new();
        let mut plugins: Vec<Value> = Vec::new();
        for file in folders.flat_map(|folder| NAMES.map(|name| folder.join(name))) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let Ok(mut said) = said_in(self.profile, &file, &text) else { continue };
            if let Some(Value::Array(named)) = said.shift_remove("plugin") {
                plugins.extend(named);
            }
            merge(&mut all, &Value::Object(said));
        }
        plugins.extend(own.get("plugin").and_then(Value::as_array).into_iter().flatten().cloned());
        let mut told = Vec::new();
        for plugin in plugins {
            if !told.contains(&plugin) {
                told.push(plugin);
            }
        }
        all.insert("plugin".to_owned(), Value::Array(told));
        let keys = keys_with(own, all.get("keybinds"));
        all.insert("keybinds".to_owned(), Value::Object(keys));
        Operations::of(self.profile.server).known_body("tui.config.update", Value::Object(all))
    }
}

/// What a file says; the fields that no server knows are dropped.
fn said_in(profile: &Profile, file: &Path, text: &str) -> Result<Map<String, Value>, Fault> {
    let path = file.to_string_lossy().into_owned();
    let Some(said) = read_settings(text) else {
        let words = settings_error(&path, text)
            .and_then(|error| error["data"]["message"].as_str().map(str::to_owned));
        return Err(Fault { path, what: What::NoJson(words.unwrap_or_default()) });
    };
    let Value::Object(mut said) = said else { return Ok(Map::new()) };
    // An older form has all of it below one name.
    if let Some(Value::Object(older)) = said.shift_remove("tui") {
        let newer = std::mem::replace(&mut said, older);
        said.extend(newer);
    }
    said.retain(|name, _| FIELDS.contains(&name.as_str()));
    if let Some(keys) = said.get_mut("keybinds").and_then(Value::as_object_mut) {
        keys.values_mut().filter(|key| **key == false).for_each(|key| *key = json!("none"));
    }
    let mut mistakes = Operations::of(profile.server).mistakes(SettingsOf::Tui, &Value::Object(said.clone()));
    if mistakes.is_empty()
        && let Some(speed) =
            said.get("scroll_speed").filter(|speed| speed.as_f64().is_some_and(|speed| speed < SLOWEST))
    {
        let what = format!("Expected a value greater than or equal to {SLOWEST}, got {speed}");
        mistakes.push(Mistake { path: vec!["scroll_speed".to_owned()], what });
    }
    if mistakes.is_empty() { Ok(said) } else { Err(Fault { path, what: What::Mistakes(mistakes) }) }
}

/// A file after a change. Of keys it says nothing, or all, as soon as a client names one.
fn changed(
    mut file: Map<String, Value>,
    patch: &Map<String, Value>,
    own: &Map<String, Value>,
) -> Map<String, Value> {
    let names_keys = patch.get("keybinds").is_some_and(Value::is_object);
    let mut keys = file.shift_remove("keybinds").unwrap_or_else(|| json!({}));
    for (name, value) in patch {
        match (name.as_str(), value) {
            ("keybinds", Value::Object(_)) => {
                if let Some(keys) = keys.as_object_mut() {
                    merge(keys, value);
                }
                file.insert(name.clone(), Value::Null);
            }
            (name, _) if !FIELDS.contains(&name) => {}
            (_, Value::Null) => {
                file.shift_remove(name);
            }
            _ => merge(&mut file, &json!({name.as_str(): value.clone()})),
        }
    }
    if names_keys {
        let mut all = keys_with(own, Some(&keys));
        // What no server knows stays until the file is read again.
        let said = patch.get("keybinds").and_then(Value::as_object).into_iter().flatten();
        said.for_each(|(name, key)| _ = all.entry(name).or_insert_with(|| key.clone()));
        file.insert("keybinds".to_owned(), Value::Object(all));
    }
    file
}

/// All keys of the server, with what is said of some of them.
fn keys_with(own: &Map<String, Value>, said: Option<&Value>) -> Map<String, Value> {
    let mut keys = own.get("keybinds").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, key) in said.and_then(Value::as_object).into_iter().flatten() {
        if let Some(known) = keys.get_mut(name) {
            *known = key.clone();
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;
    use std::fs;

    struct Machine {
        place: tempfile::TempDir,
        workspace: Workspace,
    }

    impl Machine {
        fn with(files: &[(&str, &str)]) -> Self {
            let place = tempfile::tempdir().unwrap();
            ["work", "home"].iter().for_each(|name| fs::create_dir(place.path().join(name)).unwrap());
            let workspace = Workspace::new(&place.path().join("work").canonicalize().unwrap()).unwrap();
            let machine = Self { place, workspace };
            for (path, text) in files {
                let path = machine.place.path().join("work").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            machine
        }

        fn ask(&self, is_global: bool, change: Option<Value>) -> TuiFound {
            let own = json!({"keybinds": {"leader": "ctrl+x", "quit": "ctrl+c"}, "plugin": ["own"]});
            let directory = self.workspace.root().to_string_lossy().into_owned();
            let change = change.map(|change| change.as_object().unwrap().clone());
            let wish = TuiWish { directory, is_global, change };
            let profile = Profile::of(ServerKind::Kilo);
            self.workspace.tui_settings(
                &wish,
                profile,
                own.as_object().unwrap(),
                Some(&self.place.path().join("home")),
            )
        }

        fn change(&self, change: Value) -> Value {
            match self.ask(false, Some(change)) {
                TuiFound::Settings(told) | TuiFound::Not(told) => told,
            }
        }

        fn file(&self, path: &str) -> String {
            fs::read_to_string(self.place.path().join(path)).unwrap()
        }
    }

    #[test]
    fn the_nearest_file_is_changed_and_of_keys_it_says_all_or_nothing() {
        let machine = Machine::with(&[
            ("tui.json", r#"{"theme":"root","mouse":true,"keybinds":{"leader":"ctrl+b","odd":"x"}}"#),
            (".kilo/tui.jsonc", "{\n  // hi\n  \"theme\": \"own\"\n}\n"),
        ]);
        let TuiFound::Settings(told) = machine.ask(false, None) else { panic!() };
        assert_eq!(
            told,
            json!({"theme": "own", "keybinds": {"leader": "ctrl+b", "quit": "ctrl+c"}, "plugin": ["own"], "mouse": true})
        );
        machine.change(json!({"scroll_speed": 2}));
        assert_eq!(
            machine.file("work/.kilo/tui.jsonc"),
            "{\n  // hi\n  \"theme\": \"own\",\n  \"scroll_speed\": 2\n}\n"
        );
        let told = machine.change(json!({"keybinds": {"quit": "f1"}}));
        assert_eq!(told["keybinds"], json!({"leader": "ctrl+x", "quit": "f1"}));
    }

    #[test]
    fn a_file_without_comments_is_written_anew() {
        let machine = Machine::with(&[(
            ".kilocode/tui.json",
            r#"{"theme":"code","nope":1,"keybinds":{"quit":false},"tui":{"mouse":true}}"#,
        )]);
        let TuiFound::Settings(told) = machine.ask(false, None) else { panic!() };
        assert_eq!(told["keybinds"]["quit"], "none");
        machine.change(json!({"scroll_speed": 2}));
        let written = "{\n  \"mouse\": true,\n  \"theme\": \"code\",\n  \"scroll_speed\": 2\n}";
        assert_eq!(machine.file("work/.kilocode/tui.json"), written);
        machine.change(
            json!({"theme": null, "mouse": null, "scroll_speed": null, "attention": {"sound": true}}),
        );
        let told = machine.change(json!({"attention": {"volume": 1}, "odd": 1}));
        assert_eq!(told["attention"], json!({"sound": true, "volume": 1}));
    }

    #[test]
    fn what_holds_everywhere_stands_in_the_home() {
        let machine = Machine::with(&[]);
        let told = machine.change(json!({"theme": "near"}));
        assert_eq!(told["theme"], "near");
        assert_eq!(machine.file("work/.kilo/tui.json"), "{\n  \"theme\": \"near\"\n}");
        let TuiFound::Settings(told) =
            machine.ask(true, Some(json!({"theme": "far", "plugin": ["x", "own"]})))
        else {
            panic!()
        };
        assert_eq!((&told["theme"], &told["plugin"]), (&json!("near"), &json!(["x", "own"])));
        assert!(machine.file("home/.config/kilo/tui.jsonc").contains("far"));
    }

    #[test]
    fn a_file_that_can_not_be_used_is_not_changed() {
        let machine = Machine::with(&[(".kilo/tui.json", "{\"theme\":")]);
        assert_eq!(machine.change(json!({"mouse": true}))["name"], "ConfigJsonError");
        let machine = Machine::with(&[(".kilo/tui.json", r#"{"theme":7}"#)]);
        let told = machine.change(json!({"mouse": true}));
        assert_eq!(
            told["data"]["issues"],
            json!([{"path": ["theme"], "message": "Expected string | undefined, got 7"}])
        );
        let machine = Machine::with(&[]);
        machine.change(json!({"scroll_speed": 0}));
        let told = machine.change(json!({}));
        let message = "Expected a value greater than or equal to 0.001, got 0";
        assert_eq!(told["data"]["issues"], json!([{"path": ["scroll_speed"], "message": message}]));
    }
}
