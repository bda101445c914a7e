//! A page from a hand-made report: escaped, anchored, without a reference to anything outside.

use super::render;
use crate::judge::{Judged, Verdict};
use crate::report::timeline::{Entry, Who};
use crate::report::{
    Cell, FeatureRow, Gate, GateResult, MutantRow, PhaseRow, Proof, Report, RequirementRow, RequirementState,
    TriggerRow,
};
use fixtures::ServerKind;
use parity_specs::Evidence;

const RERUN: &str = "standin check --case turn/calm --server opencode --adapter 'my client'";
const SAID: &str = r#"the screen shows "<script>alert('x')</script>" & more"#;

fn cell(case: &str, server: ServerKind, adapter: &str, verdict: Verdict) -> Cell {
    let findings = if verdict == Verdict::Fail { vec![SAID.to_owned()] } else { Vec::new() };
    let entry = |at_ms, who, what: &str| Entry { at_ms, who, what: what.to_owned() };
    Cell {
        case: case.to_owned(),
        about: "Nothing breaks.".to_owned(),
        server,
        adapter: adapter.to_owned(),
        verdict,
        lacks: Vec::new(),
        troubles: findings.clone(),
        checks: vec![Judged { facts: 3, findings, ..Judged::unseen("convergence", verdict) }],
        plain: false,
        rerun: format!("standin check --case {case} --server {server} --adapter '{adapter}'"),
        timeline: vec![
            entry(0.0, Who::Person, "prompt <b>bold</b>"),
            entry(12.34, Who::Fault, "fault 1 cut the stream"),
            entry(1000.0, Who::Screen, "idle"),
        ],
    }
}

fn proof(server: ServerKind, verdict: Verdict) -> Proof {
    Proof { case: "turn/calm".to_owned(), server, verdict, lacks: Vec::new() }
}

fn requirement(id: &str, state: RequirementState, cases: &[Proof]) -> RequirementRow {
    RequirementRow {
        id: id.to_owned(),
        about: "The screen shows the turn.".to_owned(),
        feature: "core/turn".to_owned(),
        source: "000 §4.P2 bullet 1".to_owned(),
        phase: 2,
        mvp: true,
        evidence: Evidence::Checked,
        states: [(2, state)].into(),
        cases: cases.to_vec(),
        rests_on: Vec::new(),
        degraded: None,
        accepted: Vec::new(),
        reason: (state == RequirementState::Owed).then(|| "No check looks for it yet.".to_owned()),
    }
}

/// A passing cell, a failing one, a debt, a trigger that fires, and a mutant whose cells would get the same anchors.
fn gate() -> Gate {
    let passing = cell("turn/calm", ServerKind::Kilo, "my client", Verdict::Pass);
    let failing = cell("turn/calm", ServerKind::Opencode, "my client", Verdict::Fail);
    Gate {
        subject: "my client".to_owned(),
        partition: None,
        phases: vec![PhaseRow {
            number: 2,
            name: "Chat & more".to_owned(),
            result: GateResult::Fail,
            counts: [(RequirementState::Owed, 1), (RequirementState::Failing, 1)].into(),
            fired: vec!["cross-talk".to_owned()],
        }],
        features: vec![FeatureRow {
            name: "core/turn".to_owned(),
            title: "A turn".to_owned(),
            owner: "the host".to_owned(),
        }],
        requirements: vec![
            requirement("turn.later", RequirementState::Owed, &[]),
            requirement(
                "turn.shown",
                RequirementState::Failing,
                &[proof(ServerKind::Kilo, Verdict::Pass), proof(ServerKind::Opencode, Verdict::Fail)],
            ),
        ],
        triggers: vec![TriggerRow {
            id: "cross-talk".to_owned(),
            about: "Events reach a wrong task.".to_owned(),
            source: "000 §4.P2 bullet 26".to_owned(),
            phase: 2,
            action: "Roll back at once.".to_owned(),
            fired: true,
            because: vec!["turn.shown does not hold".to_owned()],
            signal: None,
            untold: Vec::new(),
            seen: None,
        }],
        cells: vec![passing, failing, cell("turn/cut", ServerKind::Kilo, "my client", Verdict::Untestable)],
        mutants: vec![MutantRow {
            name: "forgets".to_owned(),
            about: "It forgets.".to_owned(),
            cells: vec![
                cell("turn/calm", ServerKind::Kilo, "my-client", Verdict::Pass),
                cell("turn/cut", ServerKind::Kilo, "my-client", Verdict::Fail),
            ],
        }],
        with_mutants: true,
        toothless: vec!["the case <turn/cut> (kilo) catches no mutant".to_owned()],
    }
}

