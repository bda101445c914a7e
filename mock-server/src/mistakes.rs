//! What a server can't do for a prompt that nobody waits for. It is told in the session, with the place in the server's
//! program: those places are as the pinned release told them.

use fixtures::recording::{Line, Recording};
use fixtures::sse::Parser;
use fixtures::{ServerKind, catalog};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::OnceLock;

const RECORDED: [&str; 3] = ["prompt/refused-unwaited", "prompt/folder-missing", "prompt/no-default"];
/// What begins a line that names a place.
const PLACE: &str = "\n    at ";

/// Stands for the file that the lines are about.
const FILE: &str = "${file}";

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mistake {
    /// A provider that there is not.
    Provider,
    /// A model that its provider does not have.
    Model,
    /// An agent that there is not.
    Agent,
    /// The agent that is to work by default is not there.
    DefaultMissing,
    /// It is one that is given work.
    DefaultSubagent,
    /// It is one of the server's own.
    DefaultHidden,
    /// An address that is none.
    Address,
    /// A file on another machine.
    Host,
    /// A file that there is not.
    File,
    /// A folder that there is not.
    Folder,
    /// Bytes that are no picture.
    Picture,
    /// An address that has no picture in it.
    PictureAddress,
}

/// How its words end that begin alike.
const ENDINGS: &[(&str, Mistake)] = &[
    ("\" not found", Mistake::DefaultMissing),
    ("\" is a subagent", Mistake::DefaultSubagent),
    ("\" is hidden", Mistake::DefaultHidden),
];
const OF_DEFAULT: &str = "Error: default agent ";

/// How its words begin; the provider of the recorded model is the scripted one's.
const BEGINNINGS: &[(&str, Mistake)] = &[
    ("ProviderModelNotFoundError: Model not found: fake/", Mistake::Model),
    ("ProviderModelNotFoundError: ", Mistake::Provider),
    ("UnknownError: ", Mistake::Agent),
    ("TypeError: File URL host ", Mistake::Host),
    ("TypeError: ", Mistake::Address),
    ("PlatformError: NotFound: FileSystem.realPath ", Mistake::Folder),
    ("PlatformError: ", Mistake::File),
    ("ImageDecodeError: ", Mistake::Picture),
    ("ImageInvalidDataUrlError: ", Mistake::PictureAddress),
];

impl Mistake {
    /// That of recorded words.
    fn of(words: &str) -> Option<Self> {
        if words.starts_with(OF_DEFAULT) {
            let line = words.lines().next().unwrap_or_default();
            return ENDINGS.iter().find(|(ending, _)| line.ends_with(ending)).map(|(_, mistake)| *mistake);
        }
        BEGINNINGS.iter().find(|(beginning, _)| words.starts_with(beginning)).map(|(_, mistake)| *mistake)
    }

    /// What a session is told: words, and the lines that name the places in the server's program.
    pub(crate) fn told(self, server: ServerKind, words: &str) -> String {
        let places = self.places(server);
        match file_of(words) {
            Some(file) => format!("{words}{}", places.replace(FILE, file)),
            None => format!("{words}{places}"),
        }
    }

    fn places(self, server: ServerKind) -> &'static str {
        static KILO: OnceLock<HashMap<Mistake, String>> = OnceLock::new();
        static OPENCODE: OnceLock<HashMap<Mistake, String>> = OnceLock::new();
        let places = match server {
            ServerKind::Kilo => &KILO,
            ServerKind::Opencode => &OPENCODE,
        };
        let recorded = || {
            let all = RECORDED.iter().filter_map(|name| catalog::recording(&server.release(), name).ok());
            all.flat_map(|recording| read(&recording)).collect()
        };
        places.get_or_init(recorded).get(&self).map_or("", String::as_str)
    }
}

/// The file that words are about.
fn file_of(words: &str) -> Option<&str> {
    let place = words.strip_prefix("PlatformError: NotFound: FileSystem.")?;
    let place = place.strip_prefix("readFile (").or_else(|| place.strip_prefix("realPath ("))?;
    place.strip_suffix(')')
}

/// The places that a recording tells of.
fn read(recording: &Recording) -> HashMap<Mistake, String> {
    let mut places = HashMap::new();
    let mut streams: HashMap<u64, Parser> = HashMap::new();
    for line in &recording.lines {
        let Line::Chunk(chunk) = line else { continue };
        for event in streams.entry(chunk.exchange).or_default().feed(&chunk.bytes()) {
            let told: Value = serde_json::from_str(&event.data).unwrap_or_default();
            // What happens in other folders is told on the stream of all alone.
            let event = told.get("payload").unwrap_or(&told);
            let words = event.pointer("/properties/error/data/message").and_then(Value::as_str);
            let Some(words) = words else { continue };
            let Some((mistake, at)) = Mistake::of(words).zip(words.find(PLACE)) else { continue };
            let (words, lines) = words.split_at(at);
            let lines = match file_of(words) {
                Some(file) => lines.replace(file, FILE),
                None => lines.to_owned(),
            };
            places.entry(mistake).or_insert(lines);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recordings_tell_the_places_of_all_that_can_go_wrong() {
        for server in [ServerKind::Kilo, ServerKind::Opencode] {
            for (_, mistake) in BEGINNINGS {
                // Kilo tells the model of a file that is not there, and goes on.
                let is_told = (server, *mistake) != (ServerKind::Kilo, Mistake::File);
                let told = mistake.told(server, "Words.");
                assert_eq!(told.starts_with("Words.\n    at "), is_told, "{server} {mistake:?}");
            }
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named_in_the_lines_too() {
        let words = "PlatformError: NotFound: FileSystem.readFile (/my/own.png)";
        let told = Mistake::File.told(ServerKind::Opencode, words);
        assert!(told.ends_with("open '/my/own.png'\n}"), "{told}");
        assert!(!told.contains("none.png") && !told.contains(FILE), "{told}");
    }
}
