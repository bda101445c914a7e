//! The reference adapter, or one of its mutants, as a process: the protocol on stdin and stdout.

use harness::mutants;
use harness::reference::{Strategies, serve};
use std::process::ExitCode;
use tokio::io::BufReader;

const USAGE: &str = "usage: reference-adapter [--mutant NAME]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let strategies = match arguments.as_slice() {
        [] => Strategies::default(),
        ["--mutant", name] => match mutants::find(name) {
            Some(mutant) => (mutant.strategies)(),
            None => return misuse(&format!("there is no mutant {name:?}")),
        },
        _ => return misuse("these arguments are not known"),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failure(&format!("failed to start the runtime: {error}")),
    };
    let served = runtime.block_on(serve(strategies, BufReader::new(tokio::io::stdin()), tokio::io::stdout()));
    // A read of stdin can't be interrupted: after `shutdown` nobody waits for it.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error.to_string()),
    }
}

fn misuse(what: &str) -> ExitCode {
    let names: Vec<&str> = mutants::all().iter().map(|mutant| mutant.name).collect();
    eprintln!("reference-adapter: {what}\n{USAGE}\nmutants: {}", names.join(", "));
    ExitCode::from(2)
}

fn failure(what: &str) -> ExitCode {
    eprintln!("reference-adapter: {what}");
    ExitCode::from(3)
}
