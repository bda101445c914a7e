//! A kit's cases with an adapter, its mutants through the same cases, and what must hold.

mod toothless;

use crate::case::{self, Case};
use crate::judge::{judge, proved_by};
use crate::kit::Kit;
use crate::scene::{LONGEST_REAL_S, Scene, Troubled};
use crate::story::AdapterClock;
use crate::timeline;
use fixtures::ServerKind;
use fixtures::error::FileError;
use fixtures::recording::{FORMAT, FileKind, Header, Line, Performer, Provenance, Recording};
use futures_util::StreamExt as _;
use harness::clock::Limits;
use harness::judge::Verdict;
use harness::report::kit::{KitCell, KitGate, KitMutant, KitProof, KitRow};
use harness::report::{GateResult, RequirementState};
use parity_specs::Evidence;
use parity_specs::Matrix;
use parity_specs::kit::KitRequirement;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many cells run at once. Most of a cell's time is waiting.
const AT_ONCE: usize = 8;

/// Who is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The kit's reference adapter, in this process.
    Reference,
    /// A mutant of it.
    Mutant(&'static str),
    /// A program that speaks the kit's protocol.
    Program {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
}

impl Subject {
    /// Its name in reports.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Reference => "reference".to_owned(),
            Self::Mutant(name) => (*name).to_owned(),
            Self::Program { program, args } => {
                let words = std::iter::once(program.display().to_string()).chain(args.iter().cloned());
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn flag(&self) -> String {
        match self {
            Self::Reference => String::new(),
            Self::Mutant(name) => format!(" --mutant {name}"),
            Self::Program { .. } => format!(" --adapter '{}'", self.name()),
        }
    }
}

/// A kit with its requirements and its cases.
pub struct Loaded {
    /// The kit.
    pub kit: &'static dyn Kit,
    /// What must hold.
    pub requirements: Vec<KitRequirement>,
    /// By name.
    pub cases: Vec<Case>,
}

/// Reads what a kit carries.
///
/// # Errors
/// A case or a requirement names what there is not.
pub fn load(kit: &'static dyn Kit, matrix: &Matrix) -> Result<Loaded, FileError> {
    let requirements = matrix.kits.get(kit.name()).cloned().unwrap_or_default();
    let checks: Vec<&str> = kit.checks().iter().map(|check| check.name).collect();
    for requirement in &requirements {
        if let Some(check) = requirement.check.as_deref().filter(|check| !checks.contains(check)) {
            let file = format!("parity-specs/kits/{}", kit.name());
            let unknown = fixtures::near_names::unknown("check of this kit", check, &checks);
            return Err(FileError::whole(file, format!("the requirement '{}': {unknown}", requirement.id)));
        }
    }
    let cases = case::embedded(kit, &requirements)?;
    for case in &cases {
        let named = case.head.hazard.iter().flat_map(|hazard| &hazard.also);
        if let Some(wrong) = named.into_iter().find(|check| !checks.contains(&check.as_str())) {
            let file = format!("kits/cases/{}/{}.toml", kit.name(), case.name);
            return Err(FileError::whole(
                file,
                fixtures::near_names::unknown("check of this kit", wrong, &checks),
            ));
        }
    }
    Ok(Loaded { kit, requirements, cases })
}

/// A cell and its history, if there is one.
pub struct Finished {
    /// What is reported.
    pub cell: KitCell,
    /// What happened.
    pub history: Option<Recording>,
}

/// Which mutants are run in which cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Nowhere,
    /// Each where a case says that it catches it, and where nothing unusual happens.
    Claimed,
    /// Each in every case.
    Everywhere,
}

impl Loaded {
    /// How many cells that are.
    #[must_use]
    pub fn count(&self, cases: &[&Case], reach: Reach) -> usize {
        cases.len() + self.mutant_plans(cases, reach).len()
    }

    fn mutant_plans<'a>(&self, cases: &[&'a Case], reach: Reach) -> Vec<(&'static str, &'a Case)> {
        let mutants = self.kit.mutants().iter().map(|mutant| mutant.name);
        let wanted = |name: &'static str, case: &Case| match reach {
            Reach::Nowhere => false,
            Reach::Claimed => case.head.plain || case.head.catches.iter().any(|caught| caught == name),
            Reach::Everywhere => true,
        };
        let of = |name: &'static str| {
            cases.iter().filter(move |case| wanted(name, case)).map(move |case| (name, *case))
        };
        mutants.flat_map(of).collect()
    }

    /// Runs cases with a subject, and mutants as far as `reach` says; `seen` is told each cell with its history.
    pub async fn run(
        &self,
        cases: &[&Case],
        subject: &Subject,
        reach: Reach,
        limits: &Limits,
        seen: impl Fn(&Finished),
    ) -> KitGate {
        let own = cases.iter().map(|case| (subject.clone(), *case));
        let broken = self.mutant_plans(cases, reach).into_iter();
        let plans = own.chain(broken.map(|(name, case)| (Subject::Mutant(name), case)));
        let seen = &seen;
        let runs = plans.enumerate().map(|(place, (subject, case))| async move {
            let finished = self.cell(case, &subject, limits).await;
            seen(&finished);
            (place, finished.cell)
        });
        // Whoever waits long holds up nobody who could begin.
        let mut cells: Vec<(usize, KitCell)> =
            futures_util::stream::iter(runs).buffer_unordered(AT_ONCE).collect().await;
        cells.sort_by_key(|(place, _)| *place);
        let mut cells: Vec<KitCell> = cells.into_iter().map(|(_, cell)| cell).collect();
        let of_mutants = cells.split_off(cases.len());
        let mutants = self.kit.mutants().iter().map(|mutant| KitMutant {
            name: mutant.name.to_owned(),
            about: mutant.about.to_owned(),
            cells: of_mutants.iter().filter(|cell| cell.adapter == mutant.name).cloned().collect(),
        });
        let partial = cases.len() < self.cases.len();
        self.gate(subject.name(), cells, mutants.collect(), reach, partial)
    }

    /// Runs and judges one cell.
    pub async fn cell(&self, case: &Case, subject: &Subject, limits: &Limits) -> Finished {
        let (kit, name) = (self.kit.name(), &case.name);
        let mut cell = KitCell {
            case: name.clone(),
            about: case.head.about.clone(),
            adapter: subject.name(),
            plain: case.head.plain,
            verdict: Verdict::HarnessError,
            pin: None,
            troubles: Vec::new(),
            checks: Vec::new(),
            rerun: format!("standin kit {kit} --case {name}{}", subject.flag()),
            timeline: Vec::new(),
        };
        match played(self.kit, case, subject, limits).await {
            Ok(lines) => {
                let judged = judge(self.kit, &case.head, &self.requirements, &lines);
                let history = Recording { header: header(kit, name), lines, torn: false };
                cell.verdict = judged.verdict;
                cell.pin = judged.pin;
                cell.troubles = judged.troubles;
                cell.checks = judged.checks;
                cell.timeline = timeline::of(&history.lines);
                Finished { cell, history: Some(history) }
            }
            Err((verdict, why)) => {
                cell.verdict = verdict;
                cell.troubles.push(why);
                Finished { cell, history: None }
            }
        }
    }

    fn gate(
        &self,
        subject: String,
        cells: Vec<KitCell>,
        mutants: Vec<KitMutant>,
        reach: Reach,
        partial: bool,
    ) -> KitGate {
        let with_mutants = reach != Reach::Nowhere;
        let toothless = match with_mutants && !partial {
            true => toothless::find(self, &cells, &mutants),
            false => Vec::new(),
        };
        let rows: Vec<KitRow> = self.requirements.iter().map(|required| self.row(required, &cells)).collect();
        let mut counts = BTreeMap::new();
        for row in &rows {
            *counts.entry(row.state).or_insert(0) += 1;
        }
        let result = result(&counts, &cells, &mutants, toothless.is_empty(), partial);
        KitGate {
            kit: self.kit.name().to_owned(),
            about: self.kit.about().to_owned(),
            subject,
            partial,
            result,
            counts,
            requirements: rows,
            cells,
            mutants,
            with_mutants,
            toothless,
        }
    }

    fn row(&self, required: &KitRequirement, cells: &[KitCell]) -> KitRow {
        let proof = |case: &Case| {
            let cell = cells.iter().find(|cell| cell.case == case.name)?;
            Some((KitProof { case: case.name.clone(), verdict: cell.verdict }, cell.pin.is_some()))
        };
        let proving = self.cases.iter().filter(|case| case.head.proves.contains(&required.id));
        let proofs: Vec<(KitProof, bool)> = proving.filter_map(proof).collect();
        let verdicts: Vec<Verdict> = proofs.iter().map(|(proof, _)| proof.verdict).collect();
        let asked = verdicts.iter().copied().filter(|verdict| *verdict != Verdict::Unsupported).max();
        let state = match (required.evidence, asked) {
            (Evidence::NotObservable, _) => RequirementState::NotObservable,
            (_, Some(Verdict::Pass)) if required.owed.is_some() => RequirementState::OwedButProven,
            (_, Some(Verdict::Pass)) if proofs.iter().any(|(_, pinned)| *pinned) => {
                RequirementState::Degraded
            }
            (_, Some(Verdict::Pass)) => RequirementState::Proven,
            (_, Some(_)) => RequirementState::Failing,
            (_, None) if required.owed.is_some() => RequirementState::Owed,
            // Its adapter can't do what it is about, or its cases were not chosen.
            (_, None) if self.cases.iter().any(|case| case.head.proves.contains(&required.id)) => {
                RequirementState::NotEvaluated
            }
            (_, None) => RequirementState::Missing,
        };
        KitRow {
            id: required.id.clone(),
            about: required.about.clone(),
            feature: required.feature.clone(),
            source: required.claims.join(", "),
            state,
            cases: proofs.into_iter().map(|(proof, _)| proof).collect(),
            reason: required.owed.clone().or_else(|| required.why.clone()),
        }
    }

    /// The checks of what a case proves.
    pub(crate) fn proved_by(&self, case: &Case) -> Vec<&str> {
        proved_by(&case.head, &self.requirements).into_iter().collect()
    }
}

