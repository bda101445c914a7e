//! Goal: a client that refreshes is served by a replay as by a server. Method: the reference adapter in front of
//! every recording, whole and with its stream cut in mid-turn; the mutant that never refreshes is caught there. And what
//! was recorded from older releases is played again as it was, without a type of event that the release does not name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::compare::{Difference, Sides, What};
use fixtures::fault_plan::{Action, Fault, FaultPlan};
use fixtures::scenario::{AgentStep, UserAct};
use fixtures::transcript::unfolded::unfolded;
use fixtures::{ServerKind, catalog};
use futures_util::stream::{self, StreamExt as _};
use harness::clock::Limits;
use harness::judge::{Judgement, Verdict, judge};
use harness::performance::Piece;
use harness::runner::run_on;
use harness::subject::Subject;
use harness::truth::{differences, stand_in_limits};
use mock_server::Options;
use parity_specs::{Matrix, NamedCase};
use std::path::Path;

/// A case in front of a recording of its scenario.
#[derive(Clone)]
struct Replayed {
    named: NamedCase,
    release: String,
    recording: String,
}

impl Replayed {
    fn name(&self) -> String {
        format!("{} on {}/{}", self.named.name, self.release, self.recording)
    }

    async fn judged(&self, subject: &Subject) -> Judgement {
        let recording = catalog::recording(&self.release, &self.recording).unwrap();
        let history = run_on(&self.named, Options::replay(recording), subject, &Limits::default()).await;
        judge(&history.unwrap().lines)
    }
}

/// The recordings of a scenario, with the suffixed ones.
fn recordings_of(server: ServerKind, scenario: &str) -> Vec<String> {
    let names = catalog::recording_names(&server.release());
    let of = |name: &String| name.split('.').next() == Some(scenario);
    names.into_iter().filter(of).collect()
}

fn all_replayed(cases: &[NamedCase]) -> Vec<Replayed> {
    let mut all = Vec::new();
    for named in cases {
        for server in &named.case.servers {
            let recordings = recordings_of(*server, &named.case.scenario);
            let replayed =
                |recording| Replayed { named: named.clone(), release: server.release(), recording };
            all.extend(recordings.into_iter().map(replayed));
        }
    }
    all
}

/// What does not have the verdict that is wanted.
async fn unlike(wanted: Verdict, all: &[Replayed], subject: &Subject) -> Vec<String> {
    let judged = stream::iter(all).map(|replayed| async move { (replayed, replayed.judged(subject).await) });
    let judged: Vec<(&Replayed, Judgement)> = judged.buffered(4).collect().await;
    let wrong = judged.into_iter().filter(|(_, judgement)| judgement.verdict != wanted);
    wrong.map(|(replayed, judgement)| format!("{}: {judgement:#?}", replayed.name())).collect()
}

/// Can an adapter be asked for all that the person does? The protocol has no abort, no questions and no raw requests.
fn can_be_asked(scenario: &str) -> bool {
    let steps = catalog::scenario(scenario).unwrap().user.steps;
    !steps.iter().any(|step| {
        !matches!(
            step.act,
            UserAct::Prompt { .. }
                | UserAct::AnswerPermission { message: None, .. }
                | UserAct::OpenGate(_)
                | UserAct::WaitFor(_)
        )
    })
}

/// Does the agent say something at first, and then go on? What is cut in its last words can't be seen by whoever
/// waits for what comes after them.
fn says_something(scenario: &str) -> bool {
    let agent = catalog::scenario(scenario).unwrap().agent;
    matches!(agent[0].steps[0], AgentStep::Say(_))
}

/// Every recording with its stream cut in the middle of the agent's first words.
fn cut_in_mid_turn() -> Vec<Replayed> {
    let plan = "[[fault]]\nwhen = { lane = \"adapter\", stream = \"event\", after_event = \"message.part.delta\" }\n\
                do = { cut = \"mid-frame\", bytes = 17 }\n";
    let faults: Vec<Fault> = FaultPlan::parse(Path::new("plan"), plan).unwrap().faults;
    let mut cases = Vec::new();
    let scenarios = catalog::scenario_names().into_iter();
    for scenario in scenarios.filter(|scenario| can_be_asked(scenario) && says_something(scenario)) {
        let mut named = Matrix::embedded().unwrap().cases[0].clone();
        named.name = format!("cut in {scenario}");
        named.case.user = None;
        named.case.servers = ServerKind::ALL.to_vec();
        named.case.scenario = scenario;
        named.case.faults.clone_from(&faults);
        cases.push(named);
    }
    all_replayed(&cases)
}

