//! `schedule_wakeup` and `cancel_wakeup`: an agent has its session prompted at a later time. The times are forgotten when the
//! server ends; the real one takes them up again.

use super::Due;
use crate::world::prompt::Prompt;
use crate::world::session::iso_time;
use crate::world::tools::Completed;
use crate::world::{ApiRequest, Effect, EffectId, Purpose, World};
use serde_json::{Value, json};

/// The tools.
pub(in crate::world) const SCHEDULE: &str = "schedule_wakeup";
pub(in crate::world) const CANCEL: &str = "cancel_wakeup";

/// A time at which a session is prompted.
#[derive(Debug)]
pub(in crate::world) struct Wakeup {
    id: String,
    session: String,
    prompt: String,
    reason: Option<String>,
    due_ms: u64,
    waits: EffectId,
}

const SECOND_MS: u64 = 1_000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;
/// Nobody is woken sooner, or later.
const SOONEST_MS: u64 = 10 * SECOND_MS;
const LATEST_MS: u64 = 7 * DAY_MS;
/// So many a session may have.
const MOST: usize = 10;
/// So many letters of a prompt are listed.
const LISTED: usize = 80;
const INVALID: &str = "Invalid wakeup input";

impl World {
    /// `schedule_wakeup`.
    pub(in crate::world) fn start_schedule(&mut self, session: &str, call: usize) {
        let now = self.now_ms;
        let text = |name| self.text_argument(session, call, name);
        let (when, delay) = (text("when"), text("delay"));
        let (prompt, reason) = (text("prompt").unwrap_or_default(), text("reason"));
        let said = |word: &Option<String>| word.clone().filter(|word| !word.is_empty());
        let due = match resolve(said(&when).as_deref(), said(&delay).as_deref(), now) {
            Ok(due) => due,
            Err(why) => return self.end_wakeup_call(session, call, INVALID, why, json!({})),
        };
        if self.alongside.wakeups.iter().filter(|wakeup| wakeup.session == session).count() >= MOST {
            let why = format!(
                "Too many scheduled wakeups: this session already holds the maximum of {MOST} pending wakeups. Cancel one \
                 with cancel_wakeup before scheduling another."
            );
            return self.end_wakeup_call(session, call, "Too many scheduled wakeups", why, json!({}));
        }
        let id = self.ids.ascending("wku", now);
        let wait = Effect::Wait { until_ms: due.at_ms };
        let waits = self.named_effect(Purpose::Alongside(Due::Wakeup(id.clone())), wait);
        let wakeup = Wakeup {
            id: id.clone(),
            session: session.to_owned(),
            prompt: prompt.clone(),
            reason,
            due_ms: due.at_ms,
            waits,
        };
        self.alongside.wakeups.push(wakeup);
        self.tell_wakeups(session);
        let note = due.note.map(|note| format!(" {note}")).unwrap_or_default();
        let output = format!(
            "Scheduled wakeup {id}, due {} ({}).{note}\nWhen it fires this session resumes with: {prompt}",
            iso_time(due.at_ms),
            // A moment has passed until it is said.
            from_now(due.at_ms, now + 1)
        );
        let metadata = json!({"id": id, "dueAt": due.at_ms, "prompt": prompt});
        self.end_wakeup_call(session, call, &format!("Scheduled wakeup {id}"), output, metadata);
    }

    /// `cancel_wakeup`.
    pub(in crate::world) fn start_cancel(&mut self, session: &str, call: usize) {
        let now = self.now_ms;
        if self.text_argument(session, call, "action").as_deref() == Some("list") {
            let mut own: Vec<&Wakeup> =
                self.alongside.wakeups.iter().filter(|wakeup| wakeup.session == session).collect();
            own.sort_by(|a, b| (a.due_ms, &a.id).cmp(&(b.due_ms, &b.id)));
            let lines: Vec<String> = own.iter().map(|wakeup| wakeup.line(now)).collect();
            let output = match lines.is_empty() {
                true => "No pending wakeups for this session.".to_owned(),
                false => lines.join("\n"),
            };
            let metadata = json!({"count": lines.len()});
            return self.end_wakeup_call(session, call, "Scheduled wakeups", output, metadata);
        }
        let id = self.text_argument(session, call, "id").unwrap_or_default().trim().to_owned();
        let own = |wakeup: &Wakeup| wakeup.id == id && wakeup.session == session;
        let Some(at) = self.alongside.wakeups.iter().position(own) else {
            let output = format!("No pending wakeup with id {id}.");
            return self.end_wakeup_call(session, call, "No pending wakeup", output, json!({"id": id}));
        };
        let cancelled = self.take_wakeup(at);
        let output = format!("Cancelled wakeup {id} ({}).", iso_time(cancelled.due_ms));
        let metadata = json!({"id": id, "cancelled": true});
        self.end_wakeup_call(session, call, "Cancelled wakeup", output, metadata);
    }

