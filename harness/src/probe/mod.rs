//! What agents may do, declared beside effective: the files of a folder of agents are read, a server is started with the
//! scripted model, and each agent is told to do what its rules are about.
//!
//! * [`folder`] — which files a server reads, and where it looks for them; `fields` — YAML and JSON with lines.
//! * `declared` — what the files say; `forms` — of which form a field has to be; `lint` — what is wrong in them, seen
//!   without a server.
//! * `questions` — what each agent is told to do; `given` — what of the folder a server may see; `cast` — the server;
//!   `effects` — what came of it.
//! * `rows` — declared beside effective; `told` — as text, JSON and Markdown.

mod cast;
mod declared;
mod effects;
mod fields;
pub mod folder;
mod forms;
mod given;
mod lint;
mod questions;
mod rows;
mod told;

use crate::performance::Program;
use cast::Cast;
use declared::{Declarations, Declared};
use effects::{Listed, Outcome, Seen};
use fixtures::ServerKind;
use fixtures::near_names::unknown;
use folder::AgentFolder;
use given::Given;
pub use lint::Finding;
use questions::{Question, Role, questions};
use recorder::Limits;
pub use rows::Row;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which agents there are, what is declared of them, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The folder, as it was named.
    pub folder: String,
    /// Who was asked: the server and its version.
    pub by: String,
    /// The names of the declared agents.
    pub agents: Vec<String>,
    /// Declared beside effective; empty when only the files were read.
    pub rows: Vec<Row>,
    /// What contradicts itself in the files.
    pub findings: Vec<Finding>,
    /// What was not looked at.
    pub notes: Vec<String>,
}

/// What is probed.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The folder.
    pub folder: AgentFolder,
    /// Which server, or which one is stood in for.
    pub server: ServerKind,
    /// These agents alone; all, when none is named.
    pub agents: Vec<String>,
}

