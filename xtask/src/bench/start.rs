//! How long it takes from the start of a program to its ready line.

use super::Told;
use super::contender::{Built, Contender, median, real};
use fixtures::ServerKind;
use harness::machine::Machine;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// Turns of each; the real servers, which take seconds, have fewer.
const ROUNDS: usize = 21;
const REAL_ROUNDS: usize = 5;
/// The stand-in may take this part of the real server's time.
const MOST: f64 = 1.0 / 200.0;

/// Measures all in turns, so that what else the machine does hits them alike.
pub(super) async fn measured(
    built: &Built,
    npm_dir: Option<&Path>,
    machine: &Machine,
) -> Result<Told, String> {
    let mut contenders = vec![(built.bare(), ROUNDS)];
    contenders.extend(ServerKind::ALL.map(|server| (built.stand_in(server), ROUNDS)));
    for server in ServerKind::ALL.into_iter().filter(|_| npm_dir.is_some()) {
        let program = real(server, npm_dir.unwrap_or(Path::new("")), machine)?;
        contenders.push((program, REAL_ROUNDS));
    }
    let mut took: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    for round in 0..ROUNDS {
        for ((contender, rounds), took) in contenders.iter().zip(&mut took) {
            if round < *rounds {
                let running = contender.started(&machine.path_env).await?;
                took.push(1000.0 * running.took.as_secs_f64());
                running.end().await?;
            }
        }
    }
    let medians: Vec<(&Contender, f64)> =
        contenders.iter().zip(took).map(|((contender, _), took)| (contender, median(took))).collect();
    Ok(told(&medians.iter().map(|(contender, took)| (contender.name, *took)).collect::<Vec<_>>()))
}

/// Bare hyper's time, then the stand-ins', then those of the real servers, if they were started.
fn told(medians: &[(&str, f64)]) -> Told {
    let bare = medians.first().map_or(1.0, |(_, took)| *took);
    let mut table = String::from("ready after        ms   times bare hyper   part of the real server\n");
    let mut rows = Vec::new();
    let mut holds = true;
    for (at, (name, took)) in medians.iter().enumerate() {
        let stands_for = (1..=ServerKind::ALL.len()).contains(&at).then(|| at + ServerKind::ALL.len());
        let part = stands_for.and_then(|real| medians.get(real)).map(|(_, real)| took / real);
        holds &= part.is_none_or(|part| part <= MOST);
        let part_told = part.map(|part| format!("1/{:.0}", 1.0 / part)).unwrap_or_default();
        let _ = writeln!(table, "{name:<20} {took:>9.2} {:>12.1} {part_told:>20}", took / bare);
        rows.push(json!({"name": name, "ms": took, "part_of_real": part}));
    }
    let wanted = format!("wanted: at most 1/{:.0} of the real server's time; ", 1.0 / MOST);
    let is_whole = medians.len() > 1 + ServerKind::ALL.len();
    let verdict = match (is_whole, holds) {
        (false, _) => "name the real servers' folder with --npm-dir",
        (true, true) => "it holds",
        (true, false) => "it does not hold",
    };
    Told { table: format!("{table}{wanted}{verdict}"), json: json!({"ready": rows, "holds": holds}), holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_held_against_its_own_server() {
        let with = |kilo: f64, opencode: f64| {
            let own = [("bare", 2.0), ("kilo", kilo), ("opencode", opencode)];
            told(&[&own[..], &[("real kilo", 2000.0), ("real opencode", 1000.0)]].concat())
        };
        assert!(with(10.0, 5.0).holds);
        assert!(!with(10.1, 5.0).holds);
        assert!(!with(10.0, 5.1).holds);
        assert!(with(10.0, 5.0).table.contains("1/200"));
        assert!(told(&[("bare", 2.0), ("kilo", 99.0), ("opencode", 5.0)]).table.ends_with("--npm-dir"));
    }
}