    fn end_wakeup_call(
        &mut self,
        session: &str,
        call: usize,
        title: &str,
        output: String,
        mut metadata: Value,
    ) {
        metadata["truncated"] = json!(false);
        let title = title.to_owned();
        self.complete_told_call(session, call, Completed { output, title, metadata, ..Completed::default() });
    }

    fn take_wakeup(&mut self, at: usize) -> Wakeup {
        let taken = self.alongside.wakeups.remove(at);
        self.forget_effect(taken.waits);
        self.tell_wakeups(&taken.session);
        taken
    }

    /// A session is deleted.
    pub(in crate::world) fn cancel_wakeups_of(&mut self, session: &str) {
        while let Some(at) = self.alongside.wakeups.iter().position(|wakeup| wakeup.session == session) {
            self.take_wakeup(at);
        }
    }

    /// It is that late: the session is prompted, as if by its person.
    pub(super) fn wake(&mut self, id: &str) {
        let Some(at) = self.alongside.wakeups.iter().position(|wakeup| wakeup.id == id) else { return };
        let Wakeup { id, session, prompt, due_ms, .. } = self.take_wakeup(at);
        let text = format!(
            "[scheduled wakeup] {prompt}\n\n(No user is present. You scheduled this wakeup yourself as {id}, due {}.)",
            iso_time(due_ms)
        );
        let metadata = json!({"background": true, "wakeup": true, "wakeupID": id});
        let part = json!({"type": "text", "text": text, "synthetic": true, "metadata": metadata});
        self.prompt(&session, Prompt { kept: json!({}), parts: vec![part], ..Prompt::default() });
    }

    /// `GET /kilocode/wakeups`.
    pub(in crate::world) fn list_wakeups(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let mut sessions: Vec<(String, usize)> = Vec::new();
        for wakeup in &self.alongside.wakeups {
            if !self.is_in(&wakeup.session, &directory) {
                continue;
            }
            match sessions.iter_mut().find(|(session, _)| *session == wakeup.session) {
                Some((_, count)) => *count += 1,
                None => sessions.push((wakeup.session.clone(), 1)),
            }
        }
        let told =
            sessions.iter().map(|(session, pending)| json!({"sessionID": session, "pending": pending}));
        self.reply_json(request.ticket, told.collect());
    }

    fn tell_wakeups(&mut self, session: &str) {
        let pending = self.alongside.wakeups.iter().filter(|wakeup| wakeup.session == session).count();
        let told = json!({"sessionID": session, "pending": pending});
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone());
        if let Some(directory) = directory {
            self.emit(&directory, "session.wakeup", told);
        }
    }
}

impl Wakeup {
    fn line(&self, now_ms: u64) -> String {
        let words = self.reason.as_ref().unwrap_or(&self.prompt);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let label = match words.char_indices().nth(LISTED) {
            Some(_) => format!("{}\u{2026}", words.chars().take(LISTED - 1).collect::<String>()),
            None => words,
        };
        format!("{}  due {} ({})  {label}", self.id, iso_time(self.due_ms), from_now(self.due_ms, now_ms))
    }
}

/// When somebody is woken.
struct DueAt {
    at_ms: u64,
    /// That it is not quite when they wanted it.
    note: Option<String>,
}