fn result(
    counts: &BTreeMap<RequirementState, usize>,
    cells: &[KitCell],
    mutants: &[KitMutant],
    bites: bool,
    partial: bool,
) -> GateResult {
    let count = |state| counts.get(&state).copied().unwrap_or_default();
    let lost = mutants.iter().flat_map(|mutant| &mutant.cells);
    let lost = lost.filter(|cell| cell.verdict == Verdict::HarnessError).count();
    let worst =
        cells.iter().map(|cell| cell.verdict).filter(|verdict| *verdict != Verdict::Unsupported).max();
    let gaps = !partial && count(RequirementState::Missing) > 0;
    match worst {
        Some(Verdict::Fail) => GateResult::Fail,
        None | Some(Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError) => {
            GateResult::CouldNotCheck
        }
        _ if lost > 0 => GateResult::CouldNotCheck,
        _ if gaps || count(RequirementState::OwedButProven) > 0 || !bites => GateResult::Fail,
        _ => match count(RequirementState::Owed) {
            0 => GateResult::Pass,
            owed => GateResult::PassWithDebt(owed),
        },
    }
}

/// Plays a case: its lines, or why there are none.
async fn played(
    kit: &'static dyn Kit,
    case: &Case,
    subject: &Subject,
    limits: &Limits,
) -> Result<Vec<Line>, (Verdict, String)> {
    let mut scene = Scene::start(kit, subject, limits).map_err(|why| (Verdict::HarnessError, why))?;
    let played = match scene.introduce().await {
        Ok(()) => {
            let cannot = scene.cannot(&case.head.needs);
            if !cannot.is_empty() {
                let why = format!("the adapter does not declare {}", cannot.join(", "));
                // However it ends, it is judged by no case.
                let _ended = scene.end().await;
                return Err((Verdict::Unsupported, why));
            }
            if scene.clock() == AdapterClock::Real && case.head.takes_s > LONGEST_REAL_S {
                let _ended = scene.end().await;
                let why = format!("it takes {} s, and the adapter's clock is real", case.head.takes_s);
                return Err((Verdict::Untestable, why));
            }
            case.play.play(&mut scene).await
        }
        Err(why) => Err(why),
    };
    let tell = |scene: &Scene, outcome: Result<(), Troubled>| {
        if let Err(trouble) = outcome {
            scene.trouble(trouble);
        }
    };
    let is_lost = played.is_err();
    tell(&scene, played);
    let ended = scene.end().await;
    // One trouble is enough of an adapter that is gone.
    if !is_lost {
        tell(&scene, ended);
    }
    Ok(scene.journal().lines())
}

/// The header of a kit's history. No server is played: the place is filled with what the format needs.
fn header(kit: &str, case: &str) -> Header {
    Header {
        format: FORMAT,
        kind: FileKind::History,
        server: ServerKind::Kilo,
        version: "none".to_owned(),
        performer: Performer::StandIn,
        scenario: format!("{kit}/{case}"),
        workspace: String::new(),
        by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
        provenance: Provenance { case: Some(case.to_owned()), ..Provenance::default() },
    }
}
