//! The evidence of the repository holds, is what the page says, and hangs on the lines that it names.

use super::claim::{Answer, Claim};
use super::fact::{Fact, facts};
use super::{Answers, Evidence, pattern, render};
use fixtures::{ServerKind, catalog};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn asked() -> &'static (Evidence, Answers) {
    static ASKED: OnceLock<(Evidence, Answers)> = OnceLock::new();
    ASKED.get_or_init(|| {
        let evidence = Evidence::embedded().unwrap();
        let answers = evidence.ask(|| {}).unwrap();
        (evidence, answers)
    })
}

#[test]
fn every_claim_holds_and_the_page_is_what_the_recordings_say() {
    let (evidence, answers) = asked();
    for (id, claim) in evidence.claims() {
        assert!(claim.holds(&id, answers), "{id} does not hold: {}", claim.says);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/evidence.md");
    let same = std::fs::read_to_string(page).unwrap() == render::markdown(evidence, answers);
    assert!(same, "docs/evidence.md is not what the recordings say; `cargo xtask evidence` writes it");
}

/// Each line that an answer names is altered, one value at a time, wherever the claim looks: every line has to matter.
#[test]
fn who_alters_a_line_that_is_named_alters_the_answer() {
    let (evidence, answers) = asked();
    let mut altered = 0;
    for server in ServerKind::ALL {
        for name in catalog::recording_names(&server.release()) {
            let named: Vec<_> = evidence
                .claims()
                .filter_map(|(id, claim)| {
                    let lines = lines_of(answers.get(&(id.clone(), server))?, &name);
                    (!lines.is_empty()).then_some((id, claim, lines))
                })
                .collect();
            if named.is_empty() {
                continue;
            }
            let facts = facts(&catalog::recording(&server.release(), &name).unwrap());
            for (id, claim, lines) in named {
                let truth = claim.ask(&name, &facts);
                for line in lines {
                    let matters =
                        alterations(claim, &facts, line).any(|facts| claim.ask(&name, &facts) != truth);
                    assert!(matters, "{id}: {server} {name}:{line} may be anything");
                    altered += 1;
                }
            }
        }
    }
    assert!(altered > 300, "only {altered} lines are named");
}

fn lines_of(answer: &Answer, recording: &str) -> BTreeSet<usize> {
    answer.shown_by.iter().filter(|cite| cite.recording == recording).map(|cite| cite.line).collect()
}

/// The facts of a recording, each time with another value at a place of a line.
fn alterations<'a>(claim: &'a Claim, facts: &'a [Fact], line: usize) -> impl Iterator<Item = Vec<Fact>> + 'a {
    let shown = facts.iter().enumerate().filter(move |(_, fact)| fact.lines.contains(&line));
    shown.flat_map(move |(index, fact)| {
        let places: BTreeSet<_> = claim.patterns().into_iter().flat_map(pattern::Pattern::places).collect();
        let places = places.into_iter().chain(claim.tally.as_deref()).filter(|place| *place != "kind");
        places.filter_map(move |place| {
            let pointer = format!("/{}", place.replace('.', "/"));
            pattern::at(&fact.value, place)?;
            let mut facts = facts.to_vec();
            let value = facts[index].value.pointer_mut(&pointer)?;
            *value = match value {
                Value::String(text) => json!(format!("not {text}\n")),
                Value::Bool(yes) => json!(!*yes),
                Value::Number(_) => json!(-1),
                _ => json!("altered"),
            };
            Some(facts)
        })
    })
}

fn read(question: &str, requirements: &str) -> Result<Evidence, String> {
    let requirements = format!("title = 't'\nowner = 'o'\nrequirement = [{requirements}]");
    let files = [("evidence/1.toml", question), ("requirements/a.toml", &requirements)];
    let files = files.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
    Evidence::read(&files).map_err(|error| error.to_string())
}

#[test]
fn a_claim_that_asks_nothing_is_refused() {
    let claim =
        |rest: &str| format!("id = '1'\ntitle = 't'\nasks = 'a'\n[[claim]]\nid = 'c'\nsays = 's'\n{rest}");
    let told = |rest: &str| read(&claim(rest), "").unwrap_err();
    let place = "parity-specs/evidence/1.toml:5: the claim 'c': ";
    for (rest, why) in [
        ("", "it asks nothing: give it `every` or `order`"),
        ("every = { kind = 'event' }", "it asks nothing of what `every` finds: give it `has`, `next`, …"),
        (
            "every = { kind = 'did' }\norder = [{ kind = 'end' }]",
            "it has both `every` and `order`; make two claims of it",
        ),
        ("order = [{ kind = 'end' }]", "an order is one of named recordings: give it `in`"),
        (
            "order = [{ kind = 'end' }]\nhas = { kind = 'did' }",
            "`has`, `next` and the like belong to `every`, not to `order`",
        ),
    ] {
        assert_eq!(told(rest), format!("{place}{why}"), "{rest}");
    }
    let whole = "every = { kind = 'event' }\nhas = { index = 0 }";
    assert!(read(&claim(whole), "").is_ok());
    assert!(told(&format!("{whole}\nin = ['text/plian']")).contains("did you mean 'text/plain'?"));
    let twice = format!("{}\n[[claim]]\nid = 'c'\nsays = 's'\n{whole}", claim(whole));
    let told = read(&twice, "").unwrap_err();
    assert_eq!(told, "parity-specs/evidence/1.toml:10: the claim 'c': it stands in two places");
    let rests =
        "{ id = 'r', about = 's', claims = ['x'], phase = 0, evidence = 'data-only', rests_on = ['1/d'] }";
    let told = read(&claim(whole), rests).unwrap_err();
    let place = "parity-specs/requirements/a.toml:3: the requirement 'r': there is no claim '1/d'";
    assert!(told.starts_with(&format!("{place}; did you mean '1/c'?")), "{told}");
}

#[test]
fn a_kind_of_facts_that_there_is_not_is_told_with_its_line() {
    let claim =
        |rest: &str| format!("id = '1'\ntitle = 't'\nasks = 'a'\n[[claim]]\nid = 'c'\nsays = 's'\n{rest}");
    let place = "parity-specs/evidence/1.toml:";
    for (rest, line) in [
        ("every = { kind = 'dad' }\nhas = { index = 0 }", 7),
        ("every = { kind = 'did' }\nnever_later = { kind = 'dad' }", 8),
        ("in = ['text/plain']\norder = [\n  { kind = 'did' },\n  { none = { kind = 'dad' } },\n]", 10),
    ] {
        let told = read(&claim(rest), "").unwrap_err();
        let expected = format!(
            "{place}{line}: the claim 'c': there is no kind of facts 'dad'; did you mean 'did'? There are: did, answer, \
             event, end, model"
        );
        assert_eq!(told, expected);
    }
}

fn ask(claim: &str, facts: &[Value]) -> Answer {
    let claim: Claim = toml::from_str(&format!("id = 'c'\nsays = 's'\nin = ['a/b']\n{claim}")).unwrap();
    assert_eq!(claim.mistake(), None);
    let fact = |(index, value): (usize, &Value)| Fact { value: value.clone(), lines: vec![index + 1] };
    claim.ask("a/b", &facts.iter().enumerate().map(fact).collect::<Vec<_>>())
}

#[test]
fn every_question_can_be_answered_with_no() {
    let event = |of: u64, at_ms: u64, t: &str| json!({"kind": "event", "of": of, "at_ms": at_ms, "t": t});
    let facts = [event(1, 0, "a"), event(2, 1, "x"), event(1, 10, "b"), event(1, 20, "a"), event(1, 30, "b")];
    for (claim, holds) in [
        ("every = { t = 'a' }\nnext = { t = 'b' }", true),
        ("every = { t = 'a' }\nnext = { t = 'x' }", false),
        ("every = { t = 'b' }\nearlier = { t = 'x' }", true),
        ("every = { t = 'a' }\nearlier = { t = 'x' }", false),
        ("every = { t = 'a' }\nlater = { t = 'b' }", true),
        ("every = { t = 'a' }\nlater = { t = 'x' }", false),
        ("every = { t = 'x' }\nnever_later = { t = 'x' }", true),
        ("every = { t = 'x' }\nnever_later = { t = 'a' }", false),
        ("every = { t = 'x' }\nnever_earlier = { t = 'b' }", true),
        ("every = { t = 'x' }\nnever_earlier = { t = 'a' }", false),
        ("every = { of = 1 }\napart_ms = [10, 10]", true),
        ("every = { t = 'a' }\napart_ms = [10, 10]", false),
        ("every = { t = 'x' }\napart_ms = [0, 99]", false),
        ("every = { t = 'z' }\nhas = { of = 1 }", false),
        ("order = [{ t = 'x' }, { t = 'b' }, { t = 'b' }]", true),
        ("order = [{ t = 'b' }, { t = 'x' }]", false),
        ("order = [{ t = 'x' }, { none = { t = 'a' } }, { t = 'b' }, { t = 'a' }]", true),
        ("order = [{ t = 'x' }, { none = { t = 'b' } }, { t = 'a' }]", false),
        ("order = [{ t = 'b', at_ms = '$at' }, { t = 'b', at_ms = '$at' }]", false),
        ("order = [{ t = 'a' }, { none = { t = 'x' } }]", true),
        ("order = [{ t = 'a', at_ms = 0 }, { none = { t = 'x' } }]", false),
    ] {
        assert_eq!(ask(claim, &facts).holds(), holds, "{claim}");
    }
    let counted = ask("every = { of = 1 }\ntally = 't'", &facts).tally;
    assert_eq!(counted.into_iter().collect::<Vec<_>>(), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
}
