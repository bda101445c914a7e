//! What a checkpoint says: seven fields, each what it is meant to be, and the files that were really changed.

use super::{is_no_name, issue_of, list, looks, prompted, status_in, subject, word};
use crate::kit::Check;
use crate::story::{AdapterClock, Seen, Story};
use harness::checks::Examined;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "checkpoints",
    about: "Each phase that the runner has done has a whole checkpoint with seven true fields.",
    examine,
};

const FIELDS: [&str; 7] =
    ["issue_number", "phase", "agent_name", "files_modified", "status", "timestamp", "next_agent"];
const STATUS: [&str; 3] = ["success", "fail", "blocked"];

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    // Those that the case has planted are none of the runner's.
    let own: BTreeSet<(&str, &str)> =
        prompted(story).map(|it| (issue_of(it, &subject), word(it, "phase"))).collect();
    for look in looks(story, &["gone", "killed"]) {
        for checkpoint in list(&look.value["checkpoints"]) {
            let (file, says) = (word(checkpoint, "file"), &checkpoint["says"]);
            let phase = own.iter().find(|(issue, phase)| file == format!("{issue}-{phase}.json"));
            let Some((issue, phase)) = phase else { continue };
            examined.fact(!says.is_null(), || format!("{file} is not whole"));
            if says.is_null() {
                continue;
            }
            let known = list(&subject["phases"]).iter().find(|known| known["phase"] == *phase);
            if story.clock == AdapterClock::Real
                && !is_planted(story, checkpoint)
                && let Some(late) = minutes_off(look, word(says, "timestamp"))
            {
                examined.fact(late == 0, || {
                    format!("{file}: timestamp is {}, {late} minutes beside the run", says["timestamp"])
                });
            }
            for wrong in mistakes(says, issue, known.unwrap_or(&Value::Null)) {
                examined.fact(false, || format!("{file}: {wrong}"));
            }
            // Of two issues at once each has phases of its own, and one of them is all.
            if *issue == word(&subject, "issue")
                && story.seen_of("together").next().is_none()
                && let Some(wrong) = wrong_next(says, list(&subject["phases"]), phase)
            {
                examined.fact(false, || format!("{file}: {wrong}"));
            }
        }
    }
    told_as_failed(story, &subject, &mut examined);
    for ended in
        story.seen_of("prompted").filter(|seen| seen.value["killed"].is_null() && seen.value["hangs"] != true)
    {
        let last = looks(story, &["gone"]).find(|look| look.at.line > ended.at.line);
        let files: Vec<&str> = last
            .map(|look| list(&look.value["checkpoints"]))
            .unwrap_or_default()
            .iter()
            .map(|it| word(it, "file"))
            .collect();
        let asked = list(&ended.value["prompted"]).iter();
        for asked in asked.filter(|asked| !is_no_name(issue_of(asked, &subject))) {
            let name = format!("{}-{}.json", issue_of(asked, &subject), word(asked, "phase"));
            examined.fact(files.contains(&name.as_str()), || format!("there is no checkpoint {name}"));
        }
    }
    examined
}

/// An agent that has failed has failed: nobody has to decide anything, and nothing stands in its way.
fn told_as_failed(story: &Story<'_>, subject: &Value, examined: &mut Examined) {
    for run in story.seen_of("prompted") {
        let failed = word(&run.value, "failed");
        let was_sent = list(&run.value["prompted"]).iter().any(|asked| word(asked, "phase") == failed);
        let look = looks(story, &["gone"]).find(|look| look.at.line > run.at.line).filter(|_| was_sent);
        if let Some(status) = look.and_then(|look| status_in(look, word(subject, "issue"), failed)) {
            examined.fact(status == "fail", || {
                format!("the agent of {failed} has failed, and its checkpoint says \"{status}\"")
            });
        }
    }
}

/// Did the case put it there, as it is?
fn is_planted(story: &Story<'_>, checkpoint: &Value) -> bool {
    story.seen_of("planted").any(|planted| {
        planted.value["file"] == checkpoint["file"] && planted.value["says"] == checkpoint["says"]
    })
}

