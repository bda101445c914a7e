//! A session as a text to be read.

use crate::world::session::Session;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// So long a transcript may be; of a longer one the middle is left out.
const UNITS_MAX: usize = 100_000;

/// The transcript of a session, until a prompt if there is one. What nobody has said is told as well, if that is wanted.
pub(super) fn of(session: &Session, until: Option<&str>, unsaid: bool, now_ms: u64) -> String {
    let mut lines = vec![
        format!("# Session: {}", session.title),
        format!("Directory: {}", session.directory),
        format!("Created: {}", short_time(session.created_ms, now_ms)),
        String::new(),
    ];
    for message in &session.messages {
        let is_of_person = message.role() == "user";
        let prompt =
            if is_of_person { message.id() } else { message.info["parentID"].as_str().unwrap_or_default() };
        if until.is_some_and(|until| prompt >= until) {
            continue;
        }
        lines.push(if is_of_person { "## User" } else { "## Assistant" }.to_owned());
        for part in &message.parts {
            let said = part["text"].as_str().unwrap_or_default();
            match part["type"].as_str() {
                Some("text") if is_of_person && part["synthetic"] == true && !unsaid => {}
                Some("text") => lines.push(said.to_owned()),
                Some("tool") if !is_of_person && part["state"]["status"] == "completed" => {
                    let title = part["state"]["title"].as_str().unwrap_or_default();
                    lines.push(format!("[Tool: {}] {title}", part["tool"].as_str().unwrap_or_default()));
                }
                _ => {}
            }
        }
        lines.push(String::new());
    }
    without_middle(lines.join("\n"))
}

fn without_middle(text: String) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= UNITS_MAX {
        return text;
    }
    let begins = UNITS_MAX / 3;
    let ends = units.len() - (UNITS_MAX - begins);
    let shown = |units: &[u16]| String::from_utf16_lossy(units);
    format!(
        "{}\n\n[... {} characters omitted from the middle of this transcript ...]\n\n{}",
        shown(&units[..begins]),
        units.len() - UNITS_MAX,
        shown(&units[ends..])
    )
}

/// A text that is no markup to its reader.
pub(super) fn inert(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A time as people of the United States write it; with its day, unless that is today.
pub(super) fn short_time(ms: u64, now_ms: u64) -> String {
    let zoned = |ms: u64| {
        let time = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        time.unwrap_or_default().to_zoned(TimeZone::UTC)
    };
    let (time, now) = (zoned(ms), zoned(now_ms));
    let short = time.strftime("%-I:%M %p").to_string();
    match time.date() == now.date() {
        true => short,
        false => format!("{short} \u{b7} {}", time.strftime("%-m/%-d/%Y")),
    }
}
