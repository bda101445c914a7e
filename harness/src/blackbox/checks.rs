//! What can be asked of a command. Pure functions on what is known of a run.

use super::command::Ending;
use super::evidence::Evidence;
use crate::judge::{Judged, Verdict};
use fixtures::redact::clean;

/// Nobody's stream is lost so often that it must be asked for more than so many times…
const MOST_STREAMS: usize = 10;
/// … in so many microseconds.
const WINDOW_US: u64 = 5_000_000;
/// So many requests may follow the first 401: those that were on their way, and a look whether it was meant.
const MOST_AFTER_401: usize = 5;

/// A check: how many facts it has seen, and what does not hold. Without a fact it is not applicable.
type Check = fn(&Evidence) -> (usize, Vec<String>);

const CHECKS: [(&str, Check); 5] = [
    ("command.ends", ends),
    ("command.answer", answer),
    ("command.effort", effort),
    ("command.prompt", prompt),
    ("command.leave", leave),
];

/// The names of these checks.
pub const NAMES: [&str; 5] =
    ["command.ends", "command.answer", "command.effort", "command.prompt", "command.leave"];

pub(super) fn judge(evidence: &Evidence) -> Vec<Judged> {
    let judged = CHECKS.iter().map(|(check, examine)| {
        let (facts, findings) = examine(evidence);
        let verdict = match (facts, findings.is_empty()) {
            (0, true) => Verdict::NotApplicable,
            (_, true) => Verdict::Pass,
            (_, false) => Verdict::Fail,
        };
        // They quote server and command, and go to reports.
        let findings = findings.iter().map(|finding| clean(finding)).collect();
        Judged { facts, findings, ..Judged::unseen(check, verdict) }
    });
    judged.collect()
}

/// It ends by itself.
fn ends(evidence: &Evidence) -> (usize, Vec<String>) {
    let late = evidence.ran.ending == Ending::TooLong;
    let finding = || format!("it did not end within {} s", evidence.limit.as_secs_f32());
    (1, late.then(finding).into_iter().collect())
}

/// Where nothing breaks it prints the answer and ends well. Elsewhere it does that, or says that it could not.
fn answer(evidence: &Evidence) -> (usize, Vec<String>) {
    let mut findings = Vec::new();
    let says_nothing = evidence.ran.stdout.trim().is_empty() && evidence.ran.stderr.trim().is_empty();
    match evidence.ran.ending {
        // That it hangs is told by another check; what it has printed until then is no answer yet.
        Ending::TooLong => return (0, findings),
        Ending::Code(0) if evidence.answer.is_empty() => {
            findings.push("it ends with exit code 0, and there is no answer".to_owned());
        }
        Ending::Code(0) if !evidence.prints_answer() => findings.push(format!(
            "it ends with exit code 0, and does not print the whole answer {:?}, but {:?}",
            evidence.answer.join(" "),
            shown(&evidence.ran.stdout)
        )),
        Ending::Code(0) => {}
        ending if evidence.plain => findings.push(format!(
            "nothing breaks, and it ends with {}: {:?}",
            match ending {
                Ending::Code(code) => format!("exit code {code}"),
                _ => "a signal".to_owned(),
            },
            shown(&evidence.ran.stderr)
        )),
        _ if says_nothing => findings.push("it fails without a word of why".to_owned()),
        _ => {}
    }
    (1, findings)
}

/// It asks for streams in measure, and leaves off soon when it is not let in.
fn effort(evidence: &Evidence) -> (usize, Vec<String>) {
    let mut findings = Vec::new();
    let streams: Vec<u64> =
        evidence.asked.iter().filter(|asked| asked.is_stream).map(|asked| asked.at_us).collect();
    let in_window =
        |from: usize| streams[from..].iter().take_while(|at| **at - streams[from] < WINDOW_US).count();
    let most = (0..streams.len()).map(in_window).max().unwrap_or_default();
    if most > MOST_STREAMS {
        let seconds = WINDOW_US / 1_000_000;
        findings.push(format!(
            "it asks for event streams {most} times in {seconds} s; {MOST_STREAMS} are enough"
        ));
    }
    let refused = evidence.asked.iter().position(|asked| asked.status == Some(401));
    let after = refused.map_or(&[][..], |at| &evidence.asked[at + 1..]);
    if after.len() > MOST_AFTER_401 {
        let latest = after.last().map_or("", |asked| &asked.words);
        findings.push(format!(
            "it is answered 401 and asks {} times more, at last {latest}; {MOST_AFTER_401} are enough",
            after.len()
        ));
    }
    if refused.is_some() && !evidence.says_that_it_failed() && evidence.ran.ending != Ending::TooLong {
        findings.push("it is not let in, and ends with exit code 0".to_owned());
    }
    (evidence.asked.len(), findings)
}

/// The server takes the prompt once. Who is not let in, or says that it failed, may not have sent it.
fn prompt(evidence: &Evidence) -> (usize, Vec<String>) {
    let may_be_missing =
        !evidence.plain && (evidence.says_that_it_failed() || evidence.ran.ending == Ending::TooLong);
    let findings = match evidence.prompts {
        1 => None,
        0 if may_be_missing => return (0, Vec::new()),
        0 => Some("the prompt never reached the server".to_owned()),
        more => Some(format!("the server has the prompt {more} times")),
    };
    (1, findings.into_iter().collect())
}

