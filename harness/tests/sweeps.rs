//! Sweeps: the reference holds, every kind of schedule catches a broken client, and what fails is shrunk and kept.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::fault_plan::FaultPlan;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use harness::subject::Subject;
use harness::sweep::report::Swept;
use harness::sweep::schedule::Kind;
use harness::sweep::{Ground, NotSwept, Wish, sweep};
use std::path::Path;

fn ground(name: &str, server: ServerKind) -> Ground {
    Ground { name: name.to_owned(), scenario: catalog::scenario(name).unwrap(), server }
}

fn mutant(name: &str) -> Subject {
    Subject::Mutant(name.to_owned())
}

fn of(swept: &Swept, kind: Kind) -> (usize, usize) {
    let count = swept.counts.iter().find(|count| count.kind == kind);
    count.map_or((0, 0), |count| (count.schedules, count.hold))
}

#[test]
fn the_reference_holds_in_a_sample_of_every_kind_with_both_servers() {
    for server in ServerKind::ALL {
        for name in ["text/reasoning", "permission/write-allowed-once", "queue/second-prompt"] {
            let wish = Wish { sample: Some(4), random: 3, seed: 3, ..Wish::default() };
            let swept = sweep(&ground(name, server), &Subject::Reference, &wish).unwrap();
            assert!(swept.holds(), "{}", swept.text(""));
            for kind in [Kind::Cut, Kind::Fail, Kind::Lose] {
                assert_eq!(of(&swept, kind).0, 4, "{kind}: {}", swept.text(""));
            }
        }
    }
}

#[test]
fn every_kind_of_schedule_catches_a_broken_client() {
    // Each of them passes where nothing breaks.
    for (kind, name, scenario) in [
        (Kind::Cut, "resume_without_refresh", "permission/write-allowed-once"),
        (Kind::Fail, "shows_a_part", "permission/write-allowed-once"),
        (Kind::Lose, "deltas_only", "permission/write-allowed-once"),
        (Kind::Random, "never_reconnects", "text/plain"),
    ] {
        let wish = Wish { kinds: vec![kind], sample: Some(30), random: 8, ..Wish::default() };
        let swept = sweep(&ground(scenario, ServerKind::Kilo), &mutant(name), &wish).unwrap();
        let (all, hold) = of(&swept, kind);
        assert!(hold < all, "{kind} catches {name}: {}", swept.text(""));
    }
}

