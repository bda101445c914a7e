//! The schemas are those of the types; every data file keeps them; and they refuse what the reader refuses.

use super::*;
use fixtures::deviations::Deviations;
use fixtures::recording::Recording;
use jsonschema::Validator;
use kits::Kit;
use serde_json::{Value, json};
use std::path::PathBuf;
use walkdir::WalkDir;

fn validator(name: &str) -> Validator {
    let text = fs::read_to_string(crate::root().join(format!("schemas/{name}.json"))).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// The files of a format, by the place of its data.
fn files(place: &str, extension: &str) -> Vec<PathBuf> {
    let entries = WalkDir::new(crate::root().join(place)).sort_by_file_name().into_iter();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().into_path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    assert!(!files.is_empty(), "there is no data in {place}");
    files
}

fn toml_of(file: &Path) -> Value {
    toml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// A file of many cases as many files of one: each change of one place is then read quickly.
fn one_by_one(file: &Value) -> Vec<Value> {
    let alone = |case: &Value| json!({"about": file["about"], "case": [case]});
    file["case"].as_array().unwrap().iter().map(alone).collect()
}

fn reads<T: serde::de::DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok()
}

/// As a file is read: from TOML, so that a mistake has its place.
fn reads_scenario(value: &Value) -> bool {
    toml::to_string(value).is_ok_and(|text| Scenario::parse(Path::new("x.toml"), &text).is_ok())
}

/// As a file is read: with a header before the line, unless it is one.
fn reads_line(line: &Value) -> bool {
    let formats = fs::read_to_string(&files("fixtures/tests/formats", "jsonl")[0]).unwrap();
    let before = if line.get("header").is_some() { "" } else { formats.lines().next().unwrap() };
    let text = format!("{before}\n{line}\n");
    Recording::parse(Path::new("x.jsonl"), text.trim_start()).is_ok()
}

struct Format {
    schema: String,
    documents: Vec<Value>,
    reads: fn(&Value) -> bool,
    /// Its reader refuses names that there are not, which no schema knows.
    knows_names: bool,
}

fn format(schema: &str, documents: Vec<Value>, reads: fn(&Value) -> bool) -> Format {
    Format { schema: schema.to_owned(), documents, reads, knows_names: false }
}

/// The cases of a kit, each with its own part.
fn of_kit(kit: &'static dyn Kit) -> Format {
    let found = files(&format!("kits/cases/{}", kit.name()), "toml");
    let documents = found.iter().map(|file| toml_of(file));
    Format { knows_names: true, ..format(&format!("kit-case-{}", kit.name()), documents.collect(), |_| true) }
}

/// Each format with its committed documents; a line is the document of a recording.
fn formats() -> Vec<Format> {
    let toml = |schema, place, reads| {
        format(schema, files(place, "toml").iter().map(|file| toml_of(file)).collect(), reads)
    };
    let lines = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let corpus = |schema: &str, reads| {
        let files = files(&format!("fixtures/{schema}"), "toml");
        format(schema, files.iter().flat_map(|file| one_by_one(&toml_of(file))).collect(), reads)
    };
    let plan = json!({"fault": [
        {"when": {"lane": "a", "stream": "event", "after_events": 5}, "do": {"cut": "mid-frame", "bytes": 17}},
        {"when": {"stream": "global/event", "after_event": "x", "nth": 2}, "do": {"cut": "between-frames"}},
    ]});
    // What is owed may be nothing.
    let debt = json!({
        "debt": [{"requirement": "a.b", "reason": "r"}],
        "unperformed": [{"scenario": "text/plain", "servers": ["kilo"], "reason": "r"}],
    });
    let of_a_kit = json!({"title": "t", "requirement": [
        {"id": "k.a", "about": "a", "claims": ["001 §1 bullet 1"], "evidence": "checked", "check": "c"},
        {"id": "k.b", "about": "a", "claims": [], "evidence": "not-observable", "why": "w"},
        {"id": "k.c", "about": "a", "evidence": "checked", "owed": "o"},
    ]});
    let all = vec![
        toml("scenario", "fixtures/scenarios", reads_scenario),
        format("fault-plan", vec![plan], reads::<FaultPlan>),
        toml("floats", "fixtures/floats", reads::<Floats>),
        toml("deviations", "fixtures/deviations", reads::<Deviations>),
        format(
            "recording-line",
            files("fixtures/tests/formats", "jsonl").iter().flat_map(lines).collect(),
            reads_line,
        ),
        toml("parity-case", "parity-specs/cases", reads::<Case>),
        toml("requirements", "parity-specs/requirements", reads::<RequirementFile>),
        toml("phases", "parity-specs/phases.toml", reads::<PhaseFile>),
        format("debt", vec![debt], reads::<DebtFile>),
        toml("evidence", "parity-specs/evidence", reads::<Question>),
        toml("plan", "parity-specs/plan.toml", reads::<PlanFile>),
        toml("plan-index", "parity-specs/plans/000/index.toml", reads::<PlanIndex>),
        toml("plan-none", "parity-specs/plans/000/none.toml", reads::<NoneFile>),
        toml("triggers", "parity-specs/triggers.toml", reads::<TriggerFile>),
        corpus("path-corpus", reads::<CorpusFile<paths::Case>>),
        corpus("checkpoint-corpus", reads::<CorpusFile<checkpoints::Case>>),
        corpus("history-corpus", reads::<CorpusFile<histories::Case>>),
        corpus("token-corpus", reads::<CorpusFile<tokens::Case>>),
        corpus("command-corpus", reads::<CorpusFile<commands::Case>>),
        corpus("csp-corpus", reads::<CorpusFile<csp::Case>>),
        corpus("error-corpus", reads::<CorpusFile<failures::Case>>),
        format("kit-requirements", vec![of_a_kit], reads::<KitFile>),
    ];
    all.into_iter().chain(kits::all().into_iter().map(of_kit)).collect()
}

#[test]
fn the_schemas_are_those_of_the_types() {
    match run(&Arguments { update: false }, crate::root()) {
        Outcome::Holds => {}
        Outcome::Fails(lines) | Outcome::Misuse(lines) | Outcome::Untestable(lines) => panic!("\n{lines}"),
    }
}

#[test]
fn every_schema_has_its_data_and_every_file_of_the_folder_its_schema() {
    let names: Vec<String> = all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, formats().into_iter().map(|format| format.schema).collect::<Vec<_>>());
    let mut found = files("schemas", "json");
    found.retain(|file| !names.contains(&file.file_stem().unwrap().to_str().unwrap().to_owned()));
    assert_eq!(found, Vec::<PathBuf>::new());
    let editors = fs::read_to_string(crate::root().join(".taplo.toml")).unwrap();
    for name in names.iter().filter(|name| *name != "recording-line") {
        assert!(editors.contains(&format!("schemas/{name}.json")), "no editor knows {name}");
    }
}

