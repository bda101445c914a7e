//! A case of the cloud kit: a cloud that answers as the case says, and an adapter that fetches its news.

use crate::kit::Play;
use crate::scene::{Scene, Troubled, our_fault};
use crate::story::AdapterClock;
use base64::Engine as _;
use futures_util::future::BoxFuture;
use harness::clock::within;
use mock_server::ClockKind;
use mock_server::cloud::{Answer, Bearer, Call, Cloud, Options, Shape};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Who fetches news calls soon; who does not is judged by what came.
const CALLS_SOON: Duration = Duration::from_secs(2);

/// What happens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fetching {
    /// The token, by its name in the corpus of tokens; there is none without it.
    token: Option<String>,
    /// Whose client it is.
    #[serde(default = "kilocode")]
    provider: String,
    /// In which shape the cloud tells its news.
    #[serde(default)]
    shape: ShapeWord,
    /// How it answers the first call, the next one and so on; the last answer stays.
    #[serde(default)]
    answers: Vec<String>,
    /// The bodies that it answers with are lists of news as they should be, so that the user gets what stands in them.
    #[serde(default)]
    bodies_are_news: bool,
    /// How often the news are fetched.
    #[serde(default = "once")]
    fetches: u32,
    /// Before the last fetch the user signs out: there is no token then.
    #[serde(default)]
    signs_out: bool,
    /// So many seconds pass for adapter and cloud while a fetch goes on.
    #[serde(default)]
    wind_s: u32,
    /// So many seconds pass for the adapter when a fetch is over.
    #[serde(default)]
    then_s: u32,
    /// In place of a fetch: to which cloud does each token of the corpus belong?
    #[serde(default)]
    origins: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ShapeWord {
    #[default]
    Plan,
    Doc,
}

fn kilocode() -> String {
    "kilocode".to_owned()
}

fn once() -> u32 {
    1
}

impl Play for Fetching {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            let corpus = fixtures::corpus::all::<fixtures::tokens::Case>()
                .map_err(|error| our_fault(error.to_string()))?;
            let token = match &self.token {
                Some(name) => {
                    let case = corpus.iter().find(|case| case.full_name() == *name);
                    let case = case.ok_or_else(|| our_fault(format!("the corpus has no token '{name}'")))?;
                    scene.witness("token", &json!({"name": name, "origin": case.origin}));
                    for (name, secret) in readable(&case.token()) {
                        scene.keep_secret(name, &secret);
                    }
                    Some(case.token())
                }
                None => None,
            };
            let answers =
                self.answers.iter().map(|word| word.parse()).collect::<Result<Vec<Answer>, String>>();
            let shape = match self.shape {
                ShapeWord::Plan => Shape::Plan,
                ShapeWord::Doc => Shape::Doc,
            };
            let cloud = Cloud::start(Options {
                shape,
                token: token.clone().unwrap_or_else(|| Options::default().token),
                answers: answers.map_err(our_fault)?,
                is_wound: self.wind_s > 0 && scene.clock() == AdapterClock::Virtual,
                clock: clock_for(scene.clock()),
                journal: Some(scene.journal().clone()),
                ..Options::default()
            });
            let cloud =
                cloud.await.map_err(|error| our_fault(format!("failed to start a cloud: {error}")))?;
            let origins = json!({"production": cloud.url(), "development": cloud.elsewhere()});
            scene.must("configure", json!({"origins": origins})).await?;
            if self.origins {
                for case in &corpus {
                    scene.witness("token", &json!({"name": case.full_name(), "origin": case.origin}));
                    scene.ask("token/base", json!({"token": case.token()})).await?.map_or_else(drop, drop);
                }
            }
            let fetches = if self.origins { 0 } else { self.fetches };
            for nth in 1..=fetches {
                let is_out = self.signs_out && nth == fetches;
                scene.person(if is_out {
                    "signs out, and opens the list of news"
                } else {
                    "opens the list of news"
                });
                self.fetch(scene, &cloud, token.as_deref().filter(|_| !is_out), shape).await?;
            }
            Ok(())
        })
    }
}

