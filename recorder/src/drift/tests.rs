//! Whole releases: what is compared with itself does not drift and is compared; one thing altered in a real `/doc` is
//! found at its place; the two releases of each server, as a person reads of them.

use super::source::{Pair, PairOfRecordings};
use super::{Change, MIN_PATHS, Report, Rule, Severity, Shown, Verdict, drift, json, markdown, read, text};
use fixtures::catalog;
use fixtures::recording::{HowEnded, Line};
use serde_json::Value;

const SHOWN: Shown = Shown { fail_on: Severity::Breaking, all: false, colours: false };

fn docs(old: &Value, new: &Value) -> Report {
    let pair = Pair { docs: (Some(old.clone()), Some(new.clone())), ..Pair::default() };
    drift(&pair, MIN_PATHS)
}

fn doc(release: &str) -> Value {
    serde_json::from_slice(catalog::doc(release).unwrap()).unwrap()
}

/// Every recording of a release, beside itself.
fn no_recording_drifts_from_itself(release: &str) {
    for name in catalog::recording_names(release) {
        let recording = catalog::recording(release, &name).unwrap();
        // Where the server was killed, what its streams would have told is not known.
        let broke = |line: &Line| match line {
            Line::End(end) => !matches!(end.how, HowEnded::ClosedByClient | HowEnded::ClosedByServer),
            _ => false,
        };
        let expected =
            if recording.lines.iter().any(broke) { Verdict::CouldNotCheck } else { Verdict::Holds };
        let recordings =
            vec![PairOfRecordings { name: name.clone(), old: recording.clone(), new: recording }];
        let report = drift(&Pair { recordings, ..Pair::default() }, MIN_PATHS);
        assert_eq!(report.changes, [], "{release} {name}");
        assert_eq!(report.verdict(Severity::Cosmetic), expected, "{release} {name}: {:?}", report.unchecked);
    }
}

#[test]
fn no_recording_of_kilo_drifts_from_itself() {
    no_recording_drifts_from_itself("kilo-7.7.7");
}

#[test]
fn no_recording_of_opencode_drifts_from_itself() {
    no_recording_drifts_from_itself("opencode-1.18.33");
}

#[test]
fn no_older_release_drifts_from_itself() {
    for release in ["kilo-7.0.33", "opencode-1.15.13"] {
        no_recording_drifts_from_itself(release);
        let report = drift(&read(release, release).unwrap(), MIN_PATHS);
        assert_eq!((report.changes.len(), report.compared.recordings), (0, 10), "{release}");
        assert_eq!(report.verdict(Severity::Cosmetic), Verdict::Holds);
    }
}

#[test]
fn no_doc_drifts_from_itself() {
    for release in catalog::releases() {
        let doc = doc(&release);
        let report = docs(&doc, &doc);
        assert_eq!(report.changes, [], "{release}");
        assert_eq!(report.verdict(Severity::Cosmetic), Verdict::Holds, "{release}");
        assert!(
            report.compared.paths > 2000 && report.compared.operations > 100,
            "{release}: {:?}",
            report.compared
        );
    }
}

/// The same scenario, recorded again under other circumstances, is no drift.
#[test]
fn a_second_recording_breaks_nothing() {
    let mut compared = 0;
    for release in ["kilo-7.7.7", "opencode-1.18.33"] {
        for name in catalog::recording_names(release) {
            let Some((scenario, "again" | "slow-model")) = name.split_once('.') else { continue };
            let of = |name: &str| catalog::recording(release, name).unwrap();
            let recordings = vec![PairOfRecordings { name: name.clone(), old: of(scenario), new: of(&name) }];
            let report = drift(&Pair { recordings, ..Pair::default() }, MIN_PATHS);
            assert_eq!(report.count(Severity::Breaking), 0, "{release} {name}: {:#?}", report.changes);
            compared += report.compared.recordings;
        }
    }
    assert!(compared >= 4, "{compared}");
}

/// One alteration of a real document, and what has to be found.
fn altered(release: &str, pointer: &str, alter: impl FnOnce(&mut Value), rule: Rule, place: &str) {
    let old = doc(release);
    let mut new = old.clone();
    alter(new.pointer_mut(pointer).unwrap_or_else(|| panic!("{release} has no {pointer}")));
    let report = docs(&old, &new);
    let found: Vec<_> = report.changes.iter().map(|change| (change.rule, change.place.as_str())).collect();
    assert!(found.contains(&(rule, place)), "{found:?}");
    assert!(found.iter().all(|(_, other)| other.starts_with(place)), "{found:?}");
    assert_eq!(report.verdict(rule.severity()), Verdict::Drifts);
}

fn without(field: &'static str) -> impl FnOnce(&mut Value) {
    move |value| drop(value.as_object_mut().unwrap().shift_remove(field).unwrap())
}

fn never(word: &'static str) -> impl FnOnce(&mut Value) {
    move |value| value.as_array_mut().unwrap().retain(|known| known != word)
}

