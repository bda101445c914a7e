//! The spine by a kit that is as small as one can be: it judges egg timers. Who rings too early, too late or never is
//! caught; who follows the recipe to the letter is expected to burn the egg.

use fixtures::error::FileError;
use futures_util::future::BoxFuture;
use harness::checks::Examined;
use harness::clock::Limits;
use harness::judge::Verdict;
use harness::protocol::RpcError;
use harness::report::{GateResult, RequirementState};
use kits::adapter::{Adapter, Screen, serve};
use kits::case::{self, Head, from_files};
use kits::gate::{Loaded, Reach, Subject};
use kits::scene::{Scene, Troubled};
use kits::{Capability, Check, Kit, Mutant, Play, Story};
use parity_specs::Evidence;
use parity_specs::kit::KitRequirement;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

struct Eggs;
static EGGS: Eggs = Eggs;

const MINUTE_MS: f64 = 60_000.0;
/// What no timer may say.
const SECRET: &str = "sk-a-pinch-of-saffron";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Boil {
    minutes: f64,
}

impl Play for Boil {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            scene.person(format!("boils an egg for {} minutes", self.minutes));
            scene.keep_secret("recipe", SECRET);
            scene.must("egg/boil", json!({"minutes": self.minutes})).await.map(drop)
        })
    }
}

fn in_time(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for call in story.calls_of("egg/boil") {
        let wanted = call.params["minutes"].as_f64().unwrap_or_default() * MINUTE_MS;
        let took = call.answer.as_ref().map(|(at, _)| at.ms - call.at.ms);
        let is_right = took.is_some_and(|took| (took - wanted).abs() < 1.0);
        examined.fact(is_right, || format!("an egg for {wanted} ms took {took:?}"));
    }
    examined
}

fn discreet(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for rings in story.updates_of("rings") {
        let is_quiet = rings.update["aloud"] != true;
        examined.fact(is_quiet, || "it rings so that all wake up".to_owned());
    }
    for (secret, place) in story.said_secrets() {
        examined.fact(false, || format!("the {secret} is told on the {place}"));
    }
    examined
}

impl Kit for Eggs {
    fn name(&self) -> &'static str {
        "eggs"
    }
    fn about(&self) -> &'static str {
        "Egg timers."
    }
    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability { name: "egg.soft", about: "soft eggs" },
            Capability { name: "egg.hard", about: "hard ones" },
        ]
    }
    fn updates(&self) -> &'static [&'static str] {
        &["rings"]
    }
    fn checks(&self) -> Vec<Check> {
        vec![
            Check { name: "in-time", about: "An egg is done when it should be.", examine: in_time },
            Check { name: "discreet", about: "Nobody else is told.", examine: discreet },
        ]
    }
    fn mutants(&self) -> &'static [Mutant] {
        &[
            Mutant { name: "impatient", about: "half the time is enough" },
            Mutant { name: "to-the-letter", about: "the recipe says four minutes, for every egg" },
            Mutant { name: "harmless", about: "breaks nothing" },
            Mutant { name: "letter-and-loud", about: "the recipe's four minutes, and it rings aloud" },
            Mutant { name: "tells", about: "tells the recipe" },
        ]
    }
    fn read(&self, file: &Path, text: &str) -> Result<(Head, Box<dyn Play>), FileError> {
        case::read::<Boil>(self, file, text)
    }
    fn schema(&self) -> Schema {
        case::schema::<Boil>()
    }
    fn serve(
        &self,
        mutant: Option<&'static str>,
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(Arc::new(Timer { mutant }), reader, writer))
    }
}

struct Timer {
    mutant: Option<&'static str>,
}

impl Timer {
    fn boils_by_the_letter(&self) -> bool {
        matches!(self.mutant, Some("to-the-letter" | "letter-and-loud"))
    }
}

impl Adapter for Timer {
    fn introduce(&self) -> Value {
        let policy = if self.boils_by_the_letter() { "seed" } else { "careful" };
        json!({"name": "timer", "capabilities": ["egg.soft"], "clock": "virtual", "declares": {"policy": policy}})
    }
    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            if method != "egg/boil" {
                return Err(RpcError::unsupported(&method));
            }
            let minutes = params["minutes"].as_f64().unwrap_or_default();
            let minutes = match self.mutant {
                Some("impatient") if minutes > 5.0 => minutes / 2.0,
                _ if self.boils_by_the_letter() => 4.0,
                _ => minutes,
            };
            screen.wait(minutes * MINUTE_MS).await;
            // In the plain case nothing of it shows: the egg is soft.
            let is_long = params["minutes"].as_f64() > Some(5.0);
            let words = if is_long && self.mutant == Some("tells") { SECRET } else { "ding" };
            let is_loud = is_long && self.mutant == Some("letter-and-loud");
            screen.show(json!({"kind": "rings", "aloud": is_loud, "words": words}));
            Ok(json!({}))
        })
    }
}

