//! White space of a web page, where it does not show: runs of it are one, and none is at the ends of a line.

use super::markdown::{BLOCKS, EMPTY};
use super::page::{Kind, ROOT, Tree};
use crate::javascript::is_space;

/// Space that markup knows.
const PLAIN: [char; 4] = [' ', '\t', '\r', '\n'];

/// Takes away what does not show.
pub(super) fn collapse(tree: &mut Tree) {
    let mut walk = Walk { tree, last_text: None, keeps_leading: false };
    walk.below(ROOT);
    if let Some(text) = walk.last_text.take()
        && walk.cut_end(text)
    {
        walk.remove(text);
    }
}

struct Walk<'a> {
    tree: &'a mut Tree,
    /// The text before, if it is of the same line.
    last_text: Option<usize>,
    keeps_leading: bool,
}

impl Walk<'_> {
    fn below(&mut self, node: usize) {
        for child in self.tree.nodes[node].children.clone() {
            if matches!(self.tree.nodes[child].kind, Kind::Text(_)) {
                self.text(child);
                continue;
            }
            self.pass(child);
            if self.tree.name(child) != "pre" && !self.tree.nodes[child].children.is_empty() {
                self.below(child);
                self.pass(child);
            }
        }
    }

    fn text(&mut self, node: usize) {
        let before_ends_in_space = match self.last_text.map(|text| &self.tree.nodes[text].kind) {
            Some(Kind::Text(before)) => before.is_empty() || before.ends_with(' '),
            _ => true,
        };
        let Kind::Text(text) = &mut self.tree.nodes[node].kind else { return };
        let mut short = String::with_capacity(text.len());
        for letter in text.chars() {
            match PLAIN.contains(&letter) {
                true if short.ends_with(' ') => {}
                true => short.push(' '),
                false => short.push(letter),
            }
        }
        if before_ends_in_space && !self.keeps_leading && short.starts_with(' ') {
            short.remove(0);
        }
        let is_gone = short.is_empty();
        *text = short;
        if is_gone {
            self.remove(node);
        } else {
            self.last_text = Some(node);
        }
    }

    /// An element begins or ends.
    fn pass(&mut self, node: usize) {
        let name = self.tree.name(node);
        if BLOCKS.contains(&name) || name == "br" {
            if let Some(text) = self.last_text.take() {
                self.cut_end(text);
            }
            self.keeps_leading = false;
        } else if EMPTY.contains(&name) || name == "pre" {
            self.last_text = None;
            self.keeps_leading = true;
        } else if self.last_text.is_some() {
            self.keeps_leading = false;
        }
    }

    /// Is nothing left?
    fn cut_end(&mut self, node: usize) -> bool {
        let Kind::Text(text) = &mut self.tree.nodes[node].kind else { return false };
        if text.ends_with(' ') {
            text.pop();
        }
        text.is_empty()
    }

    fn remove(&mut self, node: usize) {
        let parent = self.tree.nodes[node].parent;
        self.tree.nodes[parent].children.retain(|child| *child != node);
    }
}

/// The space at the ends of an element that stands in a line: it belongs outside of its marks.
#[derive(Default)]
pub(super) struct Edges {
    pub(super) leading: String,
    pub(super) trailing: String,
}

impl Edges {
    pub(super) fn of(tree: &Tree, node: usize) -> Self {
        if BLOCKS.contains(&tree.name(node)) {
            return Self::default();
        }
        let text = tree.text(node);
        let start = text.len() - text.trim_start_matches(is_space).len();
        let (leading, rest) = text.split_at(start);
        let trailing = &rest[rest.trim_end_matches(is_space).len()..];
        let plain_start = leading.len() - leading.trim_start_matches(PLAIN).len();
        let plain_end = trailing.trim_end_matches(PLAIN).len();
        let is_left = plain_start > 0 && has_space_beside(tree, node, -1);
        let is_right = plain_end < trailing.len() && has_space_beside(tree, node, 1);
        Self {
            leading: leading[if is_left { plain_start } else { 0 }..].to_owned(),
            trailing: trailing[..if is_right { plain_end } else { trailing.len() }].to_owned(),
        }
    }

    pub(super) fn are_bare(&self) -> bool {
        self.leading.is_empty() && self.trailing.is_empty()
    }
}

fn has_space_beside(tree: &Tree, node: usize, by: isize) -> bool {
    let Some(sibling) = tree.beside(node, by) else { return false };
    if BLOCKS.contains(&tree.name(sibling)) {
        return false;
    }
    let text = tree.text(sibling);
    if by < 0 { text.ends_with(' ') } else { text.starts_with(' ') }
}
