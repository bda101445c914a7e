//! What was measured, and what must hold.
//!
//! Each is judged by its best turn, the one that the machine disturbed least: a few microseconds are easily lost among
//! those that a busy processor takes to wake somebody.

use crate::between::Between;
use crate::peers::{Client, ONE_BY_ONE};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// The first ones find nobody at work yet.
const WARM_UP: usize = 50;
/// Added latency of the proxy, as a multiple of what the copy adds.
const MOST_ADDED: f64 = 1.5;
/// Throughput of the proxy, as a part of that of the copy.
const LEAST_THROUGHPUT: f64 = 0.7;

/// The figures of one of those who stand between.
#[derive(Debug, Default)]
struct Of {
    /// Microseconds: half of a turn's exchanges, of its events, took no longer.
    exchanges: Vec<f64>,
    events: Vec<f64>,
    /// Bytes in a second, events in a second, of each turn.
    bodies: Vec<f64>,
    flood: Vec<f64>,
}

/// All figures.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    nobody: Of,
    copy: Of,
    proxy: Of,
}

/// One line of the result.
struct Line {
    what: &'static str,
    unit: &'static str,
    /// Nobody, copy, proxy.
    values: [f64; 3],
    ratio: f64,
    holds: bool,
    wanted: String,
}

impl Figures {
    /// A turn.
    pub(crate) fn take(&mut self, who: Between, port: u16) -> io::Result<()> {
        let of = match who {
            Between::Nobody => &mut self.nobody,
            Between::Copy => &mut self.copy,
            Between::Proxy => &mut self.proxy,
        };
        let mut client = Client::connect(port)?;
        of.exchanges.push(p50(|| client.exchange())?);
        of.bodies.push(client.bodies()? / (1024.0 * 1024.0));
        let mut client = Client::connect(port)?;
        client.listen()?;
        of.events.push(p50(|| client.event())?);
        drop(client);
        of.flood.push(Client::connect(port)?.flood()?);
        Ok(())
    }

    fn lines(&self) -> [Line; 4] {
        let all = |figure: fn(&Of) -> &Vec<f64>, best: fn(f64, f64) -> f64| {
            [&self.nobody, &self.copy, &self.proxy]
                .map(|of| figure(of).iter().copied().reduce(best).unwrap_or_default())
        };
        [
            latency("REST, p50 of an exchange", all(|of| &of.exchanges, f64::min)),
            latency("SSE, p50 of a frame", all(|of| &of.events, f64::min)),
            throughput("REST, long bodies", "MiB/s", all(|of| &of.bodies, f64::max)),
            throughput("SSE, frames", "frames/s", all(|of| &of.flood, f64::max)),
        ]
    }

    /// Does it all hold?
    pub(crate) fn hold(&self) -> bool {
        self.lines().iter().all(|line| line.holds)
    }

    pub(crate) fn table(&self) -> String {
        let mut table =
            format!("{:<26} {:>10} {:>10} {:>10}  {:>6}  wanted\n", "", "nobody", "copy", "proxy", "ratio");
        for Line { what, unit, values: [nobody, copy, proxy], ratio, holds, wanted } in self.lines() {
            let mark = if holds { "" } else { "  missed" };
            table += &format!(
                "{what:<26} {nobody:>10.1} {copy:>10.1} {proxy:>10.1}  {ratio:>6.2}  {wanted} ({unit}){mark}\n"
            );
        }
        table
            + "A ratio is what the proxy adds to nobody beside what the copy adds; of throughput, proxy beside copy."
    }

    pub(crate) fn json(&self) -> Value {
        let line = |line: &Line| {
            let [nobody, copy, proxy] = line.values;
            json!({
                "what": line.what, "unit": line.unit, "nobody": nobody, "copy": copy, "proxy": proxy,
                "ratio": line.ratio, "wanted": line.wanted, "holds": line.holds,
            })
        };
        json!({"holds": self.hold(), "figures": self.lines().iter().map(line).collect::<Vec<_>>()})
    }
}

fn latency(what: &'static str, values: [f64; 3]) -> Line {
    let [nobody, copy, proxy] = values;
    let ratio = (proxy - nobody) / (copy - nobody);
    // A copy that costs nothing was not measured.
    let holds = copy > nobody && ratio <= MOST_ADDED;
    Line { what, unit: "µs", values, ratio, holds, wanted: format!("at most {MOST_ADDED}") }
}

fn throughput(what: &'static str, unit: &'static str, values: [f64; 3]) -> Line {
    let ratio = values[2] / values[1];
    Line {
        what,
        unit,
        values,
        ratio,
        holds: ratio >= LEAST_THROUGHPUT,
        wanted: format!("at least {LEAST_THROUGHPUT}"),
    }
}

/// The median of a turn's small things, each of which tells how long it took.
fn p50(mut one: impl FnMut() -> io::Result<Duration>) -> io::Result<f64> {
    let took = (0..ONE_BY_ONE)
        .map(|_| one().map(|took| took.as_secs_f64() * 1e6))
        .collect::<io::Result<Vec<_>>>()?;
    Ok(median(&took[WARM_UP..]))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
