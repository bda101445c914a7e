//! A web page as a tree of what is shown: elements and texts, without remarks.

use html5ever::tendril::TendrilSink as _;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, ns, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// Where the page's own nodes lie.
pub(super) const ROOT: usize = 0;
/// What lies deeper is left out: it is walked by recursion.
const DEPTH_MAX: usize = 400;

/// The nodes of a page.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
}

/// A node.
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
}

/// What a node is.
pub(super) enum Kind {
    Text(String),
    Element {
        name: String,
        /// It is one of HTML's, not of a drawing or a formula.
        is_html: bool,
        attributes: Vec<(String, String)>,
    },
}

impl Tree {
    /// As the servers read a page: as part of a body.
    pub(super) fn of(page: &str) -> Self {
        let whole = format!("<x-page>{page}</x-page>");
        // Nobody runs scripts, so what is there without them is part of the page.
        let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
        let options = ParseOpts { tree_builder, ..ParseOpts::default() };
        let document = parse_document(RcDom::default(), options).one(whole);
        let mut tree = Self { nodes: vec![Node::new(Kind::element("x-page"), ROOT)] };
        if let Some(top) = find(&document.document) {
            tree.take(&top, ROOT, 0);
        }
        tree
    }

    fn take(&mut self, from: &Handle, parent: usize, depth: usize) {
        for child in from.children.borrow().iter() {
            let kind = match &child.data {
                NodeData::Text { contents } => Kind::Text(contents.borrow().to_string()),
                NodeData::Element { name, attrs, .. } => Kind::Element {
                    name: name.local.to_lowercase(),
                    is_html: name.ns == ns!(html),
                    attributes: attrs
                        .borrow()
                        .iter()
                        .map(|attribute| (attribute.name.local.to_string(), attribute.value.to_string()))
                        .collect(),
                },
                _ => continue,
            };
            let at = self.nodes.len();
            self.nodes.push(Node::new(kind, parent));
            self.nodes[parent].children.push(at);
            if depth < DEPTH_MAX {
                self.take(child, at, depth + 1);
            }
        }
    }

    /// The name of one of HTML's elements; nothing of another node.
    pub(super) fn name(&self, node: usize) -> &str {
        match &self.nodes[node].kind {
            Kind::Element { name, is_html: true, .. } => name,
            _ => "",
        }
    }

    /// An attribute that says anything.
    pub(super) fn attribute(&self, node: usize, wanted: &str) -> Option<&str> {
        let Kind::Element { attributes, .. } = &self.nodes[node].kind else { return None };
        let (_, value) = attributes.iter().find(|(name, _)| name == wanted)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// All text below a node.
    pub(super) fn text(&self, node: usize) -> String {
        match &self.nodes[node].kind {
            Kind::Text(text) => text.clone(),
            Kind::Element { .. } => self.nodes[node].children.iter().map(|child| self.text(*child)).collect(),
        }
    }

    /// Is there such an element below it?
    pub(super) fn holds(&self, node: usize, names: &[&str]) -> bool {
        let mut children = self.nodes[node].children.iter();
        children.any(|child| names.contains(&self.name(*child)) || self.holds(*child, names))
    }

    /// The node before it (-1) or behind it (1), of the same parent.
    pub(super) fn beside(&self, node: usize, by: isize) -> Option<usize> {
        let siblings = &self.nodes[self.nodes[node].parent].children;
        let at = siblings.iter().position(|sibling| *sibling == node)?;
        siblings.get(at.checked_add_signed(by)?).copied()
    }

    /// The elements among the children of a node.
    pub(super) fn elements(&self, node: usize) -> impl DoubleEndedIterator<Item = usize> {
        let is_element = |child: &usize| matches!(self.nodes[*child].kind, Kind::Element { .. });
        self.nodes[node].children.iter().copied().filter(is_element)
    }
}

impl Node {
    fn new(kind: Kind, parent: usize) -> Self {
        Self { kind, parent, children: Vec::new() }
    }
}

impl Kind {
    fn element(name: &str) -> Self {
        Self::Element { name: name.to_owned(), is_html: true, attributes: Vec::new() }
    }
}

fn find(from: &Handle) -> Option<Handle> {
    if let NodeData::Element { name, .. } = &from.data
        && &*name.local == "x-page"
    {
        return Some(from.clone());
    }
    from.children.borrow().iter().find_map(find)
}