/// When somebody is woken who wants it at a time, or after one.
fn resolve(when: Option<&str>, delay: Option<&str>, now_ms: u64) -> Result<DueAt, String> {
    let latest = now_ms + LATEST_MS;
    let late =
        |what: &str| format!("Requested {what} is beyond the 7-day horizon and was pulled back to it.");
    match (when, delay) {
        (Some(when), None) => {
            let at_ms = time_in(when).ok_or_else(|| format!("Invalid time: {when}"))?;
            if at_ms <= i128::from(now_ms) {
                return Err(format!("Wakeup time is not in the future: {when}"));
            }
            let at_ms = u64::try_from(at_ms).unwrap_or(u64::MAX);
            let note = (at_ms > latest).then(|| late(&format!("when: \"{when}\"")));
            Ok(DueAt { at_ms: at_ms.min(latest), note })
        }
        (None, Some(delay)) => {
            let span = span_in(delay).ok_or_else(|| format!("Invalid delay: {delay}"))?;
            if span == 0 {
                return Err(format!("Wakeup delay is not in the future: {delay}"));
            }
            let early = || {
                format!("Requested delay: \"{delay}\" is under the 10-second minimum and was raised to it.")
            };
            let note = match span {
                0..SOONEST_MS => Some(early()),
                _ if span > LATEST_MS => Some(late(&format!("delay: \"{delay}\""))),
                _ => None,
            };
            Ok(DueAt { at_ms: now_ms + span.clamp(SOONEST_MS, LATEST_MS), note })
        }
        _ => Err("Provide exactly one of when or delay".to_owned()),
    }
}

/// A span: a number, and perhaps the letter of a unit.
fn span_in(delay: &str) -> Option<u64> {
    let delay = delay.trim();
    let digits = delay.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let unit = match delay[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "s" => SECOND_MS,
        "m" => MINUTE_MS,
        "h" => HOUR_MS,
        "d" => DAY_MS,
        _ => return None,
    };
    Some(digits.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(unit))
}

/// A date with its time, to the minute at least. Without a zone it is that of the machine.
fn time_in(when: &str) -> Option<i128> {
    let (date, time) = when.split_once('T')?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let time = if time.len() == 5 { format!("{time}:00") } else { time.to_owned() };
    let local: jiff::civil::DateTime = format!("{date}T{time}").parse().ok()?;
    let local = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond();
    let offset = match zone {
        "" | "Z" => 0,
        _ => {
            let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
            let (hours, minutes) = digits.split_at_checked(2).filter(|(_, minutes)| minutes.len() == 2)?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    Some(i128::from(local - offset * 60_000))
}

/// How long it takes until then, in one unit.
fn from_now(at_ms: u64, now_ms: u64) -> String {
    let left = at_ms.saturating_sub(now_ms);
    let rounded = |unit: u64| (left + unit / 2) / unit;
    match left {
        0..MINUTE_MS => format!("in {}s", rounded(SECOND_MS).max(1)),
        MINUTE_MS..HOUR_MS => format!("in {}m", rounded(MINUTE_MS)),
        HOUR_MS..DAY_MS => format!("in {}h", rounded(HOUR_MS)),
        DAY_MS.. => format!("in {}d", rounded(DAY_MS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_times_are_read_as_the_server_reads_them() {
        assert_eq!(span_in("30s"), Some(30_000));
        assert_eq!(span_in(" 5 M "), Some(300_000));
        assert_eq!(span_in("7"), Some(7_000));
        assert_eq!([span_in("soon"), span_in("-5s"), span_in("1.5h"), span_in("5w"), span_in("")], [None; 5]);
        assert_eq!(time_in("1970-01-01T00:01Z"), Some(60_000));
        assert_eq!(time_in("1970-01-01T02:00:00.5+01:30"), Some(1_800_500));
        assert_eq!(time_in("1970-01-01T00:00:00-0100"), Some(3_600_000));
        assert_eq!([time_in("yesterday"), time_in("2026-13-01T00:00Z"), time_in("2026-01-01")], [None; 3]);
        assert_eq!(from_now(90 * MINUTE_MS, 1), "in 1h");
        assert_eq!(from_now(HOUR_MS, 1), "in 60m");
        assert_eq!(from_now(5, 9), "in 1s");
    }
}
