//! An agent that speaks ACP, with the recorder between it and whoever started it. stdout is the protocol's, so all that
//! the recorder has to say goes to stderr, and only when it has failed.

use super::super::{Failure, Outcome, writable_file, writable_folder};
use super::live::is_taken;
use super::{Arguments, is_file, not_kept};
use fixtures::ServerKind;
use fixtures::recording::{FORMAT, FileKind, Header, Performer, Provenance};
use harness::complain;
use harness::machine::Machine;
use recorder::acp::process::Ended;
use recorder::acp::tee::{self, ClientEnds};
use recorder::live::Live;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) fn passed_on(arguments: &Arguments) -> Outcome {
    let out = &arguments.out;
    if is_file(out) {
        writable_file(out, "--out")?;
    } else {
        writable_folder(out, "--out")?;
    }
    let (name, kept) = place(arguments);
    let machine = Machine::of_this_process();
    let header = Header {
        format: FORMAT,
        kind: FileKind::Recording,
        server: arguments.server.unwrap_or_else(|| by_name(arguments)),
        version: "unknown".to_owned(),
        performer: Performer::Real,
        scenario: name,
        workspace: std::env::current_dir()
            .map(|here| here.to_string_lossy().into_owned())
            .unwrap_or_default(),
        by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
        provenance: Provenance { platform: Some(Provenance::this_platform()), ..Provenance::default() },
    };
    let mut live = Live::begin(&kept, header, machine.secrets.clone())
        .map_err(|error| Failure::CouldNot(error.to_string()))?;
    let tape = live.tape();
    let client = ClientEnds {
        stdin: Box::new(std::io::stdin()),
        stdout: Box::new(std::io::stdout()),
        stderr: Box::new(std::io::stderr()),
    };
    let runtime = super::super::runtime()?;
    let passed = runtime.block_on(tee::pass(&arguments.command, &machine.path_env, client, &tape));
    // A client may hold its end of stdin open for ever, and nobody waits for it.
    runtime.shutdown_background();
    let ended = passed.map_err(|error| {
        let program = arguments.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        Failure::CouldNot(format!("failed to run {program}: {error}"))
    })?;
    if let Some(agent) = fixtures::acp::agent_of(&tape.lines()) {
        live.identify(&agent.name, &agent.version);
    }
    live.finish(&machine.secrets).map_err(|error| not_kept(&error))?;
    Ok(as_it_ended(ended))
}

/// Where it is kept, and under which name: nothing is replaced, since nobody can do again what nobody planned.
fn place(arguments: &Arguments) -> (String, PathBuf) {
    let out = &arguments.out;
    if is_file(out) {
        return ("live/1".to_owned(), out.clone());
    }
    let numbered = |number: u32| (format!("live/{number}"), out.join(format!("acp/live/{number}.jsonl")));
    let mut number = 1;
    while is_taken(&numbered(number).1) {
        number += 1;
    }
    numbered(number)
}

/// By the words of its command; of others the dialect is not known, and a file names one of two.
fn by_name(arguments: &Arguments) -> ServerKind {
    let words = arguments.command.iter().map(|word| word.to_string_lossy());
    let is_opencode = words.into_iter().any(|word| word.contains("opencode"));
    if is_opencode { ServerKind::Opencode } else { ServerKind::Kilo }
}

/// As the agent: by its exit code, or of the signal that it died of.
fn as_it_ended(ended: Ended) -> ExitCode {
    if let Some(signal) = ended.signal
        && let Err(error) = signal_hook::low_level::emulate_default_handler(signal)
    {
        complain!("standin: failed to end by signal {signal}: {error}");
    }
    ExitCode::from(ended.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
