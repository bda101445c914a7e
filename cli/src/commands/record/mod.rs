//! `standin record`: what servers say is kept. A scenario is performed with a server that is started for it
//! ([`scenario`]); or whoever comes is recorded through a proxy, or a running server is listened to ([`live`]).

mod acp;
mod doc;
mod live;
mod scenario;
mod summary;

use super::{Failure, Outcome, words};
use clap::{Args, ValueEnum};
use fixtures::ServerKind;
use fixtures::recording::Header;
use recorder::keep::KeepError;
use recorder::loopback::Loopback;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is recorded, with what, and where to.
#[derive(Debug, Args)]
#[command(
    override_usage = "standin record --server SERVER --scenario NAME|FILE... [OPTIONS]
       standin record --proxy --upstream URL [OPTIONS]
       standin record --attach URL [OPTIONS]
       standin record --acp [OPTIONS] -- COMMAND...",
    after_help = "A scenario is performed with a server that is started for it, in a fresh home and workspace; its model is
the scenario's agent:

    standin record --server kilo --scenario text/plain
    standin record --server opencode --scenario mine.toml --bin ./my-server --out mine.jsonl
    standin record --server kilo --scenario text/plain --scenario todo/written --out recordings

Any client of a server that runs already is recorded through a proxy: point the client at the address that is
printed, and end it with Ctrl-C. It plays again to the same client with standin serve --replay FILE:

    standin record --proxy --upstream http://127.0.0.1:4096 --out mine.jsonl

Or listen to the two event streams of a running server, without any client:

    standin record --attach http://127.0.0.1:4096 --out mine.jsonl

An agent that speaks ACP is recorded by putting this in its place, wherever a client starts it:

    standin record --acp --out mine.jsonl -- opencode acp

What is written holds no secret that is known or looks like one; look at it all the same before you pass it
on: what you and the agent said stands in it.

Exit codes: 0 it is recorded, 1 a step of the person failed, the model was asked in vain, or a secret was
found, 2 misuse, a place that can't be written among it, 3 the server could not be had or recorded. Of several
scenarios all are performed, whatever becomes of one; the exit code is that of the worst."
)]
pub(crate) struct Arguments {
    /// The server: kilo or opencode [default with --proxy and --attach: what the server says]
    #[arg(long, value_parser = words::server, required_unless_present_any = ["proxy", "attach", "acp"])]
    server: Option<ServerKind>,
    /// The scenario to perform, as area/name, or a .toml file; several one after the other, into a folder.
    #[arg(long, value_name = "NAME|FILE", required_unless_present_any = ["proxy", "attach", "acp"])]
    scenario: Vec<String>,
    /// The server's program, or another one that serves as it does.
    #[arg(long, value_name = "PATH", conflicts_with = "npm_dir")]
    bin: Option<PathBuf>,
    /// The folder whose node_modules hold the server, in any release [default: the user's cache]
    ///
    /// Where there is none, npm installs the pinned one.
    #[arg(long, value_name = "DIR")]
    npm_dir: Option<PathBuf>,
    /// Where to keep it: a .jsonl file, or a folder that gets SERVER-VERSION/NAME.jsonl.
    ///
    /// In a folder the server's /doc is kept beside it. What stands there is replaced.
    ///
    /// With --proxy and --attach NAME is live/1, live/2 and so on, and nothing is replaced.
    #[arg(long, value_name = "FILE|DIR", default_value = "standin-recordings")]
    out: PathBuf,
    /// Also keep what the server says on stdout and stderr, its log among it.
    #[arg(long, value_name = "FILE")]
    keep_server_log: Option<PathBuf>,
    /// What is printed in the end; for programs an object for each scenario, a line each.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Stand between clients and a running server, and record what they say to each other until Ctrl-C.
    #[arg(long, requires = "upstream", conflicts_with_all = NOT_LIVE)]
    proxy: bool,
    /// With --proxy: the server's address, on this machine.
    #[arg(long, value_name = "URL", requires = "proxy", value_parser = Loopback::parse)]
    upstream: Option<Loopback>,
    /// With --proxy: the port on 127.0.0.1; 0 takes any free one.
    #[arg(long, requires = "proxy", default_value = "0", value_parser = words::port, allow_negative_numbers = true)]
    port: u16,
    /// Listen to a running server at this address, until Ctrl-C or until it ends.
    #[arg(long, value_name = "URL", conflicts_with_all = NOT_LIVE, conflicts_with = "proxy", value_parser = Loopback::parse)]
    attach: Option<Loopback>,
    /// Start this agent, pass every byte of its pipes on, and record them.
    #[arg(long, requires = "command", conflicts_with_all = NOT_LIVE, conflicts_with_all = ["proxy", "attach", "format"])]
    acp: bool,
    /// With --acp: the agent and its arguments.
    #[arg(last = true, value_name = "COMMAND", requires = "acp")]
    command: Vec<OsString>,
    /// The password of a running server [default: from the server's own environment variable]
    ///
    /// Clients of a proxy bring their own; this one is to ask the server which release it is.
    #[arg(long, value_parser = words::some_text(), conflicts_with = "scenario")]
    password: Option<String>,
    /// The user of that password [default: the server's name]
    #[arg(long, value_parser = words::some_text(), conflicts_with = "scenario")]
    username: Option<String>,
}

/// What is about a server that is started.
const NOT_LIVE: [&str; 4] = ["scenario", "bin", "npm_dir", "keep_server_log"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    if arguments.acp {
        return acp::passed_on(arguments);
    }
    match (&arguments.upstream, &arguments.attach, arguments.server) {
        (Some(upstream), ..) => live::proxied(arguments, upstream),
        (_, Some(server), _) => live::attached(arguments, server),
        (_, _, Some(server)) => scenario::recorded(arguments, server),
        _ => Err(Failure::Misuse("nothing is to be recorded; see standin help record".to_owned())),
    }
}

fn is_file(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "jsonl")
}

fn release_folder(out: &Path, header: &Header) -> PathBuf {
    out.join(format!("{}-{}", header.server, header.version))
}

fn place(out: &Path, header: &Header) -> PathBuf {
    if is_file(out) {
        return out.to_owned();
    }
    release_folder(out, header).join(format!("{}.jsonl", header.scenario))
}

fn not_kept(error: &KeepError) -> Failure {
    match error {
        KeepError::Secret { .. } => Failure::Fails(error.to_string()),
        KeepError::File(_) => Failure::CouldNot(error.to_string()),
    }
}