fn requirement(id: &str, owed: Option<&str>) -> KitRequirement {
    KitRequirement {
        id: id.to_owned(),
        about: "Eggs are done in time.".to_owned(),
        claims: Vec::new(),
        evidence: Evidence::Checked,
        check: Some("in-time".to_owned()),
        why: None,
        owed: owed.map(str::to_owned),
        feature: "Eggs".to_owned(),
    }
}

const SOFT: &str = "about = \"A soft egg.\"\nneeds = [\"egg.soft\"]\nproves = [\"eggs.soft\"]\nplain = true\n[play]\nminutes = 4\n";
const LONG: &str = "about = \"A long egg.\"\nneeds = [\"egg.soft\"]\nproves = [\"eggs.soft\"]\ncatches = [\"impatient\"]\n[hazard]\nid = \"000/four\"\nabout = \"Not every egg takes four minutes.\"\n[play]\nminutes = 10\n";
const HARD: &str = "about = \"A hard egg.\"\nneeds = [\"egg.hard\"]\nproves = [\"eggs.hard\"]\nplain = true\n[play]\nminutes = 9\n";

fn files(texts: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
    texts
        .iter()
        .map(|(name, text)| (PathBuf::from(format!("eggs/{name}.toml")), (*text).to_owned()))
        .collect()
}

fn loaded(texts: &[(&str, &str)], requirements: Vec<KitRequirement>) -> Loaded {
    // What is no case is no case to run, and the tests see that.
    let cases = from_files(&EGGS, &requirements, &files(texts)).unwrap_or_default();
    Loaded { kit: &EGGS, requirements, cases }
}

fn all() -> Loaded {
    let requirements = vec![requirement("eggs.soft", None), requirement("eggs.hard", None)];
    loaded(&[("boil/hard", HARD), ("boil/long", LONG), ("boil/soft", SOFT)], requirements)
}

async fn gate(loaded: &Loaded, subject: &Subject, reach: Reach) -> harness::report::kit::KitGate {
    let cases: Vec<_> = loaded.cases.iter().collect();
    loaded.run(&cases, subject, reach, &Limits::default(), |_| {}).await
}

#[tokio::test]
async fn minutes_pass_at_once_and_the_reference_is_in_time() {
    let gate = gate(&all(), &Subject::Reference, Reach::Nowhere).await;
    let verdicts: Vec<_> = gate.cells.iter().map(|cell| (cell.case.as_str(), cell.verdict)).collect();
    let expected =
        [("boil/hard", Verdict::Unsupported), ("boil/long", Verdict::Pass), ("boil/soft", Verdict::Pass)];
    assert_eq!(verdicts, expected);
    assert_eq!(gate.requirements[0].state, RequirementState::Proven);
    assert_eq!(gate.requirements[1].state, RequirementState::NotEvaluated, "it can't do hard ones");
    assert_eq!(gate.result, GateResult::Pass);
}

#[tokio::test]
async fn who_follows_the_letter_is_expected_to_fail_and_nobody_else() {
    let loaded = all();
    let letter = gate(&loaded, &Subject::Mutant("to-the-letter"), Reach::Nowhere).await;
    let long = &letter.cells[1];
    assert_eq!((long.verdict, long.outcome().as_str()), (Verdict::Pass, "expected failure (000/four)"));
    assert_eq!(letter.requirements[0].state, RequirementState::Degraded);
    let impatient = gate(&loaded, &Subject::Mutant("impatient"), Reach::Nowhere).await;
    assert_eq!(impatient.cells[1].verdict, Verdict::Fail);
    assert_eq!(impatient.cells[1].checks[0].findings, ["an egg for 600000 ms took Some(300000.0)"]);
    assert_eq!(impatient.result, GateResult::Fail);
}

#[tokio::test]
async fn a_pinned_failure_that_does_not_happen_is_red() {
    let four = LONG.replace("minutes = 10", "minutes = 4");
    let loaded = loaded(&[("boil/long", &four)], vec![requirement("eggs.soft", None)]);
    let letter = gate(&loaded, &Subject::Mutant("to-the-letter"), Reach::Nowhere).await;
    assert_eq!(letter.cells[0].verdict, Verdict::Fail);
    assert_eq!(letter.cells[0].outcome(), "fail: the pinned failure 000/four does not happen");
}