#[tokio::test]
async fn the_reference_passes_every_case_on_a_replay() {
    let cases = Matrix::embedded().unwrap().cases;
    // A person of the case's own sends other requests than the recorded one.
    // What was recorded was recorded in its own time, and nobody starts, hurries or answers for a recording.
    let is_plain =
        |fault: &Fault| matches!(fault.action, Action::Cut(_) | Action::Drop(_) | Action::Inject(_));
    let suits = |named: &NamedCase| {
        let case = &named.case;
        let in_its_time = case.time_scale == 1.0 && case.tools && case.folders.is_empty();
        // A recording has no disk, and nobody starts it.
        let on_no_disk = case.links.is_empty() && case.spawn.is_none() && case.credentials.is_empty();
        let as_recorded = case.user.is_none() && case.plan.is_none() && case.auto_approve.is_none();
        as_recorded && on_no_disk && in_its_time && case.faults.iter().all(is_plain)
    };
    let cases: Vec<NamedCase> = cases.into_iter().filter(suits).collect();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    let mut all = all_replayed(&cases);
    // A case that loses one event means the one of the main recording; elsewhere the count may lead to another one,
    // whose loss no client can see.
    all.retain(|replayed| {
        let faults = &replayed.named.case.faults;
        let drops = faults.iter().any(|fault| matches!(fault.action, Action::Drop(_)));
        !drops || !replayed.recording.contains('.')
    });
    assert!(all.len() >= cases.len() * 2, "each case has a recording with each server");
    let wrong = unlike(Verdict::Pass, &all, &Subject::Reference).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_cut_in_mid_turn_is_mended_in_front_of_every_recording() {
    let all = cut_in_mid_turn();
    assert!(all.len() >= 20, "{} of {} scenarios", all.len(), catalog::scenario_names().len());
    let wrong = unlike(Verdict::Pass, &all, &Subject::Reference).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn who_never_refreshes_is_caught_in_front_of_every_recording() {
    let mutant = Subject::Mutant("resume_without_refresh".to_owned());
    let wrong = unlike(Verdict::Fail, &cut_in_mid_turn(), &mutant).await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The heads of streams are those of the pinned release, whatever is played again.
fn is_head_of_a_stream(difference: &Difference) -> bool {
    match &difference.what {
        What::Content { leaves, .. } => {
            leaves.iter().all(|leaf| leaf.pointer == "/response/headers/cache-control")
        }
        What::Only { .. } => false,
    }
}

#[tokio::test]
async fn older_releases_are_played_again_and_send_nothing_unknown() {
    let pinned = ServerKind::ALL.map(ServerKind::release);
    let (mut played, mut wrong) = (0, Vec::new());
    for release in catalog::releases().into_iter().filter(|release| !pinned.contains(release)) {
        for name in catalog::recording_names(&release) {
            let recording = catalog::recording(&release, &name).unwrap();
            let (server, name) = (recording.header.server, recording.header.scenario.clone());
            let piece = Piece { scenario: catalog::scenario(&name).unwrap(), name: name.clone(), server };
            let replayed = piece.by_replay(&recording, &stand_in_limits()).await.unwrap().recording;
            let found = differences(&recording, &replayed, &catalog::floats(server).unwrap());
            let sides = Sides::new("the recording", "the replay");
            let found = found.iter().filter(|found| !is_head_of_a_stream(found));
            wrong.extend(found.map(|found| format!("{release} {name}: {}", found.told(&sides))));
            for timed in unfolded(&replayed).iter().flat_map(|stream| &stream.events) {
                let event = timed.event.get("payload").unwrap_or(&timed.event);
                let kind = event["type"].as_str().unwrap_or_default();
                // No release documents its heartbeats.
                let is_known = kind == "server.heartbeat" || catalog::documents(&release, kind);
                assert!(is_known, "{release} {name}: {kind}");
            }
            played += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(played, 20);
}
