//! A web page as Markdown, as the servers write it: headings with `#`, lists with `-`, code between fences.

use super::page::{Kind, ROOT, Tree};
use super::space::{Edges, collapse};
use crate::javascript::{is_space, trimmed};
use regex::Regex;
use std::sync::LazyLock;

/// What begins a line of its own.
pub(super) const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "audio",
    "blockquote",
    "body",
    "canvas",
    "center",
    "dd",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "isindex",
    "li",
    "main",
    "menu",
    "nav",
    "noframes",
    "noscript",
    "ol",
    "output",
    "p",
    "pre",
    "section",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
];
/// What has nothing in it.
pub(super) const EMPTY: &[&str] = &[
    "area", "base", "br", "col", "command", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr",
];
/// What says something even when it says nothing.
const TELLING: &[&str] =
    &["a", "table", "thead", "tbody", "tfoot", "th", "td", "iframe", "script", "audio", "video"];
/// What is not for readers.
const REMOVED: &[&str] = &["script", "style", "meta", "link"];

/// The page in Markdown.
pub(super) fn markdown_of(page: &str) -> String {
    let mut tree = Tree::of(page);
    collapse(&mut tree);
    let written = Writer { tree: &tree }.children(ROOT, false);
    let written = written.trim_start_matches(['\t', '\r', '\n']);
    written.trim_end_matches(is_space).to_owned()
}

struct Writer<'a> {
    tree: &'a Tree,
}

impl Writer<'_> {
    fn children(&self, node: usize, in_code: bool) -> String {
        let mut written = String::new();
        for child in &self.tree.nodes[node].children {
            let next = match &self.tree.nodes[*child].kind {
                Kind::Text(text) if in_code => text.clone(),
                Kind::Text(text) => escaped(text),
                Kind::Element { .. } => self.element(*child, in_code),
            };
            join(&mut written, &next);
        }
        written
    }

    fn element(&self, node: usize, in_code: bool) -> String {
        let content = self.children(node, in_code || self.tree.name(node) == "code");
        let edges = Edges::of(self.tree, node);
        let content = if edges.are_bare() { content.as_str() } else { trimmed(&content) };
        format!("{}{}{}", edges.leading, self.replacement(node, content), edges.trailing)
    }

    fn is_blank(&self, node: usize) -> bool {
        let name = self.tree.name(node);
        !EMPTY.contains(&name)
            && !TELLING.contains(&name)
            && trimmed(&self.tree.text(node)).is_empty()
            && !self.tree.holds(node, EMPTY)
            && !self.tree.holds(node, TELLING)
    }

    fn replacement(&self, node: usize, content: &str) -> String {
        let name = self.tree.name(node);
        let is_block = BLOCKS.contains(&name);
        if self.is_blank(node) {
            return if is_block { "\n\n".to_owned() } else { String::new() };
        }
        match name {
            "br" => "  \n".to_owned(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name[1..].parse().unwrap_or(1);
                format!("\n\n{} {content}\n\n", "#".repeat(level))
            }
            "blockquote" => format!("\n\n> {}\n\n", content.trim_matches('\n').replace('\n', "\n> ")),
            "ul" | "ol" => self.list(node, content),
            "li" => self.item(node, content),
            "pre" if self.code_of(node).is_some() => self.fenced(self.code_of(node).unwrap_or(node)),
            "hr" => "\n\n---\n\n".to_owned(),
            "a" if self.tree.attribute(node, "href").is_some() => self.link(node, content),
            "em" | "i" => around(content, "*"),
            "strong" | "b" => around(content, "**"),
            "code" if !self.is_block_of_code(node) => code(content),
            "img" => self.image(node),
            _ if self.is_removed(node) => String::new(),
            _ if is_block => format!("\n\n{content}\n\n"),
            _ => content.to_owned(),
        }
    }

    fn is_removed(&self, node: usize) -> bool {
        matches!(&self.tree.nodes[node].kind, Kind::Element { name, .. } if REMOVED.contains(&name.as_str()))
    }

    fn list(&self, node: usize, content: &str) -> String {
        let parent = self.tree.nodes[node].parent;
        let is_last = self.tree.elements(parent).next_back() == Some(node);
        if self.tree.name(parent) == "li" && is_last {
            format!("\n{content}")
        } else {
            format!("\n\n{content}\n\n")
        }
    }

    fn item(&self, node: usize, content: &str) -> String {
        let content = content.trim_start_matches('\n');
        let short = content.trim_end_matches('\n');
        let end = if short.len() < content.len() { "\n" } else { "" };
        let content = format!("{short}{end}").replace('\n', "\n    ");
        let parent = self.tree.nodes[node].parent;
        let mark = if self.tree.name(parent) == "ol" {
            let at = self.tree.elements(parent).position(|item| item == node).unwrap_or(0);
            match self.tree.attribute(parent, "start").map(crate::javascript::number) {
                None => format!("{}.  ", at + 1),
                #[expect(clippy::cast_precision_loss, reason = "a place in a list")]
                Some(Some(start)) => format!("{}.  ", start + at as f64),
                Some(None) => "NaN.  ".to_owned(),
            }
        } else {
            "-   ".to_owned()
        };
        let is_followed = self.tree.beside(node, 1).is_some() && !content.ends_with('\n');
        format!("{mark}{content}{}", if is_followed { "\n" } else { "" })
    }

    /// The code that a block begins with.
    fn code_of(&self, block: usize) -> Option<usize> {
        let first = *self.tree.nodes[block].children.first()?;
        (self.tree.name(first) == "code").then_some(first)
    }

    fn fenced(&self, code: usize) -> String {
        let class = self.tree.attribute(code, "class").unwrap_or_default();
        let language = class.split_once("language-").map_or("", |(_, rest)| rest);
        let language = language.split(is_space).next().unwrap_or_default();
        let text = self.tree.text(code);
        let marks = text.lines().map(|line| line.len() - line.trim_start_matches('`').len());
        let fence = "`".repeat(marks.max().filter(|longest| *longest >= 3).map_or(3, |longest| longest + 1));
        let text = text.strip_suffix('\n').unwrap_or(&text);
        format!("\n\n{fence}{language}\n{text}\n{fence}\n\n")
    }

    fn is_block_of_code(&self, node: usize) -> bool {
        let parent = self.tree.nodes[node].parent;
        self.tree.name(parent) == "pre" && self.tree.nodes[parent].children.len() == 1
    }

    fn link(&self, node: usize, content: &str) -> String {
        let target = self.tree.attribute(node, "href").unwrap_or_default();
        let target = target.replace('(', "\\(").replace(')', "\\)");
        let title = self.tree.attribute(node, "title").map(clean);
        let title = title.map(|title| format!(" \"{}\"", title.replace('"', "\\\"")));
        format!("[{content}]({target}{})", title.unwrap_or_default())
    }

    fn image(&self, node: usize) -> String {
        let Some(source) = self.tree.attribute(node, "src") else { return String::new() };
        let alt = self.tree.attribute(node, "alt").map(clean).unwrap_or_default();
        let title = self.tree.attribute(node, "title").map(|title| format!(" \"{}\"", clean(title)));
        format!("![{alt}]({source}{})", title.unwrap_or_default())
    }
}

