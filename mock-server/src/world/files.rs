//! Files and folders over REST: lists, contents, names. By its spelling a path stays in the folder that the request is
//! about, and by its links too.

use super::surroundings::{Browsed, PlaceAsk, PlaceWish};
use super::tools::place::{inside, resolved};
use super::{ApiReply, ApiRequest, ReplyBody, World, fuzzy};
use crate::ignored::{Cases, Ignored};
use crate::javascript::{in_dictionary, trimmed};
use crate::target;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How many names are found when nobody says.
const FOUND: usize = 10;
/// The same for the next generation's route.
const FOUND_NEXT: usize = 50;

/// Somebody looks at a file or a folder.
#[derive(Debug)]
pub(super) struct Look {
    ticket: u64,
    directory: String,
    /// Absolute, without detours.
    path: String,
    project: String,
    answer: Answer,
}

/// How what is found is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    List,
    Content,
    /// The next generation's list.
    ListNext,
    /// The next generation's bytes.
    BytesNext,
}

/// Somebody looks for a name.
#[derive(Debug)]
pub(super) struct Find {
    ticket: u64,
    directory: String,
    query: String,
    limit: usize,
    kind: Option<String>,
    is_next: bool,
}

impl World {
    /// `GET /file`.
    pub(super) fn list_files(&mut self, request: &ApiRequest) {
        self.look(request, query(request, "path").unwrap_or_default(), Answer::List);
    }

    /// `GET /file/content`.
    pub(super) fn file_content(&mut self, request: &ApiRequest) {
        self.look(request, query(request, "path").unwrap_or_default(), Answer::Content);
    }

    /// `GET /api/fs/list`.
    pub(super) fn list_files_next(&mut self, request: &ApiRequest) {
        self.look(request, query(request, "path").unwrap_or("."), Answer::ListNext);
    }

    /// `GET /api/fs/read/…`.
    pub(super) fn file_bytes_next(&mut self, request: &ApiRequest) {
        let segments = target::segments(&request.path);
        let path = segments.get(3..).unwrap_or_default().join("/");
        let in_query = query(request, "path").filter(|_| self.profile.reads_path_of_query);
        let path = in_query.unwrap_or(&path).replace('\\', "/");
        self.look(request, &path, Answer::BytesNext);
    }

    fn look(&mut self, request: &ApiRequest, path: &str, answer: Answer) {
        let directory = self.directory_of(request);
        if inside(&directory, path).is_none() {
            return self.unknown_error(request.ticket);
        }
        let path = resolved(&directory, path);
        let project = self.worktree_of(&directory);
        let wish =
            PlaceWish::Browse { folder: directory.clone(), path: path.clone(), project: project.clone() };
        let look = Look { ticket: request.ticket, directory, path, project, answer };
        self.ask_place(PlaceAsk::Look(look), wish);
    }

    pub(super) fn looked(&mut self, look: Look, browsed: Browsed) {
        let ticket = look.ticket;
        // What is not there is answered without the instance.
        if look.answer == Answer::Content && !matches!(browsed, Browsed::Nothing) {
            self.need_instance(&look.directory);
        }
        match (look.answer, browsed) {
            (Answer::List, Browsed::Folder { entries, patterns }) => {
                let list = look.list(entries, &patterns);
                self.reply_json(ticket, list);
            }
            (Answer::ListNext, Browsed::Folder { entries, .. }) => {
                let data = sorted(&look.relative(), entries)
                    .into_iter()
                    .map(|(path, is_folder)| json!({"path": path, "type": kind_of(is_folder)}));
                let body =
                    json!({"location": self.location(&look.directory), "data": data.collect::<Value>()});
                self.reply_json(ticket, body);
            }
            (Answer::Content, Browsed::Nothing) => {
                self.reply_json(ticket, json!({"type": "text", "content": ""}));
            }
            (Answer::Content, Browsed::File(bytes)) => match content(&look.path, &bytes) {
                Some(content) => self.reply_json(ticket, content),
                None => self.unknown_error(ticket),
            },
            (Answer::BytesNext, Browsed::File(bytes)) => {
                let body = ReplyBody::Bytes(mime_of(&look.path).to_owned(), bytes);
                self.reply_with(ticket, ApiReply { status: 200, headers: Vec::new(), body });
            }
            _ => self.unknown_error(ticket),
        }
    }

