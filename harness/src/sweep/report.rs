//! What came of a sweep: a line a scenario, and for an adapter that fails the shortest plan that shows it.

use super::keep;
use super::schedule::Kind;
use fixtures::ServerKind;
use fixtures::fault_plan::FaultPlan;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What came of a scenario with a server.
#[derive(Debug, Clone)]
pub struct Swept {
    /// The scenario.
    pub scenario: String,
    /// The server.
    pub server: ServerKind,
    /// Who was judged.
    pub adapter: String,
    /// Kind by kind.
    pub counts: Vec<KindCount>,
    /// The first that failed of each kind, shrunk.
    pub failing: Vec<Failing>,
    /// How long it took to play them, without what was shrunk.
    pub seconds: f64,
}

/// What came of one kind of schedules.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct KindCount {
    /// Which.
    pub kind: Kind,
    /// So many there were whose faults acted.
    pub schedules: usize,
    /// So many of them hold.
    pub hold: usize,
    /// So many had a fault that never acted: they show nothing.
    pub never_fired: usize,
}

/// A plan with which the adapter fails.
#[derive(Debug, Clone)]
pub struct Failing {
    /// Of which kind.
    pub kind: Kind,
    /// The shortest form of it that was found.
    pub plan: FaultPlan,
    /// Its file, or why there is none.
    pub file: Result<PathBuf, String>,
    /// The checks that are red.
    pub red: Vec<String>,
    /// What does not hold.
    pub findings: Vec<String>,
    /// So often it was tried while it was shrunk.
    pub runs: usize,
}

impl KindCount {
    pub(super) fn of(kind: Kind) -> Self {
        Self { kind, schedules: 0, hold: 0, never_fired: 0 }
    }
}

/// More findings of a plan are not shown.
const FINDINGS_MAX: usize = 5;

impl Swept {
    /// How many schedules there were, and how many of them hold.
    #[must_use]
    pub fn totals(&self) -> (usize, usize) {
        self.counts.iter().fold((0, 0), |(all, hold), count| (all + count.schedules, hold + count.hold))
    }

    /// Does all hold?
    #[must_use]
    pub fn holds(&self) -> bool {
        let (all, hold) = self.totals();
        all == hold
    }

    /// One line, and what fails.
    #[must_use]
    pub fn text(&self, flag: &str) -> String {
        let (all, hold) = self.totals();
        let kinds = self.counts.iter().filter(|count| count.schedules + count.never_fired > 0);
        let kinds = kinds.map(|count| match count.never_fired {
            0 => format!("{} {}/{}", count.kind, count.hold, count.schedules),
            never => {
                format!("{} {}/{} and {never} that never acted", count.kind, count.hold, count.schedules)
            }
        });
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let mark = if all == hold { "✓" } else { "✗" };
        let mut text = format!("{mark} {} ({}): {hold} of {all} schedules hold", self.scenario, self.server);
        text += &if kinds.is_empty() { "\n".to_owned() } else { format!(" ({kinds})\n") };
        for failing in &self.failing {
            text += &failing.text(&self.scenario, self.server, flag);
        }
        text
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let (all, hold) = self.totals();
        json!({
            "scenario": self.scenario,
            "server": self.server.word(),
            "adapter": self.adapter,
            "schedules": all,
            "hold": hold,
            "kinds": self.counts,
            "failing": self.failing.iter().map(Failing::json).collect::<Vec<_>>(),
            "seconds": self.seconds,
        })
    }
}

impl Failing {
    fn text(&self, scenario: &str, server: ServerKind, flag: &str) -> String {
        let mut text = format!("  {}: with this plan ({} tries to shrink it)\n", self.kind, self.runs);
        let plan = keep::text(&self.plan).unwrap_or_else(|why| why);
        plan.lines().for_each(|line| text += &format!("      {line}\n"));
        for finding in self.findings.iter().take(FINDINGS_MAX) {
            text += &format!("    {finding}\n");
        }
        if self.findings.len() > FINDINGS_MAX {
            text += &format!("    and {} more\n", self.findings.len() - FINDINGS_MAX);
        }
        match &self.file {
            Ok(file) => {
                let again =
                    format!("--scenario {scenario} --server {server}{flag} --plan {}", file.display());
                text += &format!("    again: standin sweep {again}\n");
            }
            Err(why) => text += &format!("    the plan is not kept: {why}\n"),
        }
        text
    }

    fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "plan": self.plan,
            "file": self.file.as_ref().ok(),
            "red": self.red,
            "findings": self.findings,
            "tries": self.runs,
        })
    }
}
