//! Rules that answer in the person's place, what the screen offers, and which language a locale means.

use crate::protocol::{Affordance, AutoApprove, FollowUp, Reply};

/// The languages that the servers know.
const LANGUAGES: [&str; 14] =
    ["ar", "br", "da", "de", "en", "es", "fr", "ja", "ko", "no", "pl", "ru", "zh", "zht"];

/// Decides what rules answer, what is offered, and what a locale means.
pub trait Features: Send {
    /// Does the rule answer a request of this kind?
    fn covers(&self, rule: &AutoApprove, kind: &str) -> bool {
        rule.covers(kind)
    }

    /// How long it waits before it answers, unscaled.
    fn waits_ms(&self, rule: &AutoApprove) -> u64 {
        rule.delay_ms
    }

    /// Is the person asked although the rule answers at once?
    fn asks_beside(&self) -> bool {
        false
    }

    /// What the rule says.
    fn says(&self) -> Reply {
        Reply::Once
    }

    /// May the person stop it?
    fn can_be_held(&self) -> bool {
        true
    }

    /// Does stopping the agent call off what would be answered in the person's place?
    fn stop_calls_off(&self) -> bool {
        true
    }

    /// Does what would be answered in the person's place wait while a task can't go on?
    fn waits_when_closed(&self) -> bool {
        true
    }

    /// Is it known after a gap what the person has stopped, and what they have begun to answer?
    fn remembers_holds(&self) -> bool {
        true
    }

    /// Is the input closed while the person is asked for leave?
    fn closes_input(&self) -> bool {
        true
    }

    /// Is each request for leave answered by itself when all are allowed at once? If not, the answer to one is it.
    fn answers_each(&self) -> bool {
        true
    }

    /// When all are answered at once, is the next one answered after one whose answer was not taken?
    fn goes_on_after_a_failure(&self) -> bool {
        true
    }

    /// Do all requests for leave go from the screen when all are allowed, whatever the server says to each?
    fn hides_all(&self) -> bool {
        false
    }

    /// How long a question waits before its suggestion is sent, unscaled; `None` is for ever.
    fn suggests_after_ms(&self, countdown: FollowUp) -> Option<u64> {
        Some(countdown.delay_ms)
    }

    /// What is suggested, of the first labels of a request's questions.
    fn suggests(&self, labels: Vec<Vec<String>>) -> Vec<Vec<String>> {
        labels
    }

    /// Does typing call the countdown off?
    fn typing_stops(&self) -> bool {
        true
    }

    /// The page that asks the server for this path. A page shows; it is the program behind it that asks.
    fn origin(&self, _path: &str) -> Option<&'static str> {
        None
    }

    /// Does what is no agent stop when the server is away?
    fn need_the_server(&self) -> bool {
        false
    }

    /// And when the flag for the server is off?
    fn go_with_the_flag(&self) -> bool {
        false
    }

    /// What the screen offers, of what can be used just now.
    fn offers(&self, usable: Vec<Affordance>) -> Vec<Affordance> {
        usable
    }

    /// The server's language for a locale of the editor.
    fn language<'a>(&self, locale: &'a str) -> &'a str {
        match locale {
            "pt-BR" | "pt-br" => "br",
            "zh-CN" | "zh-cn" => "zh",
            "zh-TW" | "zh-tw" => "zht",
            _ if LANGUAGES.contains(&locale) => locale,
            _ => "en",
        }
    }
}