#[test]
fn what_fails_is_shrunk_and_kept_and_fails_again() {
    let folder = tempfile::tempdir().unwrap();
    let ground = ground("text/plain", ServerKind::Opencode);
    let failing = Some(folder.path().to_owned());
    let subject = mutant("never_reconnects");
    let wish = Wish { sample: Some(0), random: 6, failing: failing.clone(), ..Wish::default() };
    let swept = sweep(&ground, &subject, &wish).unwrap();
    let found = swept.failing.iter().find(|failing| failing.kind == Kind::Random).unwrap();
    assert_eq!(found.plan.faults.len(), 1, "one cut is enough: {:?}", found.plan.faults);
    let file = found.file.as_ref().unwrap();
    assert!(file.with_extension("jsonl").is_file(), "what happened lies beside it");
    let plan = FaultPlan::parse(file, &std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(plan.faults, found.plan.faults);

    let again = Wish { plans: vec![(file.clone(), plan)], ..Wish::default() };
    assert_eq!(sweep(&ground, &subject, &again).unwrap().totals(), (1, 0));
    assert_eq!(sweep(&ground, &Subject::Reference, &again).unwrap().totals(), (1, 1));
    // The next sweep begins with it.
    let next = Wish { sample: Some(0), failing, ..Wish::default() };
    let swept = sweep(&ground, &subject, &next).unwrap();
    assert_eq!((of(&swept, Kind::Saved), swept.totals()), ((1, 0), (1, 0)));
}

/// Scenarios that are swept here alone.
fn own_ground(name: &str, server: ServerKind) -> Ground {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/swept").join(name).with_extension("toml");
    let scenario = Scenario::parse(&file, &std::fs::read_to_string(&file).unwrap()).unwrap();
    Ground { name: name.to_owned(), scenario, server }
}

#[test]
fn what_other_scenarios_have_found_stays_mended() {
    let cut = |behind: usize, end: &str| {
        format!(
            "[[fault]]\nwhen = {{ stream = \"any\", connection = 1, after_events = {behind} }}\ndo = {{ {end} }}\n"
        )
    };
    let plain = |behind| cut(behind, r#"cut = "between-frames""#);
    let answer = |request: &str, act: &str| {
        format!("[[fault]]\nwhen = {{ lane = \"adapter\", {request} }}\ndo = {{ {act} }}\n")
    };
    let last_word = r#"{ stream = "event", event = "message.part.updated", has = { "properties.part.text" = "The model hit its output limit, so this response may be incomplete." } }"#;
    let [kilo, opencode] = ServerKind::ALL;
    for (name, server, plan) in [
        // The next prompt is sent while the end of the one before is looked for.
        ("asked-and-stopped", kilo, cut(117, r#"cut = "blank-line", end = "silent""#)),
        // The person prompts where Retry is offered, and presses it then.
        ("refused-and-cut", kilo, plain(51) + &answer(r#"request = "GET /question""#, r#"reset = "answer""#)),
        // A part that comes in one event, and is lost.
        ("refused-and-cut", kilo, format!("[[fault]]\nwhen = {last_word}\ndo = {{ drop = \"*\" }}\n")),
        // What is not answered holds up the tasks that it is about, and no others.
        (
            "refused-and-cut",
            opencode,
            plain(2) + &answer(r#"request = "GET /session/{sessionID}/diff""#, r#"hang = "answer""#),
        ),
        (
            "three-at-once",
            kilo,
            plain(51) + &answer(r#"request = "GET /session/{sessionID}/todo""#, r#"hang = "answer""#),
        ),
        ("three-at-once", opencode, plain(2) + &answer(r#"request = "GET /permission""#, "late_ms = 912")),
        (
            "three-at-once",
            opencode,
            plain(2)
                + &answer(r#"request = "GET /session/{sessionID}/message", nth = 2"#, r#"hang = "answer""#),
        ),
    ] {
        let file = Path::new("found.toml");
        let plans = vec![(file.to_owned(), FaultPlan::parse(file, &plan).unwrap())];
        let wish = Wish { plans, ..Wish::default() };
        let swept = sweep(&own_ground(name, server), &Subject::Reference, &wish).unwrap();
        assert_eq!(swept.totals(), (1, 1), "{}", swept.text(""));
    }
}

/// What sweeps have found: each of these plans once failed with the reference, or with a check.
#[test]
fn what_was_found_once_stays_mended() {
    let completed =
        r#"event = "message.part.updated", has = { "properties.part.state.status" = "completed" }"#;
    for (name, server, when, act) in [
        // The turn is over, and its call was never heard to end.
        ("permission/write-allowed-once", ServerKind::Kilo, completed, r#"drop = "*""#),
        // Nobody can know of it.
        ("text/plain", ServerKind::Kilo, r#"event = "message.part.delta""#, r#"drop = "*""#),
        ("todo/written", ServerKind::Kilo, r#"event = "todo.updated", nth = 2"#, r#"drop = "*""#),
        // A dead stream in the middle of two turns is noticed after a while, and the case waits for that.
        (
            "queue/second-prompt",
            ServerKind::Kilo,
            "after_events = 94",
            r#"cut = "between-frames", end = "silent""#,
        ),
    ] {
        let toml =
            format!("[[fault]]\nwhen = {{ stream = \"event\", connection = 1, {when} }}\ndo = {{ {act} }}\n");
        let file = Path::new("found.toml");
        let plans = vec![(file.to_owned(), FaultPlan::parse(file, &toml).unwrap())];
        let wish = Wish { plans, ..Wish::default() };
        let swept = sweep(&ground(name, server), &Subject::Reference, &wish).unwrap();
        assert_eq!(swept.totals(), (1, 1), "{}", swept.text(""));
    }
}

#[test]
fn what_can_not_be_swept_is_told() {
    let none = sweep(&ground("wire/schemas", ServerKind::Kilo), &Subject::Reference, &Wish::default());
    assert!(matches!(none, Err(NotSwept::CanNot(_))), "{none:?}");
    let shell = sweep(&ground("shell/aborted", ServerKind::Kilo), &Subject::Reference, &Wish::default());
    assert!(shell.unwrap_err().to_string().contains("shell lines"));
    let nobody = sweep(&ground("text/plain", ServerKind::Kilo), &mutant("nobody"), &Wish::default());
    assert!(matches!(nobody, Err(NotSwept::Unbroken(_))), "who can't be started has no schedule: {nobody:?}");
}

#[test]
fn a_plan_that_is_no_plan_any_more_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("kilo/text/plain");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("old.toml"), "[[fault]]\nwhen = {}\n").unwrap();
    std::fs::write(place.join("notes.txt"), "nothing").unwrap();
    let wish = Wish { sample: Some(1), failing: Some(folder.path().to_owned()), ..Wish::default() };
    let swept = sweep(&ground("text/plain", ServerKind::Kilo), &Subject::Reference, &wish).unwrap();
    assert_eq!(of(&swept, Kind::Saved), (0, 0));
    assert!(Path::new(&place).join("notes.txt").is_file());
}
