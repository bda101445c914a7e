//! A claim: a sentence, and the question to the recordings whose answer it is.

use super::fact::Fact;
use super::pattern::{Names, Pattern, at};
use fixtures::ServerKind;
use fixtures::deviations::fits;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// So many lines are enough to show what all recordings say.
const SHOWN: usize = 3;

/// A sentence about the real servers that recordings show.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name within its question.
    pub id: String,
    /// The sentence.
    pub says: String,
    /// The servers of which it is true; both unless told.
    #[serde(default = "both")]
    pub servers: Vec<ServerKind>,
    /// The recordings that are asked, as `area/name`; `*` stands for anything.
    #[serde(default = "all", rename = "in")]
    pub recordings: Vec<String>,
    /// Each fact that looks like this is asked.
    #[serde(default)]
    every: Option<Pattern>,
    /// … and looks like this, too.
    #[serde(default)]
    has: Pattern,
    /// … and the next event of its stream looks like this.
    #[serde(default)]
    next: Option<Pattern>,
    /// … and something later in the recording looks like this.
    #[serde(default)]
    later: Option<Pattern>,
    /// … and nothing later in the recording looks like this.
    #[serde(default)]
    never_later: Option<Pattern>,
    /// … and something before it looks like this.
    #[serde(default)]
    earlier: Option<Pattern>,
    /// … and nothing before it looks like this.
    #[serde(default)]
    never_earlier: Option<Pattern>,
    /// … and so many milliseconds lie between it and the one before it in its stream.
    #[serde(default)]
    apart_ms: Option<(u64, u64)>,
    /// … and is counted by what stands at this place.
    #[serde(default)]
    pub tally: Option<String>,
    /// Each recording has this, in this order; a step `{ none = { … } }` is something that is not in between.
    #[serde(default)]
    order: Vec<Step>,
}

/// A step of an order.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Step {
    /// Nothing until the next step looks like this.
    None(NoneOf),
    /// Something looks like this.
    Some(Pattern),
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoneOf {
    none: Pattern,
}

/// Lines of a recording.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cite {
    /// The recording, as `area/name`.
    pub recording: String,
    /// The line, from 1.
    pub line: usize,
}

/// What recordings answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// How many facts were asked.
    pub facts: usize,
    /// In how many recordings.
    pub recordings: usize,
    /// Lines that show it: of each recording those of its first fact.
    pub shown_by: Vec<Cite>,
    /// Lines that contradict it.
    pub against: Vec<Cite>,
    /// How often each value was seen, when they are counted.
    pub tally: BTreeMap<String, usize>,
}

fn both() -> Vec<ServerKind> {
    ServerKind::ALL.to_vec()
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

impl Answer {
    /// Is it true? What nothing speaks of is not.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.facts > 0 && self.against.is_empty()
    }

    /// With what another recording answers.
    pub fn add(&mut self, other: Self) {
        if self.shown_by.len() < SHOWN {
            self.shown_by.extend(other.shown_by);
        }
        self.facts += other.facts;
        self.recordings += other.recordings;
        self.against.extend(other.against);
        for (value, count) in other.tally {
            *self.tally.entry(value).or_default() += count;
        }
    }
}

