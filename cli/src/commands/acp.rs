//! `standin acp`: an agent on stdin and stdout. stdout is the protocol's; all else goes to stderr.

mod report;

use super::service::die_of;
use super::stage::Stage;
use super::{Failure, Outcome, runtime, words};
use clap::{Args, ValueEnum};
use fixtures::ServerKind;
use fixtures::fault_plan::FaultPlan;
use fixtures::recording::Recording;
use fixtures::scenario::Scenario;
use mock_server::acp::agent::Left;
use mock_server::acp::breaks::AcpBreaks;
use mock_server::acp::dialect::{Dialect, Strictness, TurnEnd};
use mock_server::acp::ids::Ids;
use mock_server::acp::text::Text;
use mock_server::acp::watch::Watcher;
use mock_server::acp::{Agent, AgentOptions, Unread};
use mock_server::{Elsewhere, Play, WELCOME};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

/// What an agent is to be.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The agent to stand in for: kilo or opencode.
    #[arg(long, value_parser = words::server, default_value = "kilo")]
    profile: ServerKind,
    #[command(flatten)]
    speech: Speech,
    #[command(flatten)]
    stage: Stage,
    /// The agent's folder until a session names one; a fresh one with the scenario's files when absent.
    #[arg(long, value_name = "DIR", value_parser = words::folder())]
    workspace: Option<PathBuf>,
}

/// How an agent speaks.
#[derive(Debug, Clone, Args)]
pub(crate) struct Speech {
    /// In which words: acp-v1, acp-v1-legacy-models, kiro-seed or kiro.
    ///
    /// When absent acp-v1, and for kiro-cli kiro.
    #[arg(long, env = "STANDIN_DIALECT", hide_env = true)]
    pub(crate) dialect: Option<Dialect>,
    /// What becomes of another dialect's words: refused, as real agents do, or taken and told on stderr.
    #[arg(long, value_enum, default_value_t = Words::Strict, env = "STANDIN_WORDS", hide_env = true)]
    pub(crate) words: Words,
    /// By what a turn ends, if not by the dialect's own way.
    ///
    /// response, update-then-response, response-then-update, update-only or neither.
    #[arg(long, value_name = "SIGNAL", env = "STANDIN_TURN_END", hide_env = true)]
    pub(crate) turn_end: Option<TurnEnd>,
    /// How the agent's own requests are numbered: from-zero, text or large [default: from-zero]
    #[arg(long, env = "STANDIN_IDS", hide_env = true)]
    pub(crate) ids: Option<Ids>,
    /// Tell whoever listens at this address what the agent reads and writes.
    ///
    /// The lines are those of a recording; the address is this machine's.
    #[arg(long, value_name = "ADDRESS", env = "STANDIN_REPORT", hide_env = true)]
    pub(crate) report: Option<SocketAddr>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Words {
    /// They are refused with -32602.
    Strict,
    /// They are taken.
    Lenient,
}

const AFTER_HELP: &str = "A client starts it as it starts any agent, and speaks ACP with it:

    standin acp --profile opencode --scenario permission/write-allowed-once
    standin acp --dialect kiro-seed --turn-end response-then-update
    standin acp --faults broken.toml

where broken.toml ends the agent in the middle of a turn:

    [[acp]]
    when = { update = \"agent_message_chunk\", nth = 2 }
    do = { exit = 1 }

Exit codes: 0 the client has left, 2 misuse, 3 the server behind it can't be had; or what a fault says.";

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { profile, speech, stage, workspace } = arguments;
    speak(profile, &speech, stage, workspace, Elsewhere::default())
}

/// Speaks with whoever is at stdin and stdout.
pub(crate) fn speak(
    profile: ServerKind,
    speech: &Speech,
    stage: Stage,
    workspace: Option<PathBuf>,
    elsewhere: Elsewhere,
) -> Outcome {
    with_agent(profile, speech, stage, (workspace, elsewhere), |agent, plan, watcher| {
        agent.watch(watcher);
        let breaks = AcpBreaks::new(std::mem::take(&mut plan.acp)).with_unread(unread_of_stdout());
        Box::pin(agent.speak(tokio::io::stdin(), tokio::io::stdout(), Box::new(breaks)))
    })
}

/// Is an agent in text, for a person or for who reads its colours.
pub(crate) fn chat(
    profile: ServerKind,
    speech: &Speech,
    stage: Stage,
    workspace: Option<PathBuf>,
    trusts_all: bool,
) -> Outcome {
    with_agent(profile, speech, stage, (workspace, Elsewhere::default()), |agent, plan, watcher| {
        let (manner, unread) = (std::mem::take(&mut plan.text), unread_of_stdout());
        let text = Text { manner, trusts_all, watcher: Some(watcher), unread };
        Box::pin(agent.chat(text, tokio::io::stdin(), tokio::io::stdout()))
    })
}

/// A pipe tells at this end, too, what nobody has read yet; nothing else does.
#[cfg(unix)]
fn unread_of_stdout() -> Option<Unread> {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let own = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?);
    let is_pipe = own.metadata().is_ok_and(|own| own.file_type().is_fifo());
    let waits =
        move || rustix::io::ioctl_fionread(&own).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(0));
    is_pipe.then(|| Arc::new(waits) as Unread)
}

#[cfg(not(unix))]
fn unread_of_stdout() -> Option<Unread> {
    None
}

type Speaking<'a> = Pin<Box<dyn Future<Output = Left> + 'a>>;

fn with_agent(
    profile: ServerKind,
    speech: &Speech,
    stage: Stage,
    (workspace, elsewhere): (Option<PathBuf>, Elsewhere),
    speaks: impl for<'a> FnOnce(&'a mut Agent, &mut FaultPlan, Watcher) -> Speaking<'a>,
) -> Outcome {
    if report::is_child() {
        return report::outlive(speech.report);
    }
    let mut set = stage.set(Some(profile))?;
    if let Some(own) = speech.dialect.unwrap_or_default().scenario()?.filter(|_| set.is_tour) {
        // Whoever says the examples of the dialect to the letter hears them answered to the letter.
        let all = vec![("the dialect's".to_owned(), own), (WELCOME.to_owned(), super::scenario(WELCOME)?)];
        let joined = Scenario::join(all);
        set.options.play = Play::Scenario(Box::new(joined.map_err(Failure::CouldNot)?));
    }
    set.options.workspace = workspace;
    set.options.elsewhere = elsewhere;
    super::surroundings::person(&mut set.options);
    let mut plan = std::mem::take(&mut set.options.faults);
    set.options.faults.faults = std::mem::take(&mut plan.faults);
    let runtime = runtime()?;
    let report = report::Report::open(speech.report)?;
    let unheard = report.unheard();
    let watcher = report.watcher(runtime.handle());
    let home = set.options.home.clone();
    let options = AgentOptions {
        server: set.options,
        dialect: speech.dialect.unwrap_or_default(),
        turn_end: speech.turn_end,
        strictness: match speech.words {
            Words::Strict => Strictness::Strict,
            Words::Lenient => Strictness::Lenient,
        },
        home,
        ids: speech.ids.unwrap_or_default(),
        started_in: Some(report::folder()),
        // Nobody is told when nobody looks.
        stderr: Arc::new(|bytes| drop(std::io::stderr().write_all(bytes))),
    };
    let left = runtime.block_on(async {
        let mut agent = Agent::start(options).await.map_err(|error| Failure::CouldNot(error.to_string()))?;
        if set.open_gates {
            agent.stand_in().open_all_gates();
        }
        let left = tokio::select! {
            biased;
            left = speaks(&mut agent, &mut plan, watcher) => left,
            () = unheard => Left::Quietly,
        };
        if let Some(path) = &set.journal {
            let (header, lines) = (agent.stand_in().header().clone(), agent.stand_in().journal().lines());
            super::write_history(&Recording { header, lines, torn: false }, path)?;
        }
        Ok::<Left, Failure>(left)
    });
    // A client may hold its end of stdin open for ever, and nobody waits for it.
    runtime.shutdown_background();
    let left = left?;
    report.left(left);
    match left {
        Left::Quietly | Left::Unread => Ok(ExitCode::SUCCESS),
        Left::Exit(code) => Ok(ExitCode::from(code)),
        Left::Die(signal) => die_of(signal),
    }
}
