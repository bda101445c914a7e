//! Two lives of one client, held against each other check by check and request by request.

use super::life::Life;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A value in a line is told this far.
const WORDS: usize = 160;

/// What came of a comparison.
pub(super) struct Account {
    checks: usize,
    requests: usize,
    /// What differs, by the check's name.
    differ: BTreeMap<String, String>,
    /// The first request that differs.
    asked: Option<String>,
    /// How many checks differ between two runs of the real server.
    unsteady: usize,
}

impl Account {
    /// `other` is who stands in for the real server.
    pub(super) fn of(real: &Life, stood_in: &Life, other: &'static str) -> Self {
        let theirs: BTreeMap<&str, &Value> = seen(stood_in);
        let ours: BTreeMap<&str, &Value> = seen(real);
        let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
        let differ = names.iter().filter_map(|name| {
            let told = match (ours.get(name), theirs.get(name)) {
                (Some(real), Some(stood_in)) => first_difference(real, stood_in, other, "")?,
                (Some(_), None) => "only with the real server".to_owned(),
                _ => format!("only with {other}"),
            };
            Some(((*name).to_owned(), told))
        });
        Self {
            checks: names.len(),
            requests: real.requests.len(),
            differ: differ.collect(),
            asked: first_other_request(real, stood_in, other),
            unsteady: 0,
        }
    }

    /// Where the real server differs from itself, nobody can be equal.
    pub(super) fn leave_out_what_differs(&mut self, real: &Life, again: &Life) {
        let itself = Self::of(real, again, "the real server");
        let before = self.differ.len();
        self.differ.retain(|name, _| !itself.differ.contains_key(name));
        self.unsteady = before - self.differ.len();
        if itself.asked.is_some() {
            self.asked = None;
        }
    }

