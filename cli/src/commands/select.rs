//! Which cases are run: by name, by server, a part of them all.

use super::Failure;
use fixtures::ServerKind;
use fixtures::near_names::unknown;
use parity_specs::NamedCase;
use std::fmt;

/// One of several equal parts, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partition {
    number: usize,
    of: usize,
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Partition {
    /// Is it the first of them?
    pub(crate) fn is_first(self) -> bool {
        self.number == 1
    }

    /// `2/3`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, of) = text.split_once('/')?;
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        };
        read().filter(|part| 1 <= part.number && part.number <= part.of).ok_or_else(|| {
            "a partition is written as 2/3: the second of three parts, counted from 1".to_owned()
        })
    }
}

/// What is wanted of all cases; a case whose servers are all left out is left out.
pub(crate) fn select(
    all: &[NamedCase],
    names: &[String],
    server: Option<ServerKind>,
    partition: Option<Partition>,
) -> Result<Vec<NamedCase>, Failure> {
    let known: Vec<&str> = all.iter().map(|named| named.name.as_str()).collect();
    if let Some(wrong) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::Misuse(unknown("case", wrong, &known)));
    }
    let wanted = |named: &&NamedCase| names.is_empty() || names.contains(&named.name);
    let mut cases: Vec<NamedCase> = all.iter().filter(wanted).cloned().collect();
    if let Some(only) = server {
        cases.iter_mut().for_each(|named| named.case.servers.retain(|server| *server == only));
        if cases.iter().all(|named| named.case.servers.is_empty()) {
            return Err(Failure::Misuse(format!(
                "none of these cases is run with {only}: leave --server out"
            )));
        }
    }
    if let Some(Partition { number, of }) = partition {
        // Dealt like cards, so that slow neighbours go to different parts.
        let mut at = 0;
        for named in &mut cases {
            named.case.servers.retain(|_| {
                at += 1;
                (at - 1) % of == number - 1
            });
        }
    }
    cases.retain(|named| !named.case.servers.is_empty());
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(cases: &[NamedCase]) -> Vec<String> {
        let names = cases.iter().flat_map(|named| {
            named.case.servers.iter().map(move |server| format!("{} {server}", named.name))
        });
        names.collect()
    }

    #[test]
    fn the_parts_are_the_whole_and_none_twice() {
        let all = harness::matrix::embedded().unwrap().cases;
        let whole = cells(&select(&all, &[], None, None).unwrap());
        let mut parts = Vec::new();
        for part in ["1/4", "2/4", "3/4", "4/4"] {
            let part = cells(&select(&all, &[], None, Some(Partition::parse(part).unwrap())).unwrap());
            assert!(part.len().abs_diff(whole.len() / 4) <= 1, "{part:?}");
            parts.extend(part);
        }
        parts.sort();
        let mut sorted = whole.clone();
        sorted.sort();
        assert_eq!(parts, sorted);
        let none =
            select(&all, &[all[0].name.clone()], Some(all[0].case.servers[0]), Partition::parse("2/2").ok());
        assert_eq!(none.unwrap(), [], "one cell has no second half");
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert!(Partition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