fn report() -> Report {
    Report::of(vec![gate()])
}

/// What the reader of this HTML text reads.
fn unescaped(html: &str) -> String {
    let signs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    signs.iter().fold(html.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

/// The values of an attribute, over the whole page.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn escapes_what_adapters_and_servers_say() {
    let page = render(&report()).unwrap();
    for raw in ["<script>alert", "<b>bold", "<turn/cut>", "Chat & more"] {
        assert!(!page.contains(raw), "{raw} is not escaped");
    }
    assert_eq!(page.matches("<script>").count(), 1, "the page has one script, its own");
    assert!(unescaped(&page).contains(SAID), "and yet it can be read");
}

#[test]
fn every_cell_has_one_anchor_and_every_link_leads_somewhere() {
    let report = report();
    let page = render(&report).unwrap();
    let mut anchors = values(&page, "id");
    anchors.sort_unstable();
    let cells: Vec<&&str> = anchors.iter().filter(|anchor| anchor.starts_with("cell-")).collect();
    assert_eq!(cells.len(), report.gates[0].cells.len() + report.gates[0].mutants[0].cells.len());
    assert!(
        cells.contains(&&"cell-my-client-turn-calm-kilo")
            && cells.contains(&&"cell-my-client-turn-calm-kilo-2")
    );
    assert!(anchors.windows(2).all(|pair| pair[0] != pair[1]), "no anchor twice: {anchors:?}");
    let links: Vec<&str> = values(&page, "href").iter().filter_map(|link| link.strip_prefix('#')).collect();
    assert!(links.iter().all(|link| anchors.contains(link)), "{links:?} lead to {anchors:?}");
    assert!(cells.iter().all(|cell| links.contains(cell)), "the tables lead to every cell");
}

#[test]
fn a_cell_that_passes_and_proves_nothing_is_marked_where_it_should_prove() {
    let mut report = report();
    let link = "<a href=\"#cell-my-client-turn-calm-kilo\">✓ turn/calm (kilo)</a>";
    assert!(unescaped(&render(&report).unwrap()).contains(link));
    report.gates[0].requirements[1].cases[0].verdict = Verdict::Untestable;
    let page = unescaped(&render(&report).unwrap());
    assert!(!page.contains(link) && page.contains(&link.replace('✓', "?")), "{page}");
}

#[test]
fn loads_nothing() {
    let page = render(&report()).unwrap();
    for outside in ["http://", "https://", " src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} has no place in a page that is complete in itself");
    }
    assert!(values(&page, "href").iter().all(|link| link.starts_with('#') || *link == "data:,"));
}

#[test]
fn tells_how_to_run_a_cell_again() {
    let page = unescaped(&render(&report()).unwrap());
    assert!(page.contains(&format!("<code>{RERUN}</code>")), "{page}");
}

#[test]
fn opens_what_calls_for_a_look() {
    let page = render(&report()).unwrap();
    assert_eq!(
        page.matches("<details class=\"told look\"").count(),
        2,
        "the failing cell and the untestable one"
    );
    assert_eq!(page.matches("<details class=\"told\"").count(), 3, "the passing cell and the mutant's");
    assert!(page.contains("<details class=\"feature\" open>"), "a feature that fails");
    assert_eq!(page.matches("\" open>\n").count(), 3, "those two cells and the feature");
}

