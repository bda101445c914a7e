//! `webfetch`: a page as text, as Markdown or as it is.

mod markdown;
mod page;
mod space;
mod text;

use super::{Completed, Plan};
use crate::javascript::is_space;
use crate::world::permission::Wish;
use crate::world::{Effect, Page, PageWish, Purpose, World};
use serde_json::json;

/// A page that may be got.
#[derive(Debug, Clone)]
pub(crate) struct FetchPlan {
    url: String,
    format: String,
    timeout_ms: u64,
}

const PATIENCE_S: f64 = 30.0;
const LONGEST_S: f64 = 120.0;
/// Drawings that are no pictures to a model.
const TEXT_IMAGES: &[&str] = &["image/svg+xml", "image/vnd.fastbidsheet"];

impl World {
    pub(super) fn start_webfetch(&mut self, session: &str, call: usize) {
        let Some(url) = self.text_argument(session, call, "url") else { return };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            self.fail_call(session, call, "URL must start with http:// or https://");
            return;
        }
        let url = if self.profile.spells_hosts { spelled(&url) } else { url };
        let format = self.text_argument(session, call, "format").unwrap_or_else(|| "markdown".to_owned());
        let timeout = self.argument(session, call, "timeout").cloned();
        let mut metadata = json!({"url": url, "format": format});
        if let Some(timeout) = &timeout {
            metadata["timeout"] = timeout.clone();
        }
        let seconds =
            timeout.and_then(|timeout| timeout.as_f64()).unwrap_or(PATIENCE_S).clamp(0.0, LONGEST_S);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "two minutes at most")]
        let timeout_ms = (seconds * 1000.0) as u64;
        let patterns = vec![url.clone()];
        self.set_plan(session, call, Plan::Fetch(FetchPlan { url, format, timeout_ms }));
        let wish = Wish { permission: "webfetch", patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    pub(super) fn fetch(&mut self, session: &str, call: usize, plan: FetchPlan) {
        let accept = match plan.format.as_str() {
            "markdown" => {
                "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
            }
            "text" => "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
            _ => {
                "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1"
            }
        };
        let wish = PageWish {
            url: plan.url,
            accept,
            timeout_ms: plan.timeout_ms,
            bearer: None,
            bytes_max: crate::fetch::BYTES_MAX,
        };
        self.effect(Purpose::CallFetched(session.to_owned(), call), Effect::Fetch(wish));
    }

    /// The page is there, or it is known why not.
    pub(crate) fn call_fetched(&mut self, session: &str, call: usize, got: Result<Page, String>) {
        let plan =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone());
        let Some(Plan::Fetch(plan)) = plan else { return };
        let refused = self.profile.refused_images;
        match got.and_then(|page| shown(&page, &plan, refused)) {
            Ok(shown) => self.complete_told_call(session, call, shown),
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

/// An address whose host is spelled as it is looked for: in small letters, signs of other alphabets as such.
fn spelled(url: &str) -> String {
    let address = url.split(is_space).next().unwrap_or_default();
    let address = address.trim_end_matches(['.', ',', '!', '?', ';', ':', ')', '"', '\'', ']', '>']);
    let host = address.split_once("//").map_or("", |(_, host)| host);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    match reqwest::Url::parse(address).ok().as_ref().and_then(reqwest::Url::host_str) {
        Some(known) if !host.is_empty() && known != host => url.replacen(host, known, 1),
        _ => url.to_owned(),
    }
}

/// What the agent gets of a page.
fn shown(page: &Page, plan: &FetchPlan, refused: &[&str]) -> Result<Completed, String> {
    let kind = page.kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    let title = format!("{} ({})", plan.url, page.kind);
    if refused.contains(&kind.as_str()) {
        return Err(format!("Unsupported image format: {kind}"));
    }
    let metadata = json!({"truncated": false});
    if kind.starts_with("image/") && !TEXT_IMAGES.contains(&kind.as_str()) {
        let image = Completed { title, metadata, ..Completed::default() };
        return Ok(image.showing("Image fetched successfully", kind.into(), &page.bytes));
    }
    let text = String::from_utf8_lossy(&page.bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_web_page = page.kind.contains("text/html");
    let output = match plan.format.as_str() {
        "markdown" if is_web_page => markdown::markdown_of(text),
        "text" if is_web_page => text::text_of(text),
        _ => text.to_owned(),
    };
    Ok(Completed { output, title, metadata, ..Completed::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(page: &Page, format: &str) -> String {
        let plan =
            FetchPlan { url: "http://127.0.0.1/".to_owned(), format: format.to_owned(), timeout_ms: 1 };
        shown(page, &plan, &["image/x-icon"])
            .unwrap_or_else(|message| Completed { output: message, ..Completed::default() })
            .output
    }

    #[test]
    fn a_page_is_shown_as_the_servers_show_it() {
        let html = "<html><head><title>T</title><style>x{}</style></head><body><h1>Hello</h1><p>one <b>two</b></p>\
                    <script>1</script><a href=\"/x\">link</a></body></html>";
        let page = Page { kind: "text/html".into(), bytes: html.into() };
        // Text and Markdown were seen on the real servers.
        assert_eq!(seen(&page, "text"), "THelloone twolink");
        assert_eq!(seen(&page, "markdown"), "T\n\n# Hello\n\none **two**\n\n[link](/x)");
        assert_eq!(seen(&page, "html"), html);
        let plain = Page { kind: "application/json".into(), bytes: b"{\"a\":1}".to_vec() };
        assert_eq!(seen(&plain, "markdown"), "{\"a\":1}");
        assert_eq!(spelled("https://EXAMPLE.invalid/A?EXAMPLE"), "https://example.invalid/A?EXAMPLE");
        let icon = Page { kind: "image/x-icon; a=b".into(), bytes: Vec::new() };
        assert_eq!(seen(&icon, "markdown"), "Unsupported image format: image/x-icon");
    }
}