impl Fetching {
    async fn fetch(
        &self,
        scene: &mut Scene,
        cloud: &Cloud,
        token: Option<&str>,
        shape: Shape,
    ) -> Result<(), Troubled> {
        let before = cloud.calls().len();
        let mut params = json!({"provider": self.provider});
        if let Some(token) = token {
            params["token"] = json!(token);
        }
        let is_tried = token.is_some() && self.provider == kilocode();
        let mut asked = scene.begin("notifications/fetch", params).await?;
        let answer = self.answers.first().map(String::as_str);
        if is_tried && answer != Some("refuse") {
            // An adapter whose time is virtual must not be told that time passes while it calls.
            let never_ends = self.wind_s > 0 || answer == Some("silent");
            let came = cloud.wait_until(|calls| {
                calls.len() > before && (never_ends || calls.iter().all(|call| call.end.is_some()))
            });
            // One that does not call is found by the checks.
            let _came = within(CALLS_SOON, came).await;
        }
        // Where time passes by itself, it passes for the cloud, too.
        for _ in 0..if scene.clock() == AdapterClock::Virtual { self.wind_s } else { 0 } {
            scene.pass(1000.0).await?;
            cloud.wind(1000);
        }
        // Whoever waits for ever has a limit, and the checks see that there is no answer. Told time does not pass here.
        let is_over = match scene.clock() {
            AdapterClock::Real => asked.answered_within(scene.limits().answer).await.is_some(),
            _ => scene.answer(asked).await.map(|_| true)?,
        };
        if is_over {
            scene.settle().await;
            // Of the machine's time no more passes than who is impatient waits.
            let seconds = match scene.clock() {
                AdapterClock::Real => self.then_s.min(3),
                AdapterClock::Virtual | AdapterClock::Scaled => self.then_s,
            };
            for _ in 0..seconds {
                scene.pass(1000.0).await?;
            }
            scene.settle().await;
        } else {
            scene.person("has no answer, and closes the program");
            scene.kill().await;
        }
        let calls = cloud.calls().split_off(before);
        let told = self.bodies_are_news.then(|| told_in_body(&calls)).flatten();
        let gave = told.as_ref().map_or_else(|| gave(&calls), |_| json!("news"));
        let news = told.unwrap_or_else(|| shape.news());
        scene.witness(
            "fetch",
            &json!({"tried": is_tried, "heard": answer != Some("refuse"), "calls": calls, "gave": gave, "news": news["notifications"]}),
        );
        if is_over { Ok(()) } else { scene.restart().await }
    }
}

/// The body that the first call was answered with, if a body was asked for.
fn told_in_body(calls: &[Call]) -> Option<Value> {
    match calls.first()?.answer.parse() {
        Ok(Answer::Body(body)) => serde_json::from_str(&body).ok(),
        _ => None,
    }
}

/// The cloud's time passes as the adapter's does.
fn clock_for(clock: AdapterClock) -> ClockKind {
    /// So many times as fast as everybody's.
    const SCALED: u32 = 100;
    match clock {
        AdapterClock::Scaled => ClockKind::Scaled { by: SCALED },
        AdapterClock::Virtual | AdapterClock::Real => ClockKind::Real,
    }
}

/// What the cloud has given: its news, nothing, or something of which a client may make what it likes.
fn gave(calls: &[Call]) -> Value {
    let of = |call: &Call| {
        let is_whole = call.end.is_some_and(|end| !end.left) && call.bearer == Bearer::Right;
        match call.answer.parse() {
            Ok(Answer::News) if is_whole => "news",
            // They were to be had in time, whether or not somebody has waited.
            Ok(Answer::Late { ms }) if ms < 5000 => "news",
            // A byte each millisecond is whole within the five seconds.
            Ok(Answer::Drip { ms: 0..=1 }) if is_whole => "news",
            Ok(Answer::Body(_) | Answer::Redirect | Answer::Huge) => "any",
            _ => "nothing",
        }
    };
    json!(calls.first().map_or("nothing", of))
}

/// Parts of a token that are as good as the whole, or say what stands in it; the whole first, so that it is struck whole.
fn readable(token: &str) -> Vec<(&'static str, String)> {
    let mut all = vec![("token", token.to_owned())];
    all.push(("token in base64", base64::engine::general_purpose::STANDARD.encode(token)));
    let long = |part: &&str| part.len() >= PART;
    all.extend(token.split('.').filter(long).map(|part| ("part of the token", part.to_owned())));
    if let Some((most, _)) = token.char_indices().rev().nth(3).map(|(at, _)| token.split_at(at))
        && most.len() >= PART
    {
        all.push(("beginning of the token", most.to_owned()));
    }
    all
}

/// Shorter parts may be anybody's words.
const PART: usize = 16;
