//! What a prompt carries is read before the prompt is stored: files and folders become texts that the agent gets to
//! read, an agent that is called by name becomes a wish to give it work.

use super::prompt::Prompt;
use super::ranges::Range;
use super::recall::RECALL;
use super::rules::Action;
use super::tools::{is_sound, picture_kind};
use super::{Effect, Found, Purpose, World, template};
use crate::mistakes::Mistake;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

/// A prompt whose parts are being read.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) session: String,
    pub(crate) prompt: Prompt,
    /// The message that the prompt becomes.
    pub(crate) info: Value,
    /// What has been read.
    pub(crate) parts: Vec<Value>,
    /// The part that is read now.
    at: usize,
    /// The session and its call that give this as work, if one does.
    pub(crate) work_of: Option<(String, usize)>,
}

/// What the servers' language says of a file on another machine.
const OTHER_HOST: &str = "TypeError: File URL host must be \"localhost\" or empty on linux";

const TEXT: &str = "text/plain";
const FOLDER: &str = "application/x-directory";

/// Parts that are not stored: a name in a text that may mean a file or an agent, and one that means neither.
const NAME: &str = "name";
const NOTHING: &str = "nothing";

/// What a part becomes.
enum Reading {
    /// These parts.
    Done(Vec<Value>),
    /// The place that it names has to be looked at.
    Look(String),
    /// Nothing that could be understood, and why.
    Nonsense(Mistake, String),
}

impl Letter {
    pub(crate) fn new(session: &str, prompt: Prompt, info: Value) -> Self {
        Self { session: session.to_owned(), prompt, info, parts: Vec::new(), at: 0, work_of: None }
    }
}

impl World {
    /// Reads on; when all is read, the prompt is stored.
    pub(crate) fn read_letter(&mut self, mut letter: Letter) {
        while let Some(part) = letter.prompt.parts.get(letter.at) {
            let part = part.clone();
            match self.reading_of(&letter, &part) {
                Reading::Done(parts) => {
                    letter.parts.extend(parts);
                    letter.at += 1;
                }
                Reading::Look(path) => {
                    return self.effect(Purpose::Letter(Box::new(letter)), Effect::Read { path });
                }
                Reading::Nonsense(mistake, words) => {
                    return self.refuse_prompt(&letter.session, letter.prompt.waiting(), mistake, &words);
                }
            }
        }
        match letter.parts.iter().find_map(|part| no_picture(part, self.profile.pictures_at_addresses)) {
            Some((mistake, why)) => match letter.prompt.waiting() {
                Some(ticket) => self.plain_bad_request(ticket),
                None => self.refuse_prompt(&letter.session, None, mistake, why),
            },
            None => self.store_letter(letter),
        }
    }

    /// What stands at the place that the current part names.
    pub(crate) fn letter_looked(&mut self, mut letter: Letter, found: Result<Found, String>) {
        let Some(part) = letter.prompt.parts.get(letter.at).cloned() else { return };
        if part["type"] == NAME {
            letter.prompt.parts[letter.at] = self.meant_by(&letter.session, &part, &found);
            return self.read_letter(letter);
        }
        let Some(path) = part["url"].as_str().and_then(path_of) else { return };
        match self.file_parts(&letter, &part, &path, found) {
            Some(parts) => letter.parts.extend(parts),
            None => {
                let words = format!("PlatformError: NotFound: FileSystem.readFile ({path})");
                return self.refuse_prompt(&letter.session, letter.prompt.waiting(), Mistake::File, &words);
            }
        }
        letter.at += 1;
        self.read_letter(letter);
    }