    /// `GET /find/file`.
    pub(super) fn find_files(&mut self, request: &ApiRequest) {
        let limit = query(request, "limit").and_then(|limit| limit.trim().parse().ok());
        let no_folders = query(request, "dirs") == Some("false");
        let kind = query(request, "type").or(no_folders.then_some("file")).map(str::to_owned);
        self.find(request, limit.unwrap_or(FOUND), kind, false);
    }

    /// `GET /api/fs/find`.
    pub(super) fn find_files_next(&mut self, request: &ApiRequest) {
        let limit = query(request, "limit").and_then(|limit| limit.trim().parse().ok());
        let kind = query(request, "type").map(str::to_owned);
        self.find(request, limit.unwrap_or(FOUND_NEXT), kind, true);
    }

    fn find(&mut self, request: &ApiRequest, limit: usize, kind: Option<String>, is_next: bool) {
        let directory = self.directory_of(request);
        let query = query(request, "query").unwrap_or_default().trim();
        // What searches there reads the words of a query as C does.
        let query = query.split('\0').next().unwrap_or_default().to_owned();
        let project = self.worktree_of(&directory);
        let wish = PlaceWish::Names { folder: directory.clone(), project };
        let find = Find { ticket: request.ticket, directory, query, limit, kind, is_next };
        self.ask_place(PlaceAsk::Find(find), wish);
    }

    /// What was found in a folder; `None` where there is none.
    pub(super) fn found(&mut self, find: &Find, names: Option<Vec<String>>) {
        let Some(names) = names else { return self.unknown_error(find.ticket) };
        let fits = |name: &String| match find.kind.as_deref() {
            Some("file") => !name.ends_with('/'),
            Some("directory") => name.ends_with('/'),
            _ => true,
        };
        let names = names.into_iter().filter(fits).collect();
        let best = fuzzy::best(&find.query, names, find.limit);
        if !find.is_next {
            return self.reply_json(find.ticket, json!(best));
        }
        let data: Vec<Value> =
            best.iter().map(|path| json!({"path": path, "type": kind_of(path.ends_with('/'))})).collect();
        let body = json!({"location": self.location(&find.directory), "data": data});
        self.reply_json(find.ticket, body);
    }

    /// Where an answer of the next generation's routes is about.
    pub(super) fn location(&self, directory: &str) -> Value {
        let project = json!({"id": self.project_of(directory), "directory": self.worktree_of(directory)});
        json!({"directory": directory, "project": project})
    }
}

impl Look {
    /// The folder's path, relative to that of the request; with a slash if there is one.
    fn relative(&self) -> String {
        match inside(&self.directory, &self.path) {
            Some(path) if !path.is_empty() => format!("{path}/"),
            _ => String::new(),
        }
    }

    fn list(&self, entries: Vec<(String, bool)>, patterns: &str) -> Value {
        let ignored = Ignored::read(patterns, Cases::Same);
        let describe = |(path, is_folder): (String, bool)| {
            let plain = path.trim_end_matches('/');
            let absolute = resolved(&self.directory, plain);
            let in_project = inside(&self.project, &absolute).unwrap_or_default();
            let slash = if is_folder { "/" } else { "" };
            json!({
                "name": plain.rsplit('/').next(), "path": path, "absolute": absolute, "type": kind_of(is_folder),
                "ignored": ignored.holds(&format!("{in_project}{slash}")),
            })
        };
        sorted(&self.relative(), entries).into_iter().map(describe).collect()
    }
}

/// Folders first, each kind in the order of a dictionary.
fn sorted(prefix: &str, entries: Vec<(String, bool)>) -> Vec<(String, bool)> {
    let mut entries: Vec<(String, bool)> = entries
        .into_iter()
        .map(|(name, is_folder)| (format!("{prefix}{name}{}", if is_folder { "/" } else { "" }), is_folder))
        .collect();
    entries.sort_by(|(a, a_folder), (b, b_folder)| b_folder.cmp(a_folder).then_with(|| in_dictionary(a, b)));
    entries
}

fn kind_of(is_folder: bool) -> &'static str {
    if is_folder { "directory" } else { "file" }
}