#[test]
fn one_thing_altered_in_a_real_doc_is_found_at_its_place() {
    let kilo = "kilo-7.7.7";
    let session = "/components/schemas/Session";
    altered(kilo, &format!("{session}/properties"), without("title"), Rule::FieldGone, "Session /title");
    altered(kilo, &format!("{session}/required"), never("title"), Rule::FieldOptional, "Session /title");
    let number = |value: &mut Value| value["type"] = "number".into();
    altered(kilo, &format!("{session}/properties/title"), number, Rule::TypeOther, "Session /title");
    let body = "/paths/~1session~1{sessionID}~1message/post/requestBody/content/application~1json/schema";
    let place = "POST /session/{sessionID}/message body /agent";
    altered(kilo, &format!("{body}/properties"), without("agent"), Rule::SentFieldGone, place);
    let ask = |value: &mut Value| value.as_array_mut().unwrap().push("agent".into());
    altered(kilo, &format!("{body}/required"), ask, Rule::SentFieldRequired, place);
    altered(kilo, "/paths", without("/session/status"), Rule::OperationGone, "GET /session/status");
    altered("opencode-1.18.33", "/paths", without("/vcs"), Rule::OperationGone, "GET /vcs");
    let idle = |value: &mut Value| value["properties"]["type"]["enum"][0] = "session.asleep".into();
    let old = doc(kilo);
    let mut new = old.clone();
    let schemas = new.pointer_mut("/components/schemas").unwrap().as_object_mut().unwrap();
    let is_idle = |schema: &&mut Value| schema["properties"]["type"]["enum"][0] == "session.idle";
    schemas.values_mut().filter(is_idle).for_each(idle);
    let report = docs(&old, &new);
    let told: Vec<_> = report.changes.iter().map(|change| (change.rule, change.place.as_str())).collect();
    for known in [(Rule::EventGone, "event session.idle"), (Rule::EventNew, "event session.asleep")] {
        assert!(told.contains(&known), "{told:?}");
    }
}

#[test]
fn too_few_paths_prove_nothing() {
    let doc = doc("kilo-7.7.7");
    let pair = Pair { docs: (Some(doc.clone()), Some(doc)), ..Pair::default() };
    assert_eq!(drift(&pair, 1_000_000).verdict(Severity::Breaking), Verdict::CouldNotCheck);
    assert_eq!(drift(&Pair::default(), 1).verdict(Severity::Breaking), Verdict::CouldNotCheck);
    assert_eq!(drift(&Pair::default(), 0).verdict(Severity::Breaking), Verdict::Holds);
}

#[test]
fn what_old_alone_has_decides_and_what_new_alone_has_does_not() {
    let only = |old: &[&str], new: &[&str]| Pair {
        only_old: old.iter().map(|name| (*name).to_owned()).collect(),
        only_new: new.iter().map(|name| (*name).to_owned()).collect(),
        ..Pair::default()
    };
    assert_eq!(drift(&only(&["a"], &[]), 0).verdict(Severity::Breaking), Verdict::CouldNotCheck);
    let more = drift(&only(&[], &["a", "b"]), 0);
    assert_eq!((more.verdict(Severity::Breaking), more.unchecked.len()), (Verdict::Holds, 1));
    let half = Pair { docs: (Some(doc("kilo-7.0.33")), None), ..Pair::default() };
    assert_eq!(drift(&half, 0).verdict(Severity::Breaking), Verdict::CouldNotCheck);
}

#[test]
fn the_two_releases_of_kilo() {
    let report = drift(&read("kilo-7.0.33", "kilo-7.7.7").unwrap(), MIN_PATHS);
    insta::assert_snapshot!(text(&report, SHOWN));
    let added = |name: &str| {
        let place = format!("event {name}");
        report.changes.iter().any(|change| change.rule == Rule::EventNew && change.place == place)
    };
    assert!(added("sync") && added("session.queue.changed"));
    // What the release's public changelog says is new.
    for (rule, place) in [
        (Rule::OperationNew, "POST /kilocode/migrate/sessions"),
        (Rule::OperationNew, "POST /kilocode/migrate/sessions/discover"),
        (Rule::FieldNew, "QuestionInfo /default"),
        (Rule::SentFieldNew, "Config /shared_agent_board"),
    ] {
        let is_it = |change: &&Change| change.rule == rule && change.place.starts_with(place);
        assert!(report.changes.iter().any(|change| is_it(&change)), "{place}");
    }
}

#[test]
fn the_two_releases_of_opencode() {
    let report = drift(&read("opencode-1.15.13", "opencode-1.18.33").unwrap(), MIN_PATHS);
    insta::assert_snapshot!(text(&report, SHOWN));
}

#[test]
fn every_format_tells_the_same() {
    let report = drift(&read("kilo-7.0.33", "kilo-7.7.7").unwrap(), MIN_PATHS);
    let all = Shown { all: true, ..SHOWN };
    let (text, markdown) = (text(&report, all), markdown(&report, all));
    let json = json(&report, Severity::Breaking);
    assert_eq!(json["changes"].as_array().map(Vec::len), Some(report.changes.len()));
    assert_eq!(json["verdict"], "drifts");
    for rule in report.changes.iter().map(|change| change.rule) {
        assert!(text.contains(rule.words()) && markdown.contains(rule.words()), "{}", rule.words());
    }
    assert!(
        !text.contains('\u{1b}') && super::text(&report, Shown { colours: true, ..all }).contains('\u{1b}')
    );
}

#[test]
fn what_can_not_be_read_is_told_with_what_to_do() {
    let wrong = |old: &str, new: &str| read(old, new).unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        format!("{place}/{name}")
    };
    let empty = tempfile::tempdir().unwrap();
    let (bad, other) = (file("bad.json", "{"), file("some.txt", ""));
    let told = [
        wrong("kilo-7.0.3", "kilo-7.7.7"),
        wrong("kilo-7.0.33", "opencode-1.18.33"),
        wrong(&file("a.json", "{}"), "kilo-7.7.7"),
        wrong(&bad, &bad),
        wrong(&other, &other),
        wrong(&empty.path().display().to_string(), "kilo-7.7.7"),
    ];
    let empty = empty.path().display().to_string();
    insta::assert_snapshot!(told.join("\n").replace(&place, "<folder>").replace(&empty, "<empty>"));
}
