//! `cargo xtask sweep`: every scenario that can be a case, with both servers, swept with the reference adapter in virtual
//! time. `standin sweep` does it for one scenario and any adapter.

use crate::outcome::Outcome;
use fixtures::ServerKind;
use harness::say;
use harness::subject::Subject;
use harness::sweep::report::Swept;
use harness::sweep::{Wish, all_grounds, sweep};
use std::collections::BTreeMap;
use std::path::Path;

/// What `cargo xtask sweep` may be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// So many schedules of each kind and scenario, drawn from the seed; 0 is all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    sample: usize,
    /// So many random schedules of several faults for each scenario, too.
    #[arg(long, value_name = "N", default_value_t = 5)]
    random: usize,
    /// Decides samples, random schedules, and what overtakes what.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only scenarios whose names begin with this.
    #[arg(long, value_name = "AREA", default_value = "")]
    area: String,
    /// A mutant in place of the reference.
    #[arg(long, value_name = "NAME")]
    mutant: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let grounds = match all_grounds(&ServerKind::ALL) {
        Ok(grounds) => grounds,
        Err(error) => return Outcome::Fails(error.to_string()),
    };
    let subject = arguments.mutant.clone().map_or(Subject::Reference, Subject::Mutant);
    let wish = Wish {
        seed: arguments.seed,
        kinds: Vec::new(),
        sample: Some(arguments.sample).filter(|sample| *sample > 0),
        random: arguments.random,
        plans: Vec::new(),
        failing: Some(root.join("target/standin/failing")),
    };
    let mut swept: Vec<Swept> = Vec::new();
    let mut not_swept: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ground in grounds.iter().filter(|ground| ground.name.starts_with(&arguments.area)) {
        match sweep(ground, &subject, &wish) {
            Ok(done) => {
                let flag = if subject == Subject::Reference {
                    String::new()
                } else {
                    format!(" --adapter {}", subject.name())
                };
                say::text(&done.text(&flag));
                swept.push(done);
            }
            Err(why) => {
                // What stands behind the colon differs from scenario to scenario.
                let why = why.to_string();
                let kind = why.split(':').next().unwrap_or_default().to_owned();
                not_swept.entry(kind).or_default().push(format!("{} ({})", ground.name, ground.server));
            }
        }
    }
    for (why, names) in &not_swept {
        say!("- not swept, since {why}: {}", names.join(", "));
    }
    ending(&swept)
}

fn ending(swept: &[Swept]) -> Outcome {
    let totals = swept.iter().map(Swept::totals);
    let (schedules, hold) = totals.fold((0, 0), |sum, (all, hold)| (sum.0 + all, sum.1 + hold));
    let seconds = swept.iter().fold(0.0, |sum, swept| sum + swept.seconds);
    let pace = if seconds > 0.0 { schedules as f64 / seconds } else { 0.0 };
    say!(
        "{hold} of {schedules} schedules of {} scenarios hold; {seconds:.0} s, {pace:.0} a second",
        swept.len()
    );
    match (schedules, hold) {
        (0, _) => Outcome::Untestable("no scenario was swept".to_owned()),
        (all, hold) if all == hold => Outcome::Holds,
        (all, hold) => Outcome::Fails(format!("{} schedules do not hold; see above", all - hold)),
    }
}
