//! How much memory a server holds that does nothing: with nobody there, and for each who listens.

use super::Told;
use super::contender::{Built, Contender, median};
use super::subscribers::subscribed;
use fixtures::ServerKind;
use harness::machine::Machine;
use serde_json::json;
use std::fmt::Write as _;

const ROUNDS: usize = 3;
const SUBSCRIBERS: usize = 1_000;
/// All that the stand-in holds with nobody there, its program and the system's libraries among it.
const MOST: f64 = 8.0 * MIB;
/// The stand-in's, for each who listens.
const MOST_FOR_EACH: f64 = 20.0 * KIB;
const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// A contender's figures, in bytes.
struct Row {
    name: &'static str,
    alone: f64,
    /// With what is mapped.
    resident: f64,
    for_each: f64,
}

/// Measures all in turns.
pub(super) async fn measured(built: &Built, machine: &Machine) -> Result<Told, String> {
    let mut contenders = vec![built.bare()];
    contenders.extend(ServerKind::ALL.map(|server| built.stand_in(server)));
    let mut turns: Vec<Vec<Row>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (contender, turns) in contenders.iter().zip(&mut turns) {
            turns.push(turn(contender, machine).await?);
        }
    }
    let rows = contenders.iter().zip(&turns).map(|(contender, turns)| {
        let middle = |of: fn(&Row) -> f64| median(turns.iter().map(of).collect());
        Row {
            name: contender.name,
            alone: middle(|row| row.alone),
            resident: middle(|row| row.resident),
            for_each: middle(|row| row.for_each),
        }
    });
    Ok(told(&rows.collect::<Vec<_>>()))
}

async fn turn(contender: &Contender, machine: &Machine) -> Result<Row, String> {
    let failed = |error| format!("{}: failed to subscribe: {error}", contender.name);
    let running = contender.started(&machine.path_env).await?;
    let alone = running.holds()?;
    // What the first one costs is no cost of each.
    let mut listening = vec![subscribed(running.place).await.map_err(failed)?];
    let before = running.holds()?.resident;
    for _ in 0..SUBSCRIBERS {
        listening.push(subscribed(running.place).await.map_err(failed)?);
    }
    let after = running.holds()?.resident;
    running.end().await?;
    let for_each = (after - before) / SUBSCRIBERS as f64;
    Ok(Row { name: contender.name, alone: alone.own, resident: alone.resident, for_each })
}

/// Bare hyper first.
fn told(rows: &[Row]) -> Told {
    let mut table = format!(
        "memory                 its own   with mapped files   for each of {SUBSCRIBERS} who listen\n"
    );
    for Row { name, alone, resident, for_each } in rows {
        let (alone, resident, each) = (alone / MIB, resident / MIB, for_each / KIB);
        let _ = writeln!(table, "{name:<20} {alone:>5.1} MiB {resident:>15.1} MiB {each:>20.1} KiB");
    }
    let holds = rows.iter().skip(1).all(|row| row.resident <= MOST && row.for_each <= MOST_FOR_EACH);
    let verdict = if holds { "it holds" } else { "it does not hold" };
    let wanted = format!(
        "wanted: {:.0} MiB with mapped files and {:.0} KiB for each at most; {verdict}",
        MOST / MIB,
        MOST_FOR_EACH / KIB
    );
    let figure = |row: &Row| json!({"name": row.name, "own": row.alone, "resident": row.resident, "for_each": row.for_each});
    let figures = rows.iter().map(figure);
    let json = json!({"bytes": figures.collect::<Vec<_>>(), "holds": holds});
    Told { table: format!("{table}{wanted}"), json, holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_stand_in_is_held_to_the_limits() {
        let row = |resident, for_each| Row { name: "", alone: MIB, resident, for_each };
        let with = |resident, for_each| told(&[row(100.0 * MIB, 100.0 * KIB), row(resident, for_each)]);
        assert!(with(8.0 * MIB, 20.0 * KIB).holds);
        assert!(!with(8.1 * MIB, 20.0 * KIB).holds);
        assert!(!with(8.0 * MIB, 20.1 * KIB).holds);
    }
}