#[test]
fn says_states_in_words_and_symbols() {
    let page = render(&report()).unwrap();
    for (symbol, word) in [
        ("✓", "pass"),
        ("✗", "fail"),
        ("?", "untestable"),
        ("✗", "failing"),
        ("○", "owed"),
        ("●", "caught"),
        ("·", "passes"),
    ] {
        let shown = format!("<i aria-hidden=\"true\">{symbol}</i> {word}</");
        assert!(page.contains(&shown), "{symbol} {word}");
    }
    assert!(page.contains("✗ FAIL") && page.contains("No check looks for it yet."));
    assert!(page.contains("– not run"), "turn/cut has no cell with opencode");
}

#[test]
fn a_time_line_has_a_row_for_each_entry_and_a_column_for_each_who() {
    let page = render(&report()).unwrap();
    assert_eq!(page.matches("<tr class=\"fault\">").count(), 5, "one in each cell");
    let fault = "<tr class=\"fault\"><th scope=\"row\">12.3</th><td></td><td></td><td></td><td></td><td></td><td></td>\
                 <td>⚡ fault 1 cut the stream</td><td></td></tr>";
    assert!(page.contains(fault));
}

#[test]
fn a_report_of_nothing_is_a_page_too() {
    let nothing = Gate {
        phases: Vec::new(),
        requirements: Vec::new(),
        triggers: Vec::new(),
        cells: Vec::new(),
        mutants: Vec::new(),
        toothless: Vec::new(),
        ..gate()
    };
    let empty = Report::of(vec![nothing]);
    let page = render(&empty).unwrap();
    assert!(page.contains("? COULD NOT CHECK") && page.contains("No mutant was run with my client"));
}

#[test]
fn what_is_worst_comes_first_and_says_what_to_do() {
    let page = unescaped(&render(&report()).unwrap());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not on the page"));
    assert!(at("turn.shown</span>") < at("turn.later</span>"), "failing before owed");
    assert!(page.contains("Roll back at once.") && page.contains("turn.shown does not hold"));
    assert!(page.contains("2 · Chat & more") && page.contains("<strong>fires: cross-talk</strong>"));
    assert!(
        page.contains(
            "<tr class=\"requirement\" data-state=\"failing\" data-phase=\"2\" data-area=\"core\">"
        ),
        "for the filters"
    );
}

#[test]
fn adapters_stand_side_by_side() {
    let other = Gate { subject: "their client".to_owned(), ..gate() };
    let page = unescaped(&render(&Report::of(vec![gate(), other])).unwrap());
    let both = "failing</span> <span class=\"small\">my client, their client</span>";
    assert!(page.contains(both), "one state, said once: {page}");
    assert_eq!(page.matches("<tr class=\"trigger\"").count(), 1, "one row, both in it");
    assert!(page.contains("turn/calm (opencode), their client"));
    let mut anchors = values(&page, "id");
    anchors.sort_unstable();
    assert!(anchors.windows(2).all(|pair| pair[0] != pair[1]), "no anchor twice: {anchors:?}");
}

#[test]
fn who_fails_is_named_in_the_head_and_first_in_the_row() {
    let mut good = Gate { subject: "good client".to_owned(), ..gate() };
    good.requirements[1].states = [(2, RequirementState::Proven)].into();
    good.phases[0].result = GateResult::Pass;
    let page = unescaped(&render(&Report::of(vec![good, gate()])).unwrap());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not on the page"));
    let head = &page[..at("</header>")];
    let named = |name: &str| head.find(&format!("</span><strong>{name}</strong>")).unwrap();
    assert!(named("my client") < named("good client") && head.contains("phase 2: ✓ PASS"), "{head}");
    let row = &page[at("turn.shown</span>")..];
    assert!(
        row.find("<span class=\"small\">my client").unwrap()
            < row.find("<span class=\"small\">good").unwrap()
    );
}

