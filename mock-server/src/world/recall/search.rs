//! The sessions that fit a query best. A session fits by its title and by what was said in it; of that the places are shown that
//! have the terms which its title does not have.

use super::query::{Mask, Query, folded};
use crate::world::session::{Message, Session};
use serde_json::Value;
use std::cmp::{Ordering, Reverse};

/// So many places of a session are shown.
const SHOWN: usize = 3;

/// What a search gives.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) results: Vec<Found>,
    /// So many sessions were looked at, and so many texts.
    pub(super) sessions: usize,
    pub(super) candidates: usize,
    /// No session has all terms.
    pub(super) partial: bool,
}

/// A session that fits.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) directory: String,
    pub(super) updated_ms: u64,
    pub(super) matches: Vec<Seen>,
    /// The terms that it has not, where none has all.
    pub(super) missing: Vec<String>,
}

/// A place that is shown.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) source: Source,
    pub(super) part: String,
    pub(super) text: String,
}

/// What a text is, the weightiest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    User,
    Assistant,
    Reference,
    Error,
}

const SOURCES: [Source; 4] = [Source::User, Source::Assistant, Source::Reference, Source::Error];

impl Source {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Reference => "reference",
            Self::Error => "error",
        }
    }

    fn weight(self) -> u32 {
        SOURCES.iter().rev().position(|source| *source == self).map_or(0, |at| at as u32 + 1)
    }
}

/// What fits of one session.
struct Fit<'a> {
    session: &'a Session,
    /// How weighty the text is that has the whole phrase.
    phrase: u32,
    title: Mask,
    nearly: Mask,
    /// All terms that it has.
    mask: Mask,
    words: Mask,
    by_source: [Mask; 4],
    places: Vec<Place>,
    /// The best place for each term.
    best: Vec<Option<usize>>,
}

/// A text that has some terms.
struct Place {
    source: Source,
    part: String,
    text: String,
    mask: Mask,
    words: Mask,
    phrase: bool,
}

/// Searches sessions. The reader's own has no title to be found by, nor what is said since its latest prompt.
pub(super) fn search<'a>(
    sessions: impl Iterator<Item = &'a Session>,
    query: &Query,
    limit: usize,
    (reader, until): (&str, &str),
) -> Searched {
    let mut searched = Searched::default();
    let mut fits = Vec::new();
    for session in sessions {
        searched.sessions += 1;
        let is_own = session.id == reader;
        let title = if is_own { String::new() } else { folded(&session.title) };
        let mut fit = Fit::of_title(session, query, &title);
        let mut texts: Vec<(&Message, &Value, String)> = Vec::new();
        for message in &session.messages {
            let text = |part| Some((message, part, text_of(part)?));
            texts.extend(message.parts.iter().filter_map(text));
        }
        texts.sort_by(|a, b| a.1["id"].as_str().cmp(&b.1["id"].as_str()));
        for (message, part, text) in texts {
            let plain = text.to_ascii_lowercase();
            if text.is_ascii() && !query.terms.iter().any(|term| plain.contains(term.as_str())) {
                continue;
            }
            searched.candidates += 1;
            if !(is_own && is_after(message, until)) {
                fit.take(query, message, part, text);
            }
        }
        fits.push(fit);
    }
    let all = query.all();
    let whole = |fit: &&Fit| fit.mask == all;
    let half = |fit: &&Fit| fit.mask.count_ones() as usize * 2 >= query.terms.len();
    searched.partial = !fits.iter().any(|fit| whole(&fit)) && query.terms.len() > 1;
    let mut fitting: Vec<&Fit> = match searched.partial {
        false => fits.iter().filter(whole).collect(),
        true => fits.iter().filter(|fit| fit.mask != 0).filter(half).collect(),
    };
    fitting.sort_by(|a, b| a.compare(b));
    searched.results = fitting.iter().take(limit).map(|fit| fit.found(query, searched.partial)).collect();
    searched.partial &= !searched.results.is_empty();
    searched
}

/// Was it said since that prompt?
fn is_after(message: &Message, until: &str) -> bool {
    let prompt = match message.role() {
        "user" => message.id(),
        _ => message.info["parentID"].as_str().unwrap_or_default(),
    };
    prompt >= until
}

/// The text of a part that can be found.
fn text_of(part: &Value) -> Option<String> {
    let said = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match part["type"].as_str()? {
        "text" if part["synthetic"] == true || part["ignored"] == true => None,
        "text" => Some(said("/text").to_owned()),
        "file" => {
            let plain = |pointer: &str| {
                Some(said(pointer)).filter(|url| !url.starts_with("data:")).unwrap_or_default()
            };
            let all = [
                said("/filename"),
                plain("/url"),
                said("/source/path"),
                said("/source/name"),
                plain("/source/uri"),
                said("/source/clientName"),
            ];
            Some(all.join(" ").trim_matches(' ').to_owned())
        }
        "tool" if part.pointer("/state/status").is_some_and(|status| status == "error") => {
            Some(said("/state/error").to_owned())
        }
        _ => None,
    }
}