impl Claim {
    /// Why it can't be asked.
    #[must_use]
    pub fn mistake(&self) -> Option<&'static str> {
        let asks = [&self.next, &self.later, &self.never_later, &self.earlier, &self.never_earlier]
            .iter()
            .any(|ask| ask.is_some());
        let asks = asks || !self.has.is_empty() || self.apart_ms.is_some() || self.tally.is_some();
        match (&self.every, self.order.is_empty()) {
            (None, true) => Some("it asks nothing: give it `every` or `order`"),
            (Some(_), false) => Some("it has both `every` and `order`; make two claims of it"),
            (None, false) if asks => Some("`has`, `next` and the like belong to `every`, not to `order`"),
            (None, false) if self.recordings == all() => {
                Some("an order is one of named recordings: give it `in`")
            }
            (Some(_), true) if !asks => {
                Some("it asks nothing of what `every` finds: give it `has`, `next`, …")
            }
            _ => None,
        }
    }

    /// Is this recording asked?
    #[must_use]
    pub fn asks(&self, server: ServerKind, recording: &str) -> bool {
        self.servers.contains(&server) && self.recordings.iter().any(|name| fits(name, recording))
    }

    /// What one recording answers.
    #[must_use]
    pub fn ask(&self, recording: &str, facts: &[Fact]) -> Answer {
        let cite = |lines: &[usize]| -> Vec<Cite> {
            lines.iter().map(|line| Cite { recording: recording.to_owned(), line: *line }).collect()
        };
        let Some(every) = &self.every else { return self.ask_order(facts, cite) };
        let mut answer = Answer::default();
        let mut before: BTreeMap<Option<u64>, u64> = BTreeMap::new();
        for (index, fact) in facts.iter().enumerate() {
            let mut names = Names::new();
            if !every.fits(&fact.value, &mut names) {
                continue;
            }
            let since = fact.value["at_ms"].as_u64().and_then(|now| {
                let before = before.insert(fact.value["of"].as_u64(), now)?;
                Some(now.saturating_sub(before))
            });
            if self.apart_ms.is_some() && since.is_none() {
                continue;
            }
            let Some(mut lines) = self.shown(facts, index, &mut names, since) else {
                answer.facts += 1;
                answer.against.extend(cite(&fact.lines));
                continue;
            };
            if answer.facts == 0 {
                lines.splice(0..0, fact.lines.iter().copied());
                lines.dedup();
                answer.shown_by = cite(&lines);
            }
            answer.facts += 1;
            if let Some(place) = &self.tally {
                let value = at(&fact.value, place).map_or_else(|| "nothing".to_owned(), plain);
                *answer.tally.entry(value).or_default() += 1;
            }
        }
        answer.recordings = usize::from(answer.facts > 0);
        answer
    }

    /// The other lines that show it of a fact; `None` when it does not hold.
    fn shown(
        &self,
        facts: &[Fact],
        index: usize,
        names: &mut Names,
        since: Option<u64>,
    ) -> Option<Vec<usize>> {
        let (before, fact, after) = (facts.get(..index)?, facts.get(index)?, facts.get(index + 1..)?);
        let mut lines = Vec::new();
        let apart =
            self.apart_ms.is_none_or(|(least, most)| since.is_some_and(|ms| least <= ms && ms <= most));
        if !apart || !self.has.fits(&fact.value, names) {
            return None;
        }
        if let Some(pattern) = &self.next {
            let of = &fact.value["of"];
            let next = after.iter().find(|next| next.value["kind"] == "event" && next.value["of"] == *of)?;
            pattern.fits(&next.value, names).then_some(())?;
            lines.extend(&next.lines);
        }
        if let Some(pattern) = &self.earlier {
            let earlier = before.iter().rev().find(|earlier| pattern.fits(&earlier.value, names))?;
            lines.extend(&earlier.lines);
        }
        if let Some(pattern) = &self.later {
            let later = after.iter().find(|later| pattern.fits(&later.value, names))?;
            lines.extend(&later.lines);
        }
        let is_in = |pattern: &Option<Pattern>, facts: &[Fact]| {
            let fits = |pattern: &Pattern, fact: &Fact| pattern.fits(&fact.value, &mut names.clone());
            pattern.as_ref().is_some_and(|pattern| facts.iter().any(|fact| fits(pattern, fact)))
        };
        if is_in(&self.never_later, after) || is_in(&self.never_earlier, before) {
            return None;
        }
        Some(lines)
    }

    fn ask_order(&self, facts: &[Fact], cite: impl Fn(&[usize]) -> Vec<Cite>) -> Answer {
        let mut lines = Vec::new();
        let mut answer = Answer { facts: 1, recordings: 1, ..Answer::default() };
        if find(&self.order, facts, &Names::new(), &mut lines) {
            lines.dedup();
            answer.shown_by = cite(&lines);
        } else {
            answer.against = cite(&[1]);
        }
        answer
    }
}

/// Finds the steps in the facts, in order; the lines are those of the facts that were found.
fn find(steps: &[Step], facts: &[Fact], names: &Names, lines: &mut Vec<usize>) -> bool {
    let absent = steps.iter().take_while(|step| matches!(step, Step::None(_))).count();
    let (nones, steps) = steps.split_at(absent);
    let is_none_of = |fact: &Fact| {
        nones
            .iter()
            .any(|step| matches!(step, Step::None(step) if step.none.fits(&fact.value, &mut names.clone())))
    };
    let Some((Step::Some(pattern), rest)) = steps.split_first() else {
        return !facts.iter().any(is_none_of);
    };
    for (index, fact) in facts.iter().enumerate() {
        let mut bound = names.clone();
        if pattern.fits(&fact.value, &mut bound) {
            let so_far = lines.len();
            lines.extend(&fact.lines);
            if find(rest, facts.get(index + 1..).unwrap_or_default(), &bound, lines) {
                return true;
            }
            lines.truncate(so_far);
        }
        if is_none_of(fact) {
            return false;
        }
    }
    false
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
impl Claim {
    /// Every pattern of the claim.
    pub(super) fn patterns(&self) -> Vec<&Pattern> {
        let asks =
            [&self.every, &self.next, &self.later, &self.never_later, &self.earlier, &self.never_earlier];
        let steps = self.order.iter().map(|step| match step {
            Step::None(step) => &step.none,
            Step::Some(pattern) => pattern,
        });
        asks.into_iter().flatten().chain([&self.has]).chain(steps).collect()
    }
}
