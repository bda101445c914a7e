//! A place in a plan: `000 §4.P3 bullet 7`, or several that follow each other: `000 §4.P3 bullets 7-9`.

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;

/// What a plan is made of, under each heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// An item of a list, at any depth, with a number or without.
    Bullet,
    /// A row of a table, without its head.
    Row,
    /// A paragraph that says something; one that ends in a colon leads to something else and is none.
    Paragraph,
    /// A part of a text in a code fence: up to an empty line, or to the next item of a list. Only of plans that say
    /// something in code.
    Passage,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bullet, Self::Row, Self::Paragraph, Self::Passage];

    fn word(self) -> &'static str {
        match self {
            Self::Bullet => "bullet",
            Self::Row => "row",
            Self::Paragraph => "paragraph",
            Self::Passage => "passage",
        }
    }
}

/// One statement of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ordinal {
    /// The plan.
    pub plan: String,
    /// The heading, as the index names it.
    pub heading: String,
    /// Of these.
    pub unit: Unit,
    /// The how-manieth, from 1.
    pub number: usize,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} §{} {} {}", self.plan, self.heading, self.unit, self.number)
    }
}

/// How a claim is written, for who wrote it otherwise.
const FORM: &str =
    "write it as \"000 §4.P3 bullet 7\", \"000 §4.P3 bullets 7-9\", or with row, paragraph or passage";
/// No heading has so many statements; a slip of the keyboard should not be counted out.
const MOST: usize = 1000;

/// The statements that a claim names.
///
/// # Errors
/// It is not written as claims are.
pub fn parse(claim: &str) -> Result<Vec<Ordinal>, String> {
    let wrong = || format!("'{claim}' names no place in a plan: {FORM}");
    let words: Vec<&str> = claim.split(' ').collect();
    let [plan, heading, unit, numbers] = words[..] else { return Err(wrong()) };
    let heading = heading.strip_prefix('§').filter(|heading| !heading.is_empty()).ok_or_else(wrong)?;
    let several = numbers.contains('-');
    let named = |unit: &Unit| words[2] == if several { format!("{unit}s") } else { unit.to_string() };
    let unit = Unit::ALL.into_iter().find(named).filter(|_| !unit.is_empty()).ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| (1..=MOST).contains(number));
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
    if last < first || (several && last == first) {
        return Err(wrong());
    }
    let (plan, heading) = (plan.to_owned(), heading.to_owned());
    Ok((first..=last)
        .map(|number| Ordinal { plan: plan.clone(), heading: heading.clone(), unit, number })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_claim_names_one_statement_or_several() {
        let names =
            |claim| parse(claim).map(|ordinals| ordinals.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names("000 §4.P3 bullet 7"), Ok(vec!["000 §4.P3 bullet 7".to_owned()]));
        assert_eq!(names("000 §5 rows 2-3"), Ok(vec!["000 §5 row 2".to_owned(), "000 §5 row 3".to_owned()]));
    }

    #[test]
    fn what_is_no_claim_is_told_how_one_is_written() {
        for wrong in [
            "",
            "000 4.P3 bullet 7",
            "000 § bullet 7",
            "000 §4.P3 bullets 7",
            "000 §4.P3 bullet 7-9",
            "000 §4.P3 bullets 9-7",
            "000 §4.P3 bullets 7-7",
            "000 §4.P3 bullet 0",
            "000 §4.P3 bullet 7 ",
            "000 §4.P3 bullets 1-99999999999",
            "000 §4.P3 point 7",
        ] {
            let told = parse(wrong).unwrap_err();
            assert!(told.starts_with(&format!("'{wrong}' names no place in a plan: write it as")), "{told}");
        }
    }
}