/// Nobody has given leave, so it gives none; unless it says that it does, by `--auto`.
fn leave(evidence: &Evidence) -> (usize, Vec<String>) {
    let given: Vec<&str> = evidence.asked.iter().filter_map(|asked| asked.leave.as_deref()).collect();
    let finding = || format!("it gives leave that nobody gave: {}", given.join(", "));
    let wrong = !given.is_empty() && !evidence.gives_leave;
    (evidence.leave_asked.max(given.len()), wrong.then(finding).into_iter().collect())
}

/// How much of what it prints is quoted.
const SHOWN_CHARS: usize = 300;

fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::command::Ran;
    use super::super::evidence::Asked;
    use super::*;
    use std::time::Duration;

    fn ran(stdout: &str, stderr: &str, ending: Ending) -> Ran {
        Ran { stdout: stdout.to_owned(), stderr: stderr.to_owned(), ending }
    }

    /// A run in which the server has the prompt once and says "Hello, and welcome."
    fn evidence(ran: Ran, plain: bool) -> Evidence {
        Evidence {
            asked: vec![asked(0, "POST /session", Some(200))],
            prompts: 1,
            answer: vec!["Hello, and welcome.".to_owned()],
            leave_asked: 0,
            ran,
            plain,
            gives_leave: false,
            limit: Duration::from_secs(3),
        }
    }

    fn asked(at_us: u64, words: &str, status: Option<u16>) -> Asked {
        Asked { at_us, words: words.to_owned(), is_stream: words.ends_with("/event"), leave: None, status }
    }

    fn told(check: Check, evidence: &Evidence) -> Option<String> {
        check(evidence).1.into_iter().next()
    }

    #[test]
    fn the_names_are_those_of_the_checks() {
        assert_eq!(CHECKS.map(|(name, _)| name), NAMES);
    }

    #[test]
    fn whole_or_failed_and_never_half_in_silence() {
        let whole = ran("\u{1b}[0mHello,\nand welcome.\n", "", Ending::Code(0));
        let half = ran("Hello, and", "", Ending::Code(0));
        let fails = ran("Hello, and", "the stream broke", Ending::Code(1));
        let mute = ran("", " \n", Ending::Code(1));
        for plain in [true, false] {
            assert_eq!(told(answer, &evidence(whole.clone(), plain)), None);
            assert!(
                told(answer, &evidence(half.clone(), plain))
                    .unwrap()
                    .contains("does not print the whole answer")
            );
        }
        assert!(
            told(answer, &evidence(fails.clone(), true))
                .unwrap()
                .starts_with("nothing breaks, and it ends with exit code 1")
        );
        assert_eq!(told(answer, &evidence(fails.clone(), false)), None);
        assert_eq!(told(answer, &evidence(mute, false)).unwrap(), "it fails without a word of why");
        let nobody = Evidence { answer: Vec::new(), ..evidence(whole, false) };
        assert_eq!(told(answer, &nobody).unwrap(), "it ends with exit code 0, and there is no answer");
        let hangs = evidence(ran("Hello", "", Ending::TooLong), false);
        assert_eq!(answer(&hangs).0, 0);
        assert_eq!(told(ends, &hangs).unwrap(), "it did not end within 3 s");
        assert_eq!(told(ends, &evidence(fails, false)), None);
    }

    #[test]
    fn a_prompt_is_taken_once() {
        let with = |prompts, ending, plain| Evidence { prompts, ..evidence(ran("", "x", ending), plain) };
        assert_eq!(prompt(&with(1, Ending::Code(0), true)), (1, vec![]));
        assert_eq!(
            told(prompt, &with(2, Ending::Code(1), false)).unwrap(),
            "the server has the prompt 2 times"
        );
        assert_eq!(
            told(prompt, &with(0, Ending::Code(1), true)).unwrap(),
            "the prompt never reached the server"
        );
        assert_eq!(
            told(prompt, &with(0, Ending::Code(0), false)).unwrap(),
            "the prompt never reached the server"
        );
        assert_eq!(prompt(&with(0, Ending::Code(1), false)).0, 0);
    }

    #[test]
    fn streams_are_asked_for_in_measure_and_nothing_much_after_a_401() {
        let every = |ms: u64, count: u64| Evidence {
            asked: (0..count).map(|at| asked(at * ms * 1000, "GET /event", Some(503))).collect(),
            ..evidence(ran("", "x", Ending::Code(1)), false)
        };
        assert_eq!(told(effort, &every(500, 30)), None);
        assert_eq!(
            told(effort, &every(100, 30)).unwrap(),
            "it asks for event streams 30 times in 5 s; 10 are enough"
        );
        let refused = |count, ending| Evidence {
            asked: (0..count).map(|at| asked(at * 1_000_000, "GET /path", Some(401))).collect(),
            ..evidence(ran("", "x", ending), false)
        };
        assert_eq!(told(effort, &refused(6, Ending::Code(1))), None);
        assert_eq!(
            told(effort, &refused(7, Ending::Code(1))).unwrap(),
            "it is answered 401 and asks 6 times more, at last GET /path; 5 are enough"
        );
        assert_eq!(
            told(effort, &refused(1, Ending::Code(0))).unwrap(),
            "it is not let in, and ends with exit code 0"
        );
    }

    #[test]
    fn leave_is_given_by_nobody_but_who_says_so() {
        let mut yes = evidence(ran("", "", Ending::Code(0)), false);
        assert_eq!(leave(&yes).0, 0);
        yes.leave_asked = 1;
        assert_eq!(leave(&yes), (1, vec![]));
        yes.asked[0].leave = Some("once".to_owned());
        assert_eq!(told(leave, &yes).unwrap(), "it gives leave that nobody gave: once");
        yes.gives_leave = true;
        assert_eq!(told(leave, &yes), None);
    }
}
