//! A plan that fails → the fewest faults that still fail, and the simplest of them: delta debugging, then each fault's
//! parameters. What comes out fails: nothing is kept that was not tried.

use fixtures::fault_plan::action::{Cut, CutEnd, CutPlace};
use fixtures::fault_plan::{Action, Fault, FaultPlan, Point, Scene, Times};

/// Shrinks a plan that fails, and says how often it was tried; no more often than `most`.
pub fn shrink(
    plan: &FaultPlan,
    most: usize,
    mut still_fails: impl FnMut(&FaultPlan) -> bool,
) -> (FaultPlan, usize) {
    let mut runs = 0;
    let mut fails = |faults: &[Fault]| {
        if runs >= most {
            return false;
        }
        runs += 1;
        still_fails(&FaultPlan { faults: faults.to_vec(), ..plan.clone() })
    };
    let mut faults = fewest(plan.faults.clone(), &mut fails);
    // A simpler fault may make another one needless.
    while simpler(&mut faults, &mut fails) {
        faults = fewest(faults, &mut fails);
    }
    (FaultPlan { faults, ..plan.clone() }, runs)
}

/// Delta debugging (Zeller and Hildebrandt): leaves parts out, larger ones first, until nothing can be left out.
fn fewest<T: Clone>(mut all: Vec<T>, fails: &mut impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut parts = 2;
    while all.len() >= 2 {
        let size = all.len().div_ceil(parts);
        let left_out = (0..all.len()).step_by(size).find_map(|from| {
            let rest: Vec<T> = all[..from].iter().chain(all.iter().skip(from + size)).cloned().collect();
            (!rest.is_empty() && fails(&rest)).then_some(rest)
        });
        match left_out {
            Some(rest) => (all, parts) = (rest, (parts - 1).max(2)),
            None if size == 1 => break,
            None => parts = (parts * 2).min(all.len()),
        }
    }
    all
}

/// Puts the first simpler fault that still fails in the place of each; was there one?
fn simpler(faults: &mut Vec<Fault>, fails: &mut impl FnMut(&[Fault]) -> bool) -> bool {
    let mut any = false;
    for at in 0..faults.len() {
        while let Some(better) = simplifications(&faults[at]).into_iter().find_map(|candidate| {
            let mut tried = faults.clone();
            tried[at] = candidate;
            fails(&tried).then_some(tried)
        }) {
            *faults = better;
            any = true;
        }
    }
    any
}

/// Simpler forms of a fault, the simplest first. Each is smaller by [`weight`], so that there is an end.
fn simplifications(fault: &Fault) -> Vec<Fault> {
    let mut all = Vec::new();
    let mut add = |when: Option<Scene>, action: Option<Action>, times: Option<Times>| {
        let mut simpler = fault.clone();
        simpler.when.scene = when.unwrap_or(simpler.when.scene);
        simpler.action = action.unwrap_or(simpler.action);
        simpler.when.times = times.unwrap_or(simpler.when.times);
        all.push(simpler);
    };
    add(None, None, Some(Times::Count(1)));
    if let Action::Cut(_) = fault.action {
        for (place, end) in [
            (CutPlace::BetweenFrames, CutEnd::Broken),
            (CutPlace::BetweenFrames, CutEnd::Clean),
            (CutPlace::MidFrame { bytes: 1 }, CutEnd::Broken),
        ] {
            add(None, Some(Action::Cut(Cut { place, end })), None);
        }
    }
    for action in smaller_actions(&fault.action) {
        add(None, Some(action), None);
    }
    for scene in earlier(&fault.when.scene) {
        add(Some(scene), None, None);
    }
    all.retain(|simpler| weight(simpler) < weight(fault) && simpler.action.suits(&simpler.when).is_ok());
    all.sort_by_key(weight);
    all
}

fn smaller_actions(action: &Action) -> Vec<Action> {
    let half = |ms: u64| [0, ms / 2];
    match action {
        Action::Stall(stall) => half(stall.stall_ms)
            .into_iter()
            .map(|stall_ms| {
                let mut stall = stall.clone();
                stall.stall_ms = stall_ms;
                Action::Stall(stall)
            })
            .collect(),
        Action::Late(late) => half(late.late_ms)
            .into_iter()
            .map(|late_ms| {
                let mut late = late.clone();
                late.late_ms = late_ms;
                Action::Late(late)
            })
            .collect(),
        Action::Duplicate(duplicate) if duplicate.duplicate > 1 => {
            let mut duplicate = duplicate.clone();
            duplicate.duplicate = 1;
            vec![Action::Duplicate(duplicate)]
        }
        Action::Hold(hold) if hold.hold > 1 => {
            let mut hold = hold.clone();
            hold.hold = 1;
            vec![Action::Hold(hold)]
        }
        _ => Vec::new(),
    }
}

/// The same, earlier: at once, half as late, one before.
fn earlier(scene: &Scene) -> Vec<Scene> {
    let before = |count: u32, first: u32| {
        let mut counts = vec![first, count / 2, count.saturating_sub(1)];
        counts.retain(|smaller| (first..count).contains(smaller));
        counts.dedup();
        counts
    };
    match scene {
        Scene::Stream { stream, connection, point } => {
            let points: Vec<Point> = match point {
                Point::After(count) => before(*count, 0).into_iter().map(Point::After).collect(),
                Point::AfterMatch(matched, nth) => {
                    before(*nth, 1).into_iter().map(|nth| Point::AfterMatch(matched.clone(), nth)).collect()
                }
                Point::At(matched, nth) => {
                    before(*nth, 1).into_iter().map(|nth| Point::At(matched.clone(), nth)).collect()
                }
            };
            let (stream, connection) = (*stream, *connection);
            points.into_iter().map(|point| Scene::Stream { stream, connection, point }).collect()
        }
        Scene::Request { route, session, nth } => {
            let earlier = |nth| Scene::Request { route: route.clone(), session: *session, nth };
            before(*nth, 1).into_iter().map(earlier).collect()
        }
        Scene::Accept { nth } => before(*nth, 1).into_iter().map(|nth| Scene::Accept { nth }).collect(),
        Scene::Time => Vec::new(),
    }
}

/// How much there is to a fault: what it does, then how often, then how late.
fn weight(fault: &Fault) -> (u64, u64, u64) {
    let does = match &fault.action {
        Action::Cut(cut) => {
            let place = match cut.place {
                CutPlace::BetweenFrames => 0,
                CutPlace::MidFrame { bytes: 1 } => 2,
                CutPlace::MidFrame { .. } => 3,
                _ => 4,
            };
            place + u64::from(cut.end != CutEnd::Broken)
        }
        Action::Stall(stall) => stall.stall_ms,
        Action::Late(late) => late.late_ms,
        Action::Duplicate(duplicate) => u64::from(duplicate.duplicate),
        Action::Hold(hold) => u64::from(hold.hold),
        _ => 0,
    };
    let times = match fault.when.times {
        Times::Count(count) => u64::from(count),
        Times::Always => u64::MAX,
    };
    let late = match &fault.when.scene {
        Scene::Stream { point: Point::After(count), .. } => *count,
        Scene::Stream { point: Point::AfterMatch(_, nth) | Point::At(_, nth), .. } => *nth,
        Scene::Request { nth, .. } | Scene::Accept { nth } => *nth,
        Scene::Time => 0,
    };
    (does, times, u64::from(late))
}

#[cfg(test)]
mod tests;