    /// The names in a text that another agent is given, each once.
    pub(crate) fn names_in(&self, text: &str, directory: &str) -> Vec<Value> {
        let mut names: Vec<Value> = Vec::new();
        for found in template::NAME.captures_iter(text).filter(|found| !found[1].is_empty()) {
            let path = template::place_of(&found[1], directory, &self.config.home);
            let name = json!({"type": NAME, "name": &found[1], "path": path});
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// What a name means: what stands at its place, or else an agent.
    fn meant_by(&self, session: &str, part: &Value, found: &Result<Found, String>) -> Value {
        let name = part["name"].as_str().unwrap_or_default();
        let mime = match found {
            Ok(Found::File(_)) => TEXT,
            Ok(Found::Folder(_) | Found::Tree(_)) => FOLDER,
            _ if self.agent_for(session, name).is_some() => return json!({"type": "agent", "name": name}),
            _ => return json!({"type": NOTHING}),
        };
        let path = part["path"].as_str().unwrap_or_default();
        template::file_part(name, path, mime)
    }

    fn reading_of(&mut self, letter: &Letter, part: &Value) -> Reading {
        match part["type"].as_str() {
            Some("agent") => {
                let name = part["name"].as_str().unwrap_or_default();
                let agent = letter.info["agent"].as_str().unwrap_or_default();
                let is_denied = self.agents_for(&letter.session).says(agent, "task", name) == Action::Deny;
                let hint = if is_denied { " . Invoked by user; guaranteed to exist." } else { "" };
                let wish = format!(
                    " Use the above message and context to generate a prompt and call the task tool with subagent: \
                     {name}{hint}"
                );
                Reading::Done(vec![part.clone(), synthetic(&wish)])
            }
            Some("file") if part["source"]["type"] != "resource" => self.file_reading(letter, part),
            Some(NAME) => Reading::Look(part["path"].as_str().unwrap_or_default().to_owned()),
            Some(NOTHING) => Reading::Done(Vec::new()),
            _ => Reading::Done(vec![part.clone()]),
        }
    }

    fn file_reading(&mut self, letter: &Letter, part: &Value) -> Reading {
        let url = part["url"].as_str().unwrap_or_default();
        let Some((scheme, _)) = url.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
            let words = format!("TypeError: {} cannot be parsed as a URL.", Value::from(url));
            return Reading::Nonsense(Mistake::Address, words);
        };
        match scheme.to_ascii_lowercase().as_str() {
            "data" if part["mime"] == TEXT => {
                let input = json!({"filePath": part["filename"]});
                let input = if part["filename"].is_null() { json!({}) } else { input };
                Reading::Done(vec![called(&input), synthetic(&data_text(url)), part.clone()])
            }
            "data" if is_image(part) && self.profile.names_pictures_first => {
                Reading::Done(vec![self.numbered(part.clone())])
            }
            "session" if self.profile.tools.contains(&RECALL) => {
                Reading::Done(self.chat_parts(&letter.session, part, url))
            }
            "file" => match path_of(url) {
                Some(path) => Reading::Look(path),
                None => Reading::Nonsense(Mistake::Host, OTHER_HOST.to_owned()),
            },
            _ => Reading::Done(vec![part.clone()]),
        }
    }

    /// `None` where the server gives up.
    fn file_parts(
        &mut self,
        letter: &Letter,
        part: &Value,
        path: &str,
        found: Result<Found, String>,
    ) -> Option<Vec<Value>> {
        let session = letter.session.as_str();
        let is_folder = matches!(found, Ok(Found::Folder(_)));
        let mime = if is_folder { FOLDER } else { part["mime"].as_str().unwrap_or_default() };
        let mut kept = part.clone();
        kept["mime"] = json!(mime);
        if mime != TEXT && mime != FOLDER {
            return self.bytes_parts(session, kept, path, found);
        }
        let url = part["url"].as_str().unwrap_or_default();
        let range = if mime == TEXT { Range::of(url) } else { Range::default() };
        let input = range.input(path);
        if let Some(message) = self.refuses_range(range, path) {
            return Some(vec![called(&input), self.reading_failed(session, path, &message)]);
        }
        // A text is read for the model that is to see it.
        let lacks = if mime == TEXT { self.missing_model(session, &letter.info["model"]) } else { None };
        let found = lacks.map_or(found, |(_, message)| Err(message));
        let read = found.and_then(|found| self.read_for_prompt(session, path, range.lines(), found));
        Some(match read {
            Ok(output) => vec![called(&input), synthetic(&output), kept],
            Err(message) => {
                let failure = self.reading_failed(session, path, &message);
                if mime == FOLDER { vec![failure] } else { vec![called(&input), failure] }
            }
        })
    }

    /// A file that is no text is kept with its bytes.
    fn bytes_parts(
        &mut self,
        session: &str,
        mut kept: Value,
        path: &str,
        found: Result<Found, String>,
    ) -> Option<Vec<Value>> {
        let bytes = match found {
            Ok(Found::File(bytes)) => bytes,
            Err(message) => return self.bytes_failed(session, path, &message),
            Ok(_) => {
                let message = format!("ENOENT: no such file or directory, statx '{path}'");
                return self.bytes_failed(session, path, &message);
            }
        };
        kept["url"] = json!(format!(
            "data:{};base64,{}",
            kept["mime"].as_str().unwrap_or_default(),
            STANDARD.encode(bytes)
        ));
        let kept = if self.profile.names_pictures_first { self.numbered(kept) } else { kept };
        Some(vec![called(&json!({"filePath": path})), kept])
    }

    fn bytes_failed(&mut self, session: &str, path: &str, message: &str) -> Option<Vec<Value>> {
        self.profile.names_pictures_first.then(|| vec![self.reading_failed(session, path, message)])
    }

    fn reading_failed(&mut self, session: &str, path: &str, message: &str) -> Value {
        self.tell_error(session, message);
        synthetic(&format!("Read tool failed to read {path} with the following error: {message}"))
    }

    /// The part has its id before the others get theirs, so it stands before them.
    fn numbered(&mut self, mut part: Value) -> Value {
        if part.get("id").is_none() {
            part["id"] = json!(self.ids.ascending("prt", self.now_ms));
        }
        part
    }
}

fn synthetic(text: &str) -> Value {
    json!({"type": "text", "text": text, "synthetic": true})
}

fn called(input: &Value) -> Value {
    synthetic(&format!("Called the Read tool with the following input: {input}"))
}

fn is_image(part: &Value) -> bool {
    part["mime"].as_str().is_some_and(|mime| mime.starts_with("image/"))
}

/// Why a file that is said to be a picture can't be shown.
fn no_picture(part: &Value, elsewhere: bool) -> Option<(Mistake, &'static str)> {
    if part["type"] != "file" || !is_image(part) {
        return None;
    }
    let url = part["url"].as_str().unwrap_or_default();
    if elsewhere && !url.starts_with("data:") {
        return None;
    }
    let Some((_, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        return Some((
            Mistake::PictureAddress,
            "ImageInvalidDataUrlError: Image URL must be a base64 data URL",
        ));
    };
    let bytes = STANDARD.decode(data).unwrap_or_default();
    let is_sound = picture_kind(&bytes).is_some_and(|kind| is_sound(kind, &bytes));
    (!is_sound).then_some((Mistake::Picture, "ImageDecodeError: Image could not be decoded"))
}

fn is_scheme(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && text.bytes().all(is_sign)
}

/// The path of a `file:` address, without its query.
pub(super) fn path_of(url: &str) -> Option<String> {
    let rest = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).map(|_| &url[5..])?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(behind) => behind.strip_prefix("localhost").unwrap_or(behind),
        None => rest,
    };
    let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
    let whole = super::tools::whole_path(&format!("/{path}"));
    // A folder that is named as one stays so.
    let slash = if path.ends_with('/') && whole != "/" { "/" } else { "" };
    Some(format!("{whole}{slash}"))
}

