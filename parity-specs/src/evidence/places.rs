//! Where in its file a claim stands and where it is named, and the kinds of facts that it asks for: a kind that no fact has
//! finds nothing, and a claim that forbids it would hold for ever.

use super::fact::KINDS;
use crate::plan::line_of;
use fixtures::error::{FileError, parse_toml};
use fixtures::near_names::unknown;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Spanned, Value};

/// A name that leads to a claim.
pub(super) struct Lead {
    /// As `question/claim`.
    pub(super) claim: String,
    /// Who names it, for the message.
    pub(super) of: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

#[derive(Deserialize)]
struct LeadPlaces {
    #[serde(default, alias = "difference")]
    requirement: Vec<LeadPlace>,
}

#[derive(Deserialize)]
struct LeadPlace {
    id: Option<String>,
    #[serde(default, alias = "shown_by")]
    rests_on: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
struct QuestionPlaces {
    claim: Vec<ClaimPlace>,
}

#[derive(Deserialize)]
struct ClaimPlace {
    id: Spanned<String>,
    every: Option<PatternPlace>,
    has: Option<PatternPlace>,
    next: Option<PatternPlace>,
    later: Option<PatternPlace>,
    never_later: Option<PatternPlace>,
    earlier: Option<PatternPlace>,
    never_earlier: Option<PatternPlace>,
    #[serde(default)]
    order: Vec<PatternPlace>,
}

#[derive(Deserialize)]
struct PatternPlace {
    kind: Option<Spanned<Value>>,
    none: Option<Box<PatternPlace>>,
}

/// The names of claims in a file of requirements, or of differences.
pub(super) fn leads(file: &Path, text: &str) -> Result<Vec<Lead>, FileError> {
    let places: LeadPlaces = parse_toml(file, text)?;
    let leads = places.requirement.into_iter().flat_map(|LeadPlace { id, rests_on }| {
        let of = id.map(|id| format!("the requirement '{id}': ")).unwrap_or_default();
        rests_on.into_iter().map(move |claim| {
            let line = line_of(text, &claim);
            Lead { claim: claim.into_inner(), of: of.clone(), file: file.to_path_buf(), line }
        })
    });
    Ok(leads.collect())
}

/// The line of each claim of a question, in their order.
///
/// # Errors
/// One asks for a kind of facts that there is not.
pub(super) fn claims(file: &Path, text: &str) -> Result<Vec<usize>, FileError> {
    let places: QuestionPlaces = parse_toml(file, text)?;
    for claim in &places.claim {
        for pattern in claim.patterns() {
            know_kind(pattern, |kind, word| {
                let message =
                    format!("the claim '{}': {}", claim.id.get_ref(), unknown("kind of facts", word, &KINDS));
                FileError::at(file, line_of(text, kind), message)
            })?;
        }
    }
    Ok(places.claim.iter().map(|claim| line_of(text, &claim.id)).collect())
}

impl ClaimPlace {
    fn patterns(&self) -> impl Iterator<Item = &PatternPlace> {
        let asks = [
            &self.every,
            &self.has,
            &self.next,
            &self.later,
            &self.never_later,
            &self.earlier,
            &self.never_earlier,
        ];
        asks.into_iter().flatten().chain(&self.order)
    }
}

fn know_kind(
    pattern: &PatternPlace,
    wrong: impl Fn(&Spanned<Value>, &str) -> FileError,
) -> Result<(), FileError> {
    if let Some(none) = &pattern.none {
        return know_kind(none, wrong);
    }
    let Some(kind) = &pattern.kind else { return Ok(()) };
    match kind.get_ref().as_str() {
        Some(word) if !KINDS.contains(&word) => Err(wrong(kind, word)),
        _ => Ok(()),
    }
}