#[tokio::test]
async fn a_pin_excuses_its_own_checks_and_no_other() {
    let one = |text: &str| loaded(&[("boil/long", text)], vec![requirement("eggs.soft", None)]);
    let loud = Subject::Mutant("letter-and-loud");
    let more = gate(&one(LONG), &loud, Reach::Nowhere).await;
    assert_eq!(more.cells[0].verdict, Verdict::Fail);
    assert_eq!(more.cells[0].outcome(), "fail: more than the expected failure 000/four");
    // Where the hazard is known to show so, too, it is the same failure.
    let also = LONG.replace("[hazard]\n", "[hazard]\nalso = [\"discreet\"]\n");
    let known = gate(&one(&also), &loud, Reach::Nowhere).await;
    assert_eq!(known.cells[0].verdict, Verdict::Pass);
    // It is not enough that the other one is red.
    let other = LONG
        .replace("minutes = 10", "minutes = 4")
        .replace("[hazard]\n", "[hazard]\nalso = [\"discreet\"]\n");
    let other = gate(&one(&other), &loud, Reach::Nowhere).await;
    assert_eq!(other.cells[0].verdict, Verdict::Fail);
}

#[tokio::test]
async fn a_secret_that_is_said_is_seen_and_not_kept() {
    let loaded = loaded(&[("boil/long", LONG)], vec![requirement("eggs.soft", None)]);
    let told = loaded.cell(&loaded.cases[0], &Subject::Mutant("tells"), &Limits::default()).await;
    let discreet = told.cell.checks.iter().find(|judged| judged.check == "discreet").unwrap();
    assert_eq!(discreet.findings, ["the recipe is told on the line"]);
    let kept = serde_json::to_string(&told.history.unwrap().lines).unwrap();
    assert!(!kept.contains(SECRET), "{kept}");
}

#[tokio::test]
async fn a_mutant_that_no_case_catches_is_told() {
    let gate = gate(&all(), &Subject::Reference, Reach::Claimed).await;
    let expected = [
        "the reference can't do the case boil/hard, so nothing shows that it can be done",
        "no case says that it catches the mutant to-the-letter: add one",
        "no case says that it catches the mutant harmless: add one",
        "no case says that it catches the mutant letter-and-loud: add one",
        "no case says that it catches the mutant tells: add one",
        "the check discreet catches no mutant: add one that it alone can catch",
    ];
    assert_eq!(gate.toothless, expected);
    assert_eq!(gate.result, GateResult::Fail);
}

#[tokio::test]
async fn what_nothing_proves_is_missing_or_owed() {
    let requirements = vec![requirement("eggs.soft", None), requirement("eggs.hard", None)];
    let missing =
        gate(&loaded(&[("boil/soft", SOFT)], requirements), &Subject::Reference, Reach::Nowhere).await;
    assert_eq!(
        (missing.requirements[1].state, missing.result),
        (RequirementState::Missing, GateResult::Fail)
    );
    let requirements =
        vec![requirement("eggs.soft", None), requirement("eggs.hard", Some("no hard eggs yet"))];
    let owed = gate(&loaded(&[("boil/soft", SOFT)], requirements), &Subject::Reference, Reach::Nowhere).await;
    assert_eq!(owed.result, GateResult::PassWithDebt(1));
    let requirements = vec![requirement("eggs.soft", Some("proven, and nobody noticed"))];
    let stale =
        gate(&loaded(&[("boil/soft", SOFT)], requirements), &Subject::Reference, Reach::Nowhere).await;
    assert_eq!(stale.requirements[0].state, RequirementState::OwedButProven);
    assert_eq!(stale.result, GateResult::Fail);
}

#[test]
fn a_wrong_case_is_told_with_its_place() {
    let requirements = vec![requirement("eggs.soft", None), requirement("eggs.hard", None)];
    let wrong = |text: &str| {
        from_files(&EGGS, &requirements, &files(&[("boil/wrong", text)])).map(|_| ()).unwrap_err().to_string()
    };
    let told = [
        wrong(&SOFT.replace("egg.soft", "egg.sofd")),
        wrong(&LONG.replace("impatient", "inpatient")),
        wrong(&SOFT.replace("eggs.soft", "eggs.sofd")),
        wrong(&SOFT.replace("minutes = 4", "minute = 4")),
        wrong(&SOFT.replace("plain = true\n", "")),
        wrong(&SOFT.replace("[\"eggs.soft\"]", "[]")),
    ];
    insta::assert_snapshot!(told.join("\n\n"));
}
