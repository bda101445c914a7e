//! What is left of clients that come and leave: of streams that nobody reads to an end, and of requests that are cut in the
//! middle.

use super::Told;
use super::contender::{Built, Contender, Held, Running};
use super::subscribers::visit;
use fixtures::ServerKind;
use harness::machine::Machine;
use serde_json::json;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinSet;

/// What a server makes once is made by then.
const BEFORE: usize = 1_000;
const VISITS: usize = 10_000;
const AT_ONCE: usize = 20;
/// So long may it take until the last one is gone.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOKS_AGAIN_AFTER: Duration = Duration::from_millis(20);
/// An allocator gives back what it likes; what stays of every visit is more.
const MOST: f64 = 1024.0 * 1024.0;

/// A contender before and after.
struct Row {
    name: &'static str,
    before: Held,
    after: Held,
}

/// Measures one after the other.
pub(super) async fn measured(built: &Built, machine: &Machine) -> Result<Told, String> {
    let mut contenders = vec![built.bare()];
    contenders.extend(ServerKind::ALL.map(|server| built.stand_in(server)));
    let mut rows = Vec::new();
    for contender in &contenders {
        rows.push(turn(contender, machine).await?);
    }
    Ok(told(&rows))
}

async fn turn(contender: &Contender, machine: &Machine) -> Result<Row, String> {
    let running = contender.started(&machine.path_env).await?;
    let alone = running.holds()?.files;
    visits(running.place, BEFORE).await?;
    let before = left(&running, alone).await?;
    visits(running.place, VISITS).await?;
    let after = left(&running, before.files).await?;
    running.end().await?;
    Ok(Row { name: contender.name, before, after })
}

async fn visits(place: SocketAddr, count: usize) -> Result<(), String> {
    let mut visitors = JoinSet::new();
    for first in 0..AT_ONCE {
        visitors.spawn(async move {
            for number in (first..count).step_by(AT_ONCE) {
                visit(place, number).await?;
            }
            Ok::<_, std::io::Error>(())
        });
    }
    while let Some(visited) = visitors.join_next().await {
        let visited = visited.map_err(|error| error.to_string())?;
        visited.map_err(|error| format!("a visit failed: {error}"))?;
    }
    Ok(())
}

/// What it holds when it has so few files open again, or has had its time for it.
async fn left(running: &Running, files: usize) -> Result<Held, String> {
    let again = async {
        while running.holds().is_ok_and(|held| held.files > files) {
            recorder::clock::pause(LOOKS_AGAIN_AFTER).await;
        }
    };
    recorder::clock::within(PATIENCE, again).await;
    running.holds()
}

/// Bare hyper first.
fn told(rows: &[Row]) -> Told {
    let mut table = format!("after {VISITS} visits        open files    threads   bytes of each visit\n");
    let is_good = |row: &Row| {
        row.after.files <= row.before.files
            && row.after.threads <= row.before.threads
            && row.after.own - row.before.own <= MOST
    };
    for row in rows {
        let (files, threads) = ([row.before.files, row.after.files], [row.before.threads, row.after.threads]);
        let each = (row.after.own - row.before.own) / VISITS as f64;
        let _ = writeln!(
            table,
            "{:<24} {:>5} → {:<5} {:>4} → {:<4} {each:>14.1}",
            row.name, files[0], files[1], threads[0], threads[1]
        );
    }
    let holds = rows.iter().skip(1).all(is_good);
    let verdict = if holds { "it holds" } else { "it does not hold" };
    let wanted = format!(
        "wanted: no file, no thread and {:.0} bytes of each at most; {verdict}",
        MOST / VISITS as f64
    );
    let held = |held: &Held| json!({"bytes": held.own, "threads": held.threads, "files": held.files});
    let figures = rows
        .iter()
        .map(|row| json!({"name": row.name, "before": held(&row.before), "after": held(&row.after)}));
    let json = json!({"visits": VISITS, "held": figures.collect::<Vec<_>>(), "holds": holds});
    Told { table: format!("{table}{wanted}"), json, holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stays_is_told() {
        let before = Held { own: 1e7, resident: 2e7, threads: 3, files: 12 };
        let holds = |after| told(&[Row { name: "", before, after }, Row { name: "", before, after }]).holds;
        assert!(holds(Held { own: 1e7 + MOST, ..before }));
        assert!(!holds(Held { own: 1.1e7 + MOST, ..before }));
        assert!(!holds(Held { files: 13, ..before }));
        assert!(!holds(Held { threads: 4, ..before }));
    }
}