/// What holds a zero is no text; the real servers fail at all else that is none.
fn content(path: &str, bytes: &[u8]) -> Option<Value> {
    if bytes.contains(&0) {
        let content = STANDARD.encode(bytes);
        let kind = mime_of(path);
        return Some(json!({"type": "binary", "content": content, "encoding": "base64", "mimeType": kind}));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    Some(json!({"type": "text", "content": trimmed(text)}))
}

/// What the ending of a name says about a file, in the next generation.
pub(super) fn mime_of_name(path: &str) -> &'static str {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("txt" | "text" | "log") => "text/plain",
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("csv") => "text/csv",
        Some("js" | "mjs") => "text/javascript",
        Some("json") => "application/json",
        _ => mime_of(path),
    }
}

/// What the ending of a name says about a file.
fn mime_of(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let known =
        ending.and_then(|ending| KINDS.iter().find(|(_, endings)| endings.contains(&ending.as_str())));
    known.map_or("application/octet-stream", |(kind, _)| kind)
}

const KINDS: &[(&str, &[&str])] = &[
    ("image/png", &["png"]),
    ("image/jpeg", &["jpg", "jpeg", "jpe"]),
    ("image/gif", &["gif"]),
    ("image/webp", &["webp"]),
    ("image/bmp", &["bmp"]),
    ("image/avif", &["avif"]),
    ("image/tiff", &["tif", "tiff"]),
    ("image/svg+xml", &["svg", "svgz"]),
    ("image/vnd.microsoft.icon", &["ico"]),
    ("application/pdf", &["pdf"]),
    ("application/zip", &["zip"]),
    ("application/gzip", &["gz"]),
    ("application/x-tar", &["tar"]),
    ("application/java-archive", &["jar", "war", "ear"]),
    ("application/wasm", &["wasm"]),
    ("application/json", &["json", "map"]),
    ("application/xml", &["xml", "xsl", "xsd", "rng"]),
    ("application/toml", &["toml"]),
    ("application/rls-services+xml", &["rs"]),
    ("application/x-sh", &["sh"]),
    ("application/x-sql", &["sql"]),
    ("audio/mpeg", &["mp3", "mpga", "mp2", "mp2a", "m2a", "m3a"]),
    ("audio/wav", &["wav"]),
    ("audio/ogg", &["ogg", "oga", "spx", "opus"]),
    ("video/mp4", &["mp4", "mp4v", "mpg4"]),
    ("video/webm", &["webm"]),
    ("video/mp2t", &["ts", "m2t", "m2ts", "mts"]),
    ("font/ttf", &["ttf"]),
    ("font/otf", &["otf"]),
    ("font/woff", &["woff"]),
    ("font/woff2", &["woff2"]),
    ("text/plain", &["txt", "text", "conf", "def", "list", "log", "in", "ini"]),
    ("text/markdown", &["md", "markdown"]),
    ("text/html", &["html", "htm", "shtml"]),
    ("text/css", &["css"]),
    ("text/csv", &["csv"]),
    ("text/javascript", &["js", "mjs"]),
    ("text/jsx", &["jsx"]),
    ("text/yaml", &["yaml", "yml"]),
    ("text/x-c", &["c", "cc", "cxx", "cpp", "h", "hh", "dic"]),
    ("text/x-java-source", &["java"]),
];

fn query<'a>(request: &'a ApiRequest, name: &str) -> Option<&'a str> {
    request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_and_all_else_is_told_in_letters() {
        assert_eq!(content("a.ts", b"\n x \n\n"), Some(json!({"type": "text", "content": "x"})));
        let told =
            json!({"type": "binary", "content": "/wA=", "encoding": "base64", "mimeType": "image/png"});
        assert_eq!(content("dir.d/a.PNG", b"\xff\0"), Some(told));
        assert_eq!(content("a.dat", b"a\0").unwrap()["mimeType"], "application/octet-stream");
        assert_eq!(content("a.txt", b"a\xff"), None);
    }

    #[test]
    fn folders_come_first_then_the_dictionary() {
        let entries = [("b.txt", false), ("Z", true), ("A.txt", false), ("a b.txt", false), (".x", true)];
        let entries = entries.map(|(name, is_folder)| (name.to_owned(), is_folder)).to_vec();
        let paths: Vec<String> = sorted("d/", entries).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["d/.x/", "d/Z/", "d/a b.txt", "d/A.txt", "d/b.txt"]);
    }
}