/// So many minutes a time lies outside of what has passed since the case began; what is no time is told elsewhere.
fn minutes_off(look: &Seen, time: &str) -> Option<i64> {
    let now: Timestamp = word(&look.value, "now").parse().ok()?;
    let said: Timestamp = time.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a case takes seconds")]
    let begun = now.as_second() - (look.at.ms / 1000.0) as i64;
    let late = (said.as_second() - now.as_second()).max(begun - said.as_second());
    Some((late / 60).max(0))
}

fn mistakes(says: &Value, issue: &str, known: &Value) -> Vec<String> {
    let mut found: Vec<String> = FIELDS
        .iter()
        .filter(|field| says.get(**field).is_none())
        .map(|field| format!("has no {field}"))
        .collect();
    let mut wrong = |field: &str, holds: bool, wanted: &dyn Fn() -> String| {
        if says.get(field).is_some() && !holds {
            found.push(format!("{field} is {}, and should be {}", says[field], wanted()));
        }
    };
    let number = says["issue_number"].as_str().map(str::to_owned);
    let is_issue = number.unwrap_or_else(|| says["issue_number"].to_string()) == issue;
    wrong("issue_number", is_issue, &|| issue.to_owned());
    wrong("phase", says["phase"] == known["phase"], &|| known["phase"].to_string());
    wrong("agent_name", says["agent_name"] == known["agent"], &|| known["agent"].to_string());
    wrong("status", STATUS.contains(&word(says, "status")), &|| STATUS.join(", or "));
    let zoned = || "a time of ISO 8601 with its zone".to_owned();
    wrong("timestamp", is_time(word(says, "timestamp")), &zoned);
    let next = &says["next_agent"];
    wrong("next_agent", next.is_string() || next.is_null(), &|| "a name, or null".to_owned());
    let names = |value: &Value| {
        list(value).iter().filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    // Whether a file that is gone was modified is a question of words.
    let gone = names(&known["removes"]);
    let without = |mut all: BTreeSet<String>| {
        all.retain(|name| !gone.contains(name));
        all
    };
    let (told, changed) = (names(&says["files_modified"]), names(&known["files"]));
    let is_true =
        says["status"] != "success" || told.is_subset(&changed) && without(told) == without(changed);
    wrong("files_modified", is_true, &|| known["files"].to_string());
    found
}

/// Behind a success is the agent of the next phase; behind the last one is nobody.
fn wrong_next(says: &Value, phases: &[Value], phase: &str) -> Option<String> {
    let at = phases.iter().position(|known| word(known, "phase") == phase)?;
    let (wanted, found) = (phases.get(at + 1).map(|next| word(next, "agent")), says["next_agent"].as_str());
    let is_true = match wanted {
        Some(agent) => found == Some(agent),
        None => !phases.iter().any(|known| Some(word(known, "agent")) == found),
    };
    if says["status"] != "success" || is_true {
        return None;
    }
    let next = wanted.unwrap_or("null: nobody");
    Some(format!("next_agent is {}, and behind {phase} comes {next}", says["next_agent"]))
}

/// ISO 8601 with a zone: `2026-01-01T12:00:00Z`, with parts of a second and another zone as one likes.
fn is_time(text: &str) -> bool {
    let Some((day, rest)) = text.split_once('T') else { return false };
    let digits = |text: &str, form: &str| {
        text.len() == form.len()
            && text.chars().zip(form.chars()).all(|(a, b)| if b == '0' { a.is_ascii_digit() } else { a == b })
    };
    let zone = rest.rfind(['Z', '+', '-']).map(|at| rest.split_at(at));
    let Some((time, zone)) = zone else { return false };
    let whole = time.split_once('.').map_or(time, |(whole, _)| whole);
    digits(day, "0000-00-00")
        && digits(whole, "00:00:00")
        && (zone == "Z" || digits(&zone[1..], "00:00") || digits(&zone[1..], "0000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_zone() {
        for right in ["2026-01-01T12:00:00Z", "2026-01-01T12:00:00.123Z", "2026-01-01T12:00:00+01:00"] {
            assert!(is_time(right), "{right}");
        }
        for wrong in ["2026-01-01T12:00:00", "2026-01-01 12:00:00Z", "now", "", "2026-1-1T12:00:00Z"] {
            assert!(!is_time(wrong), "{wrong}");
        }
    }
}
