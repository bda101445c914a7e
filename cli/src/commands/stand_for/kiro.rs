//! `standin as kiro-cli`: the agent, in ACP and in text, and the help by which clients find out whether there is one. Kiro's own log is
//! written where its environment says.

use super::super::stage::Stage;
use super::super::{Failure, Outcome};
use super::{Speech, acp, here};
use fixtures::ServerKind;
use harness::{complain, say};
use mock_server::Elsewhere;
use mock_server::acp::dialect::Dialect;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What `kiro-cli acp --help` says, if nobody says otherwise.
const HELP: &str = "Start the Agent Client Protocol (ACP) server

Usage: kiro-cli acp [OPTIONS]

Options:
  -h, --help  Print help";

const CHAT_HELP: &str = "Start an interactive chat session

Usage: kiro-cli chat [OPTIONS]

Options:
  -a, --trust-all-tools  Allow the model to use any tool without asking
  -h, --help             Print help";

pub(super) fn stand_for(stage: Stage, speech: Speech, words: &[String]) -> Outcome {
    let wants_help = words.iter().any(|word| matches!(word.as_str(), "-h" | "--help"));
    match words.first().map(String::as_str) {
        Some("acp") if wants_help => help(),
        Some("acp") => {
            log("kiro-cli acp starts");
            let dialect = speech.dialect.unwrap_or(Dialect::Kiro);
            acp::speak(ServerKind::Kilo, &Speech { dialect: Some(dialect), ..speech }, stage, Some(here()?), Elsewhere::default())
        }
        Some("chat") if wants_help => {
            say!("{CHAT_HELP}");
            Ok(ExitCode::SUCCESS)
        }
        Some("chat") => {
            let trusts_all = words.iter().any(|word| matches!(word.as_str(), "-a" | "--trust-all-tools"));
            acp::chat(ServerKind::Kilo, &speech, stage, Some(here()?), trusts_all)
        }
        Some("--version" | "-V") => {
            say!("kiro-cli 1.29.0");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(Failure::Misuse(
            "only 'kiro-cli acp', 'kiro-cli chat', their help and 'kiro-cli --version' are played; for all else start the real one"
                .to_owned(),
        )),
    }
}

/// Clients call this to learn whether there is an agent: what it says, with which code, and how late, is to be chosen.
fn help() -> Outcome {
    let number = |name: &str| given(name).and_then(|value| value.parse::<u64>().ok());
    if let Some(ms) = number("STANDIN_HELP_DELAY_MS") {
        super::super::runtime()?.block_on(recorder::clock::pause(Duration::from_millis(ms)));
    }
    say!("{}", given("STANDIN_HELP_TEXT").unwrap_or_else(|| HELP.to_owned()));
    let code = number("STANDIN_HELP_CODE").and_then(|code| u8::try_from(code).ok()).unwrap_or_default();
    Ok(ExitCode::from(code))
}

/// A line in `$KIRO_CHAT_LOG_FILE`, or below `$XDG_RUNTIME_DIR`; nowhere when neither is set.
fn log(what: &str) {
    let runtime =
        || given("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("kiro-log/kiro-chat.log"));
    let Some(file) = given("KIRO_CHAT_LOG_FILE").map(PathBuf::from).or_else(runtime) else { return };
    let level = given("KIRO_LOG_LEVEL").unwrap_or_else(|| "error".to_owned());
    let written = std::fs::create_dir_all(file.parent().unwrap_or(&file))
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&file))
        .and_then(|mut file| writeln!(file, "INFO {what} (log level {level})"));
    if let Err(error) = written {
        complain!("standin: failed to write the log {}: {error}", file.display());
    }
}

#[expect(clippy::disallowed_methods, reason = "Kiro's command takes these from the environment")]
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
