//! Many plans of faults, each in front of the same requests on the logical clock: `cargo xtask fuzz plans` runs it. It shares
//! its plans and what is compared with `tests/plans_again`, which does less of the same on every test run.

#![allow(clippy::unwrap_used, reason = "what is shared with a test fails as a test does")]

#[path = "../tests/plans_again/made.rs"]
mod made;
#[path = "../tests/plans_again/played.rs"]
mod played;

use played::written;
use std::process::ExitCode;

/// The seeds of the server: twice the same, and another one.
const SEED: u64 = 1;
const ANOTHER: u64 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[plans, first] = numbers.as_slice() else {
        eprintln!("two numbers are needed: how many plans, and the seed of the first");
        return ExitCode::from(2);
    };
    let (mut acted, mut others) = (0, 0);
    for seed in first..first.saturating_add(plans) {
        let plan = made::plan(seed);
        let (once, again) = (written(&plan, SEED).await, written(&plan, SEED).await);
        if once != again {
            eprintln!("plan {seed} writes other bytes the second time: {plan:#?}\n{once:#?}\n{again:#?}");
            return ExitCode::FAILURE;
        }
        acted += u64::from(!once.1.is_empty());
        others += u64::from(written(&plan, ANOTHER).await.0 != once.0);
    }
    println!(
        "{plans} plans from seed {first}: each writes the same bytes to each stream the second time; {acted} broke something, \
         and {others} wrote other bytes under another seed of the server"
    );
    // One that lets nothing through writes nothing under any seed.
    let holds = acted * 2 > plans && others * 2 > plans;
    if holds {
        return ExitCode::SUCCESS;
    }
    eprintln!("that is too few: the plans show little");
    ExitCode::FAILURE
}
