//! A web page as text: what stands between its tags.

use crate::javascript::trimmed;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use std::cell::RefCell;

/// What is between these tags is no text.
const SILENT: &[&str] = &["script", "style", "noscript", "iframe", "object", "embed"];
/// These have nothing in them.
const EMPTY: &[&str] = &[
    "area", "base", "basefont", "br", "col", "command", "embed", "frame", "hr", "img", "input", "isindex",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
];

/// What stands between the tags.
pub(super) fn text_of(page: &str) -> String {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page));
    let tokenizer = Tokenizer::new(Reader::default(), Default::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    trimmed(&tokenizer.sink.0.borrow().text).to_owned()
}

#[derive(Default)]
struct Reader(RefCell<Read>);

#[derive(Default)]
struct Read {
    text: String,
    /// The elements that are open.
    open: Vec<String>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut read = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) if !read.is_silent() => read.text.push_str(&text),
            Token::NullCharacterToken if !read.is_silent() => read.text.push('\0'),
            Token::TagToken(tag) => return read.tag(&tag),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Read {
    fn is_silent(&self) -> bool {
        self.open.iter().any(|name| SILENT.contains(&name.as_str()))
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        if tag.kind == TagKind::EndTag {
            if let Some(at) = self.open.iter().rposition(|open| open == name) {
                self.open.truncate(at);
            }
            return TokenSinkResult::Continue;
        }
        if !EMPTY.contains(&name) {
            self.open.push(name.to_owned());
        }
        match name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}