/// Between the two are as many empty lines as the one that wants more of them wants.
fn join(written: &mut String, next: &str) {
    let before = written.trim_end_matches('\n').len();
    let behind = next.trim_start_matches('\n');
    let lines = (written.len() - before).max(next.len() - behind.len()).min(2);
    written.truncate(before);
    written.push_str(&"\n\n"[..lines]);
    written.push_str(behind);
}

fn around(content: &str, mark: &str) -> String {
    if trimmed(content).is_empty() { String::new() } else { format!("{mark}{content}{mark}") }
}

fn code(content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    let content = content.replace("\r\n", " ").replace(['\r', '\n'], " ");
    let is_padded =
        content.starts_with(' ') && content.ends_with(' ') && !content.trim_matches(' ').is_empty();
    let padding = if content.starts_with('`') || content.ends_with('`') || is_padded { " " } else { "" };
    let runs: Vec<usize> = content.split(|letter| letter != '`').map(str::len).collect();
    let mark = "`".repeat((1..).find(|length| !runs.contains(length)).unwrap_or(1));
    format!("{mark}{padding}{content}{padding}{mark}")
}

/// Several empty lines are one.
fn clean(text: &str) -> String {
    static LINES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\n+[\s\x{feff}]*)+").ok());
    LINES.as_ref().map_or_else(|| text.to_owned(), |lines| lines.replace_all(text, "\n").into_owned())
}

/// Text that is not taken for Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let begins_list = text.starts_with('-') || text.starts_with("+ ");
    let heading = text.len() - text.trim_start_matches('#').len();
    let begins_heading = (1..=6).contains(&heading) && text[heading..].starts_with(' ');
    let begins_other = text.starts_with('=') || text.starts_with("~~~") || text.starts_with('>');
    if begins_list || begins_heading || begins_other {
        out.push('\\');
    }
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = if digits > 0 && text[digits..].starts_with(". ") { Some(digits) } else { None };
    for (at, letter) in text.char_indices() {
        if matches!(letter, '\\' | '*' | '`' | '[' | ']' | '_') || number == Some(at) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
