//! Virtual time: what passes over sockets passes here, and the same seed gives the same bytes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::recording::Line;
use harness::clock::Limits;
use harness::judge::{Verdict, judge};
use harness::runner::Manner;
use harness::subject::Subject;
use harness::virtual_time::{self, Theatre};
use parity_specs::NamedCase;

fn cases(wanted: impl Fn(&NamedCase) -> bool) -> Vec<NamedCase> {
    harness::matrix::embedded().unwrap().cases.into_iter().filter(wanted).collect()
}

fn bytes(theatre: &Theatre, named: &NamedCase, seed: u64) -> String {
    let manner = Manner { seed, ..Manner::default() };
    let history = theatre.run(named, named.case.servers[0], &Subject::Reference, manner).unwrap();
    let lines = history.lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n");
    serde_json::to_string(&history.header).unwrap() + &lines.collect::<String>()
}

#[test]
fn the_reference_passes_in_virtual_time_what_it_passes_over_sockets() {
    let theatre = Theatre::new().unwrap();
    // A third of them, and those in which nothing is hurried: each case is a test of its own over sockets.
    let mut played = 0;
    for named in cases(|named| named.case.time_scale == 1.0).iter().step_by(3) {
        let server = named.case.servers[0];
        let manner = Manner::default();
        let history = match theatre.run(named, server, &Subject::Reference, manner) {
            Err(why) if why.to_string().ends_with("in the machine's time and not in virtual time") => {
                continue;
            }
            history => history.unwrap(),
        };
        let judged = judge(&history.lines);
        assert_eq!(judged.verdict, Verdict::Pass, "{}: {judged:?}", named.name);
        played += 1;
    }
    assert!(played > 15, "{played}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_another_order() {
    let theatre = Theatre::new().unwrap();
    let names = ["reconnect/cut-in-mid-turn", "permission/two-sessions", "reconnect/cut-twice"];
    for named in cases(|named| names.contains(&named.name.as_str())) {
        let first = bytes(&theatre, &named, 1);
        assert!(first == bytes(&theatre, &named, 1), "{}: two runs differ", named.name);
        assert!(first != bytes(&theatre, &named, 2), "{}: the seed decides nothing", named.name);
    }
}

#[test]
fn time_passes_and_nobody_waits_for_it() {
    let theatre = Theatre::new().unwrap();
    let named = &cases(|named| named.name == "turn/never-begins")[0];
    let history = theatre.run(named, named.case.servers[0], &Subject::Reference, Manner::default()).unwrap();
    let told = history.lines.iter().map(Line::at_us).max().unwrap_or_default();
    assert!(told > 30_000_000, "half a minute and more has passed: {told} us");
}

#[test]
fn a_mutant_is_caught_however_busy_the_machine_is() {
    let theatre = Theatre::new().unwrap();
    let mutants = [("question/countdown", "suggests_at_once"), ("stream/delta-beside", "adds_delta_beside")];
    for (case, mutant) in mutants {
        let named = &cases(|named| named.name == case)[0];
        for server in &named.case.servers {
            assert!(virtual_time::has(named, *server), "{case}");
            let (subject, limits) = (Subject::Mutant(mutant.to_owned()), Limits::default());
            let play = || theatre.run_within(named, *server, &subject, Manner::default(), &limits).unwrap();
            let (once, again) = (play(), play());
            assert_eq!(judge(&once.lines).verdict, Verdict::Fail, "{case} {mutant}");
            assert_eq!(once.lines, again.lines, "{case} {mutant}");
        }
    }
}

#[test]
fn what_has_programs_beside_it_has_the_machines_time() {
    let is_machines = |case: &str| {
        let named = &cases(|named| named.name == case)[0];
        !virtual_time::has(named, named.case.servers[0])
    };
    assert!(is_machines("turn/tool-server") && is_machines("turn/command-ends"));
    assert!(!is_machines("reconnect/cut-in-mid-turn"));
}