/// The text of a `data:` address.
pub(super) fn data_text(url: &str) -> String {
    let Some((head, data)) = url.split_once(',') else { return String::new() };
    if !head.contains(";base64") {
        return percent_decode_str(data).decode_utf8_lossy().into_owned();
    }
    let bytes = STANDARD.decode(data).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_path() {
        assert_eq!(path_of("file:///w/a%20b.txt?start=1").as_deref(), Some("/w/a b.txt"));
        assert_eq!(path_of("file:///w/../x#y").as_deref(), Some("/x"));
        assert_eq!(path_of("file:///w/src/").as_deref(), Some("/w/src/"));
        assert_eq!(path_of("file://elsewhere/x"), None);
        assert_eq!(path_of("http://x/y"), None);
    }

    #[test]
    fn what_is_no_picture_is_told_apart() {
        let part = |mime: &str, url: &str| json!({"type": "file", "mime": mime, "url": url});
        let why = |part: &Value| no_picture(part, false).and_then(|(_, why)| Some(why.split_once(':')?.0));
        let dot = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
        assert_eq!(why(&part("image/gif", dot)), None);
        assert_eq!(why(&part("image/png", dot)), None);
        assert_eq!(why(&part("image/gif", "data:image/gif;base64,aGVsbG8=")), Some("ImageDecodeError"));
        assert_eq!(why(&part("image/gif", "http://x/y.gif")), Some("ImageInvalidDataUrlError"));
        assert_eq!(no_picture(&part("image/gif", "http://x/y.gif"), true), None);
        assert_eq!(why(&part("application/pdf", "http://x/y.pdf")), None);
    }

    #[test]
    fn texts_of_data_addresses_are_decoded() {
        assert_eq!(data_text("data:text/plain;base64,aGVsbG8="), "hello");
        assert_eq!(data_text("data:text/plain,a%20b"), "a b");
        assert_eq!(data_text("data:nothing"), "");
    }
}