    /// What does not differ the next time was the real server's chance: it sits behind the proxy, too.
    pub(super) fn leave_out_what_passes(&mut self, next: &Self) {
        let before = self.differ.len();
        self.differ.retain(|name, _| next.differ.contains_key(name));
        self.unsteady += before - self.differ.len();
        if next.asked.is_none() {
            self.asked = None;
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.checks > 0 && self.differ.is_empty() && self.asked.is_none()
    }

    pub(super) fn summary(&self) -> String {
        let requests = match self.asked {
            None => format!("{} requests equal", self.requests),
            Some(_) => "requests differ".to_owned(),
        };
        let unsteady = match self.unsteady {
            0 => String::new(),
            some => format!(" ({some} of them as the real server differs from itself)"),
        };
        let equal = self.checks - self.differ.len();
        format!("{equal} of {} checks equal{unsteady}, {requests}", self.checks)
    }

    /// A line for each.
    pub(super) fn differences(&self) -> impl Iterator<Item = String> {
        let checks = self.differ.iter().map(|(name, told)| format!("{name}: {told}"));
        checks.chain(self.asked.iter().map(|told| format!("requests: {told}")))
    }
}

/// As a text.
pub(super) fn told(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

fn seen(life: &Life) -> BTreeMap<&str, &Value> {
    life.checks.iter().map(|(name, saw)| (name.as_str(), saw)).collect()
}

fn first_other_request(real: &Life, stood_in: &Life, other: &str) -> Option<String> {
    let longest = real.requests.len().max(stood_in.requests.len());
    (0..longest).find_map(|place| {
        let sides = (real.requests.get(place), stood_in.requests.get(place));
        let (real, stood_in) = (sides.0.unwrap_or(&Value::Null), sides.1.unwrap_or(&Value::Null));
        first_difference(real, stood_in, other, "").map(|told| format!("number {}: {told}", place + 1))
    })
}

/// Where two values differ first, as a JSON pointer, and how.
fn first_difference(real: &Value, stood_in: &Value, other: &str, at: &str) -> Option<String> {
    match (real, stood_in) {
        (Value::Object(real), Value::Object(stood_in)) => {
            let keys = real.keys().chain(stood_in.keys().filter(|key| !real.contains_key(*key)));
            let of = |side: &serde_json::Map<String, Value>, key: &String| side.get(key).cloned();
            keys.into_iter().find_map(|key| match (of(real, key), of(stood_in, key)) {
                (Some(real), Some(stood_in)) => {
                    first_difference(&real, &stood_in, other, &format!("{at}/{key}"))
                }
                (Some(real), None) => Some(format!("at {at}/{key} {other} misses {}", short(&real))),
                (_, stood_in) => {
                    Some(format!("at {at}/{key} {other} adds {}", short(&stood_in.unwrap_or_default())))
                }
            })
        }
        (Value::Array(real), Value::Array(stood_in)) => {
            let longest = real.len().max(stood_in.len());
            (0..longest).find_map(|place| {
                let at = format!("{at}/{place}");
                match (real.get(place), stood_in.get(place)) {
                    (Some(real), Some(stood_in)) => first_difference(real, stood_in, other, &at),
                    (Some(real), None) => Some(format!("at {at} {other} misses {}", short(real))),
                    (None, stood_in) => {
                        Some(format!("at {at} {other} adds {}", short(stood_in.unwrap_or(&Value::Null))))
                    }
                }
            })
        }
        _ if real == stood_in => None,
        _ => Some(format!("at {at}: real {}, {other} {}", short(real), short(stood_in))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn life(checks: &[(&str, Value)], requests: &[&str]) -> Life {
        Life {
            checks: checks.iter().map(|(name, saw)| ((*name).to_owned(), saw.clone())).collect(),
            requests: requests.iter().map(|request| json!(request)).collect(),
        }
    }

    #[test]
    fn what_differs_is_told_with_its_place() {
        let real =
            life(&[("a", json!({ "x": [1, 2] })), ("b", json!(1)), ("c", json!({ "y": 1 }))], &["GET /"]);
        let other = life(&[("a", json!({ "x": [1, 3] })), ("c", json!({ "z": 2 })), ("d", json!(1))], &[]);
        let account = Account::of(&real, &other, "the stand-in");
        assert!(!account.holds());
        assert_eq!(account.summary(), "0 of 4 checks equal, requests differ");
        assert_eq!(
            account.differences().collect::<Vec<_>>(),
            [
                "a: at /x/1: real 2, the stand-in 3",
                "b: only with the real server",
                "c: at /y the stand-in misses 1",
                "d: only with the stand-in",
                "requests: number 1: at : real \"GET /\", the stand-in null",
            ]
        );
    }

    #[test]
    fn what_the_real_server_does_otherwise_the_next_time_is_no_difference() {
        let real = life(&[("a", json!(1)), ("b", json!(1))], &[]);
        let other = life(&[("a", json!(2)), ("b", json!(2))], &[]);
        let mut account = Account::of(&real, &other, "the stand-in");
        account.leave_out_what_differs(&real, &life(&[("a", json!(3)), ("b", json!(1))], &[]));
        assert_eq!(account.differences().collect::<Vec<_>>(), ["b: at : real 1, the stand-in 2"]);
        assert!(account.summary().starts_with("1 of 2 checks equal (1 of them as"));
    }

    #[test]
    fn what_does_not_differ_the_next_time_is_no_difference() {
        let real = life(&[("a", json!(1)), ("b", json!(1)), ("c", json!(1))], &["GET /"]);
        let once = life(&[("a", json!(2)), ("b", json!(2)), ("c", json!(1))], &[]);
        let next = life(&[("a", json!(3)), ("b", json!(1)), ("c", json!(2))], &["GET /"]);
        let mut account = Account::of(&real, &once, "the proxied server");
        account.leave_out_what_passes(&Account::of(&real, &next, "the proxied server"));
        assert_eq!(account.differences().collect::<Vec<_>>(), ["a: at : real 1, the proxied server 2"]);
        assert_eq!(
            account.summary(),
            "2 of 3 checks equal (1 of them as the real server differs from itself), 1 requests equal"
        );
    }

    #[test]
    fn a_life_without_checks_holds_nothing() {
        assert!(!Account::of(&Life::default(), &Life::default(), "the stand-in").holds());
    }
}
