//! `webfetch`: a page as text, as Markdown or as it is.

use super::{Completed, Plan};
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
/// What is between these tags is no text.
const SILENT: &[&str] = &["script", "style", "noscript", "iframe", "object", "embed"];

impl World {
    pub(super) fn start_webfetch(&mut self, session: &str, call: usize) {
        let Some(url) = self.text_argument(session, call, "url") else { return };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            self.fail_call(session, call, "URL must start with http:// or https://");
            return;
        }
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
        let wish = PageWish { url: plan.url, accept, timeout_ms: plan.timeout_ms };
        self.effect(Purpose::CallFetched(session.to_owned(), call), Effect::Fetch(wish));
    }

    /// The page is there, or it is known why not.
    pub(crate) fn call_fetched(&mut self, session: &str, call: usize, got: Result<Page, String>) {
        let plan =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone());
        let Some(Plan::Fetch(plan)) = plan else { return };
        let shown = got.and_then(|page| shown(&page, &plan.format).map(|text| (page.kind, text)));
        match shown {
            Ok((kind, output)) => {
                if self.tells_output(session) {
                    self.progress(session, call, json!({"output": output}));
                }
                let title = format!("{} ({kind})", plan.url);
                let metadata = json!({"truncated": false});
                self.complete_call(
                    session,
                    call,
                    Completed { output, title, metadata, ..Completed::default() },
                );
            }
            Err(message) => self.fail_call(session, call, &message),
        }
    }
}

fn shown(page: &Page, format: &str) -> Result<String, String> {
    if page.kind.starts_with("image/") {
        return Err("standin shows no images to the agent".to_owned());
    }
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    match format {
        "text" if page.kind.contains("text/html") => Ok(text_of(&text)),
        "markdown" if page.kind.contains("text/html") => {
            Err("standin does not make Markdown of web pages: ask for the format text or html".to_owned())
        }
        _ => Ok(text),
    }
}

/// What stands between the tags.
fn text_of(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        rest = after;
        let name =
            tag.split(|letter: char| letter.is_whitespace() || letter == '/').next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if SILENT.contains(&name.as_str()) {
            let end = format!("</{name}");
            rest = rest.to_ascii_lowercase().find(&end).map_or("", |at| &rest[at..]);
        }
    }
    text.push_str(rest);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_as_the_servers_show_it() {
        let html = "<html><head><title>T</title><style>x{}</style></head><body><h1>Hello</h1><p>one <b>two</b></p>\
                    <script>1</script><a href=\"/x\">link</a></body></html>";
        let page = Page { kind: "text/html".into(), bytes: html.into() };
        // The text was seen on the real servers.
        assert_eq!(shown(&page, "text").unwrap(), "THelloone twolink");
        assert_eq!(shown(&page, "html").unwrap(), html);
        assert!(shown(&page, "markdown").is_err());
        let plain = Page { kind: "application/json".into(), bytes: b"{\"a\":1}".to_vec() };
        assert_eq!(shown(&plain, "markdown").unwrap(), "{\"a\":1}");
    }
}
