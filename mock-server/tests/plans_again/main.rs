//! Goal: a plan breaks the same bytes each time, and another seed of the server other ones. Method: plans made of a seed, each
//! twice on the logical clock with the same requests; what the journal says was written to each stream is compared.
//! `cargo xtask fuzz plans` does more of the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod made;
mod played;

use fixtures::fault_plan::FaultPlan;
use made::plan;
use played::written;

/// How many plans are tried.
const PLANS: u64 = 48;

#[tokio::test]
async fn a_plan_breaks_the_same_bytes_each_time() {
    let mut acted = 0;
    for seed in 0..PLANS {
        let plan = plan(seed);
        let (first, second) = (written(&plan, 1).await, written(&plan, 1).await);
        assert_eq!(first, second, "plan {seed}: {plan:#?}");
        acted += usize::from(!first.1.is_empty());
    }
    assert!(acted * 2 > PLANS as usize, "most plans break something: {acted} of {PLANS}");
}

#[tokio::test]
async fn another_seed_has_other_ids() {
    let plan = FaultPlan::default();
    assert_ne!(written(&plan, 1).await, written(&plan, 2).await);
}