#[test]
fn every_data_file_keeps_its_schema() {
    for format in formats() {
        let validator = validator(&format.schema);
        for document in &format.documents {
            let wrong: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{}: {wrong:?} in {document}", format.schema);
        }
    }
    let validator = validator("recording-line");
    for file in files("fixtures/recordings", "jsonl") {
        for (index, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(validator.is_valid(&line), "{}:{}", file.display(), index + 1);
        }
    }
}

/// Every change of one place: a leaf of another type, a word that is none, a key that is gone or unknown.
fn broken(document: &Value) -> Vec<Value> {
    let mut pointers = vec![String::new()];
    let mut all = Vec::new();
    while let Some(pointer) = pointers.pop() {
        let put = |value: Value| {
            let mut changed = document.clone();
            *changed.pointer_mut(&pointer).unwrap() = value;
            changed
        };
        let here = document.pointer(&pointer).unwrap();
        all.extend([json!("no such word"), json!(-1), json!([true]), json!({"no": "such key"})].map(put));
        match here {
            Value::Object(table) => {
                let mut more = table.clone();
                more.insert("nonsense".to_owned(), json!(1));
                all.push(put(Value::Object(more)));
                for key in table.keys() {
                    let mut less = table.clone();
                    less.remove(key);
                    all.push(put(Value::Object(less)));
                    pointers.push(format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")));
                }
            }
            Value::Array(items) => {
                pointers.extend((0..items.len()).map(|index| format!("{pointer}/{index}")))
            }
            _ => {}
        }
    }
    all
}

#[test]
fn the_schemas_take_what_the_reader_takes_and_refuse_what_it_refuses() {
    let alike = |format: &Format| !format.knows_names && format.schema != SCENARIO;
    formats().into_iter().filter(alike).for_each(agree);
}

/// The scenarios are most of all the data: each part of them has a test of its own, so that several run at once.
fn part_of_scenarios(nth: usize) {
    let mut scenarios = formats().into_iter().find(|format| format.schema == SCENARIO).unwrap();
    let documents = std::mem::take(&mut scenarios.documents).into_iter();
    scenarios.documents = documents.skip(nth).step_by(PARTS).collect();
    agree(scenarios);
}

const SCENARIO: &str = "scenario";
const PARTS: usize = 4;

#[test]
fn the_schema_of_scenarios_takes_what_their_reader_takes_in_the_first_part() {
    part_of_scenarios(0);
}

#[test]
fn the_schema_of_scenarios_takes_what_their_reader_takes_in_the_second_part() {
    part_of_scenarios(1);
}

#[test]
fn the_schema_of_scenarios_takes_what_their_reader_takes_in_the_third_part() {
    part_of_scenarios(2);
}

#[test]
fn the_schema_of_scenarios_takes_what_their_reader_takes_in_the_last_part() {
    part_of_scenarios(PARTS - 1);
}

/// Schema and reader take and refuse the same of the documents, broken at each place.
fn agree(format: Format) {
    let validator = validator(&format.schema);
    let (mut refused, mut overlooked) = (0, Vec::new());
    for document in format.documents.iter().flat_map(broken) {
        match ((format.reads)(&document), validator.is_valid(&document)) {
            (true, true) => {}
            (true, false) => {
                panic!("{}: the reader takes this, its schema does not: {document}", format.schema)
            }
            (false, false) => refused += 1,
            (false, true) => overlooked.push(document),
        }
    }
    // Rules that join two fields, such as `bytes` with `cut = "mid-frame"`, are the reader's alone.
    let most = refused / 12;
    let example = overlooked.first();
    let (count, name) = (overlooked.len(), format.schema);
    assert!(count <= most, "{name}: {count} mistakes overlooked, {refused} refused, as in {example:?}");
    assert!(refused > 10, "{name}: {refused} mistakes refused");
}
