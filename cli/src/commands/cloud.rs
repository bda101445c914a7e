//! `standin cloud`: the cloud that tells a user the news, on this machine.

use super::{Failure, Outcome, runtime, told_to_end, words};
use clap::{Args, ValueEnum};
use fixtures::error::io_words;
use harness::{complain, say};
use mock_server::cloud::{Answer, Call, Cloud, OnCall, Options, Shape};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

/// What the cloud is to be.
#[derive(Debug, Args)]
#[command(after_help = "It serves GET /api/users/notifications to who brings the right bearer:

    standin cloud --port 4200
    curl -H 'authorization: Bearer standin-token' http://127.0.0.1:4200/api/users/notifications

Answers are given in turn, and the last one stays: news, refuse (nobody listens), silent, late=MS, drip=MS (a
byte each time), reset, status=CODE, html, truncated, cut, redirect (to another origin), huge (20 MB),
body=TEXT.

    standin cloud --answer status=503 --answer news
    standin cloud --shape doc --answer drip=4000 --format json

While it runs:

    curl http://127.0.0.1:4200/standin/calls
    curl -X POST -H 'content-type: application/json' -d '[\"redirect\"]' http://127.0.0.1:4200/standin/answers

Of a token it tells only whether it was the right one. It serves until it is ended with Ctrl-C.
Exit codes: 0 it was ended, 2 misuse, 3 the port can't be had. docs/cloud.md says more.")]
pub(crate) struct Arguments {
    /// The port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0, value_parser = words::port, allow_negative_numbers = true)]
    port: u16,
    /// In which shape the news are told.
    #[arg(long, value_enum, default_value_t = ShapeWord::Plan)]
    shape: ShapeWord,
    /// The token that is the right one; a made-up one.
    #[arg(long, value_name = "TOKEN", default_value = "standin-token", value_parser = words::some_text())]
    token: String,
    /// How the first call is answered, and the next one; may be given again, and the last one stays.
    #[arg(long, value_name = "ANSWER")]
    answer: Vec<String>,
    /// How it tells that it is ready, and of each call.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeWord {
    /// With `type`, `timestamp` and `read`.
    Plan,
    /// As Kilo's /doc passes it on.
    Doc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: calls on stderr.
    Text,
    /// For programs: a line of JSON when it is ready, and one a call.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let answers = arguments.answer.iter().map(|word| word.parse::<Answer>()).collect::<Result<Vec<_>, _>>();
    let answers = answers.map_err(|why| Failure::Misuse(format!("--answer: {why}")))?;
    if answers.iter().skip(1).any(|answer| *answer == Answer::Refuse) {
        let why = "--answer refuse: nobody listens from the beginning, or somebody does; put it first";
        return Err(Failure::Misuse(why.to_owned()));
    }
    let format = arguments.format;
    let on_call: OnCall = Arc::new(move |call: &Call| match format {
        Format::Text => complain!("{}", in_words(call)),
        Format::Json => say!("{}", json!({"call": call})),
    });
    let shape = match arguments.shape {
        ShapeWord::Plan => Shape::Plan,
        ShapeWord::Doc => Shape::Doc,
    };
    let (port, token) = (arguments.port, arguments.token.clone());
    let options = Options { port, shape, token, answers, on_call, ..Options::default() };
    runtime()?.block_on(async {
        let end = told_to_end()?;
        let cloud = Cloud::start(options).await.map_err(|error| {
            let why = io_words(&error);
            let mend = "choose another --port, or 0 for any free one";
            Failure::CouldNot(format!("failed to listen on 127.0.0.1:{port}: {why}; {mend}"))
        })?;
        match format {
            Format::Text => say!("standin cloud listening on {}", cloud.url()),
            Format::Json => {
                say!("{}", json!({"ready": {"url": cloud.url(), "elsewhere": cloud.elsewhere()}}));
            }
        }
        end.await;
        Ok(ExitCode::SUCCESS)
    })
}

fn in_words(call: &Call) -> String {
    let Call { number, place, method, path, bearer, answer, end, .. } = call;
    let (place, bearer) = (place.word(), bearer.word());
    let end = match end {
        Some(end) if end.left => format!("; the client left after {} ms", end.after_ms),
        _ => String::new(),
    };
    format!("call {number} to {place}: {method} {path}, bearer {bearer}; answered with {answer}{end}")
}