/// A probe that came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Somebody is named who is not there.
    #[error("{0}")]
    UnknownAgent(String),
    /// There are files, but nobody to ask.
    #[error(
        "{0} declares no agents: name a folder with agents/NAME.md in it, or settings that have agents under \"agent\""
    )]
    NoAgents(String),
    /// Settings that a server might read otherwise than we do.
    #[error(
        "{file}:{line} can't be read: {why}; no server is started on such settings: mend them, or read the files alone (--files)"
    )]
    Settings {
        /// The file, as whoever named the folder would write it.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The folders of the server.
    #[error(transparent)]
    Sandbox(#[from] recorder::sandbox::SandboxError),
    /// The server.
    #[error(transparent)]
    Launch(#[from] recorder::launch::LaunchError),
    /// The stand-in.
    #[error(transparent)]
    StandIn(#[from] mock_server::StartError),
    /// The talk with it.
    #[error(transparent)]
    Client(#[from] recorder::capture::CaptureError),
    /// A port or a folder of our own.
    #[error("failed to {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// Neither a program nor a stand-in was to be started.
    #[error("there is no place to start a server in")]
    NoPlace,
}

impl Subject {
    /// Reads the files alone.
    pub fn read(&self) -> Result<Probe, ProbeError> {
        let all = self.declarations()?;
        Ok(self.probe(&all, format!("files for {}", self.server), Vec::new(), &[]))
    }

    /// Starts a server, the real one or the stand-in, and asks each agent.
    pub async fn ask(&self, program: Option<&Program>, limits: &Limits) -> Result<Probe, ProbeError> {
        let all = self.declarations()?;
        let given = Given::of(&self.folder)?;
        let questions = questions(&all, &self.agents);
        let cast = Cast::begin(self.server, program, &given.files, &all, &questions, limits).await?;
        let by = match program {
            Some(_) => format!("{} {}", self.server, cast.version),
            None => format!("stand-in for {} {}", self.server, cast.version),
        };
        let probed = self.rows(&cast, &all, &questions, limits).await;
        let ended = cast.end(limits).await;
        let (rows, known) = probed?;
        ended?;
        let mut probe = self.probe(&all, by, rows, &known);
        probe.notes.extend(given.notes);
        Ok(probe)
    }

    fn declarations(&self) -> Result<Declarations, ProbeError> {
        let all = Declarations::read(&self.folder);
        // What can't be read is told as such.
        if all.agents.is_empty() && all.unreadable.is_empty() {
            return Err(ProbeError::NoAgents(self.folder.named.to_string_lossy().into_owned()));
        }
        let names: Vec<&String> = all.agents.keys().collect();
        match self.agents.iter().find(|name| !names.contains(name)) {
            Some(name) => Err(ProbeError::UnknownAgent(unknown("agent", name, &names))),
            None => Ok(all),
        }
    }

    async fn rows(
        &self,
        cast: &Cast,
        all: &Declarations,
        questions: &[Question],
        limits: &Limits,
    ) -> Result<(Vec<Row>, Vec<String>), ProbeError> {
        let listed = match effects::listed(cast).await? {
            Ok(listed) => listed,
            Err(why) => return Ok((vec![failed("all agents", &why)], Vec::new())),
        };
        let known = listed.iter().map(|agent| agent.name.clone()).collect();
        let events = effects::listen(cast).await?;
        let mut rows = rows::of_list(all, &listed);
        let (mut base, mut first): (Vec<String>, BTreeMap<(String, &str), ()>) = Default::default();
        for question in questions {
            let Some(agent) = all.agents.get(&question.agent) else {
                // Only the first prompt of all makes a server get up in this folder.
                let slow = Limits { idle: limits.idle.max(limits.ready), ..*limits };
                let seen = effects::seen(cast, &events, question, &slow).await?;
                match &seen.outcome {
                    Outcome::Failed(why) if seen.tools.is_empty() => rows.push(failed("all tools", why)),
                    Outcome::Unseen(why) if seen.tools.is_empty() => {
                        let effective = format!("{}{why}", rows::UNSEEN);
                        rows.push(Row { effective, holds: None, ..failed("all tools", why) });
                    }
                    _ => {}
                }
                base = seen.tools;
                continue;
            };
            if !is_reachable(&listed, question) {
                continue;
            }
            let seen = effects::seen(cast, &events, question, limits).await?;
            let reached = (agent.name.clone(), question.role.word());
            let is_heard =
                !seen.tools.is_empty() || !matches!(seen.outcome, Outcome::Failed(_) | Outcome::Unseen(_));
            if is_heard && first.insert(reached, ()).is_none() {
                rows.extend(once(all, agent, question.role, &seen, &base));
            }
            rows.push(rows::of_deed(all, agent, question, &seen));
        }
        Ok((rows, known))
    }

    fn probe(&self, all: &Declarations, by: String, mut rows: Vec<Row>, known: &[String]) -> Probe {
        let wanted = |name: &str| self.agents.is_empty() || self.agents.iter().any(|agent| agent == name);
        for row in &mut rows {
            row.at = row.at.take().map(|at| self.folder.told(&at));
        }
        rows.retain(|row| row.agent.is_empty() || wanted(&row.agent));
        let mut findings = lint::findings(all, self.server, known);
        findings.retain(|finding| finding.agent.as_deref().is_none_or(wanted));
        for finding in &mut findings {
            finding.file = self.folder.told(&finding.file);
        }
        Probe {
            folder: self.folder.named.to_string_lossy().into_owned(),
            by,
            agents: all.agents.keys().filter(|name| wanted(name)).cloned().collect(),
            rows,
            findings,
            notes: self.folder.notes.clone(),
        }
    }
}

impl Probe {
    /// In how many rows declared and effective are not the same.
    #[must_use]
    pub fn differences(&self) -> usize {
        self.rows.iter().filter(|row| row.holds == Some(false)).count()
    }

    /// In how many rows the server's time was over before anything could be seen.
    #[must_use]
    pub fn unseen(&self) -> usize {
        self.rows.iter().filter(|row| row.is_unseen()).count()
    }

    /// Does all that was seen hold, and do the files not contradict themselves?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.differences() == 0 && self.findings.is_empty()
    }
}

/// What is seen once of an agent, whatever it is told to do.
fn once(all: &Declarations, agent: &Declared, role: Role, seen: &Seen, base: &[String]) -> Vec<Row> {
    let mut rows = rows::of_tools(all, agent, role, seen, base);
    rows.push(rows::of_effort(all, agent, role, seen));
    rows
}

/// Nobody gives work to a primary agent, and no person prompts a subagent.
fn is_reachable(listed: &[Listed], question: &Question) -> bool {
    let known = listed.iter().find(|known| known.name == question.agent);
    known.is_some_and(|known| match question.role {
        Role::Prompted => known.mode != "subagent",
        Role::Called => known.mode != "primary",
    })
}

/// The server does not even list its agents, or say which tools there are: then nothing can be told of what is behind it.
fn failed(about: &str, why: &str) -> Row {
    Row {
        agent: String::new(),
        role: "listed",
        about: about.to_owned(),
        declared: Some("there".to_owned()),
        effective: format!("failed: {why}"),
        holds: Some(false),
        at: None,
    }
}
