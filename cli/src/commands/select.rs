//! Which cases are run: by name or area, by server, a part of them all.

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

/// Whether a case is wanted, by the names that a person wrote: those of cases, or of whole areas (`path`, `path/`,
/// `path/*`). Without any, all are.
pub(super) fn wanted(known: &[&str], names: &[String]) -> Result<impl Fn(&str) -> bool, Failure> {
    match names.iter().find(|name| !known.iter().any(|case| is_meant(name, case))) {
        Some(wrong) => Err(Failure::Misuse(unknown("case", wrong, known))),
        None => Ok(|case: &str| names.is_empty() || names.iter().any(|name| is_meant(name, case))),
    }
}

fn is_meant(name: &str, case: &str) -> bool {
    let area = name.strip_suffix("/*").or_else(|| name.strip_suffix('/')).unwrap_or(name);
    name == case || case.split_once('/').is_some_and(|(of, _)| of == area)
}

/// What is wanted of all cases; a case whose servers are all left out is left out.
pub(crate) fn select(
    all: &[NamedCase],
    names: &[String],
    server: Option<ServerKind>,
    partition: Option<Partition>,
) -> Result<Vec<NamedCase>, Failure> {
    let known: Vec<&str> = all.iter().map(|named| named.name.as_str()).collect();
    let wanted = wanted(&known, names)?;
    let mut cases: Vec<NamedCase> = all.iter().filter(|named| wanted(&named.name)).cloned().collect();
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
    fn an_area_is_all_of_its_cases() {
        let known = ["path/lexical", "path/windows", "stream/steady"];
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let wanted = wanted(&known, &names).map_err(|failure| failure.to_string())?;
            Ok(known.into_iter().filter(|case| wanted(case)).collect::<Vec<_>>())
        };
        let paths = Ok(vec!["path/lexical", "path/windows"]);
        for area in ["path", "path/", "path/*"] {
            assert_eq!(of(&[area]), paths, "{area}");
        }
        assert_eq!(of(&["path/windows", "stream"]), Ok(vec!["path/windows", "stream/steady"]));
        assert_eq!(of(&[]), Ok(known.to_vec()));
        for wrong in ["pat", "path/*x", "*", ""] {
            let refused: Result<Vec<&str>, String> = of(&["stream", wrong]);
            assert!(refused.unwrap_err().starts_with(&format!("there is no case '{wrong}'")));
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert!(Partition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
