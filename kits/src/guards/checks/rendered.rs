//! What a page makes of the model's words: they are read, and none of them is done.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use html5ever::tendril::TendrilSink as _;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

pub(super) const CHECK: Check = Check {
    name: "rendered",
    about: "No word of the model is a script, a frame or an address that does something; its signs are shown as they are.",
    examine,
};

/// What does something by being there, or sends the page elsewhere.
const ACTING: [&str; 8] = ["script", "iframe", "frame", "object", "embed", "applet", "base", "meta"];
/// Attributes whose value is an address.
const ADDRESSES: [&str; 8] =
    ["href", "src", "action", "formaction", "data", "poster", "background", "xlink:href"];
/// Addresses that do something when they are followed.
const DOING: [&str; 3] = ["javascript", "vbscript", "command"];
/// A page that is deeper is told as one.
const DEEPEST: usize = 400;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "view/render") {
        let about = text(&wanted["about"]);
        let html = call.result().and_then(|result| result["html"].as_str());
        examined.fact(html.is_some(), || format!("{about:?}: there is no page"));
        let Some(html) = html else { continue };
        let page = Page::of(html);
        examined.fact(page.acts.is_empty(), || format!("{about:?} becomes {}", page.acts.join(", ")));
        let read = spaced(&page.text);
        let shows = wanted["shows"].as_array().into_iter().flatten();
        for words in shows.map(text) {
            let is_read = read.contains(&spaced(words));
            examined.fact(is_read, || format!("{about:?}: {words:?} can't be read in {read:?}"));
        }
    }
    examined
}

/// How spaces and lines are set is the page's.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page as a browser reads it.
#[derive(Default)]
struct Page {
    text: String,
    /// What it would do.
    acts: Vec<String>,
}

impl Page {
    fn of(html: &str) -> Self {
        let options = ParseOpts::default();
        let document = parse_document(RcDom::default(), options).one(format!("<!doctype html><body>{html}"));
        let mut page = Self::default();
        page.take(&document.document, 0);
        page
    }

    fn take(&mut self, node: &Handle, depth: usize) {
        if depth > DEEPEST {
            return self.acts.push("a page without a bottom".to_owned());
        }
        match &node.data {
            NodeData::Text { contents } => self.text.push_str(&contents.borrow()),
            NodeData::Element { name, attrs, .. } => {
                let element = name.local.to_lowercase();
                if ACTING.contains(&element.as_str()) {
                    self.acts.push(format!("<{element}>"));
                }
                for attribute in attrs.borrow().iter() {
                    let (name, value) = (attribute.name.local.to_lowercase(), &attribute.value);
                    let does = name.starts_with("on")
                        || name == "srcdoc"
                        || ADDRESSES.contains(&name.as_str()) && is_doing(value);
                    if does {
                        self.acts.push(format!("<{element} {name}={:?}>", &**value));
                    }
                }
            }
            _ => {}
        }
        for child in node.children.borrow().iter() {
            self.take(child, depth + 1);
        }
    }
}

/// Does something happen when this address is followed? As browsers read it: without lines and tabs in it, and without what is
/// no letter in front.
fn is_doing(address: &str) -> bool {
    let bare: String = address.chars().filter(|it| !matches!(it, '\t' | '\n' | '\r')).collect();
    let bare = bare.trim_start_matches(|it: char| it <= ' ').to_ascii_lowercase();
    let scheme = bare.split(':').next().filter(|scheme| scheme.len() < bare.len()).unwrap_or_default();
    DOING.contains(&scheme)
        || ["data:text/html", "data:image/svg"].iter().any(|begin| bare.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_seen_however_it_is_written() {
        for acts in [
            "<script>1</script>",
            "<ScRiPt/x>1",
            "<img src=x onerror=1>",
            "<svg/onload=1>",
            "<a href='java\tscript:1'>a</a>",
            "<a href=' &#1;JaVaScRiPt&colon;1'>a</a>",
            "<a href='data:text/html;base64,PHNjcmlwdD4='>a</a>",
            "<svg><a xlink:href='javascript:1'>a</a></svg>",
            "<noscript><p title=\"</noscript><img src=x onerror=1>\">",
            "<math><mtext></table><img src=x onerror=1>",
            "<iframe srcdoc='x'></iframe>",
            "<base href='https://example.com/'>",
        ] {
            assert!(!Page::of(acts).acts.is_empty(), "{acts}");
        }
    }

    #[test]
    fn what_is_escaped_and_what_is_harmless_does_nothing() {
        for still in [
            "&lt;script&gt;1&lt;/script&gt;",
            "<p>on<b>load</b>=1</p>",
            "<a href='https://example.com/javascript:1' title='onload=1'>a</a>",
            "<img src='data:image/png;base64,aaaa' alt='x'>",
            "<pre><code class='language-html'>&lt;img onerror=1&gt;</code></pre>",
            "<input type=checkbox disabled><details open><summary>a</summary></details>",
        ] {
            assert!(Page::of(still).acts.is_empty(), "{still}: {:?}", Page::of(still).acts);
        }
        assert_eq!(spaced(&Page::of("<p>a &lt; b\n &amp;&amp; <b>c</b></p>").text), "a < b && c");
    }
}
