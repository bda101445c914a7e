//! Files that a model sees or hears: which kinds it takes, by the settings, and how one is told to it.

use super::World;
use super::session::Session;
use fixtures::ServerKind;
use reqwest::Url;
use serde_json::{Value, json};

/// The kinds of files that a model takes beside text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Senses {
    kinds: Vec<String>,
    /// What has an address of the web is fetched first.
    fetches: bool,
}

impl World {
    /// Those of the model of a session's current step.
    pub(super) fn senses(&self, owner: &Session) -> Senses {
        let now = owner.run.as_ref().and_then(|run| owner.message(&run.message));
        let word = |key: &str| now.and_then(|now| now.info[key].as_str()).unwrap_or_default();
        self.senses_of(&owner.directory, word("providerID"), word("modelID"))
    }

    /// Those of the model that writes titles.
    pub(super) fn title_senses(&self, directory: &str) -> Senses {
        let (provider, model) = self.title_model(directory);
        self.senses_of(directory, &provider, &model)
    }

    /// A model of which the settings say nothing takes text alone.
    fn senses_of(&self, directory: &str, provider: &str, model: &str) -> Senses {
        let settings = self.settings_in(directory);
        let models = settings.get("provider").and_then(|all| all.get(provider)?.get("models"));
        let input = models.and_then(|models| models.get(model)?.pointer("/modalities/input")?.as_array());
        let kinds = input.into_iter().flatten().filter_map(Value::as_str);
        Senses { kinds: kinds.map(str::to_owned).collect(), fetches: self.profile.server == ServerKind::Kilo }
    }
}

/// Of these the prompt's own words say what stands in them.
const TOLD_BESIDE: [&str; 2] = ["text/plain", "application/x-directory"];
/// Of a file of no kind: why nobody can put it into words for a model. Who finds it in a request can't ask.
const UNTELLABLE: &str = "untellable";
/// Why nobody may fetch a file, which is found out before that.
const UNFETCHABLE: &str = "unfetchable";

/// Why these messages can't be told to a model.
pub(super) fn why_untellable(messages: &[Value]) -> Option<String> {
    let pieces = || messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let first = |key: &str| pieces().find_map(|piece| piece[key].as_str()).map(str::to_owned);
    first(UNFETCHABLE).or_else(|| first(UNTELLABLE))
}

/// Why what stands at an address is not fetched: it is this machine's, or its neighbours'.
fn why_unfetchable(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?;
    let numbers: Option<Vec<u8>> = host.split('.').map(|number| number.parse().ok()).collect();
    let (kind, is_near) = match numbers.as_deref() {
        Some([0 | 10 | 127, ..] | [169, 254, ..] | [172, 16..=31, ..] | [192, 168, ..]) => {
            ("IP address", true)
        }
        Some(_) => ("IP address", false),
        None => {
            let is_near = host == "localhost" || host.ends_with(".local") || host.ends_with(".localhost");
            ("hostname", is_near)
        }
    };
    is_near.then(|| format!("URL with {kind} {host} is not allowed"))
}

/// Why a file of no kind can't be put into words: it is taken apart first.
fn why(file: &Value, mime: &str) -> String {
    if mime.starts_with("text/") && is_garbled(file) {
        return "The string contains invalid characters.".to_owned();
    }
    format!("'file part media type {mime}' functionality not supported.")
}

/// What comes with its bytes has to come in base64.
pub(super) fn is_garbled(file: &Value) -> bool {
    let url = file["url"].as_str().unwrap_or_default();
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    data.is_some_and(|(_, data)| !is_base64(data))
}

/// As JavaScript takes it.
fn is_base64(data: &str) -> bool {
    let data: String = data.split_ascii_whitespace().collect();
    let whole = data.len().is_multiple_of(4);
    let bare = if whole { data.trim_end_matches('=') } else { &data };
    data.len() - bare.len() <= 2
        && bare.len() % 4 != 1
        && bare.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"+/".contains(&letter))
}

impl Senses {
    /// A file as the model is told it, if it is not in other words already; of one of a kind that it does not take, that
    /// it can't be read.
    pub(super) fn told(&self, file: &Value) -> Option<Value> {
        let mime = file["mime"].as_str()?;
        if TOLD_BESIDE.contains(&mime) {
            return None;
        }
        let url = file["url"].as_str().filter(|_| self.fetches);
        if let Some(why) = url.and_then(why_unfetchable) {
            return Some(json!({UNFETCHABLE: why}));
        }
        let Some(kind) = kind_of(mime) else { return Some(json!({UNTELLABLE: why(file, mime)})) };
        let taken = if self.kinds.iter().any(|own| own == kind) { taken(file, mime, kind) } else { None };
        taken.or_else(|| Some(untold(file, kind)))
    }
}

