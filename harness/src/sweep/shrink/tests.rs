//! The shrinker against plans whose shortest form is known.

use super::*;
use crate::sweep::schedule::at_frame;
use fixtures::fault_plan::action::{Drop, Stall};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn lose(at: usize) -> Fault {
    at_frame(at, Action::Drop(Drop { drop: "*".to_owned() }))
}

fn plan(faults: Vec<Fault>) -> FaultPlan {
    FaultPlan { about: "kept".to_owned(), faults, ..FaultPlan::default() }
}

fn place(fault: &Fault) -> u32 {
    match fault.when.scene {
        Scene::Stream { point: Point::After(count), .. } => count,
        _ => 0,
    }
}

proptest! {
    #[test]
    fn of_many_faults_those_remain_that_are_needed(
        all in 1_usize..40,
        needed in proptest::collection::btree_set(0_usize..40, 1..4),
    ) {
        let needed: BTreeSet<u32> = needed.into_iter().filter(|at| *at < all).map(|at| at as u32).collect();
        prop_assume!(!needed.is_empty());
        let mut tried = 0;
        let fails = |faults: &FaultPlan| {
            tried += 1;
            let there: BTreeSet<u32> = faults.faults.iter().map(place).collect();
            needed.is_subset(&there)
        };
        let (shortest, runs) = shrink(&plan((0..all).map(lose).collect()), 2000, fails);
        let left: BTreeSet<u32> = shortest.faults.iter().map(place).collect();
        prop_assert_eq!(&left, &needed);
        prop_assert_eq!(shortest.faults.len(), needed.len());
        prop_assert_eq!((runs, shortest.about.as_str()), (tried, "kept"));
    }

    #[test]
    fn what_comes_out_fails_and_the_tries_are_bounded(
        places in proptest::collection::vec(0_usize..60, 1..12),
        mask in any::<u64>(),
        most in 1_usize..60,
    ) {
        // Fails by no rule that a shrinker could guess; the whole plan does.
        let whole = plan(places.iter().copied().map(lose).collect());
        let fails = |tried: &FaultPlan| {
            *tried == whole || tried.faults.iter().fold(mask, |sum, fault| {
                sum.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(place(fault))
            }) % 3 == 0
        };
        let mut count = 0;
        let (shortest, runs) = shrink(&whole, most, |tried| { count += 1; fails(tried) });
        prop_assert!(fails(&shortest), "{shortest:?}");
        prop_assert!(runs <= most && runs == count);
        prop_assert!(shortest.faults.len() <= whole.faults.len());
        // The same again is the same.
        prop_assert_eq!(shrink(&whole, most, fails), (shortest, runs));
    }

    #[test]
    fn the_earliest_place_is_found(first in 0_u32..300, start in 0_u32..300) {
        prop_assume!(first <= start);
        let (shortest, _) = shrink(&plan(vec![lose(start as usize)]), 2000, |tried| {
            tried.faults.first().is_some_and(|fault| place(fault) >= first)
        });
        prop_assert_eq!(place(&shortest.faults[0]), first);
    }
}

#[test]
fn the_simplest_cut_and_the_shortest_wait_are_found() {
    let cut = |place, end| at_frame(9, Action::Cut(Cut { place, end }));
    let silent = cut(CutPlace::MidFrame { bytes: 77 }, CutEnd::Silent);
    let any_cut = |tried: &FaultPlan| matches!(tried.faults[0].action, Action::Cut(_));
    let (shortest, _) = shrink(&plan(vec![silent.clone()]), 100, any_cut);
    assert_eq!(
        shortest.faults[0].to_string(),
        at_frame(0, cut(CutPlace::BetweenFrames, CutEnd::Broken).action).to_string()
    );
    // Only inside a frame.
    let inside = |tried: &FaultPlan| match &tried.faults[0].action {
        Action::Cut(cut) => matches!(cut.place, CutPlace::MidFrame { .. }),
        _ => false,
    };
    let (shortest, _) = shrink(&plan(vec![silent]), 100, inside);
    assert!(matches!(
        &shortest.faults[0].action,
        Action::Cut(Cut { place: CutPlace::MidFrame { bytes: 1 }, end: CutEnd::Broken })
    ));
    let waits = |tried: &FaultPlan| match &tried.faults[0].action {
        Action::Stall(stall) => stall.stall_ms >= 100,
        _ => false,
    };
    let stall = at_frame(4, Action::Stall(Stall { stall_ms: 3000 }));
    let (shortest, _) = shrink(&plan(vec![stall]), 100, waits);
    assert!(
        matches!(&shortest.faults[0].action, Action::Stall(stall) if (100..200).contains(&stall.stall_ms))
    );
}

#[test]
fn a_fault_that_needs_another_one_keeps_it() {
    // Fails only while two that stand far apart are both there.
    let both = |tried: &FaultPlan| {
        let there: BTreeSet<u32> = tried.faults.iter().map(place).collect();
        there.contains(&3) && there.contains(&17)
    };
    let (shortest, runs) = shrink(&plan((0..20).map(lose).collect()), 1000, both);
    assert_eq!(shortest.faults.iter().map(place).collect::<Vec<_>>(), [3, 17]);
    assert!(runs < 120, "{runs}");
}