impl<'a> Fit<'a> {
    fn of_title(session: &'a Session, query: &Query, title: &str) -> Self {
        let found = query.found_in(title);
        let nearly = if title.is_empty() { 0 } else { query.nearly_in(title, found) };
        Self {
            session,
            phrase: if title.contains(&query.phrase) { 5 } else { 0 },
            title: found,
            nearly,
            mask: found | nearly,
            words: query.words_in(title, found),
            by_source: [0; 4],
            places: Vec::new(),
            best: vec![None; query.terms.len()],
        }
    }

    fn take(&mut self, query: &Query, message: &Message, part: &Value, text: String) {
        let folded = folded(&text);
        let mask = query.found_in(&folded);
        let source = match (part["type"].as_str(), message.role()) {
            (Some("text"), "user") => Source::User,
            (Some("text"), _) => Source::Assistant,
            (Some("file"), _) => Source::Reference,
            _ => Source::Error,
        };
        if mask == 0 {
            return;
        }
        let place = Place {
            source,
            part: part["id"].as_str().unwrap_or_default().to_owned(),
            mask,
            words: query.words_in(&folded, mask),
            phrase: folded.contains(&query.phrase),
            text,
        };
        self.mask |= place.mask;
        self.words |= place.words;
        if let Some(at) = SOURCES.iter().position(|known| *known == source) {
            self.by_source[at] |= place.mask;
        }
        if place.phrase {
            self.phrase = self.phrase.max(source.weight());
        }
        let number = self.places.len();
        for (_, best) in self.best.iter_mut().enumerate().filter(|(term, _)| mask & 1 << term != 0) {
            if best.is_none_or(|best| place.compare(&self.places[best]) == Ordering::Less) {
                *best = Some(number);
            }
        }
        self.places.push(place);
    }

    /// The better fit is less.
    fn compare(&self, other: &Self) -> Ordering {
        let weight = |fit: &Self| {
            let of_sources = fit.by_source.map(|mask| Reverse(mask.count_ones()));
            (
                Reverse(fit.mask.count_ones()),
                Reverse(fit.phrase > 0),
                fit.nearly.count_ones(),
                Reverse(fit.words.count_ones()),
                Reverse(fit.phrase),
                Reverse(fit.title.count_ones()),
                of_sources,
                Reverse(fit.session.updated_ms),
            )
        };
        weight(self).cmp(&weight(other)).then_with(|| self.session.id.cmp(&other.session.id))
    }

    fn found(&self, query: &Query, partial: bool) -> Found {
        let Session { id, title, directory, updated_ms, .. } = self.session;
        let is_missing = |at: &usize| partial && self.mask & 1 << at == 0;
        let missing = (0..query.terms.len()).filter(is_missing).map(|at| query.terms[at].clone()).collect();
        let seen = |place: &&Place| Seen {
            source: place.source,
            part: place.part.clone(),
            text: query.shown(&place.text),
        };
        Found {
            id: id.clone(),
            title: title.clone(),
            directory: directory.clone(),
            updated_ms: *updated_ms,
            matches: self.shown_places(query.all()).iter().map(seen).collect(),
            missing,
        }
    }

    /// The places that have most of the terms which the title does not have; if it has all, the best place.
    fn shown_places(&self, all: Mask) -> Vec<&Place> {
        let mut numbers: Vec<usize> = Vec::new();
        for best in self.best.iter().flatten() {
            if !numbers.contains(best) {
                numbers.push(*best);
            }
        }
        let mut left: Vec<&Place> = numbers.iter().map(|number| &self.places[*number]).collect();
        let mut shown = Vec::new();
        let mut wanted = all & self.mask & !self.title & !self.nearly;
        while shown.len() < SHOWN && wanted != 0 && !left.is_empty() {
            let of_wanted = |place: &Place| Reverse((place.mask & wanted).count_ones());
            left.sort_by(|a, b| of_wanted(a).cmp(&of_wanted(b)).then_with(|| a.compare(b)));
            let next = left.remove(0);
            if next.mask & wanted == 0 {
                break;
            }
            shown.push(next);
            wanted &= !next.mask;
        }
        if shown.is_empty() {
            left.sort_by(|a, b| a.compare(b));
            shown.extend(left.first());
        }
        shown
    }
}

impl Place {
    /// The better place is less.
    fn compare(&self, other: &Self) -> Ordering {
        let weight = |place: &Self| {
            (
                Reverse(place.phrase),
                Reverse(place.words.count_ones()),
                Reverse(place.source.weight()),
                Reverse(place.mask.count_ones()),
            )
        };
        weight(self).cmp(&weight(other)).then_with(|| self.part.cmp(&other.part))
    }
}