fn kind_of(mime: &str) -> Option<&'static str> {
    match mime {
        "application/pdf" => Some("pdf"),
        _ => ["image", "audio", "video"].into_iter().find(|kind| mime.split('/').next() == Some(kind)),
    }
}

/// In the words of an OpenAI-compatible model.
fn taken(file: &Value, mime: &str, kind: &str) -> Option<Value> {
    let url = file["url"].as_str()?;
    match kind {
        "image" => Some(json!({"type": "image_url", "image_url": {"url": url}})),
        "pdf" => {
            let name = file["filename"].as_str().unwrap_or("document.pdf");
            Some(json!({"type": "file", "file": {"filename": name, "file_data": url}}))
        }
        _ => {
            let format = match mime {
                "audio/wav" => "wav",
                "audio/mp3" | "audio/mpeg" => "mp3",
                _ => return None,
            };
            let (_, data) = url.split_once(',')?;
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
    }
}

fn untold(file: &Value, kind: &str) -> Value {
    let name = file["filename"].as_str().filter(|name| !name.is_empty());
    let named = name.map_or_else(|| kind.to_owned(), |name| format!("\"{name}\""));
    let text =
        format!("ERROR: Cannot read {named} (this model does not support {kind} input). Inform the user.");
    json!({"type": "text", "text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn senses(kinds: &[&str]) -> Senses {
        Senses { kinds: kinds.iter().map(|&kind| kind.to_owned()).collect(), fetches: true }
    }

    #[test]
    fn a_model_is_told_what_it_takes_and_of_all_else_that_it_cannot_be_read() {
        let picture = json!({"mime": "image/png", "url": "data:image/png;base64,AA==", "filename": "p.png"});
        let seen = senses(&["text", "image"]);
        let told = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
        assert_eq!(seen.told(&picture), Some(told));
        let unseen = Senses::default().told(&picture).unwrap();
        let words =
            "ERROR: Cannot read \"p.png\" (this model does not support image input). Inform the user.";
        assert_eq!(unseen["text"], words);
        let page = json!({"mime": "application/pdf", "url": "data:application/pdf;base64,AA=="});
        assert_eq!(senses(&["pdf"]).told(&page).unwrap()["file"]["filename"], "document.pdf");
        assert_eq!(seen.told(&page).unwrap()["text"].as_str().unwrap().find("Cannot read pdf"), Some(7));
        let sound = json!({"mime": "audio/mpeg", "url": "data:audio/mpeg;base64,AA=="});
        let told = json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}});
        assert_eq!(senses(&["audio"]).told(&sound), Some(told));
        assert_eq!(seen.told(&json!({"mime": "application/x-directory", "url": "file:///work"})), None);
        let odd = json!({"mime": "application/zip", "url": "data:,"});
        let messages = [json!({"role": "user", "content": [seen.told(&picture), seen.told(&odd)]})];
        let why = "'file part media type application/zip' functionality not supported.";
        assert_eq!(why_untellable(&messages).as_deref(), Some(why));
        let near = json!({"mime": "image/png", "url": "http://127.0.0.1:9/p.png"});
        let messages = [json!({"role": "user", "content": [seen.told(&odd), seen.told(&near)]})];
        let why = "URL with IP address 127.0.0.1 is not allowed";
        assert_eq!(why_untellable(&messages).as_deref(), Some(why));
        for (url, is_near) in [
            ("http://localhost/p", true),
            ("https://a.local/p", true),
            ("http://10.1.2.3/p", true),
            ("http://172.16.0.1/p", true),
            ("http://172.32.0.1/p", false),
            ("https://example.org/p", false),
            ("ftp://localhost/p", false),
            ("data:image/png;base64,AA==", false),
        ] {
            assert_eq!(why_unfetchable(url).is_some(), is_near, "{url}");
        }
        assert_eq!(why_untellable(&[json!({"role": "user", "content": "data:,"})]), None);
        for (url, garbled) in
            [("a,YSxi", false), ("a;base64,YSxiCg==", false), ("a,plain%20x", true), ("a,abcde", true)]
        {
            assert_eq!(is_garbled(&json!({"url": format!("data:{url}")})), garbled, "{url}");
        }
    }
}
