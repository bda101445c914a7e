//! How many statements a plan has, heading by heading, and who claims each: a requirement, or a reason why it asks
//! for nothing. `plans/<plan>/index.toml` counts, `plans/<plan>/none.toml` has the reasons.
//!
//! The plans themselves are not here; `cargo xtask plan FILE` counts one again.

use crate::ordinal::{self, Ordinal, Unit};
use fixtures::error::FileError;
use fixtures::near_names::unknown;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// `index.toml`: the headings of a plan, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanIndex {
    /// What the plan calls itself.
    pub title: String,
    /// In the plan's order.
    #[serde(default, rename = "heading")]
    pub headings: Vec<Heading>,
}

/// A heading, and how many statements there are under it before the next one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heading {
    /// As claims name it, after `§`.
    pub id: String,
    /// As the plan has it.
    pub title: String,
    /// Items of lists.
    #[serde(default)]
    pub bullets: usize,
    /// Rows of tables.
    #[serde(default)]
    pub rows: usize,
    /// Paragraphs that say something.
    #[serde(default)]
    pub paragraphs: usize,
    /// Parts of texts in code fences, in plans that say something there; in others nobody counts them.
    #[serde(default)]
    pub passages: usize,
}

impl Heading {
    /// How many of a unit there are.
    #[must_use]
    pub fn count(&self, unit: Unit) -> usize {
        match unit {
            Unit::Bullet => self.bullets,
            Unit::Row => self.rows,
            Unit::Paragraph => self.paragraphs,
            Unit::Passage => self.passages,
        }
    }
}

/// `none.toml`: statements that ask for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoneFile {
    /// Statements with the same reason.
    #[serde(default, rename = "none")]
    pub nones: Vec<Nothing>,
}

/// Statements that ask for nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {
    /// Which.
    pub claims: Vec<String>,
    /// Why they ask for nothing.
    pub reason: String,
}

/// A claim as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) claim: String,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// Claims with their lines.
pub(crate) fn with_lines(claims: Vec<Spanned<String>>, file: &Path, text: &str) -> Vec<Claimed> {
    let placed = claims.into_iter().map(|claim| Claimed {
        line: line_of(text, &claim),
        claim: claim.into_inner(),
        file: file.to_path_buf(),
    });
    placed.collect()
}

/// The line of a value, from 1.
pub(crate) fn line_of<T>(text: &str, place: &Spanned<T>) -> usize {
    text[..place.span().start.min(text.len())].matches('\n').count() + 1
}

/// Who claims what, each statement at most once.
pub(crate) fn hold_claims(
    plans: &BTreeMap<String, PlanIndex>,
    claims: &[Claimed],
) -> Result<BTreeMap<Ordinal, Claimed>, FileError> {
    let mut found: BTreeMap<Ordinal, Claimed> = BTreeMap::new();
    for claimed in claims {
        let wrong = |message: String| FileError::at(&claimed.file, claimed.line, message);
        for ordinal in ordinal::parse(&claimed.claim).map_err(wrong)? {
            let names: Vec<&String> = plans.keys().collect();
            let index =
                plans.get(&ordinal.plan).ok_or_else(|| wrong(unknown("plan", &ordinal.plan, &names)))?;
            let headings: Vec<&str> = index.headings.iter().map(|heading| heading.id.as_str()).collect();
            let heading = index.headings.iter().find(|heading| heading.id == ordinal.heading);
            let heading = heading.ok_or_else(|| {
                wrong(unknown(&format!("heading of plan {}", ordinal.plan), &ordinal.heading, &headings))
            })?;
            let count = heading.count(ordinal.unit);
            if ordinal.number > count {
                let (unit, id, title) = (ordinal.unit, &heading.id, &heading.title);
                return Err(wrong(format!("there is no {ordinal}: §{id} ({title}) has {count} {unit}s")));
            }
            if let Some(first) = found.insert(ordinal.clone(), claimed.clone()) {
                let place = format!("{}:{}", first.file.display(), first.line);
                return Err(wrong(format!("{ordinal} is claimed twice: first in {place}")));
            }
        }
    }
    Ok(found)
}

/// Every statement of the plans.
pub(crate) fn statements(plans: &BTreeMap<String, PlanIndex>) -> impl Iterator<Item = Ordinal> {
    plans.iter().flat_map(|(plan, index)| {
        index.headings.iter().flat_map(move |heading| {
            Unit::ALL.into_iter().flat_map(move |unit| {
                (1..=heading.count(unit)).map(move |number| Ordinal {
                    plan: plan.clone(),
                    heading: heading.id.clone(),
                    unit,
                    number,
                })
            })
        })
    })
}
