//! The terminals that people look into: what a program has printed on its screen, who looks, and what they type.
//!
//! A screen keeps the last of what was printed. Whoever looks has a place in that and no queue, so a guest who reads
//! nothing costs nothing.

mod guest;
mod terminal;

pub(crate) use guest::{Guest, accepted};
pub(crate) use terminal::run;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, watch};

/// So much of what was printed is kept, in the units in which the real servers count.
const KEPT_MAX: usize = 2 * 1024 * 1024;
/// What is shown at once is not longer.
const PIECE_MAX: usize = 64 * 1024;

/// All screens on which a program runs, by their terminals' names.
#[derive(Debug, Default)]
pub(crate) struct Screens(Mutex<HashMap<String, Arc<Screen>>>);

/// One screen.
#[derive(Debug)]
pub(crate) struct Screen {
    printed: Mutex<Printed>,
    state: watch::Sender<State>,
    hands: mpsc::UnboundedSender<Hand>,
}

/// A screen, and what is done to it.
pub(crate) type Opened = (Arc<Screen>, mpsc::UnboundedReceiver<Hand>);

/// What was printed, in units of UTF-16: places in it are counted as JavaScript counts.
#[derive(Debug, Default)]
struct Printed {
    units: VecDeque<u16>,
    /// So many units were printed before those that are kept.
    gone: u64,
}

/// How far a screen is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    end: u64,
    is_over: bool,
}

/// What somebody does to a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hand {
    /// Types.
    Types(Vec<u8>),
    /// Makes it so large.
    Draws { rows: u16, columns: u16 },
}

impl Screens {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Screen>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A screen for a program that is about to begin, and what is done to it: whoever knows of the terminal may look.
    pub(crate) fn open(&self, id: &str) -> Opened {
        let (hands, done) = mpsc::unbounded_channel();
        let screen = Screen { printed: Mutex::default(), state: watch::Sender::default(), hands };
        let screen = Arc::new(screen);
        self.all().insert(id.to_owned(), screen.clone());
        (screen, done)
    }

    /// The screen of a terminal in which a program runs.
    pub(crate) fn of(&self, id: &str) -> Option<Arc<Screen>> {
        self.all().get(id).cloned()
    }

    fn close(&self, id: &str) {
        if let Some(screen) = self.all().remove(id) {
            screen.state.send_modify(|state| state.is_over = true);
        }
    }
}

impl Screen {
    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, text: &str) {
        let mut printed = self.printed();
        printed.units.extend(text.encode_utf16());
        let surplus = printed.units.len().saturating_sub(KEPT_MAX);
        printed.units.drain(..surplus);
        printed.gone += surplus as u64;
        let end = printed.end();
        drop(printed);
        self.state.send_modify(|state| state.end = end);
    }

    /// Somebody does something to it; when its program has ended, nobody notices.
    pub(crate) fn touch(&self, hand: Hand) {
        self.hands.send(hand).ok();
    }

    /// What is kept from there on, in pieces, and where that ends.
    fn from(&self, place: u64) -> (Vec<String>, u64) {
        let mut printed = self.printed();
        let end = printed.end();
        let skipped = usize::try_from(place.saturating_sub(printed.gone)).unwrap_or(usize::MAX);
        let units = printed.units.make_contiguous();
        let pieces = units.get(skipped..).unwrap_or_default().chunks(PIECE_MAX);
        (pieces.map(String::from_utf16_lossy).collect(), end)
    }
}

impl Printed {
    fn end(&self) -> u64 {
        self.gone + self.units.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_printed_is_seen_from_any_place_and_counted_as_javascript_counts() {
        let screens = Screens::default();
        let (screen, _hands) = screens.open("pty_a");
        screen.print("24 80\r\n\u{1f600}abc");
        assert_eq!(screen.from(0), (vec!["24 80\r\n\u{1f600}abc".to_owned()], 12));
        assert_eq!(screen.from(8), (vec!["\u{fffd}abc".to_owned()], 12), "in the middle of a letter");
        assert_eq!(screen.from(12), (Vec::new(), 12));
        assert_eq!(screen.from(9_999), (Vec::new(), 12));
    }

    #[test]
    fn the_last_of_it_is_kept() {
        let screens = Screens::default();
        let (screen, _hands) = screens.open("pty_a");
        screen.print(&"x".repeat(KEPT_MAX));
        screen.print("yz");
        let (pieces, end) = screen.from(0);
        assert_eq!((pieces.len(), end), (KEPT_MAX / PIECE_MAX, KEPT_MAX as u64 + 2));
        assert!(pieces.iter().all(|piece| piece.len() == PIECE_MAX));
        assert_eq!(screen.from(KEPT_MAX as u64 - 1).0, ["xyz"]);
    }

    #[test]
    fn a_screen_that_is_closed_is_nobodys_any_more() {
        let screens = Screens::default();
        let (screen, _hands) = screens.open("pty_a");
        screens.close("pty_a");
        assert!(screens.of("pty_a").is_none() && screen.state.borrow().is_over);
    }

    proptest! {
        #[test]
        fn whoever_looks_again_and_again_has_seen_all(texts in prop::collection::vec(".{0,8}", 0..20)) {
            let screens = Screens::default();
            let (screen, _hands) = screens.open("pty_a");
            let (mut place, mut seen) = (0, String::new());
            for text in &texts {
                screen.print(text);
                let (pieces, end) = screen.from(place);
                (place, seen) = (end, seen + &pieces.concat());
            }
            prop_assert_eq!(seen, texts.concat());
        }
    }
}
