//! Where a difference is: in an operation, a schema or an event, and at which path inside; and who uses that.

use std::collections::{BTreeMap, BTreeSet};

/// Who makes the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// The server: a client reads them.
    Read,
    /// The client.
    Sent,
    /// The client, in a path, a query or a header, where everything is text.
    Parameter,
}

impl Way {
    fn mark(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Sent => ">",
            Self::Parameter => "?",
        }
    }
}

/// A place: what it is in (an operation, a schema, an event), and the path inside.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) root: String,
    pub(super) path: String,
    /// Who makes the values here.
    pub(super) way: Way,
    /// The forms that are found here are events; how such an event is called.
    pub(super) event: Option<String>,
}

impl Place {
    pub(super) fn of(root: impl Into<String>) -> Self {
        Self { root: root.into(), path: String::new(), way: Way::Read, event: None }
    }

    /// The same place, where somebody else makes the values.
    pub(super) fn made(&self, way: Way) -> Self {
        Self { way, ..self.clone() }
    }

    pub(super) fn below(&self, step: &str) -> Self {
        Self { root: self.root.clone(), path: format!("{}{step}", self.path), way: self.way, event: None }
    }

    /// A schema that is read and sent is used by others each way.
    pub(super) fn key(&self) -> String {
        format!("{}{}", self.way.mark(), self.root)
    }

    pub(super) fn told(&self) -> String {
        format!("{} {}", self.root, self.path).trim_end().to_owned()
    }
}

/// The roots that nobody refers to and from which this one is reached: operations.
pub(super) fn users(uses: &BTreeMap<String, BTreeSet<String>>, key: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([key.to_owned()]);
    let mut open = vec![key.to_owned()];
    let mut tops = BTreeSet::new();
    while let Some(next) = open.pop() {
        match uses.get(&next) {
            None => drop(tops.insert(next.trim_start_matches(['<', '>', '?']).to_owned())),
            Some(users) => open.extend(users.iter().filter(|user| seen.insert((*user).clone())).cloned()),
        }
    }
    tops
}

/// Generators spell one name in several ways: `Event.session.idle`, `EventSessionIdle`, `EventSessionIdle1`.
pub(super) fn same_name(one: &str, two: &str) -> bool {
    let bare = |name: &str| {
        let letters = name.trim_end_matches(|c: char| c.is_ascii_digit()).chars();
        letters.filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect::<String>()
    };
    bare(one) == bare(two)
}

pub(super) fn event(stream: &str, kind: &str) -> String {
    if stream.is_empty() { format!("event {kind}") } else { format!("event {kind} on {stream}") }
}