#[test]
fn a_cell_names_what_it_proves_and_folds_what_it_did_not_examine() {
    let mut report = report();
    let cell = &mut report.gates[0].cells[0];
    cell.checks.insert(0, Judged::unseen("reconnect", Verdict::NotApplicable));
    let plugin = || Entry { at_ms: 2.0, who: Who::Stream, what: "plugin.added".to_owned() };
    cell.timeline.extend([plugin(), plugin(), plugin()]);
    let page = unescaped(&render(&report).unwrap());
    let start = page.find("id=\"cell-my-client-turn-calm-kilo\"").unwrap();
    let cell = &page[start..start + page[start..].find("</table>").unwrap()];
    let claim = "pass</span> <span class=\"name\">turn.shown</span> The screen shows the turn.";
    assert!(cell.contains(claim), "{cell}");
    assert!(
        cell.contains("1 without occasion here</summary><p class=\"soft small idle\">reconnect</p>"),
        "{cell}"
    );
    assert!(cell.find("convergence").unwrap() < cell.find("reconnect").unwrap());
    assert_eq!(cell.matches("plugin.added").count(), 1, "{cell}");
    assert!(cell.contains("plugin.added ×3"), "{cell}");
}

#[test]
fn of_many_cells_behind_a_trigger_the_worst_are_named() {
    let mut report = report();
    let gate = &mut report.gates[0];
    let names = ["a/quiet", "b/odd", "c/odd", "d/odd", "turn/calm"];
    gate.cells.extend(names[..4].iter().map(|case| {
        let verdict = if *case == "a/quiet" { Verdict::Untestable } else { Verdict::Fail };
        cell(case, ServerKind::Opencode, "my client", verdict)
    }));
    let places: Vec<String> = names.iter().map(|case| format!("{case} (opencode)")).collect();
    gate.triggers[0].because = vec![format!("turn.shown does not hold in {}", places.join(", "))];
    let page = unescaped(&render(&report).unwrap());
    let claim = "<strong>turn.shown does not hold in 5 cells:</strong>";
    let why = &page[page.find(claim).expect("how many")..];
    let (named, folded) = why.split_once("<summary>and 2 more</summary>").expect("the rest is folded");
    assert!(named.contains("<a href=\"#cell-my-client-b-odd-opencode\">b/odd (opencode)</a>"), "{named}");
    assert!(
        folded.find("a/quiet (opencode)").unwrap() < folded.find("</ul>").unwrap(),
        "worse ones come first"
    );
    let line = "turn.shown does not hold in 5 cells: b/odd (opencode), c/odd (opencode), d/odd (opencode) and 2 more";
    assert!(crate::report::terminal::render(&report).contains(line));
    assert!(crate::report::markdown::render_gates(&report).contains(line));
}

#[test]
fn what_was_not_judged_is_not_said_to_fail() {
    let mut report = report();
    let rows = &mut report.gates[0].requirements;
    rows[1].cases =
        vec![proof(ServerKind::Kilo, Verdict::Pass), proof(ServerKind::Opencode, Verdict::Unknown)];
    rows.push(requirement("turn.fast", RequirementState::NotEvaluated, &[]));
    let markdown = crate::report::markdown::render_gates(&report);
    assert!(!markdown.contains("what does not hold"), "{markdown}");
    assert!(
        markdown.contains("1 — what could not be judged") && markdown.contains("| not judged |"),
        "{markdown}"
    );
    assert!(markdown.contains("1 — NOT EVALUATED") && markdown.contains("`turn.fast`"), "{markdown}");
}

#[test]
fn a_trigger_that_cannot_be_told_says_why() {
    let mut gate = gate();
    let why = "events.isolated could not be checked in turn/calm (kilo)";
    let trigger = &mut gate.triggers[0];
    (trigger.fired, trigger.because, trigger.untold) = (false, Vec::new(), vec![why.to_owned()]);
    let page = unescaped(&render(&Report::of(vec![gate])).unwrap());
    assert!(page.contains("could not be told") && page.contains(why));
}

#[test]
fn reports_of_the_format_before_are_read_and_others_refused() {
    let text = report().json().unwrap();
    let of = |format: u32| text.replacen("\"format\": 3", &format!("\"format\": {format}"), 1);
    assert_eq!(Report::read(&of(2)).unwrap().gates, report().gates);
    for format in [1, 4] {
        let why = Report::read(&of(format)).unwrap_err();
        assert!(why.contains(&format!("of format {format}")) && why.contains("formats 2 to 3"), "{why}");
    }
}

mod kit;
