//! `standin sweep`: a scenario with a fault at every place where one can stand, and what an adapter makes of each.

use super::{FAILS, Failure, Outcome, read_text, scenario, subject, words, writable_folder};
use clap::{Args, ValueEnum};
use fixtures::ServerKind;
use fixtures::fault_plan::{FaultPlan, Performed, Place};
use harness::mutants;
use harness::say;
use harness::subject::Subject;
use harness::sweep::report::Swept;
use harness::sweep::schedule::Kind;
use harness::sweep::{Ground, NotSwept, Wish, sweep};
use mock_server::standin::MAIN_LANE;
use parity_specs::case::ADAPTER_LANE;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is swept.
#[derive(Debug, Args)]
#[command(
    after_help = "The scenario is performed once without a fault; that run says where faults can stand. Then it is
performed once for each of them (docs/sweeps.md):

    cut     the stream is cut at every event: between frames in four ways, inside a frame,
            inside a line's end, inside a character, before the blank line
    fail    every answer that is read again after a cut fails: by its status, its words, never coming,
            a reset, half of it
    lose    every event is lost
    random  several faults at once, drawn from the seed (with --random)

The reference and its mutants run in this process in virtual time: nobody waits, and a seed gives the same
bytes each time. Any other adapter is a process, over sockets; --sample keeps that short.

    standin sweep --scenario text/plain
    standin sweep --scenario permission/write-allowed-once --adapter resume_without_refresh
    standin sweep --scenario mine.toml --server kilo --adapter 'node my-adapter.js' --sample 20
    standin sweep --scenario text/plain --random 500 --seed 7

The first schedule of each kind that fails is shrunk to the fewest and simplest faults that still fail, and
kept in the folder that --failing names. What is kept is run first the next time; one file alone with --plan.

Exit codes: 0 all schedules hold, 1 one fails, 2 misuse, 3 the scenario can't be swept."
)]
pub(crate) struct Arguments {
    /// The scenario, as area/name or as a file. Repeatable.
    #[arg(long = "scenario", value_name = "NAME|FILE", required = true)]
    scenarios: Vec<String>,
    /// Only with this server: kilo or opencode.
    #[arg(long, value_parser = words::server)]
    server: Option<ServerKind>,
    /// Who is judged: reference, a mutant's name, or a program with its arguments.
    #[arg(long, value_name = "ADAPTER", default_value = "reference")]
    adapter: String,
    /// Decides samples, random schedules, and what overtakes what.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only schedules of this kind: cut, fail, lose or random. Repeatable.
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
    /// No more than so many schedules of each kind.
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// So many random schedules of several faults, too.
    #[arg(long, value_name = "N", default_value_t = 0)]
    random: usize,
    /// Only this plan of faults, instead of a sweep. Repeatable.
    #[arg(long = "plan", value_name = "FILE")]
    plans: Vec<PathBuf>,
    /// Where plans that fail are kept.
    #[arg(long, value_name = "DIR", default_value = "target/standin/failing")]
    failing: PathBuf,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: a line a scenario, and what fails.
    Text,
    /// For programs.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let grounds = grounds(arguments)?;
    let who = who(&arguments.adapter)?;
    if let Some(code) = subject::refused(&who)? {
        return Ok(code);
    }
    let flag = flag(&arguments.adapter);
    let plans = arguments.plans.iter().map(|file| Ok((file.clone(), plan(file)?)));
    let plans = plans.collect::<Result<Vec<_>, Failure>>()?;
    writable_folder(&arguments.failing, "--failing")?;
    let wish = Wish {
        seed: arguments.seed,
        kinds: arguments.kinds.clone(),
        sample: arguments.sample,
        random: arguments.random,
        plans,
        failing: Some(arguments.failing.clone()),
    };
    let (mut all, mut told) = (Vec::new(), Vec::new());
    let (mut fails, mut could_not) = (false, false);
    for ground in &grounds {
        let Ground { name, server, .. } = ground;
        match sweep(ground, &who, &wish) {
            Ok(swept) => {
                fails |= !swept.holds();
                // A plan whose fault never acted has shown nothing.
                could_not |= swept.totals().0 == 0;
                told.push(swept.json());
                if arguments.format == Format::Text {
                    say::text(&swept.text(&flag));
                }
                all.push(swept);
            }
            Err(why) => {
                let is_its_own = matches!(why, NotSwept::Unbroken(_));
                (fails, could_not) = (fails || is_its_own, could_not || !is_its_own);
                told.push(json!({"scenario": name, "server": server.word(), "not_swept": why.to_string()}));
                if arguments.format == Format::Text {
                    say!("✗ {name} ({server}): not swept: {why}");
                }
            }
        }
    }
    match arguments.format {
        Format::Text => say!("{}", total(&all)),
        Format::Json => say!("{}", Value::Array(told)),
    }
    Ok(match (fails, could_not) {
        (true, _) => ExitCode::from(FAILS),
        (false, true) => ExitCode::from(super::COULD_NOT_CHECK),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// How many in what time.
fn total(all: &[Swept]) -> String {
    let (schedules, hold) =
        all.iter().map(Swept::totals).fold((0, 0), |sum, (all, hold)| (sum.0 + all, sum.1 + hold));
    let seconds = all.iter().fold(0.0, |sum, swept| sum + swept.seconds);
    let pace = if seconds > 0.0 { schedules as f64 / seconds } else { 0.0 };
    format!("{hold} of {schedules} schedules hold; {seconds:.1} s, {pace:.0} a second")
}

fn grounds(arguments: &Arguments) -> Result<Vec<Ground>, Failure> {
    let servers = arguments.server.map_or_else(|| ServerKind::ALL.to_vec(), |server| vec![server]);
    let mut grounds = Vec::new();
    for name in &arguments.scenarios {
        let scenario = scenario(name)?;
        let of =
            |server: &ServerKind| Ground { name: name.clone(), scenario: scenario.clone(), server: *server };
        grounds.extend(servers.iter().map(of));
    }
    Ok(grounds)
}

fn plan(file: &Path) -> Result<FaultPlan, Failure> {
    let releases: Vec<String> = ServerKind::ALL.iter().map(|server| server.release()).collect();
    let (lanes, performed) = (&[MAIN_LANE, ADAPTER_LANE], &[Performed::Library]);
    let place = Place { lanes, more_lanes: "a sweep has no other", releases: &releases, performed };
    Ok(FaultPlan::parse_for(file, &read_text(file)?, &place)?)
}

fn who(adapter: &str) -> Result<Subject, Failure> {
    match adapter {
        "reference" => Ok(Subject::Reference),
        name if mutants::find(name).is_some() => subject::named(None, Some(name)),
        command => subject::named(Some(command), None),
    }
}

/// What follows `standin sweep` to run exactly this adapter.
fn flag(adapter: &str) -> String {
    if adapter == "reference" { String::new() } else { format!(" --adapter '{adapter}'") }
}
