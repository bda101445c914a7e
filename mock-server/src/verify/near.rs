//! Near misses: requests that are almost the one that is meant, and how they are others.

use super::calls::{Call, leads_to};
use fixtures::fault_plan::Route;
use fixtures::near_names::did_you_mean;
use fixtures::recording::Request;

/// More of them tell nothing more.
const TOLD: usize = 3;

/// A request in words.
pub(super) fn words(request: &Request) -> String {
    let Request { exchange, method, path, .. } = request;
    let lane = request.lane.as_deref().unwrap_or("main");
    format!("{method} {path} (lane '{lane}', exchange {exchange})")
}

/// The first of these, and how many more there are.
pub(super) fn told(requests: &[&Request]) -> Vec<String> {
    let mut told: Vec<String> = requests.iter().take(TOLD).map(|request| words(request)).collect();
    let more = requests.len().saturating_sub(TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// The requests that come nearest to a call without being it, the nearest first.
pub(super) fn of(call: &Call, requests: &[&Request]) -> Vec<String> {
    let Ok(route) = call.route() else { return Vec::new() };
    let missed = requests.iter().filter_map(|request| {
        let (distance, how) = miss(call, &route, request)?;
        Some((distance, format!("{}: {how}", words(request))))
    });
    let mut missed: Vec<(usize, String)> = missed.collect();
    missed.sort_by_key(|(distance, _)| *distance);
    missed.into_iter().take(TOLD).map(|(_, told)| told).collect()
}

/// How far a request is from a call, and how it is another; `None` when it is the call, or far from it.
fn miss(call: &Call, route: &Route, request: &Request) -> Option<(usize, String)> {
    if leads_to(route, request) {
        return Some((0, call.differs(request)?));
    }
    let Route::Operation { method, path } = route else { return None };
    let is_method = method == "*" || *method == request.method;
    if Route::is_like(path, &request.path) {
        return Some((1, format!("the method is {}", request.method)));
    }
    if !is_method {
        return None;
    }
    let (wanted, given): (Vec<&str>, Vec<&str>) =
        (path.split('/').collect(), request.path.split('/').collect());
    let other = |(wanted, given): &(&&str, &&str)| !Route::is_like(wanted, given);
    let others: Vec<_> = wanted.iter().zip(&given).filter(other).collect();
    match (others.as_slice(), wanted.len().abs_diff(given.len())) {
        // One word is spelled otherwise.
        ([(wanted, given)], 0) if did_you_mean(given, &[**wanted]).is_some() => {
            Some((2, format!("'{given}' is not '{wanted}'")))
        }
        ([], 1) if given.len() > wanted.len() => Some((3, "the path goes on".to_owned())),
        ([], 1) if given.len() > 2 => Some((3, "the path ends before".to_owned())),
        _ => None,
    }
}
