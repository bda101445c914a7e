//! One case with one command and one server: from start to the saved history. A command can only be prompted, so what
//! else the person does is done for it, or the case is none for it.

use super::command::{Command, Ending, Filling, Ran};
use crate::clock::{Limits, within};
use crate::history;
use crate::net::Web;
use crate::observer::Observer;
use crate::runner::{header_of, scenario_of};
use crate::secret::random_password;
use fixtures::ServerKind;
use fixtures::recording::{Line, Note, Recording, Trouble, TroubleKind};
use fixtures::redact::clean;
use fixtures::scenario::{UserAct, UserStep, WaitFor};
use mock_server::{Journal, MODEL_PAUSE, Options, StandIn};
use parity_specs::NamedCase;
use parity_specs::case::ADAPTER_LANE;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of it.
pub(super) struct Played {
    pub(super) ran: Ran,
    pub(super) prompt: String,
    pub(super) history: Recording,
    /// The case is about something that broke, and nothing did: what it waited for.
    pub(super) nothing_broke: Option<String>,
}

/// Why it was not played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotPlayed {
    /// No command can act in it.
    #[error("{0}")]
    NotApplicable(String),
    /// The harness failed at its own work.
    #[error("{0}")]
    Harness(String),
}

impl From<String> for NotPlayed {
    fn from(why: String) -> Self {
        Self::Harness(why)
    }
}

/// The one prompt of a case, or why a command can't act in it.
pub(super) fn prompt_of(named: &NamedCase, steps: &[UserStep]) -> Result<String, String> {
    let case = &named.case;
    if !case.tools || !case.folders.is_empty() || case.time_scale != 1.0 {
        return Err("a command can't be told settings, folders or a time scale".to_owned());
    }
    let mut prompts = Vec::new();
    for step in steps {
        match &step.act {
            UserAct::Prompt { text, .. } => prompts.push(text.clone()),
            UserAct::OpenGate(_) | UserAct::Restart(_) | UserAct::WaitFor(_) => {}
            _ => return Err(format!("a command can only be prompted, and here the person {step}")),
        }
    }
    let [prompt] = prompts.as_slice() else {
        return Err(format!("a command is prompted once, and here are {} prompts", prompts.len()));
    };
    Ok(prompt.clone())
}

pub(super) async fn play(
    named: &NamedCase,
    server: ServerKind,
    command: &Command,
    limits: &Limits,
) -> Result<Played, NotPlayed> {
    let scenario = scenario_of(named)?;
    let steps = scenario.user.steps.clone();
    let prompt = prompt_of(named, &steps).map_err(NotPlayed::NotApplicable)?;
    let password = random_password().map_err(|error| format!("failed to find a password: {error}"))?;
    let folder = tempfile::tempdir().map_err(|error| format!("failed to make a folder: {error}"))?;
    let mut options = Options::scenario(server, scenario);
    options.password = Some(password.clone());
    // Commands ask for their stream beside the prompt: an answer that is over before it begins is a matter of luck.
    options.model_pause = MODEL_PAUSE;
    options.lanes = vec![ADAPTER_LANE.to_owned()];
    options.faults = named.case.fault_plan().map_err(|error| error.to_string())?;
    let stand_in = StandIn::start(options).await.map_err(|error| error.to_string())?;
    let net = Web::new().map_err(|error| format!("the harness has no HTTP client: {error}"))?;
    let observer = Observer::start(Arc::new(net), &stand_in.url(), stand_in.username(), &password).await?;
    let with = Filling {
        url: &stand_in.lane_url(ADAPTER_LANE).unwrap_or_default(),
        user: stand_in.username(),
        password: &password,
        prompt: &prompt,
        workspace: stand_in.workspace(),
        folder: &folder.path().to_string_lossy(),
    };
    let ran = command.run(&with, act(&stand_in, &steps)).await?;
    settle(stand_in.journal(), limits).await;
    read_server(&stand_in, &observer).await;
    note(stand_in.journal(), &ran);
    let unfired = stand_in.unfired_faults();
    let header = header_of(named, stand_in.header());
    let planned = header.provenance.faults.len();
    // A client that never asks again meets no refusal of what it asks again: one that has acted is enough.
    let nothing_broke = (planned > 0 && unfired.len() == planned).then(|| {
        unfired
            .iter()
            .map(|(number, fault)| format!("fault {number} never fired: it {fault}"))
            .collect::<Vec<_>>()
            .join("; ")
    });
    let history = Recording { header, lines: stand_in.journal().lines(), torn: false };
    Ok(Played { ran, prompt, history, nothing_broke })
}

/// What the person does beside prompting, as soon as it can be done.
async fn act(stand_in: &StandIn, steps: &[UserStep]) {
    let mut awaited_from = 0;
    for step in steps {
        match &step.act {
            UserAct::OpenGate(name) => stand_in.open_gate(name),
            UserAct::Restart(ending) => stand_in.restart(*ending),
            UserAct::WaitFor(WaitFor::Event { event, containing, .. }) => {
                let mut found = 0;
                let came = stand_in.journal().wait_until(|lines| {
                    let events = history::server_events(lines);
                    let is_wanted = |sent: &serde_json::Value| {
                        sent["type"] == *event
                            && containing.as_deref().is_none_or(|words| sent.to_string().contains(words))
                    };
                    let at = events.iter().skip(awaited_from).position(is_wanted);
                    found = at.map_or(0, |at| awaited_from + at + 1);
                    at.is_some()
                });
                came.await;
                awaited_from = found;
            }
            UserAct::WaitFor(WaitFor::Idle) => {
                let idle = |lines: &[Line]| {
                    history::server_events(lines).iter().any(|event| event["type"] == "session.idle")
                };
                stand_in.journal().wait_until(idle).await;
            }
            _ => {}
        }
    }
}

/// The server may still be at what it was asked for.
async fn settle(journal: &Journal, limits: &Limits) {
    let settled = async {
        loop {
            let length = journal.lines().len();
            if within(limits.quiet, journal.wait_until(|lines| lines.len() > length)).await.is_none() {
                return;
            }
        }
    };
    let _settled = within(limits.settle, settled).await;
}

/// What the server has in the end of every session that it has told of.
async fn read_server(stand_in: &StandIn, observer: &Observer) {
    let events = history::server_events(&stand_in.journal().lines());
    let created = events.iter().filter(|event| event["type"] == "session.created");
    let ids: BTreeSet<String> = created
        .filter_map(|event| {
            event["properties"]["info"]["id"].as_str().or(event["properties"]["sessionID"].as_str())
        })
        .map(str::to_owned)
        .collect();
    for id in ids {
        let path = format!("/session/{id}/message");
        if let Err(what) = observer.read(&path, stand_in.workspace()).await {
            stand_in
                .journal()
                .push(|at_us| Line::Trouble(Trouble { at_us, kind: TroubleKind::Harness, what }));
        }
    }
}

/// What it printed and how it ended, for who reads the history.
fn note(journal: &Journal, ran: &Ran) {
    let say = |text: String| {
        let text = clean(&text);
        journal.push(|at_us| Line::Note(Note { at_us, text }));
    };
    for (from, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        text.lines().for_each(|line| say(format!("the command's {from}: {line}")));
    }
    say(match ran.ending {
        Ending::Code(code) => format!("the command ended with exit code {code}"),
        Ending::Signal => "the command was ended by a signal".to_owned(),
        Ending::TooLong => "the command did not end, and was ended".to_owned(),
    });
}
